/* SPDX-License-Identifier: Apache-2.0 */
/* opspace.h: a controller, or a simulated robot, that `opspace export` made, run without Python.
 *
 * A robot is data (a file, here called its image) and the kernels are the same for every robot (this library). The
 * caller owns all memory: the image, and an arena in which the robot lives. Nothing here allocates, locks or makes a
 * system call.
 *
 * Functions marked RT take a bounded time and may be called in a real-time loop. Threads: one, the loop, calls the
 * functions of a robot. One other may call those marked MAIL, which put a target into a mailbox that the next ticks
 * empty, two targets a tick; and any thread may call those marked ANY (opspace_stop, opspace_enable ...). Neither side
 * ever waits. Robots in different arenas are independent.
 *
 * There are two ways to run a controller. Behind its gates, as the Python node does: opspace_joint_states and
 * opspace_odometry take what the robot says, opspace_command says what to send. Or bare, by opspace_tick, where the
 * caller vouches for every state. A robot is run one way or the other.
 *
 * Units are SI. q and v are those of the Python package: q = [x y z qx qy qz qw | joints], v = [linear, angular of the
 * base in its own axes | joint rates]; without a floating base the joints alone. Commands are in the order of
 * opspace_joint(): torques, or in mode velocity joint velocities.
 *
 * Floating point: kernels expect rounding to nearest and subnormal numbers as IEEE 754 has them. Every function that
 * computes sets that state (MXCSR, FPCR) if the caller's differs, and puts the caller's back.
 */
#ifndef OPSPACE_H
#define OPSPACE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows when a function changes or goes; new functions and codes do not change it. */
#define OPSPACE_ABI 1

#if defined(__GNUC__)
#define OPSPACE_API __attribute__((visibility("default")))
#else
#define OPSPACE_API
#endif

typedef struct opspace opspace; /* a robot in its arena */

typedef enum {
  OPSPACE_OK = 0,
  OPSPACE_REFUSED = 1,     /* a number is not finite, too large, or no rotation; nothing has changed */
  OPSPACE_ARGUMENT = 2,    /* a null pointer, or a number that is none of the valid ones */
  OPSPACE_NAME = 3,        /* no joint, task, method or field of this name */
  OPSPACE_RANGE = 4,       /* a value is outside the range of its parameter */
  OPSPACE_FIXED = 5,       /* what cannot be written while it runs */
  OPSPACE_INACTIVE = 6,    /* opspace_activate has not been called */
  OPSPACE_NO_IMAGE = 7,    /* these bytes are no image */
  OPSPACE_VERSION = 8,     /* an image of another version */
  OPSPACE_DAMAGED = 9,     /* an image that is not as it was written */
  OPSPACE_KERNELS = 10,    /* an image for the kernels of another release: export again */
  OPSPACE_ARENA = 11,      /* the arena is too small, or does not begin on a multiple of OPSPACE_ALIGNMENT */
  OPSPACE_DIFFERENT = 12,  /* reference ticks do not come out as they were recorded */
  OPSPACE_BUSY = 13,       /* too many targets wait for the next tick */
  OPSPACE_STOPPED = 14,    /* an emergency stop: the safe command is sent until opspace_reset */
  OPSPACE_ABSENT = 15,     /* the image has no such part: a controller, its gates, or a simulated robot */
  OPSPACE_SAFE = 16,       /* a gate is closed: tau is the safe command */
  OPSPACE_NOTHING = 17,    /* nothing is to be sent now; tau is what was sent last */
  OPSPACE_RUNAWAY = 18     /* the simulated motion leaves the range of numbers; the state before it is kept */
} opspace_status;

#define OPSPACE_ALIGNMENT 64 /* of an arena */

/* A field: a parameter, a result, a part of the state. Number (row, column) is at[row * stride + column]. */
typedef struct {
  const char *name;    /* "tool.stiffness", "level_torque" */
  const char *unit;    /* "1/s^2"; empty where there is none */
  const char *choices; /* "tasks|raw|gravity" of a whole number that is a choice; empty otherwise */
  double least, most;  /* range of a parameter, ends included */
  uint32_t rows, columns, stride;
  uint8_t is_whole; /* numbers are int64_t, else double */
  uint8_t is_live;  /* it may be set while the robot runs */
  uint8_t role;     /* 's' setting, 't' state, 'r' result, 'c' constant or count, 'w' scratch */
  uint8_t kind;     /* of a parameter, as users have it: 'b' bool, 'i' integer, 'd' double, 's' a word, 'D', 'S' lists,
                     'O' a list that may be empty: NaN stands for each number that is not given */
  void *at;         /* in the arena */
} opspace_field;

