/* SPDX-License-Identifier: Apache-2.0 */
/* Targets: they are put into a mailbox by one thread and taken by the next tick, in another; neither ever waits. */
#include <math.h>
#include <string.h>

#include "opspace_robot.h"

extern void opspace_references_aim(int64_t references, int64_t task, int64_t what, double time);
extern void opspace_references_drive(int64_t references, int64_t task, double time, double duration);
extern void opspace_references_follow(int64_t references, int64_t task, double time);
extern void opspace_references_approach(int64_t references, double time);

#define FARTHEST 1e6      /* [m, rad, m/s, rad/s, N, Nm] */
#define LATEST 1e11       /* [s] */
#define LEAST_STEP 1e-3   /* [s] between way points */
#define NORM_TOLERANCE 0.1

/* ---- sending ---- */

static int are_meant(const double *x, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!(fabs(x[i]) <= FARTHEST)) return 0;
  return 1;
}

static int is_rotation(const double *x) {
  double norm = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]);
  return fabs(norm - 1.0) <= NORM_TOLERANCE;
}

uint32_t mail_numbers(uint32_t joints, uint32_t capacity) {
  uint32_t points = POINT_SIZE * capacity;
  return 3 * joints > points ? 3 * joints : points;
}

/* A free slot for a target and its numbers; a null pointer, and why, if there is none or the task or time is wrong. */
static mail *begin(opspace *robot, uint32_t task, uint32_t tasks, double time, double **numbers, int *status) {
  unsigned written = atomic_load_explicit(&robot->written, memory_order_relaxed);
  unsigned read = atomic_load_explicit(&robot->read, memory_order_acquire);
  *status = OPSPACE_OK;
  if (task >= tasks) *status = OPSPACE_NAME;
  else if (!(fabs(time) <= LATEST)) *status = OPSPACE_REFUSED;
  else if (written - read >= MAIL_SLOTS) *status = OPSPACE_BUSY;
  if (*status != OPSPACE_OK) return NULL;
  mail *slot = &robot->slots[written % MAIL_SLOTS];
  *numbers = robot->numbers + (size_t)(written % MAIL_SLOTS) * robot->mail_size;
  *slot = (mail){.task = task, .time = time};
  return slot;
}

static int send(opspace *robot) {
  atomic_fetch_add_explicit(&robot->written, 1, memory_order_release);
  return OPSPACE_OK;
}

int opspace_target_pose(opspace *robot, uint32_t task, const double *position, const double *quaternion, double time) {
  double *numbers;
  int status;
  if (!robot) return OPSPACE_ARGUMENT;
  if ((position && !are_meant(position, 3)) || (quaternion && !is_rotation(quaternion))) return OPSPACE_REFUSED;
  mail *slot = begin(robot, task, robot->tasks, time, &numbers, &status);
  if (!slot) return status;
  slot->kind = POSE;
  slot->what = (position ? 1u : 0u) | (quaternion ? 2u : 0u);
  if (position) memcpy(numbers, position, 3 * sizeof(double));
  if (quaternion) memcpy(numbers + 3, quaternion, 4 * sizeof(double));
  return send(robot);
}

static int send_six(opspace *robot, mail_kind kind, uint32_t task, const double *x, double time) {
  double *numbers;
  int status;
  if (!robot || !x) return OPSPACE_ARGUMENT;
  if (!are_meant(x, 6)) return OPSPACE_REFUSED;
  mail *slot = begin(robot, task, robot->tasks, time, &numbers, &status);
  if (!slot) return status;
  slot->kind = kind;
  memcpy(numbers, x, 6 * sizeof(double));
  return send(robot);
}

int opspace_target_twist(opspace *robot, uint32_t task, const double *twist, double time) {
  return send_six(robot, TWIST, task, twist, time);
}

int opspace_target_wrench(opspace *robot, uint32_t task, const double *wrench, double time) {
  return send_six(robot, WRENCH, task, wrench, time);
}

int opspace_measured_wrench(opspace *robot, uint32_t task, const double *wrench, double time) {
  return send_six(robot, MEASURED, task, wrench, time);
}

uint32_t opspace_most_way_points(const opspace *robot) { return robot ? robot->capacity - 2 : 0; }

int opspace_way_points(opspace *robot, uint32_t task, uint32_t count, const double *times, const double *positions,
                       const double *quaternions, const double *twists, double time) {
  double *numbers;
  int status;
  if (!robot || !times || !positions || !quaternions) return OPSPACE_ARGUMENT;
  if (count < 1 || count > opspace_most_way_points(robot)) return OPSPACE_ARGUMENT;
  for (uint32_t i = 0; i < count; i++) {
    int rises = i ? times[i] - times[i - 1] >= LEAST_STEP : times[0] == 0.0 || times[0] >= LEAST_STEP;
    if (!rises || !are_meant(times + i, 1) || !are_meant(positions + 3 * i, 3)) return OPSPACE_REFUSED;
    if (!is_rotation(quaternions + 4 * i) || (twists && !are_meant(twists + 6 * i, 6))) return OPSPACE_REFUSED;
  }
  mail *slot = begin(robot, task, robot->tasks, time, &numbers, &status);
  if (!slot) return status;
  slot->kind = WAY_POINTS;
  slot->what = twists ? 1u : 0u;
  slot->count = count;
  for (uint32_t i = 0; i < count; i++, numbers += POINT_SIZE) {
    numbers[0] = times[i];
    memcpy(numbers + 1, positions + 3 * i, 3 * sizeof(double));
    memcpy(numbers + 4, quaternions + 4 * i, 4 * sizeof(double));
    if (twists) memcpy(numbers + 8, twists + 6 * i, 6 * sizeof(double));
    else memset(numbers + 8, 0, 6 * sizeof(double));
  }
  return send(robot);
}

