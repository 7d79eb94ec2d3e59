/* SPDX-License-Identifier: Apache-2.0 */
/* A controller behind its gates: what decides are kernels, control/safety; here it is carried out, as guarded.py does. */
#include <math.h>
#include <string.h>

#include "opspace_floats.h"
#include "opspace_robot.h"

extern void opspace_gates_take_joints(int64_t gates, int64_t count, int64_t has_velocity, int64_t stamp,
                                      int64_t arrival, int64_t time);
extern void opspace_gates_take_base(int64_t gates, int64_t faults, int64_t stamp, int64_t arrival, int64_t time);
extern void opspace_gates_refuse(int64_t gates, int64_t faults, int64_t arrival);
extern void opspace_gates_activate(int64_t gates, int64_t time, int64_t steady);
extern void opspace_gates_deactivate(int64_t gates);
extern void opspace_gates_answer(int64_t gates, int64_t verdict, int64_t time, int64_t steady);
extern void opspace_gates_refrain(int64_t gates, int64_t faults, int64_t time, int64_t steady);
extern void opspace_gates_note_tick(int64_t gates, int64_t elapsed);
extern void opspace_gates_open_again(int64_t gates);
extern void opspace_law_tick(int64_t law, double time, double steady);
extern void opspace_law_safe(int64_t law, int64_t kind, double time, double steady);
extern void opspace_law_restart(int64_t law, double time);

#define MOST_NAMES 10u /* of joints that are not told yet, in words */

enum { NOTHING, SAFE, START, TICK }; /* decisions, see control/safety/fields.py */

int find_gates(opspace *robot) {
  uint32_t nq = robot->image->nq, nv = robot->image->nv, k = robot->joints, n = count_of(robot, GATES), any;
  int all = 1;
  robot->gate = (gate_fields){
      .new_joint = needed(robot, "gates.new_joint", k, &all, &any),
      .closed = needed(robot, "gates.closed", 1, &all, &any),
      .faults = needed(robot, "gates.faults", 1, &all, &any),
      .is_stopped = needed(robot, "gates.is_stopped", 1, &all, &any),
      .enabled = needed(robot, "gates.enabled", 1, &all, &any),
      .is_simulated = needed(robot, "gates.is_simulated", 1, &all, &any),
      .has_state = needed(robot, "gates.has_state", 1, &all, &any),
      .must_restart = needed(robot, "gates.must_restart", 1, &all, &any),
      .is_active = needed(robot, "gates.is_active", 1, &all, &any),
      .is_moving = needed(robot, "gates.is_moving", 1, &all, &any),
      .safe_kind = needed(robot, "gates.safe_kind", 1, &all, &any),
      .verdict = needed(robot, "gates.verdict", 1, &all, &any),
      .decision = needed(robot, "gates.decision", 1, &all, &any),
      .closings = needed(robot, "gates.closings", n, &all, &any),
      .fault_counts = needed(robot, "gates.fault_counts", n, &all, &any),
      .told_stamp = needed(robot, "gates.told_stamp", k, &all, &any),
      .new_position = needed(robot, "gates.new_position", k, &all, &any),
      .new_velocity = needed(robot, "gates.new_velocity", k, &all, &any),
      .new_pose = needed(robot, "gates.new_pose", 7, &all, &any),
      .new_twist = needed(robot, "gates.new_twist", 6, &all, &any),
      .q = needed(robot, "gates.q", nq, &all, &any),
      .v = needed(robot, "gates.v", nv, &all, &any),
      .told = needed(robot, "gates.told", 1, &all, &any),
      .safe_time = needed(robot, "gates.safe_time", 1, &all, &any),
  };
  return all && opspace_gate_number(robot, "finite", &robot->finite_gate) == OPSPACE_OK &&
         opspace_gate_number(robot, "error", &robot->error_gate) == OPSPACE_OK;
}

/* ---- what happens ---- */

static int missing(const opspace *robot) {
  if (!robot) return OPSPACE_ARGUMENT;
  return robot->gates ? OPSPACE_OK : OPSPACE_ABSENT;
}

