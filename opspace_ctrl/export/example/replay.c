/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a robot, replays its reference ticks, then runs it for a while and says how long a tick takes.
 *
 *   replay ROBOT.opspace [--time [TICKS]] */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "opspace.h"

enum { HOT = 20000, COLD = 1000, COLDEST = 200, FINE = 8, BINS = 32 * FINE, NEAR = 4 << 20, FAR = 64 << 20, PAUSE = 900000 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
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

/* How many ticks took how long: a bin is 4 % wide, the first begins at a sixteenth of a us, the last has no end; and
 * the longest. They are printed FINE bins at a time. */
typedef struct {
  long of[BINS], ticks;
  double longest;
} histogram;

static double edge(int bin) { return exp2((double)bin / (2 * FINE) - 4.0); }

static void note(histogram *times, double spent) {
  double place = 2 * FINE * (log2(spent) + 4.0);
  times->of[place < 0.0 ? 0 : place < BINS - 1 ? (int)place : BINS - 1]++;
  times->ticks++;
  if (spent > times->longest) times->longest = spent;
}

/* The time that a share of the ticks did not take: the middle of its bin. */
static double below(const histogram *times, double share) {
  long seen = 0;
  int bin = 0;
  while (bin < BINS - 1 && (seen += times->of[bin]) < share * (double)times->ticks) bin++;
  return 0.5 * (edge(bin) + edge(bin + 1));
}

static long page_faults(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return used.ru_minflt + used.ru_majflt;
}

/* Use the caches as other programs do: go through so many bytes. */
static void use_caches(size_t size) {
  static volatile char bytes[FAR];
  for (size_t i = 0; i < size; i += 64) bytes[i]++;
}

/* Ticks in a slow motion; before each a pause [ns], or other memory [bytes] is used, and perhaps the last is repeated. */
static int measure(opspace *robot, const char *name, double *q, const double *v, double *tau, long count, long pause,
                   size_t others, int is_warmed) {
  static double begin = 0.0;
  histogram times = {{0}, 0, 0.0};
  uint32_t first = opspace_nq(robot) - opspace_joints(robot);
  (void)now(); /* the clock's own first page */
  use_caches(others);
  long faults = page_faults();
  for (long i = 0; i < count; i++) {
    struct timespec wait = {0, pause};
    if (pause) nanosleep(&wait, NULL);
    use_caches(others);
    if (is_warmed) opspace_warm(robot);
    q[first + (uint32_t)(i % opspace_joints(robot))] += i % 2000 < 1000 ? 1e-5 : -1e-5;
    double start = now();
    int status = opspace_tick(robot, q, v, begin += 0.001, tau);
    note(&times, 1e6 * (now() - start));
    if (status != OPSPACE_OK) return status;
  }
  faults = page_faults() - faults;
  printf("%s: median %.2f us, 99 %% %.2f us, longest %.2f us of %ld ticks; %ld page faults\n", name, below(&times, 0.5),
         below(&times, 0.99), times.longest, count, faults);
  for (int bin = 0; bin < BINS; bin += FINE) {
    long several = 0;
    for (int i = 0; i < FINE; i++) several += times.of[bin + i];
    double end = bin + FINE < BINS ? edge(bin + FINE) : times.longest;
    if (several) printf("  %8.2f to %8.2f us %10ld\n", bin ? edge(bin) : 0.0, end, several);
  }
  return OPSPACE_OK;
}

/* A bent configuration inside the joints' limits: 0.3 and 0.6 in turn, or nearer to the middle of the range; a base that
 * is not turned. */
static void pose(opspace *robot, double *q) {
  uint32_t joints = opspace_joints(robot), first = opspace_nq(robot) - joints;
  opspace_field lower, upper;
  int is_known = !opspace_find(robot, "position_lower", &lower) && !opspace_find(robot, "position_upper", &upper);
  if (opspace_nq(robot) != opspace_nv(robot)) q[6] = 1.0;
  for (uint32_t j = 0; j < joints; j++) {
    q[first + j] = j % 2 ? 0.6 : 0.3;
    if (!is_known) continue;
    double least = ((double *)lower.at)[j], most = ((double *)upper.at)[j], rim = 0.3 * (most - least);
    if (q[first + j] < least + rim) q[first + j] = least + rim;
    if (q[first + j] > most - rim) q[first + j] = most - rim;
  }
}

int main(int count, char **words) {
  size_t image_size = 0;
  void *image = count > 1 ? read_file(words[1], &image_size) : NULL;
  if (!image) {
    fprintf(stderr, "usage: replay ROBOT.opspace [--time [TICKS]]\n");
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
    pose(robot, q);
    if (status == OPSPACE_OK) status = opspace_activate(robot, q, v, 0.0); /* OPSPACE_ABSENT: a simulated robot */
    for (int i = 0; i < 100 && status == OPSPACE_OK; i++) status = opspace_tick(robot, q, v, 0.0, tau);
    long hot = count > 3 ? atol(words[3]) : HOT, coldest = hot < HOT ? COLDEST / 20 : COLDEST;
    if (status == OPSPACE_OK) status = measure(robot, "hot", q, v, tau, hot, 0, 0, 0);
    if (status == OPSPACE_OK) status = measure(robot, "after 4 MB of other memory", q, v, tau, COLD, 0, NEAR, 0);
    if (status == OPSPACE_OK) status = measure(robot, "after 64 MB of other memory", q, v, tau, coldest, 0, FAR, 0);
    if (status == OPSPACE_OK) status = measure(robot, "after a pause of 0.9 ms", q, v, tau, COLD, PAUSE, 0, 0);
    if (status == OPSPACE_OK) status = measure(robot, "after a pause and opspace_warm", q, v, tau, COLD, PAUSE, 0, 1);
    free(q), free(v), free(tau);
  }
  if (status != OPSPACE_OK) fprintf(stderr, "%s\n", opspace_words(status));
  free(arena), free(image);
  return status != OPSPACE_OK;
}