int opspace_posture(opspace *robot, const double *positions, const double *velocities, double time) {
  double *numbers;
  int status;
  if (!robot || !positions) return OPSPACE_ARGUMENT;
  for (uint32_t j = 0; j < robot->joints; j++) {
    if (!isnan(positions[j]) && !are_meant(positions + j, 1)) return OPSPACE_REFUSED;
    if (velocities && !isnan(positions[j]) && !are_meant(velocities + j, 1)) return OPSPACE_REFUSED;
  }
  mail *slot = begin(robot, 0, robot->law != 0, time, &numbers, &status);
  if (!slot) return status;
  slot->kind = POSTURE;
  for (uint32_t j = 0; j < robot->joints; j++) {
    int is_given = !isnan(positions[j]);
    numbers[3 * j] = is_given ? 1.0 : 0.0;
    numbers[3 * j + 1] = is_given ? positions[j] : 0.0;
    numbers[3 * j + 2] = is_given && velocities ? velocities[j] : 0.0;
  }
  return send(robot);
}

/* ---- taking ---- */

static void take_wrench(opspace *robot, const mail *slot, const double *numbers) {
  robot_fields *at = &robot->at;
  double end = slot->time + *at->stream_timeout, limit = at->wrench_limit[slot->task];
  for (uint32_t c = 0; c < 6; c++) {
    if (slot->kind == WRENCH)
      at->wrench[slot->task * robot->wrench_stride + c] = fmin(fmax(numbers[c], -limit), limit);
    else at->measured[slot->task * robot->measured_stride + c] = numbers[c];
  }
  if (slot->kind == WRENCH) at->wrench_end[slot->task] = end;
  else at->measured_end[slot->task] = end;
  if (slot->kind == MEASURED) at->measured_on[slot->task] = 1.0;
}

static void take_posture(opspace *robot, const double *numbers) {
  robot_fields *at = &robot->at;
  for (uint32_t j = 0; j < robot->joints; j++) { /* the kernels have the model's order */
    const double *own = numbers + 3 * at->joint_command[j];
    at->joint[j] = own[0] > 0.0;
    at->position[j] = own[1];
    at->speed[j] = own[2];
  }
}

static void take_one(opspace *robot, const mail *slot, const double *numbers) {
  robot_fields *at = &robot->at;
  int64_t references = *at->references;
  *at->target_status = OPSPACE_OK;
  robot->is_repeatable = 0;
  switch (slot->kind) {
    case POSE:
      memcpy(at->given, numbers, 7 * sizeof(double));
      opspace_references_aim(references, slot->task, slot->what, slot->time);
      break;
    case TWIST:
      memcpy(at->twist, numbers, 6 * sizeof(double));
      opspace_references_drive(references, slot->task, slot->time, *at->stream_timeout);
      break;
    case WAY_POINTS:
      for (uint32_t i = 0; i < slot->count; i++)
        memcpy(at->point + (size_t)i * robot->point_stride, numbers + i * POINT_SIZE, POINT_SIZE * sizeof(double));
      *at->points = slot->count;
      *at->has_twists = slot->what;
      opspace_references_follow(references, slot->task, slot->time);
      break;
    case POSTURE:
      take_posture(robot, numbers);
      opspace_references_approach(references, slot->time);
      break;
    case WRENCH:
    case MEASURED: take_wrench(robot, slot, numbers); break;
  }
  robot->refused += *at->target_status != OPSPACE_OK;
}

void drop_mail(opspace *robot) {
  unsigned read = atomic_load_explicit(&robot->read, memory_order_relaxed);
  unsigned written = atomic_load_explicit(&robot->written, memory_order_acquire);
  robot->refused += written - read;
  atomic_store_explicit(&robot->read, written, memory_order_release);
}

void take_mail(opspace *robot) {
  unsigned read = atomic_load_explicit(&robot->read, memory_order_relaxed);
  unsigned written = atomic_load_explicit(&robot->written, memory_order_acquire);
  for (unsigned n = 0; n < MAIL_A_TICK && read != written; n++, read++) {
    unsigned place = read % MAIL_SLOTS;
    take_one(robot, &robot->slots[place], robot->numbers + (size_t)place * robot->mail_size);
    atomic_store_explicit(&robot->read, read + 1, memory_order_release);
  }
}