int opspace_simulated_time(opspace *robot, int is_simulated) {
  int status = missing(robot);
  if (status != OPSPACE_OK) return status;
  if (*robot->gate.is_active) return OPSPACE_FIXED;
  *robot->gate.is_simulated = is_simulated != 0;
  return OPSPACE_OK;
}

/* Keep a verdict for the next command: what was ready or at fault is not undone by what counts for less. */
static int judged(opspace *robot, floats_state before, int *verdict) {
  int found = (int)*robot->gate.verdict;
  floats_end(before);
  if (found >= OPSPACE_READY) robot->pending = found;
  if (verdict) *verdict = found;
  return OPSPACE_OK;
}

int opspace_joint_states(opspace *robot, uint32_t count, const uint32_t *joints, const double *positions,
                         const double *velocities, int64_t stamp, int64_t arrival, int64_t time, int *verdict) {
  int status = missing(robot);
  if (status != OPSPACE_OK) return status;
  if (!positions || count < 1 || count > robot->joints || (!joints && count != robot->joints)) return OPSPACE_ARGUMENT;
  for (uint32_t i = 0; joints && i < count; i++) {
    if (joints[i] >= robot->joints) return OPSPACE_NAME;
    for (uint32_t j = 0; j < i; j++)
      if (joints[j] == joints[i]) return OPSPACE_ARGUMENT;
  }
  gate_fields *gate = &robot->gate;
  for (uint32_t i = 0; i < count; i++) {
    gate->new_joint[i] = robot->model_joint[joints ? joints[i] : i];
    gate->new_position[i] = positions[i];
    if (velocities) gate->new_velocity[i] = velocities[i];
  }
  floats_state before = floats_begin();
  opspace_gates_take_joints(robot->gates, count, velocities != NULL, stamp, arrival, time);
  return judged(robot, before, verdict);
}

int opspace_odometry(opspace *robot, const double *pose, const double *twist, int64_t stamp, int64_t arrival,
                     int64_t time, int *verdict) {
  int status = missing(robot);
  if (status != OPSPACE_OK) return status;
  if (!pose || !twist) return OPSPACE_ARGUMENT;
  memcpy(robot->gate.new_pose, pose, 7 * sizeof(double));
  memcpy(robot->gate.new_twist, twist, 6 * sizeof(double));
  floats_state before = floats_begin();
  opspace_gates_take_base(robot->gates, 0, stamp, arrival, time);
  return judged(robot, before, verdict);
}

int opspace_unreadable(opspace *robot, uint32_t gate, int64_t arrival) {
  int status = missing(robot);
  if (status != OPSPACE_OK) return status;
  if (gate >= count_of(robot, GATES)) return OPSPACE_NAME;
  floats_state before = floats_begin();
  opspace_gates_refuse(robot->gates, (int64_t)1 << gate, arrival);
  return judged(robot, before, NULL);
}

int opspace_elapsed(opspace *robot, int64_t elapsed) {
  int status = missing(robot);
  if (status == OPSPACE_OK) opspace_gates_note_tick(robot->gates, elapsed);
  return status;
}

int opspace_fail(opspace *robot, uint32_t gate) {
  int status = missing(robot);
  if (status != OPSPACE_OK) return status;
  if (gate >= count_of(robot, GATES)) return OPSPACE_NAME;
  *robot->gate.faults |= (int64_t)1 << gate;
  return OPSPACE_OK;
}

int opspace_enable(opspace *robot, int is_permitted, int64_t steady) {
  int status = missing(robot);
  if (status == OPSPACE_OK)
    atomic_store_explicit(&robot->enabled, is_permitted ? (long long)steady : 0, memory_order_release);
  return status;
}

int opspace_open_gates(opspace *robot) {
  int status = missing(robot);
  if (status != OPSPACE_OK) return status;
  atomic_store_explicit(&robot->is_stopped, 0, memory_order_release);
  atomic_store_explicit(&robot->must_open, 1, memory_order_release);
  return OPSPACE_OK;
}

