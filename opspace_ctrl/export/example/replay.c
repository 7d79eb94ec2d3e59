/* Opens a robot, replays its reference ticks, then runs it for a while and says how long a tick takes. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "opspace.h"

enum { HOT = 20000, COLD = 1000 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END)) return NULL;
  long length = ftell(file);
  if (length <= 0) return NULL;
  rewind(file);
  *size = (size_t)length;
  void *bytes = aligned_alloc(OPSPACE_ALIGNMENT, (*size + OPSPACE_ALIGNMENT - 1) / OPSPACE_ALIGNMENT * OPSPACE_ALIGNMENT);
  if (bytes && fread(bytes, 1, *size, file) != *size) return NULL;
  fclose(file);
  return bytes;
}

/* Ticks at one state, with a pause [ns] before each; prints median, 99 % and the longest. */
static int measure(opspace *robot, const char *name, const double *q, const double *v, double *tau, int count, long pause) {
  static double spent[HOT];
  static double begin = 0.0;
  for (int i = 0; i < count; i++) {
    struct timespec wait = {0, pause};
    if (pause) nanosleep(&wait, NULL);
    double start = now();
    int status = opspace_tick(robot, q, v, begin += 0.001, tau);
    spent[i] = 1e6 * (now() - start);
    if (status != OPSPACE_OK) return status;
  }
  qsort(spent, (size_t)count, sizeof *spent, by_size);
  printf("%s: %.2f us median, %.2f us p99, %.2f us longest of %d ticks\n", name, spent[count / 2], spent[count - count / 100 - 1],
         spent[count - 1], count);
  return OPSPACE_OK;
}

int main(int count, char **words) {
  size_t image_size = 0;
  void *image = count > 1 ? read_file(words[1], &image_size) : NULL;
  if (!image) {
    fprintf(stderr, "usage: replay ROBOT.opspace [--time]\n");
    return 2;
  }
  size_t size = opspace_size(image, image_size);
  void *arena = aligned_alloc(OPSPACE_ALIGNMENT, size ? (size + 63) / 64 * 64 : OPSPACE_ALIGNMENT);
  uint32_t ticks = 0, identical = 0;
  double worst = 0.0;
  int status = opspace_replay(arena, size, image, image_size, &ticks, &identical, &worst);
  if (status != OPSPACE_OK && status != OPSPACE_DIFFERENT) {
    fprintf(stderr, "%s: %s\n", words[1], opspace_words(status));
    return 1;
  }
  printf("%u of %u ticks bit-identical", identical, ticks);
  if (identical != ticks) printf(", the others to %.1e of the largest torque", worst);
  printf("\n");
  if (status == OPSPACE_OK && count > 2 && !strcmp(words[2], "--time")) {
    opspace *robot;
    if (mlockall(MCL_CURRENT | MCL_FUTURE)) fprintf(stderr, "memory is not locked: times may be longer\n");
    status = opspace_open(&robot, arena, size, image, image_size);
    double *q = calloc(opspace_nq(robot) + 8, sizeof(double)), *v = calloc(opspace_nv(robot) + 8, sizeof(double));
    double *tau = calloc(opspace_joints(robot), sizeof(double));
    if (opspace_nq(robot) != opspace_nv(robot)) q[6] = 1.0; /* a floating base that is not turned */
    for (uint32_t i = opspace_nq(robot) - opspace_joints(robot); i < opspace_nq(robot); i++) q[i] = 0.3;
    if (status == OPSPACE_OK) status = opspace_activate(robot, q, v, 0.0);
    if (status == OPSPACE_OK) status = measure(robot, "hot", q, v, tau, HOT, 0);
    if (status == OPSPACE_OK) status = measure(robot, "after a pause of 0.9 ms", q, v, tau, COLD, 900000);
    free(q), free(v), free(tau);
  }
  if (status != OPSPACE_OK) fprintf(stderr, "%s\n", opspace_words(status));
  free(arena), free(image);
  return status != OPSPACE_OK;
}