/* The version of this library's interface; compare with OPSPACE_ABI. RT */
OPSPACE_API uint32_t opspace_abi(void);

/* What a code means, in words. RT */
OPSPACE_API const char *opspace_words(int status);

/* Bytes of the arena that an image needs; 0 if it is none, which opspace_open says in detail. */
OPSPACE_API size_t opspace_size(const void *image, size_t image_size);

/* What machine this library is for, and on which one an image's reference ticks were recorded ("" if it is no image):
 * where the two are the same, all bits are. */
OPSPACE_API const char *opspace_target(void);
OPSPACE_API const char *opspace_recorded_on(const void *image, size_t image_size);

/* Put a robot into an arena. The image is not needed afterwards. */
OPSPACE_API int opspace_open(opspace **robot, void *arena, size_t arena_size, const void *image, size_t image_size);

/* Replay the reference ticks of an image in an arena, which is free again afterwards. `identical` of `ticks` agree in
 * every bit; `worst` is the largest difference [Nm or N], as a share of the largest torque. OPSPACE_DIFFERENT if it is
 * beyond 1e-12. */
OPSPACE_API int opspace_replay(void *arena, size_t arena_size, const void *image, size_t image_size, uint32_t *ticks,
                               uint32_t *identical, double *worst);

/* Sizes of q, of v and of the command. RT */
OPSPACE_API uint32_t opspace_nq(const opspace *robot);
OPSPACE_API uint32_t opspace_nv(const opspace *robot);
OPSPACE_API uint32_t opspace_joints(const opspace *robot);

/* What the command is: "effort" [Nm or N]; or "velocity" [rad/s or m/s], of mode velocity, where a safe command is none
 * at all. RT */
OPSPACE_API const char *opspace_commands(const opspace *robot);

/* Name of a joint of the command, of a task, of a method; a null pointer beyond the last. RT */
OPSPACE_API const char *opspace_joint(const opspace *robot, uint32_t number);
OPSPACE_API const char *opspace_task(const opspace *robot, uint32_t number);
OPSPACE_API const char *opspace_method_name(const opspace *robot, uint32_t number);

/* The number of a task of this name. RT */
OPSPACE_API int opspace_task_number(const opspace *robot, const char *name, uint32_t *number);

/* Begin, or begin again: every task holds its present pose, task torque comes over the ramp; the next command is not
 * rate limited. RT */
OPSPACE_API int opspace_activate(opspace *robot, const double *q, const double *v, double time);

/* Let every task, and the posture, stay where it is. RT */
OPSPACE_API int opspace_hold(opspace *robot, const double *q, const double *v, double time);

/* Emergency stop: from the next tick on gravity is carried and all joints are braked, until opspace_reset; behind gates
 * the gate `stop` closes, until opspace_open_gates. RT ANY */
OPSPACE_API int opspace_stop(opspace *robot);

/* Let an emergency stop go: as opspace_activate, but torques move on from the last command within the rate limit. RT */
OPSPACE_API int opspace_reset(opspace *robot, const double *q, const double *v, double time);

/* One control tick: from the state at a time [s] to torques. `tau` always gets the last command: finite, within the
 * limits. RT */
OPSPACE_API int opspace_tick(opspace *robot, const double *q, const double *v, double time, double *tau);

/* Compute the last tick again and forget it: caches and branch predictors are as after a tick, and nothing else has
 * changed but results that are read by name. A loop that wakes up a little before the next state is there calls it then,
 * so that the tick itself is not slowed down by what other programs did meanwhile. OPSPACE_NOTHING: no tick was
 * the last thing that happened. RT */
OPSPACE_API int opspace_warm(opspace *robot);

/* A safe command, which is approached at the rate limit: 0 none, 1 gravity, 2 gravity and braking. RT */
OPSPACE_API int opspace_safe(opspace *robot, int kind, const double *q, const double *v, double time, double *tau);

/* Targets of a task by number, at a time [s] of the loop's clock; all in world axes (of a task that is relative to a
 * frame: in its axes), six-vectors linear first. A null pointer leaves position or orientation (xyzw) as it is to be.
 * Twists and wrenches count for the parameter stream_timeout. Numbers that are not finite are refused at once; what is
 * too far or too fast is changed as the task's limits say. RT MAIL */
OPSPACE_API int opspace_target_pose(opspace *robot, uint32_t task, const double *position, const double *quaternion,
                                    double time);