/* ---- what follows ---- */

/* Take what other threads have asked for. */
static void take_requests(opspace *robot) {
  if (atomic_exchange_explicit(&robot->must_open, 0, memory_order_acq_rel)) opspace_gates_open_again(robot->gates);
  *robot->gate.is_stopped = atomic_load_explicit(&robot->is_stopped, memory_order_acquire);
  *robot->gate.enabled = atomic_load_explicit(&robot->enabled, memory_order_acquire);
}

/* Compute what the closed gates permit. */
static int send_safe(opspace *robot, double steady) {
  opspace_law_safe(robot->law, *robot->gate.safe_kind, *robot->gate.safe_time, steady);
  int is_moving = 0;
  for (uint32_t j = 0; j < robot->joints; j++) {
    is_moving |= robot->at.sent[j] != robot->last_safe[j];
    robot->last_safe[j] = robot->at.sent[j];
  }
  *robot->gate.is_moving = is_moving;
  return OPSPACE_SAFE;
}

/* Carry a decision out. */
static int act(opspace *robot, int64_t time, int64_t steady) {
  gate_fields *gate = &robot->gate;
  double seconds = (double)steady * 1e-9;
  if (*gate->decision == NOTHING) return OPSPACE_NOTHING;
  give(robot, gate->q, gate->v);
  robot->is_repeatable = 0;
  int64_t failed = 0;
  if (*gate->decision == START) {
    opspace_law_restart(robot->law, *gate->told);
    if (*robot->at.status == OPSPACE_OK) *gate->must_restart = 0;
    else failed = (int64_t)1 << robot->error_gate;
  }
  if (*gate->decision != SAFE && !failed) {
    run_tick(robot, *gate->told, seconds);
    if (*robot->at.status != OPSPACE_OK) failed = (int64_t)1 << robot->error_gate;
    else if (*robot->at.not_finite) failed = (int64_t)1 << robot->finite_gate;
    else return OPSPACE_OK;
  }
  if (failed) opspace_gates_refrain(robot->gates, failed, time, steady);
  return *gate->decision == SAFE ? send_safe(robot, seconds) : OPSPACE_NOTHING;
}

static int answered(const opspace *robot, double *tau, int status) {
  if (tau) memcpy(tau, robot->at.sent, robot->joints * sizeof(double));
  return status;
}

int opspace_begin(opspace *robot, int64_t time, int64_t steady, double *tau) {
  int status = missing(robot);
  if (status != OPSPACE_OK) return status;
  floats_state before = floats_begin();
  take_requests(robot);
  drop_mail(robot);
  *robot->at.is_free = 1;
  robot->is_repeatable = 0;
  *robot->at.is_paced = !*robot->gate.is_simulated;
  robot->pending = OPSPACE_DROPPED;
  opspace_gates_activate(robot->gates, time, steady);
  status = act(robot, time, steady);
  floats_end(before);
  return answered(robot, tau, status);
}

int opspace_command(opspace *robot, int64_t time, int64_t steady, double *tau) {
  int status = missing(robot);
  if (status != OPSPACE_OK) return status;
  floats_state before = floats_begin();
  take_requests(robot);
  int is_active = (int)*robot->gate.is_active;
  if (is_active && !*robot->gate.must_restart) take_mail(robot);
  else drop_mail(robot);
  opspace_gates_answer(robot->gates, robot->pending, time, steady);
  robot->pending = OPSPACE_DROPPED;
  status = act(robot, time, steady);
  floats_end(before);
  return answered(robot, tau, is_active ? status : OPSPACE_INACTIVE);
}

int opspace_end(opspace *robot, double *tau) {
  int status = missing(robot);
  if (status != OPSPACE_OK) return status;
  floats_state before = floats_begin();
  opspace_gates_deactivate(robot->gates);
  status = OPSPACE_NOTHING;
  robot->is_repeatable = 0;
  if (*robot->gate.decision == SAFE) {
    *robot->at.is_free = 1;
    give(robot, robot->gate.q, robot->gate.v);
    opspace_law_safe(robot->law, *robot->gate.safe_kind, *robot->gate.safe_time, NAN);
    status = OPSPACE_SAFE;
  }
  floats_end(before);
  return answered(robot, tau, status);
}

