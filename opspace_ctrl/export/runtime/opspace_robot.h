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
  double *q, *v, *sent;
  int64_t *status, *method, *references, *is_free, *joint_command, *target_status;
  double *given, *twist, *point, *position, *speed, *stream_timeout, *wrench_limit;
  double *wrench, *measured, *measured_on, *wrench_end, *measured_end;
  int64_t *points, *has_twists, *joint;
} robot_fields;

struct opspace {
  image_header *image; /* a copy in the arena, its DATA alive */
  int64_t law;
  robot_fields at;
  int64_t next_method; /* 0: none */
  uint32_t joints, tasks, capacity, mail_size;
  uint32_t wrench_stride, measured_stride, point_stride;
  int is_active;
  uint64_t ticks, refused;
  atomic_int is_stopped;
  atomic_uint written, read; /* mail so far */
  mail slots[MAIL_SLOTS];
  double *numbers; /* mail_size of each slot */
};

/* How many numbers a target of this robot has at most. */
uint32_t mail_numbers(uint32_t joints, uint32_t capacity);

/* Take what waits, MAIL_A_TICK at most. */
void take_mail(opspace *robot);

#endif
