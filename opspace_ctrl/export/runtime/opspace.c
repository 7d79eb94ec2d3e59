/* SPDX-License-Identifier: Apache-2.0 */
/* The robot in its arena: what opspace.h promises, around the kernels. */
#include "opspace.h"

#include <math.h>
#include <string.h>

#include "opspace_floats.h"
#include "opspace_robot.h"

/* The kernels, see export/stages.py. */
extern void opspace_law_tick(int64_t law, double time, double steady);
extern void opspace_law_safe(int64_t law, int64_t kind, double time, double steady);
extern void opspace_law_hold(int64_t law, double time);
extern void opspace_law_restart(int64_t law, double time);
extern void opspace_law_derive(int64_t law);

#define VELOCITY_MODE 3
#define BRAKING 2 /* the safe command of an emergency stop */

uint32_t opspace_abi(void) { return OPSPACE_ABI; }

const char *opspace_words(int status) {
  static const char *const WORDS[] = {
      "fine",
      "refused: a number is not finite, too large, or no rotation",
      "an argument is missing or none of the valid ones",
      "there is no joint, task, method or field of this name",
      "a value is outside the range of its parameter",
      "this cannot be changed while the robot runs",
      "the robot is not active: call opspace_activate first",
      "this is no image of a robot",
      "an image of another version: export it again",
      "the image is damaged: export it again",
      "the image is for the kernels of another release: export it again",
      "the arena is too small or not aligned",
      "the reference ticks do not come out as they were recorded",
      "too many targets wait for the next tick",
      "an emergency stop: the safe command is sent until opspace_reset",
      "the image has no such part: a controller, its gates, or a simulated robot",
      "a gate is closed: the safe command is sent",
      "nothing is to be sent now",
      "the simulated motion leaves the range of numbers: smaller efforts may keep it",
  };
  int is_known = status >= 0 && status < (int)(sizeof WORDS / sizeof *WORDS);
  return is_known ? WORDS[status] : "an unknown code";
}

/* ---- names ---- */

uint32_t opspace_nq(const opspace *robot) { return robot ? robot->image->nq : 0; }

uint32_t opspace_nv(const opspace *robot) { return robot ? robot->image->nv : 0; }

uint32_t opspace_joints(const opspace *robot) { return robot ? count_of(robot, JOINTS) : 0; }

const char *opspace_commands(const opspace *robot) {
  return robot && robot->law && *robot->at.mode == VELOCITY_MODE ? "velocity" : "effort";
}

static const char *name_of(const opspace *robot, int section, uint32_t number) {
  if (!robot || number >= count_of(robot, section)) return NULL;
  return image_text(robot->image, ((const uint32_t *)image_at(robot->image, section))[number]);
}

const char *opspace_joint(const opspace *robot, uint32_t number) { return name_of(robot, JOINTS, number); }

const char *opspace_task(const opspace *robot, uint32_t number) { return name_of(robot, TASKS, number); }

int opspace_task_number(const opspace *robot, const char *name, uint32_t *number) {
  if (!robot || !name || !number) return OPSPACE_ARGUMENT;
  for (uint32_t i = 0; i < robot->tasks; i++)
    if (!strcmp(name, opspace_task(robot, i))) {
      *number = i;
      return OPSPACE_OK;
    }
  return OPSPACE_NAME;
}

const char *opspace_method_name(const opspace *robot, uint32_t number) {
  if (!robot || number >= count_of(robot, METHODS)) return NULL;
  return image_text(robot->image, ((const image_method *)image_at(robot->image, METHODS))[number].name);
}

/* ---- running ---- */

void give(opspace *robot, const double *q, const double *v) {
  memcpy(robot->at.q, q, robot->image->nq * sizeof(double));
  memcpy(robot->at.v, v, robot->image->nv * sizeof(double));
}

static int answered(const opspace *robot, double *tau) {
  if (tau) memcpy(tau, robot->at.sent, robot->joints * sizeof(double));
  return (int)*robot->at.status;
}