/* ---- what is told ---- */

static const image_gate *gate_at(const opspace *robot, uint32_t number) {
  if (!robot || number >= count_of(robot, GATES)) return NULL;
  return (const image_gate *)image_at(robot->image, GATES) + number;
}

const char *opspace_gate(const opspace *robot, uint32_t number) {
  const image_gate *found = gate_at(robot, number);
  return found ? image_text(robot->image, found->name) : NULL;
}

const char *opspace_gate_words(const opspace *robot, uint32_t number) {
  const image_gate *found = gate_at(robot, number);
  return found ? image_text(robot->image, found->words) : NULL;
}

int opspace_gate_number(const opspace *robot, const char *name, uint32_t *number) {
  if (!robot || !name || !number) return OPSPACE_ARGUMENT;
  for (uint32_t i = 0; i < count_of(robot, GATES); i++)
    if (!strcmp(name, opspace_gate(robot, i))) {
      *number = i;
      return OPSPACE_OK;
    }
  return OPSPACE_NAME;
}

int opspace_closed(const opspace *robot, uint64_t *closed) {
  int status = missing(robot);
  if (status != OPSPACE_OK) return status;
  if (!closed) return OPSPACE_ARGUMENT;
  *closed = (uint64_t)*robot->gate.closed;
  return OPSPACE_OK;
}

int opspace_closings(const opspace *robot, uint32_t gate, uint64_t *closings, uint64_t *messages) {
  int status = missing(robot);
  if (status != OPSPACE_OK) return status;
  if (gate >= count_of(robot, GATES)) return OPSPACE_NAME;
  if (closings) *closings = (uint64_t)robot->gate.closings[gate];
  if (messages) *messages = (uint64_t)robot->gate.fault_counts[gate];
  return OPSPACE_OK;
}

int opspace_believed(const opspace *robot, double *q, double *v, double *time) {
  int status = missing(robot);
  if (status != OPSPACE_OK) return status;
  if (!*robot->gate.has_state) return OPSPACE_NOTHING;
  if (q) memcpy(q, robot->gate.q, robot->image->nq * sizeof(double));
  if (v) memcpy(v, robot->gate.v, robot->image->nv * sizeof(double));
  if (time) *time = *robot->gate.told;
  return OPSPACE_OK;
}

/* A text that is written word by word; what does not fit is left off. */
typedef struct {
  char *at;
  size_t left; /* with the zero at the end */
} writer;

static void put(writer *text, const char *words) {
  while (*words && text->left > 1) {
    *text->at++ = *words++;
    text->left--;
  }
  *text->at = 0;
}

int opspace_gates_in_words(const opspace *robot, char *text, size_t size) {
  int status = missing(robot);
  if (status != OPSPACE_OK) return status;
  if (!text || !size) return OPSPACE_ARGUMENT;
  writer out = {text, size};
  const char *between = "";
  int is_of_joints = 0;
  *text = 0;
  for (uint32_t i = count_of(robot, GATES); i-- > 0;) {
    if (!((uint64_t)*robot->gate.closed >> i & 1)) continue;
    const char *name = opspace_gate(robot, i);
    put(&out, between);
    put(&out, name);
    put(&out, ": ");
    put(&out, opspace_gate_words(robot, i));
    between = "; ";
    is_of_joints |= !strcmp(name, "first") || !strcmp(name, "names");
  }
  between = "; joints not told yet: ";
  for (uint32_t j = 0, told = 0; is_of_joints && j < robot->joints && told < MOST_NAMES; j++) {
    if (robot->gate.told_stamp[j]) continue;
    put(&out, between);
    put(&out, opspace_joint(robot, (uint32_t)robot->at.joint_command[j]));
    between = ", ";
    told++;
  }
  return OPSPACE_OK;
}
