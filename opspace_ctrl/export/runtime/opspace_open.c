/* SPDX-License-Identifier: Apache-2.0 */
/* Opening an image in an arena, and replaying its reference ticks. */
#include <math.h>
#include <string.h>

#include "opspace_robot.h"

#ifndef TARGET
#define TARGET "unknown"
#endif

/* The kernels, see export/stages.py; KERNEL_HASH, STAGE_COUNT and TARGET are given when this file is compiled. */
extern void (*const opspace_stages[STAGE_COUNT])(void);

static size_t rounded(size_t size) { return (size + OPSPACE_ALIGNMENT - 1) / OPSPACE_ALIGNMENT * OPSPACE_ALIGNMENT; }

static int check(const void *image, size_t size) { return image_check(image, size, KERNEL_HASH, STAGE_COUNT); }

/* What the robot has in its arena before the image: places [bytes]. */
typedef struct {
  size_t numbers, kept, last_safe, model_joint, start, held, image;
} layout;

static layout layout_of(const image_header *image) {
  size_t joints = (size_t)image->sections[JOINTS].count;
  size_t words = (size_t)image->state + image->nq + image->nv;
  layout found;
  found.numbers = rounded(sizeof(opspace));
  found.kept = found.numbers + rounded(MAIL_SLOTS * sizeof(double) * mail_numbers((uint32_t)joints, image->capacity));
  found.last_safe = found.kept + rounded(joints * sizeof(double));
  found.model_joint = found.last_safe + rounded(joints * sizeof(double));
  found.start = found.model_joint + rounded(joints * sizeof(uint32_t));
  found.held = found.start + rounded(words * sizeof(int64_t));
  found.image = found.held + rounded(image->nq * sizeof(double));
  return found;
}

size_t opspace_size(const void *image, size_t image_size) {
  if (check(image, image_size) != OPSPACE_OK) return 0;
  const image_header *header = image;
  return layout_of(header).image + image_kept(header);
}

const char *opspace_target(void) { return TARGET; }

const char *opspace_recorded_on(const void *image, size_t image_size) {
  return check(image, image_size) == OPSPACE_OK ? image_text(image, ((const image_header *)image)->target) : "";
}

void *needed(const opspace *robot, const char *name, uint64_t count, int *is_whole, uint32_t *stride) {
  opspace_field field;
  if (opspace_find(robot, name, &field) != OPSPACE_OK || (uint64_t)field.rows * field.columns < count) {
    *is_whole = 0;
    return NULL;
  }
  if (stride) *stride = field.stride;
  return field.at;
}

static int find_fields(opspace *robot) {
  uint32_t nq = robot->image->nq, nv = robot->image->nv, k = robot->joints, t = robot->tasks, any;
  int is_whole = 1;
  uint32_t *none = &any;
  robot->at = (robot_fields){
      .q = needed(robot, "given_q", nq, &is_whole, none),
      .v = needed(robot, "given_v", nv, &is_whole, none),
      .sent = needed(robot, "door.sent", k, &is_whole, none),
      .last_time = needed(robot, "last_time", 1, &is_whole, none),
      .mode = needed(robot, "mode", 1, &is_whole, none),
      .status = needed(robot, "status", 1, &is_whole, none),
      .method = needed(robot, "space.method", 1, &is_whole, none),
      .references = needed(robot, "references", 1, &is_whole, none),
      .is_free = needed(robot, "door.is_free", 1, &is_whole, none),
      .joint_command = needed(robot, "joint_command", k, &is_whole, none),
      .target_status = needed(robot, "references.status", 1, &is_whole, none),
      .given = needed(robot, "references.given", 7, &is_whole, none),
      .twist = needed(robot, "references.given_twist", 6, &is_whole, none),
      .point = needed(robot, "references.point", (uint64_t)POINT_SIZE * robot->capacity, &is_whole, &robot->point_stride),
      .position = needed(robot, "references.given_position", k, &is_whole, none),
      .speed = needed(robot, "references.given_speed", k, &is_whole, none),
      .stream_timeout = needed(robot, "references.stream_timeout", 1, &is_whole, none),
      .wrench_limit = needed(robot, "references.wrench_limit", t, &is_whole, none),
      .wrench = needed(robot, "wrench", 6 * t, &is_whole, &robot->wrench_stride),
      .measured = needed(robot, "measured", 6 * t, &is_whole, &robot->measured_stride),
      .measured_on = needed(robot, "measured_on", t, &is_whole, none),
      .wrench_end = needed(robot, "wrench_end", t, &is_whole, none),
      .measured_end = needed(robot, "measured_end", t, &is_whole, none),
      .points = needed(robot, "references.given_points", 1, &is_whole, none),
      .has_twists = needed(robot, "references.has_twists", 1, &is_whole, none),
      .joint = needed(robot, "references.given_joint", k, &is_whole, none),
      .not_finite = needed(robot, "not_finite", 1, &is_whole, none),
      .is_paced = needed(robot, "door.is_paced", 1, &is_whole, none),
  };
  for (uint32_t j = 0; is_whole && j < k; j++) {
    is_whole = (uint64_t)robot->at.joint_command[j] < k;
    if (is_whole) robot->model_joint[robot->at.joint_command[j]] = j;
  }
  return is_whole;
}

