/* SPDX-License-Identifier: Apache-2.0 */
/* A robot in its arena, for the sources of this library. */
#ifndef OPSPACE_ROBOT_H
#define OPSPACE_ROBOT_H

#include <stdatomic.h>

#include "opspace_image.h"

#define MAIL_SLOTS 8u   /* targets that may wait */
#define MAIL_A_TICK 2u  /* of them that a tick takes */
#define POINT_SIZE 14u  /* numbers of a way point: time, position, quaternion, twist */

typedef enum { POSE, TWIST, WRENCH, MEASURED, WAY_POINTS, POSTURE } mail_kind;

/* A target on its way from another thread. Its numbers follow in the arena. */
typedef struct {
  mail_kind kind;
  uint32_t task;
  uint32_t what;  /* of a pose: 1 position, 2 orientation; of way points: 1 with twists */
  uint32_t count; /* of way points */
  double time;
} mail;

/* What of the image the functions here work on: places in DATA, found by name when it is opened. */
typedef struct {
  double *q, *v, *sent, *last_time;
  int64_t *mode, *status, *method, *references, *is_free, *joint_command, *target_status;
  double *given, *twist, *point, *position, *speed, *stream_timeout, *wrench_limit;
  double *wrench, *measured, *measured_on, *wrench_end, *measured_end;
  int64_t *points, *has_twists, *joint;
  int64_t *not_finite, *is_paced;
} robot_fields;

/* Likewise of the gates. */
typedef struct {
  int64_t *new_joint, *closed, *faults, *is_stopped, *enabled, *is_simulated, *has_state, *must_restart;
  int64_t *is_active, *is_moving, *safe_kind, *verdict, *decision, *closings, *fault_counts, *told_stamp;
  double *new_position, *new_velocity, *new_pose, *new_twist, *q, *v, *told, *safe_time;
} gate_fields;

/* Likewise of a simulated robot. */
typedef struct {
  double *q, *v, *given, *applied, *dt, *brake, *q_next, *v_next, *q_start, *v_start, *push_steps, *push_wrench;
  int64_t *status, *state, *single_q, *single_v, *push_frame;
  uint32_t singles, pushes, push_stride;
} engine_fields;

struct opspace {
  image_header *image; /* a copy in the arena, its DATA alive */
  int64_t law; /* 0: none */
  int64_t gates;  /* 0: none */
  int64_t engine; /* 0: none */
  robot_fields at;
  gate_fields gate;
  engine_fields sim;
  int64_t next_method; /* 0: none */
  uint32_t joints, tasks, capacity, mail_size;
  uint32_t wrench_stride, measured_stride, point_stride;
  int is_active;
  int is_repeatable;   /* a tick was the last that happened to the law: opspace_warm */
  uint32_t finite_gate, error_gate;
  int pending;         /* verdict on what came since the last command */
  uint64_t ticks, refused;
  uint64_t steps;      /* of a simulated robot */
  int is_held;         /* efforts that hold it were asked for since its last step: last_safe */
  int is_holding;      /* its last step was made with them */
  atomic_int is_stopped;
  atomic_int must_open; /* the gates, with the next command */
  atomic_llong enabled; /* when permission was last given [ns]; 0: not */
  atomic_uint written, read; /* mail so far */
  mail slots[MAIL_SLOTS];
  double *numbers;     /* mail_size of each slot */
  double *kept;        /* joints: the command, while a tick is repeated */
  double *last_safe;   /* joints: the newest safe command, or efforts that hold a simulated robot */
  uint32_t *model_joint; /* joints: number in the model of a joint of the command */
  int64_t *start;      /* words of a simulated robot's state, then q and v, as they were when it was opened */
  double *held;        /* nq: where it is held */
};

static inline uint32_t count_of(const opspace *robot, int section) {
  return (uint32_t)robot->image->sections[section].count;
}

/* Where a field is that the library itself needs, with so many numbers at least; 0 into `is_whole` if there is none. */
void *needed(const opspace *robot, const char *name, uint64_t count, int *is_whole, uint32_t *stride);

/* Find the fields of gates and simulated robot; 0 if some are missing. */
int find_gates(opspace *robot);
int find_engine(opspace *robot);

/* Compare the steps of a simulated robot with its reference steps. */
int replay_steps(opspace *robot, const image_header *image, uint32_t *steps, uint32_t *identical, double *worst);

/* A state to where kernels look for it. */
void give(opspace *robot, const double *q, const double *v);

/* One tick of the law in the state that was given, by the next method if there is one. */
void run_tick(opspace *robot, double time, double steady);

/* How many numbers a target of this robot has at most. */
uint32_t mail_numbers(uint32_t joints, uint32_t capacity);

/* Take what waits, MAIL_A_TICK at most. */
void take_mail(opspace *robot);

/* Refuse all that waits. */
void drop_mail(opspace *robot);

#endif
