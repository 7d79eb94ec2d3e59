/* SPDX-License-Identifier: Apache-2.0 */
/* One tick between two marks, for benchmarks/touched.py: touched ROBOT.opspace, under valgrind. */
#include <stdio.h>
#include <stdlib.h>

#include "opspace.h"

volatile long mark;

int main(int count, char **words) {
  FILE *file = count > 1 ? fopen(words[1], "rb") : NULL;
  if (!file || fseek(file, 0, SEEK_END)) return 2;
  size_t image_size = (size_t)ftell(file);
  void *image = aligned_alloc(64, (image_size + 63) / 64 * 64);
  rewind(file);
  if (!image || fread(image, 1, image_size, file) != image_size) return 2;
  size_t size = opspace_size(image, image_size);
  char *arena = aligned_alloc(64, size);
  opspace *robot;
  if (!arena || opspace_open(&robot, arena, size, image, image_size)) return 3;
  uint32_t nq = opspace_nq(robot), nv = opspace_nv(robot), joints = opspace_joints(robot);
  double *q = calloc(nq, 8), *v = calloc(nv, 8), *tau = calloc(joints, 8);
  for (uint32_t i = 2; i < 2 + nq && i < (uint32_t)count; i++) q[i - 2] = atof(words[i]);
  if (opspace_activate(robot, q, v, 0.0)) return 4;
  for (int i = 1; i <= 3; i++) opspace_tick(robot, q, v, 0.001 * i, tau);
  printf("%p %p %zu\n", (void *)&mark, (void *)arena, size);
  fflush(stdout);
  mark = 1;
  int status = opspace_tick(robot, q, v, 0.004, tau);
  mark = 2;
  return status;
}
