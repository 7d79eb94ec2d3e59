/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the reference ticks or steps of an image, and writes what comes out: where a library of another machine is tried.
 *
 *   record ROBOT.opspace <inputs >outputs
 *
 * Inputs are doubles, time q v of every tick of a controller, or tau of every step of a simulated robot; outputs tau, or
 * q v, of each. */
#include <stdio.h>
#include <stdlib.h>

#include "opspace.h"

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

int main(int count, char **words) {
  size_t image_size = 0;
  void *image = count > 1 ? read_file(words[1], &image_size) : NULL;
  size_t size = image ? opspace_size(image, image_size) : 0;
  void *arena = size ? aligned_alloc(OPSPACE_ALIGNMENT, (size + 63) / 64 * 64) : NULL;
  opspace *robot = NULL;
  int status = arena ? opspace_open(&robot, arena, size, image, image_size) : OPSPACE_NO_IMAGE;
  if (status == OPSPACE_OK) {
    int is_plant = opspace_sim_period(robot) > 0.0, is_first = 1;
    size_t nq = opspace_nq(robot), nv = opspace_nv(robot), joints = opspace_joints(robot);
    double *given = calloc(1 + nq + nv + joints, sizeof(double)), *found = calloc(nq + nv + joints, sizeof(double));
    size_t inputs = is_plant ? joints : 1 + nq + nv, outputs = is_plant ? nq + nv : joints;
    while (status == OPSPACE_OK && fread(given, sizeof(double), inputs, stdin) == inputs) {
      const double *q = given + 1, *v = q + nq;
      if (is_plant) {
        status = opspace_sim_step(robot, given);
        if (status == OPSPACE_OK) status = opspace_sim_state(robot, found, found + nq, NULL, NULL);
      } else {
        if (is_first) status = opspace_activate(robot, q, v, given[0]);
        if (status == OPSPACE_OK) status = opspace_tick(robot, q, v, given[0], found);
      }
      is_first = 0;
      if (status == OPSPACE_OK && fwrite(found, sizeof(double), outputs, stdout) != outputs) status = OPSPACE_ARGUMENT;
    }
    free(given), free(found);
  }
  if (status != OPSPACE_OK) fprintf(stderr, "%s\n", opspace_words(status));
  free(arena), free(image);
  return status != OPSPACE_OK;
}