OPSPACE_API int opspace_target_twist(opspace *robot, uint32_t task, const double *twist, double time);
OPSPACE_API int opspace_target_wrench(opspace *robot, uint32_t task, const double *wrench, double time);
OPSPACE_API int opspace_measured_wrench(opspace *robot, uint32_t task, const double *wrench, double time);

/* A trajectory: `count` times (rising, [s] after `time`), positions (3 each), quaternions (4 each), and twists (6 each)
 * or a null pointer. opspace_most_way_points says how many fit: that was declared at export. RT MAIL */
OPSPACE_API int opspace_way_points(opspace *robot, uint32_t task, uint32_t count, const double *times,
                                   const double *positions, const double *quaternions, const double *twists,
                                   double time);
OPSPACE_API uint32_t opspace_most_way_points(const opspace *robot);

/* Approach a posture, one position a joint of the command; NaN leaves a joint as it is to be. Velocities with which it
 * is passed, or a null pointer. RT MAIL */
OPSPACE_API int opspace_posture(opspace *robot, const double *positions, const double *velocities, double time);

/* How many ticks were computed, and how many targets a tick found unusable. RT */
OPSPACE_API int opspace_counts(const opspace *robot, uint64_t *ticks, uint64_t *refused);

/* Find a field by name. Searching takes a logarithm of their number: keep what is found. RT */
OPSPACE_API int opspace_find(const opspace *robot, const char *name, opspace_field *field);

/* The field of a number, in the order of names; OPSPACE_NAME beyond the last. RT */
OPSPACE_API int opspace_field_at(const opspace *robot, uint32_t number, opspace_field *field);

/* Write `count` numbers of a live parameter, row by row; all are checked before one is written. What follows from it is
 * computed at once: limits, gains, inertias with a payload; new posture.positions are approached. Ranges are checked,
 * combinations are not: singularity.cut is to be below singularity.damping, and a payload that has no frame, because
 * payload.frame is empty and no task has one, is not carried. RT */
OPSPACE_API int opspace_set(opspace *robot, const opspace_field *field, const double *values, size_t count);

/* Read up to `count` numbers of a field, row by row. RT */
OPSPACE_API int opspace_get(const opspace *robot, const opspace_field *field, double *values, size_t count);

/* Compute by another method from the next tick on: one write. That tick computes by both, the old one first. RT */
OPSPACE_API int opspace_use_method(opspace *robot, const char *name);

/* ---- a controller behind its gates ----
 *
 * The gates judge what a robot says before it is used, and close for states that are stale, impossible, not finite,
 * jumping or not permitted; docs/safety.md has the table. While one is closed a safe command is sent: zero, gravity or
 * damping, as the parameters say and the gate permits; when all are open again the controller starts anew where the
 * robot is. Every command leaves within the effort and rate limits.
 *
 * All times are in ns, by clocks that never show 0: `stamp` of a message; `arrival` and `steady` by a clock that never
 * jumps (CLOCK_MONOTONIC); `time` by the clock that states are judged by: the steady one, or that of a simulation.
 * What time the controller has for targets is that of the states: opspace_believed tells it. */

/* What became of a message. */
typedef enum {
  OPSPACE_DROPPED = 0, /* it counts for nothing: repeated, overtaken */
  OPSPACE_TAKEN = 1,   /* a part of a state */
  OPSPACE_READY = 2,   /* with it a whole state is believed */
  OPSPACE_FAULTY = 3   /* all of it is refused, and a gate closes */
} opspace_verdict;

/* Choose the clock, before opspace_begin: 1, states are judged by a simulated clock; 0 (so it is at first), by the
 * steady one, by which the rate limit holds, too. RT */
OPSPACE_API int opspace_simulated_time(opspace *robot, int is_simulated);

/* Let commands out, the first free of the rate limit. As opspace_command: the newest state is answered, if there is one
 * that still counts. RT */
OPSPACE_API int opspace_begin(opspace *robot, int64_t time, int64_t steady, double *tau);

/* Joint states came: `count` of them, numbers of joints as opspace_joint() has them, or a null pointer: all, in that
 * order. Velocities may be a null pointer, or NaN where a joint never tells; then they are found by differences.
 * `verdict` may be a null pointer. RT */
OPSPACE_API int opspace_joint_states(opspace *robot, uint32_t count, const uint32_t *joints, const double *positions,
                                     const double *velocities, int64_t stamp, int64_t arrival, int64_t time,
                                     int *verdict);

/* The floating base was told: pose x y z qx qy qz qw in the world, twist (linear, angular) in the base's axes. It is
 * paired with joint states of the same stamp: give it before them. RT */
