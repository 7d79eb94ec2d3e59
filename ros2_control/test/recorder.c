/* SPDX-License-Identifier: Apache-2.0 */
/* A libopspace.so that remembers what a loop gives to the one beside it, and what comes back.
 *
 *     cc -shared -fPIC -O2 -I <folder of opspace.h> recorder.c -o librecorder.so <folder>/libopspace.so -Wl,-rpath,<folder> -ldl
 *
 * The plugin's parameter `library` names it; when the robot is closed, the record is written to the file that the
 * environment variable OPSPACE_RECORD names. recorded.py reads it. Every call is [kind, status, integers, numbers, letters] and
 * then as many 8-byte words of each. For tests: a target that comes during a command waits for it, which keeps the order.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opspace.h"

#define ROOM (8u << 20) /* words */

enum { BEGIN, JOINT_STATES, ODOMETRY, COMMAND, ELAPSED, TARGET_POSE, TARGET_TWIST, SET, USE_METHOD, HOLD, STOP, OPEN_GATES, END };

static int64_t words[ROOM];
static size_t used;
static atomic_flag busy = ATOMIC_FLAG_INIT;

static void lock(void) {
  while (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire)) {
  }
}

static void unlock(void) { atomic_flag_clear_explicit(&busy, memory_order_release); }

static void remember(int kind, int status, const int64_t *integers, size_t n, const double *numbers, size_t k,
                     const char *text) {
  size_t letters = text ? strlen(text) / 8 + 1 : 0;
  if (used + 5 + n + k + letters > ROOM) return;
  int64_t *at = words + used;
  int64_t head[5] = {kind, status, (int64_t)n, (int64_t)k, (int64_t)letters};
  memcpy(at, head, sizeof head);
  memcpy(at + 5, integers, n * 8);
  memcpy(at + 5 + n, numbers, k * 8);
  if (text) strncpy((char *)(at + 5 + n + k), text, letters * 8);
  used += 5 + n + k + letters;
}

__attribute__((destructor)) static void write_record(void) {
  const char *path = getenv("OPSPACE_RECORD");
  FILE *file = path && used ? fopen(path, "wb") : NULL;
  if (!file) return;
  fwrite(words, sizeof *words, used, file);
  fclose(file);
}

/* The function of this name in the library that this one was linked with. */
static void *real(const char *name) {
  Dl_info info;
  if (!dladdr((void *)opspace_abi, &info)) abort(); /* which is not defined here */
  void *handle = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  void *found = handle ? dlsym(handle, name) : NULL;
  if (!found) abort();
  return found;
}

#define REAL(name) \
  static __typeof__(&opspace_##name) real_##name; \
  if (!real_##name) real_##name = (__typeof__(&opspace_##name))real("opspace_" #name)

int opspace_begin(opspace *robot, int64_t time, int64_t steady, double *tau) {
  REAL(begin);
  lock();
  int status = real_begin(robot, time, steady, tau);
  remember(BEGIN, status, (int64_t[]){time, steady}, 2, tau, opspace_joints(robot), NULL);
  unlock();
  return status;
}

int opspace_joint_states(opspace *robot, uint32_t count, const uint32_t *joints, const double *positions,
                         const double *velocities, int64_t stamp, int64_t arrival, int64_t time, int *verdict) {
  REAL(joint_states);
  double both[2 * count];
  memcpy(both, positions, count * sizeof *both);
  memcpy(both + count, velocities, count * sizeof *both);
  lock();
  int status = real_joint_states(robot, count, joints, positions, velocities, stamp, arrival, time, verdict);
  remember(JOINT_STATES, status, (int64_t[]){stamp, arrival, time}, 3, both, 2 * count, NULL);
  unlock();
  return status;
}

int opspace_odometry(opspace *robot, const double *pose, const double *twist, int64_t stamp, int64_t arrival,
                     int64_t time, int *verdict) {
  REAL(odometry);
  double both[13];
  memcpy(both, pose, 7 * sizeof *both);
  memcpy(both + 7, twist, 6 * sizeof *both);
  lock();
  int status = real_odometry(robot, pose, twist, stamp, arrival, time, verdict);
  remember(ODOMETRY, status, (int64_t[]){stamp, arrival, time}, 3, both, 13, NULL);
  unlock();
  return status;
}

int opspace_command(opspace *robot, int64_t time, int64_t steady, double *tau) {
  REAL(command);
  lock();
  int status = real_command(robot, time, steady, tau);
  remember(COMMAND, status, (int64_t[]){time, steady}, 2, tau, opspace_joints(robot), NULL);
  unlock();
  return status;
}

int opspace_elapsed(opspace *robot, int64_t elapsed) {
  REAL(elapsed);
  lock();
  int status = real_elapsed(robot, elapsed);
  remember(ELAPSED, status, &elapsed, 1, NULL, 0, NULL);
  unlock();
  return status;
}

int opspace_target_pose(opspace *robot, uint32_t task, const double *position, const double *quaternion, double time) {
  REAL(target_pose);
  double numbers[8];
  memcpy(numbers, position, 3 * sizeof *numbers);
  memcpy(numbers + 3, quaternion, 4 * sizeof *numbers);
  numbers[7] = time;
  lock();
  int status = real_target_pose(robot, task, position, quaternion, time);
  remember(TARGET_POSE, status, (int64_t[]){task}, 1, numbers, 8, NULL);
  unlock();
  return status;
}

int opspace_target_twist(opspace *robot, uint32_t task, const double *twist, double time) {
  REAL(target_twist);
  double numbers[7];
  memcpy(numbers, twist, 6 * sizeof *numbers);
  numbers[6] = time;
  lock();
  int status = real_target_twist(robot, task, twist, time);
  remember(TARGET_TWIST, status, (int64_t[]){task}, 1, numbers, 7, NULL);
  unlock();
  return status;
}

int opspace_set(opspace *robot, const opspace_field *field, const double *values, size_t count) {
  REAL(set);
  lock();
  int status = real_set(robot, field, values, count);
  remember(SET, status, NULL, 0, values, count, field->name);
  unlock();
  return status;
}

int opspace_use_method(opspace *robot, const char *name) {
  REAL(use_method);
  lock();
  int status = real_use_method(robot, name);
  remember(USE_METHOD, status, NULL, 0, NULL, 0, name);
  unlock();
  return status;
}

int opspace_hold(opspace *robot, const double *q, const double *v, double time) {
  REAL(hold);
  lock();
  int status = real_hold(robot, q, v, time);
  remember(HOLD, status, NULL, 0, &time, 1, NULL);
  unlock();
  return status;
}

int opspace_stop(opspace *robot) {
  REAL(stop);
  lock();
  int status = real_stop(robot);
  remember(STOP, status, NULL, 0, NULL, 0, NULL);
  unlock();
  return status;
}

int opspace_open_gates(opspace *robot) {
  REAL(open_gates);
  lock();
  int status = real_open_gates(robot);
  remember(OPEN_GATES, status, NULL, 0, NULL, 0, NULL);
  unlock();
  return status;
}

int opspace_end(opspace *robot, double *tau) {
  REAL(end);
  lock();
  int status = real_end(robot, tau);
  remember(END, status, NULL, 0, tau, opspace_joints(robot), NULL);
  unlock();
  return status;
}