int opspace_activate(opspace *robot, const double *q, const double *v, double time) {
  if (!robot || !q || !v) return OPSPACE_ARGUMENT;
  if (!robot->law) return OPSPACE_ABSENT;
  floats_state before = floats_begin();
  give(robot, q, v);
  opspace_law_restart(robot->law, time);
  floats_end(before);
  robot->is_repeatable = 0;
  if (*robot->at.status != OPSPACE_OK) return OPSPACE_REFUSED;
  *robot->at.is_free = 1;
  *robot->at.is_paced = 0; /* the caller tells no wall clock */
  robot->is_active = 1;
  return OPSPACE_OK;
}

int opspace_hold(opspace *robot, const double *q, const double *v, double time) {
  if (!robot || !q || !v) return OPSPACE_ARGUMENT;
  int is_open = robot->gates && *robot->gate.is_active && !*robot->gate.must_restart;
  if (!robot->is_active && !is_open) return OPSPACE_INACTIVE;
  floats_state before = floats_begin();
  give(robot, q, v);
  opspace_law_hold(robot->law, time);
  floats_end(before);
  robot->is_repeatable = 0;
  return (int)*robot->at.status;
}

/* Both methods compute at this state, as in Python; then the new one goes on. */
static void switch_method(opspace *robot, double time) {
  opspace_law_tick(robot->law, time, NAN);
  opspace_law_tick(robot->law, time, NAN);
  *robot->at.method = robot->next_method;
  robot->next_method = 0;
  opspace_law_tick(robot->law, time, NAN);
}

void run_tick(opspace *robot, double time, double steady) {
  if (robot->next_method) switch_method(robot, time);
  opspace_law_tick(robot->law, time, steady);
  robot->ticks++;
  robot->is_repeatable = *robot->at.status == OPSPACE_OK;
}

int opspace_warm(opspace *robot) {
  if (!robot) return OPSPACE_ARGUMENT;
  if (!robot->is_repeatable) return OPSPACE_NOTHING;
  size_t size = robot->joints * sizeof(double);
  floats_state before = floats_begin();
  memcpy(robot->kept, robot->at.sent, size);
  opspace_law_tick(robot->law, *robot->at.last_time, NAN); /* the same time again: nothing goes on */
  memcpy(robot->at.sent, robot->kept, size);
  floats_end(before);
  return OPSPACE_OK;
}

int opspace_tick(opspace *robot, const double *q, const double *v, double time, double *tau) {
  if (!robot || !q || !v) return OPSPACE_ARGUMENT;
  if (!robot->is_active) return OPSPACE_INACTIVE;
  if (atomic_load_explicit(&robot->is_stopped, memory_order_acquire)) {
    int status = opspace_safe(robot, BRAKING, q, v, time, tau);
    return status == OPSPACE_OK ? OPSPACE_STOPPED : status;
  }
  floats_state before = floats_begin();
  take_mail(robot);
  give(robot, q, v);
  run_tick(robot, time, NAN);
  floats_end(before);
  return answered(robot, tau);
}

int opspace_safe(opspace *robot, int kind, const double *q, const double *v, double time, double *tau) {
  if (!robot || !q || !v || kind < 0 || kind > BRAKING) return OPSPACE_ARGUMENT;
  if (!robot->law) return OPSPACE_ABSENT;
  floats_state before = floats_begin();
  give(robot, q, v);
  opspace_law_safe(robot->law, kind, time, NAN);
  floats_end(before);
  robot->is_repeatable = 0;
  return answered(robot, tau);
}

int opspace_stop(opspace *robot) {
  if (!robot) return OPSPACE_ARGUMENT;
  atomic_store_explicit(&robot->is_stopped, 1, memory_order_release);
  return OPSPACE_OK;
}

int opspace_reset(opspace *robot, const double *q, const double *v, double time) {
  if (!robot || !q || !v) return OPSPACE_ARGUMENT;
  if (!robot->law) return OPSPACE_ABSENT;
  floats_state before = floats_begin();
  give(robot, q, v);
  opspace_law_restart(robot->law, time);
  floats_end(before);
  if (*robot->at.status == OPSPACE_OK) atomic_store_explicit(&robot->is_stopped, 0, memory_order_release);
  return (int)*robot->at.status;
}