OPSPACE_API int opspace_odometry(opspace *robot, const double *pose, const double *twist, int64_t stamp,
                                 int64_t arrival, int64_t time, int *verdict);

/* A message came that could not be read, or does not fit: the gate of this number closes. RT */
OPSPACE_API int opspace_unreadable(opspace *robot, uint32_t gate, int64_t arrival);

/* What is to be sent now: call it once after what came, and at least every few milliseconds when nothing comes.
 * OPSPACE_OK: tau is a torque of the controller; OPSPACE_SAFE: it is a safe command; OPSPACE_NOTHING and
 * OPSPACE_INACTIVE: it is what was sent last, and need not be sent again. RT */
OPSPACE_API int opspace_command(opspace *robot, int64_t time, int64_t steady, double *tau);

/* No commands go out from now on. OPSPACE_SAFE: tau is the last command, to be left standing (parameter last_command);
 * OPSPACE_NOTHING: there is none. RT */
OPSPACE_API int opspace_end(opspace *robot, double *tau);

/* How long the last tick took [ns]: too many in a row that are too long close the gate `overrun`. RT */
OPSPACE_API int opspace_elapsed(opspace *robot, int64_t elapsed);

/* Something went wrong that is no message's fault: the gate of this number (`error`, say) closes. RT */
OPSPACE_API int opspace_fail(opspace *robot, uint32_t gate);

/* Permission to move, for the parameter enable_timeout, or that there is none. RT ANY */
OPSPACE_API int opspace_enable(opspace *robot, int is_permitted, int64_t steady);

/* A reset: let an emergency stop go, and open every gate whose fault is gone; with the next opspace_command. RT ANY */
OPSPACE_API int opspace_open_gates(opspace *robot);

/* The gate of a number, and what it means that it is closed; a null pointer beyond the last. RT */
OPSPACE_API const char *opspace_gate(const opspace *robot, uint32_t number);
OPSPACE_API const char *opspace_gate_words(const opspace *robot, uint32_t number);

/* The number of a gate of this name. RT */
OPSPACE_API int opspace_gate_number(const opspace *robot, const char *name, uint32_t *number);

/* The closed gates, gate i as bit 1 << i; those of the highest numbers matter most. RT */
OPSPACE_API int opspace_closed(const opspace *robot, uint64_t *closed);

/* How often a gate has closed, and how many messages were refused for it. RT */
OPSPACE_API int opspace_closings(const opspace *robot, uint32_t gate, uint64_t *closings, uint64_t *messages);

/* Why gates are closed, in words, what matters most first; "" if none is. At most `size` bytes with the zero at the end;
 * what does not fit is left off. Bounded time, but not for every tick. */
OPSPACE_API int opspace_gates_in_words(const opspace *robot, char *text, size_t size);

/* The state that is believed, and the controller's time of it [s]; null pointers for what is not wanted. OPSPACE_NOTHING
 * before the first. RT */
OPSPACE_API int opspace_believed(const opspace *robot, double *q, double *v, double *time);

/* ---- a simulated robot ----
 *
 * An image that `opspace export PARAMS.yaml --simulator` wrote is opened like any other (opspace_size, opspace_open,
 * opspace_joint, opspace_find). One thread calls these. */

/* One step with efforts, in the order of opspace_joint(); they are cut off at the effort limits. RT */
OPSPACE_API int opspace_sim_step(opspace *robot, const double *tau);

/* The state, the efforts of the last step after the limits, and the time [s]; null pointers for what is not wanted. The
 * joints are the last entries of q and v, in the order of opspace_joint(). RT */
OPSPACE_API int opspace_sim_state(const opspace *robot, double *q, double *v, double *tau, double *time);

/* Efforts with which the coming step leaves the joints where they are, as long as every step is made with them. RT */
OPSPACE_API int opspace_sim_hold(opspace *robot, double *tau);

/* Back to time zero: to the initial state, or, where they are no null pointers, another configuration and velocity.
 * RT */
OPSPACE_API int opspace_sim_reset(opspace *robot, const double *q, const double *v);

/* Let a wrench (force, torque; world axes, at the frame's moving origin) act on a frame for some steps from now on; 0
 * ends it. OPSPACE_BUSY: too many frames are pushed. RT */
OPSPACE_API int opspace_sim_push(opspace *robot, const char *frame, const double *wrench, uint32_t steps);

/* Length of a step [s]. RT */
OPSPACE_API double opspace_sim_period(const opspace *robot);

#ifdef __cplusplus
}
#endif
#endif
