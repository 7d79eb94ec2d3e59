/* SPDX-License-Identifier: Apache-2.0 */
/* Two robots in one process: a loop ticks both, other threads send targets, stop and permit; for ThreadSanitizer.
 *
 *   threads ONE.opspace OTHER.opspace TICKS */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "opspace.h"

enum { ROBOTS = 2 };

static opspace *robots[ROBOTS];
static void *arenas[ROBOTS];
static atomic_int is_over;
static long sent, busy; /* of the thread that sends */

static opspace *open_robot(const char *path, void **arena) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END)) exit(2);
  size_t size = (size_t)ftell(file);
  void *image = aligned_alloc(64, (size + 63) / 64 * 64);
  rewind(file);
  if (!image || fread(image, 1, size, file) != size) exit(2);
  fclose(file);
  size_t needed = opspace_size(image, size);
  *arena = aligned_alloc(64, (needed + 63) / 64 * 64);
  opspace *robot;
  if (!*arena || opspace_open(&robot, *arena, needed, image, size)) exit(3);
  free(image);
  return robot;
}

static void note(int status) {
  if (status != OPSPACE_OK && status != OPSPACE_BUSY) exit(4);
  sent += status == OPSPACE_OK;
  busy += status == OPSPACE_BUSY;
}

static void *send(void *nothing) {
  double position[3] = {0.3, 0.1, 0.4}, quaternion[4] = {0, 0, 0, 1}, twist[6] = {0.1, 0, 0, 0, 0, 0.1};
  double times[2] = {0.5, 1.0}, points[6] = {0.3, 0, 0.4, 0.3, 0.1, 0.4}, turns[8] = {0, 0, 0, 1, 0, 0, 0, 1};
  double posture[64] = {0.0};
  while (!atomic_load(&is_over))
    for (int i = 0; i < ROBOTS; i++) {
      position[0] = 0.3 + 0.001 * (double)(sent % 100);
      note(opspace_target_pose(robots[i], 0, position, quaternion, 0.0));
      note(opspace_target_twist(robots[i], 0, twist, 0.0));
      note(opspace_way_points(robots[i], 0, 2, times, points, turns, NULL, 0.0));
      note(opspace_posture(robots[i], posture, NULL, 0.0));
    }
  return nothing;
}

static void *disturb(void *nothing) {
  for (long n = 0; !atomic_load(&is_over); n++)
    for (int i = 0; i < ROBOTS; i++) {
      if (n % 1000 == 999) opspace_stop(robots[i]);
      opspace_enable(robots[i], (int)(n % 2), n + 1);
    }
  return nothing;
}

int main(int count, char **words) {
  if (count != 4) return 2;
  double *q[ROBOTS], *v[ROBOTS], *tau[ROBOTS];
  for (int i = 0; i < ROBOTS; i++) {
    robots[i] = open_robot(words[1 + i], &arenas[i]);
    q[i] = calloc(opspace_nq(robots[i]) + 8, 8), v[i] = calloc(opspace_nv(robots[i]) + 8, 8);
    tau[i] = calloc(opspace_joints(robots[i]), 8);
    if (opspace_nq(robots[i]) != opspace_nv(robots[i])) q[i][6] = 1.0;
    for (uint32_t j = 0; j < opspace_joints(robots[i]); j++) q[i][opspace_nq(robots[i]) - 1 - j] = 0.3;
    if (opspace_activate(robots[i], q[i], v[i], 0.0)) return 5;
  }
  pthread_t others[2];
  if (pthread_create(&others[0], NULL, send, NULL) || pthread_create(&others[1], NULL, disturb, NULL)) return 6;
  long stops = 0;
  for (long n = 1; n <= atol(words[3]); n++)
    for (int i = 0; i < ROBOTS; i++) {
      double time = 0.001 * (double)n;
      int status = opspace_tick(robots[i], q[i], v[i], time, tau[i]);
      if (status == OPSPACE_STOPPED) status = opspace_reset(robots[i], q[i], v[i], time), stops++;
      if (status != OPSPACE_OK) return 7;
      for (uint32_t j = 0; j < opspace_joints(robots[i]); j++)
        if (!isfinite(tau[i][j])) return 8;
    }
  atomic_store(&is_over, 1);
  for (int i = 0; i < 2; i++) pthread_join(others[i], NULL);
  printf("%ld targets, %ld when the mailbox was full, %ld stops\n", sent, busy, stops);
  for (int i = 0; i < ROBOTS; i++) free(q[i]), free(v[i]), free(tau[i]), free(arenas[i]);
  return sent > 100 && stops > 0 ? 0 : 10;
}