int opspace_counts(const opspace *robot, uint64_t *ticks, uint64_t *refused) {
  if (!robot || !ticks || !refused) return OPSPACE_ARGUMENT;
  *ticks = robot->ticks;
  *refused = robot->refused;
  return OPSPACE_OK;
}

/* ---- fields ---- */

int opspace_field_at(const opspace *robot, uint32_t number, opspace_field *field) {
  if (!robot || !field) return OPSPACE_ARGUMENT;
  if (number >= count_of(robot, FIELDS)) return OPSPACE_NAME;
  const image_field *own = (const image_field *)image_at(robot->image, FIELDS) + number;
  *field = (opspace_field){
      .name = image_text(robot->image, own->name),
      .unit = image_text(robot->image, own->unit),
      .choices = image_text(robot->image, own->choices),
      .least = own->least,
      .most = own->most,
      .rows = own->rows,
      .columns = own->columns,
      .stride = own->stride,
      .is_whole = own->is_whole,
      .is_live = own->is_live,
      .role = own->role,
      .kind = own->kind,
      .at = (char *)robot->image + robot->image->sections[DATA].place + own->place,
  };
  return OPSPACE_OK;
}

int opspace_find(const opspace *robot, const char *name, opspace_field *field) {
  if (!robot || !name || !field) return OPSPACE_ARGUMENT;
  const image_field *all = image_at(robot->image, FIELDS);
  uint32_t first = 0, end = count_of(robot, FIELDS);
  while (first < end) {
    uint32_t middle = first + (end - first) / 2;
    int order = strcmp(name, image_text(robot->image, all[middle].name));
    if (order == 0) return opspace_field_at(robot, middle, field);
    if (order < 0) end = middle;
    else first = middle + 1;
  }
  return OPSPACE_NAME;
}

int opspace_set(opspace *robot, const opspace_field *field, const double *values, size_t count) {
  if (!robot || !field || !values || count > (size_t)field->rows * field->columns) return OPSPACE_ARGUMENT;
  if (!field->is_live) return OPSPACE_FIXED;
  for (size_t i = 0; i < count; i++)
    if (!(values[i] >= field->least && values[i] <= field->most) && !(field->kind == 'O' && isnan(values[i])))
      return OPSPACE_RANGE;
  for (size_t i = 0; i < count; i++) {
    size_t place = i / field->columns * field->stride + i % field->columns;
    if (field->is_whole) ((int64_t *)field->at)[place] = (int64_t)values[i];
    else ((double *)field->at)[place] = values[i];
  }
  if (robot->law) { /* what follows from it */
    floats_state before = floats_begin();
    opspace_law_derive(robot->law);
    floats_end(before);
    robot->is_repeatable = 0;
  }
  return OPSPACE_OK;
}

int opspace_get(const opspace *robot, const opspace_field *field, double *values, size_t count) {
  if (!robot || !field || !values || count > (size_t)field->rows * field->columns) return OPSPACE_ARGUMENT;
  for (size_t i = 0; i < count; i++) {
    size_t place = i / field->columns * field->stride + i % field->columns;
    values[i] = field->is_whole ? (double)((int64_t *)field->at)[place] : ((double *)field->at)[place];
  }
  return OPSPACE_OK;
}

int opspace_use_method(opspace *robot, const char *name) {
  if (!robot || !name) return OPSPACE_ARGUMENT;
  const image_method *method = image_at(robot->image, METHODS);
  for (uint32_t i = 0; i < count_of(robot, METHODS); i++) {
    if (strcmp(name, image_text(robot->image, method[i].name))) continue;
    robot->next_method = (int64_t)(uintptr_t)image_at(robot->image, DATA) + (int64_t)method[i].place;
    return OPSPACE_OK;
  }
  return OPSPACE_NAME;
}
