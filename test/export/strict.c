/* SPDX-License-Identifier: Apache-2.0 */
/* A loop in which the kernel kills whoever makes a system call: ticks, targets, switches, setters, a stop; bare and behind
 * gates, and a simulated robot. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "opspace.h"

enum { TICKS = 3000 };

/* An arena of exactly this size between two pages that nobody may touch; its end is at the second. */
static void *guarded(size_t size) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (size + page - 1) / page * page;
  char *memory = mmap(NULL, whole + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE) || mprotect(memory + page + whole, page, PROT_NONE))
    return NULL;
  return memory + page + whole - size;
}

static int loop(opspace *robot, double *q, double *v, double *tau) {
  double position[3] = {0.3, 0.1, 0.4}, quaternion[4] = {0, 0, 0, 1}, twist[6] = {0.1, 0, 0, 0, 0, 0.1};
  double times[2] = {0.5, 1.0}, points[6] = {0.3, 0, 0.4, 0.3, 0.1, 0.4}, turns[8] = {0, 0, 0, 1, 0, 0, 0, 1};
  opspace_field field;
  uint32_t method = 0;
  int bad = opspace_activate(robot, q, v, 0.0);
  for (int i = 1; i < TICKS && !bad; i++) {
    double time = 0.001 * i;
    if (i % 50 == 0) bad |= opspace_target_pose(robot, 0, position, quaternion, time);
    if (i % 50 == 10) bad |= opspace_target_twist(robot, 0, twist, time);
    if (i % 50 == 20) bad |= opspace_way_points(robot, 0, 2, times, points, turns, NULL, time);
    if (i % 50 == 30) bad |= opspace_posture(robot, tau, NULL, time);
    if (i % 50 == 40) {
      if (!opspace_method_name(robot, method)) method = 0;
      bad |= opspace_use_method(robot, opspace_method_name(robot, method++));
    }
    if (i % 100 == 45) bad |= opspace_hold(robot, q, v, time);
    if (i % 100 == 95) bad |= opspace_find(robot, "fade", &field) || opspace_set(robot, &field, times, 1);
    for (uint32_t j = 0; j < opspace_joints(robot); j++) q[opspace_nq(robot) - 1 - j] += 1e-5;
    bad |= opspace_tick(robot, q, v, time, tau) | opspace_warm(robot);
  }
  bad |= opspace_safe(robot, 2, q, v, 0.001 * TICKS, tau) | opspace_stop(robot);
  bad |= opspace_tick(robot, q, v, 0.001 * TICKS, tau) != OPSPACE_STOPPED;
  return bad | opspace_reset(robot, q, v, 0.001 * TICKS);
}

static int64_t nanoseconds = 1000000000;

/* A message every ms, some of them spoiled; a stop and a reset. */
static int guarded_loop(opspace *robot, double *q, double *v, double *tau) {
  uint32_t joints = opspace_joints(robot), stop;
  double twist[6] = {0.1, 0, 0, 0, 0, 0.1}, wrong = 1e300;
  char words[300];
  uint64_t closed;
  int bad = opspace_gate_number(robot, "stop", &stop), safe = 0, sent = 0;
  opspace_begin(robot, nanoseconds, nanoseconds, tau);
  for (int i = 1; i < TICKS && !bad; i++) {
    int64_t now = nanoseconds += 1000000;
    double *position = q + opspace_nq(robot) - joints, kept = position[0];
    if (i % 70 == 69) position[0] = wrong;
    if (opspace_nq(robot) != opspace_nv(robot)) bad |= opspace_odometry(robot, q, v, now, now, now, NULL);
    if (i % 90 != 89) bad |= opspace_joint_states(robot, joints, NULL, position, NULL, now, now, now, NULL);
    else bad |= opspace_unreadable(robot, 7, now);
    position[0] = kept;
    if (i % 50 == 10) bad |= opspace_target_twist(robot, 0, twist, 0.001 * i);
    if (i % 500 == 400) bad |= opspace_stop(robot);
    if (i % 500 == 450) bad |= opspace_open_gates(robot);
    int status = opspace_command(robot, now, now, tau);
    sent += status == OPSPACE_OK;
    safe += status == OPSPACE_SAFE;
    bad |= opspace_elapsed(robot, 1000) | opspace_enable(robot, 1, now) | opspace_closed(robot, &closed);
    if (i % 100 == 0) bad |= opspace_gates_in_words(robot, words, sizeof words);
  }
  bad |= opspace_closings(robot, stop, &closed, NULL) || closed != TICKS / 500;
  return bad | (opspace_end(robot, tau) != OPSPACE_SAFE) | (sent < TICKS / 2) | (safe < TICKS / 20);
}

static int simulated_loop(opspace *robot, double *q, double *v, double *tau) {
  double time = 0.0;
  int bad = 0;
  for (int i = 0; i < TICKS && !bad; i++) {
    if (i % 2) bad |= opspace_sim_hold(robot, tau);
    bad |= opspace_sim_step(robot, tau) | opspace_sim_state(robot, q, v, NULL, &time);
    if (i % 1000 == 999) bad |= opspace_sim_reset(robot, NULL, NULL);
  }
  return bad;
}

int main(int count, char **words) {
  struct stat about;
  int file = count > 1 ? open(words[1], O_RDONLY) : -1;
  if (file < 0 || fstat(file, &about)) return 2;
  size_t size = (size_t)about.st_size;
  void *image = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
  size_t arena_size = opspace_size(image, size);
  void *arena = guarded(arena_size);
  opspace *robot;
  if (!arena_size || !arena || opspace_open(&robot, arena, arena_size - 64, image, size) != OPSPACE_ARENA) return 3;
  if (opspace_open(&robot, arena, arena_size, image, size)) return 4;
  double *q = calloc(opspace_nq(robot) + 8, 8), *v = calloc(opspace_nv(robot) + 8, 8);
  double *tau = calloc(opspace_joints(robot), 8);
  if (!q || !v || !tau) return 5;
  if (opspace_nq(robot) != opspace_nv(robot)) q[6] = 1.0;
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT)) return 6;
  int bad = opspace_sim_period(robot) > 0.0 ? simulated_loop(robot, q, v, tau)
                                            : loop(robot, q, v, tau) | guarded_loop(robot, q, v, tau);
  if (count > 2) { /* what this program would say if the loop made a system call: it is killed */
    syscall(SYS_getpid);
    bad = 1;
  }
  const char *said = bad ? "failed\n" : "no system call\n";
  bad |= write(1, said, strlen(said)) < 0;
  syscall(SYS_exit, bad);
  return 1;
}
