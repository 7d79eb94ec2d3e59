/* SPDX-License-Identifier: Apache-2.0 */
/* Calls every function of a robot with random arguments; every answer has to be a known code, every command finite. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opspace.h"

enum { MOST = 64, FUNCTIONS = 32 };

static uint64_t seed = 1;

static uint32_t any(uint32_t limit) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(seed >> 33) % limit;
}

static double number(void) {
  static const double WILD[] = {NAN, INFINITY, -INFINITY, 1e308, -1e300, 1e-320, 1e12, 0.0, 7.0, -3.0};
  return any(20) ? (double)any(2001) / 1000.0 - 1.0 : WILD[any(10)];
}

/* Some numbers, or now and then none. */
static const double *numbers(double *room) {
  for (int i = 0; i < MOST * 14; i++) room[i] = number();
  return any(25) ? room : NULL;
}

static const char *name(const opspace *robot) {
  static const char *const WORDS[] = {"", "tool", "state_timeout", "effort_scale", "gates.closed", "\xff\xfe", "dense", "rjk"};
  opspace_field field;
  if (any(30) == 0) return NULL;
  if (any(2) && !opspace_field_at(robot, any(500), &field)) return field.name;
  return WORDS[any(8)];
}

static int call(opspace *robot, uint32_t which, int64_t now, double time, double *tau) {
  static double a[MOST * 14], b[MOST * 14], c[MOST * 14], d[MOST * 14], out[4096];
  static char words[64];
  uint32_t task = any(4), joints[MOST], count = any(40);
  uint64_t bits;
  opspace_field field;
  const char *text = name(robot);
  for (int i = 0; i < MOST; i++) joints[i] = any(20);
  if (any(10) == 0) now -= any(1000) * 1000000;
  if (any(10) == 0) time = number();
  switch (which) {
    case 0: return opspace_activate(robot, numbers(a), numbers(b), time);
    case 1: return opspace_tick(robot, numbers(a), numbers(b), time, tau);
    case 2: return opspace_safe(robot, (int)any(5) - 1, numbers(a), numbers(b), time, tau);
    case 3: return opspace_hold(robot, numbers(a), numbers(b), time);
    case 4: return opspace_reset(robot, numbers(a), numbers(b), time);
    case 5: return any(20) ? opspace_warm(robot) : opspace_stop(robot);
    case 6: return opspace_target_pose(robot, task, numbers(a), numbers(b), time);
    case 7: return opspace_target_twist(robot, task, numbers(a), time);
    case 8: return opspace_target_wrench(robot, task, numbers(a), time);
    case 9: return opspace_measured_wrench(robot, task, numbers(a), time);
    case 10: return opspace_way_points(robot, task, count, numbers(a), numbers(b), numbers(c), numbers(d), time);
    case 11: return opspace_posture(robot, numbers(a), numbers(b), time);
    case 12: return opspace_use_method(robot, text);
    case 13: return opspace_find(robot, text, &field);
    case 14:
      if (opspace_find(robot, text, &field)) return OPSPACE_NAME;
      return opspace_set(robot, &field, numbers(a), any(MOST));
    case 15:
      if (opspace_find(robot, text, &field)) return OPSPACE_NAME;
      return opspace_get(robot, &field, out, any(4096));
    case 16: return opspace_begin(robot, now, now, tau);
    case 17: return opspace_command(robot, now, now, tau);
    case 18: return opspace_joint_states(robot, any(16), any(3) ? joints : NULL, numbers(a), numbers(b), now, now, now, NULL);
    case 19: return opspace_joint_states(robot, opspace_joints(robot), NULL, numbers(a), NULL, now, now, now, NULL);
    case 20: return opspace_odometry(robot, numbers(a), numbers(b), now, now, now, NULL);
    case 21: return opspace_unreadable(robot, any(40), now);
    case 22: return opspace_elapsed(robot, (int64_t)any(1u << 30) * 16);
    case 23: return opspace_fail(robot, any(40));
    case 24: return opspace_enable(robot, (int)any(2), now);
    case 25: return opspace_open_gates(robot);
    case 26: return opspace_gates_in_words(robot, words, any(sizeof words + 1));
    case 27: return any(20) ? opspace_closed(robot, &bits) : opspace_end(robot, tau);
    case 28: return opspace_sim_step(robot, numbers(a));
    case 29: return opspace_sim_reset(robot, numbers(a), numbers(b));
    case 30: return opspace_sim_push(robot, text, numbers(a), any(100));
    default: return opspace_sim_hold(robot, tau);
  }
}

int main(int count, char **words) {
  FILE *file = count > 2 ? fopen(words[1], "rb") : NULL;
  if (!file || fseek(file, 0, SEEK_END)) return 2;
  size_t size = (size_t)ftell(file), arena_size;
  char *image = aligned_alloc(64, (size + 63) / 64 * 64);
  rewind(file);
  if (!image || fread(image, 1, size, file) != size || !(arena_size = opspace_size(image, size))) return 2;
  fclose(file);
  void *arena = aligned_alloc(64, arena_size);
  opspace *robot;
  if (!arena || opspace_open(&robot, arena, arena_size, image, size)) return 3;
  double tau[MOST] = {0.0};
  long refused = 0, fine = 0;
  for (long i = 0; i < atol(words[2]); i++) {
    int status = call(robot, any(FUNCTIONS), (i + 1000) * 1000000, 0.001 * (double)i, tau);
    if (status < 0 || status > OPSPACE_RUNAWAY) return 4;
    for (uint32_t j = 0; j < opspace_joints(robot); j++)
      if (!isfinite(tau[j])) return 5;
    refused += status != OPSPACE_OK;
    fine += status == OPSPACE_OK;
  }
  printf("%ld refused, %ld fine\n", refused, fine);
  free(arena);
  free(image);
  return 0;
}