/* The address of a part of the image; 0 if there is none. */
static int64_t part(const opspace *robot, uint64_t place) {
  return place == IMAGE_NONE ? 0 : (int64_t)(uintptr_t)image_at(robot->image, DATA) + (int64_t)place;
}

int opspace_open(opspace **robot, void *arena, size_t arena_size, const void *image, size_t image_size) {
  if (!robot || !arena) return OPSPACE_ARGUMENT;
  *robot = NULL;
  int status = check(image, image_size);
  if (status != OPSPACE_OK) return status;
  if ((uintptr_t)arena % OPSPACE_ALIGNMENT || arena_size < opspace_size(image, image_size)) return OPSPACE_ARENA;
  const image_header *header = image;
  layout own = layout_of(header);
  char *base = arena;
  opspace *made = arena;
  memset(made, 0, own.image);
  made->image = (image_header *)(base + own.image);
  made->numbers = (double *)(base + own.numbers);
  made->kept = (double *)(base + own.kept);
  made->last_safe = (double *)(base + own.last_safe);
  made->model_joint = (uint32_t *)(base + own.model_joint);
  made->start = (int64_t *)(base + own.start);
  made->held = (double *)(base + own.held);
  memcpy(made->image, image, image_kept(header));
  image_relocate(made->image, opspace_stages);
  made->law = part(made, header->law);
  made->gates = part(made, header->gates);
  made->engine = part(made, header->engine);
  made->joints = count_of(made, JOINTS);
  made->tasks = count_of(made, TASKS);
  made->capacity = header->capacity;
  made->mail_size = mail_numbers(made->joints, made->capacity);
  if (made->law && !find_fields(made)) return OPSPACE_DAMAGED;
  if (made->gates && !(made->law && find_gates(made))) return OPSPACE_DAMAGED;
  if (made->engine && !find_engine(made)) return OPSPACE_DAMAGED;
  *robot = made;
  return OPSPACE_OK;
}

/* The ticks of a controller, as replay_steps. */
static int replay_ticks(opspace *robot, const image_header *image, uint32_t *ticks, uint32_t *identical,
                        double *worst) {
  uint32_t joints = count_of(robot, JOINTS), row = 1 + image->nq + image->nv + joints;
  *ticks = (uint32_t)(image->sections[TICKS].count / row);
  *identical = 0;
  int status = OPSPACE_OK;
  double largest = 0.0, difference = 0.0;
  const double *tick = image_at(image, TICKS);
  for (uint32_t i = 0; i < *ticks; i++, tick += row) {
    const double *q = tick + 1, *v = q + image->nq, *wanted = v + image->nv;
    if (i == 0) status = opspace_activate(robot, q, v, tick[0]);
    if (status == OPSPACE_OK) status = opspace_tick(robot, q, v, tick[0], NULL);
    if (status != OPSPACE_OK) return status;
    *identical += !memcmp(robot->at.sent, wanted, joints * sizeof(double));
    for (uint32_t j = 0; j < joints; j++) {
      largest = fmax(largest, fabs(wanted[j]));
      double apart = fabs(robot->at.sent[j] - wanted[j]);
      difference = fmax(difference, isfinite(apart) ? apart : INFINITY);
    }
  }
  *worst = largest > 0.0 ? difference / largest : difference;
  return OPSPACE_OK;
}

int opspace_replay(void *arena, size_t arena_size, const void *bytes, size_t image_size, uint32_t *ticks,
                   uint32_t *identical, double *worst) {
  opspace *robot;
  const image_header *image = bytes;
  if (!ticks || !identical || !worst) return OPSPACE_ARGUMENT;
  int status = opspace_open(&robot, arena, arena_size, bytes, image_size);
  if (status != OPSPACE_OK) return status;
  status = (robot->law ? replay_ticks : replay_steps)(robot, image, ticks, identical, worst);
  if (status != OPSPACE_OK) return status;
  return *worst <= 1e-12 ? OPSPACE_OK : OPSPACE_DIFFERENT;
}
