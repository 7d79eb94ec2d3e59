/* SPDX-License-Identifier: Apache-2.0 */
/* Spoils the header and the tables of an image, with a checksum that fits, and opens it each time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opspace_image.h"

enum { TRIES = 400 };

static uint32_t crc32(const unsigned char *bytes, size_t size) {
  uint32_t found = ~0u;
  for (size_t i = 0; i < size; i++) {
    found ^= bytes[i];
    for (int k = 0; k < 8; k++) found = (found >> 1) ^ (0xedb88320u & (0u - (found & 1)));
  }
  return ~found;
}

int main(int count, char **words) {
  FILE *file = count > 2 ? fopen(words[1], "rb") : NULL;
  if (!file || fseek(file, 0, SEEK_END)) return 2;
  size_t size = (size_t)ftell(file), start = offsetof(image_header, size);
  unsigned char *image = aligned_alloc(64, (size + 63) / 64 * 64), *spoiled = aligned_alloc(64, (size + 63) / 64 * 64);
  rewind(file);
  if (!image || !spoiled || fread(image, 1, size, file) != size) return 2;
  fclose(file);
  srand((unsigned)atoi(words[2]));
  size_t arena_size = opspace_size(image, size);
  void *arena = aligned_alloc(64, arena_size);
  int refused = 0, opened = 0;
  for (int i = 0; i < TRIES; i++) {
    memcpy(spoiled, image, size);
    const image_header *header = (const image_header *)image;
    size_t first = header->sections[POINTERS].place, end = header->sections[TICKS].place;
    size_t range = i % 2 ? sizeof(image_header) - start : end - first;
    size_t place = (i % 2 ? start : first) + (size_t)rand() % range;
    for (int k = rand() % 8; k >= 0 && place + (size_t)k < end; k--) spoiled[place + (size_t)k] = (unsigned char)rand();
    uint32_t checksum = crc32(spoiled + start, size - start);
    memcpy(spoiled + offsetof(image_header, checksum), &checksum, 4);
    opspace *robot;
    size_t needed = opspace_size(spoiled, size);
    int status = needed > arena_size ? OPSPACE_ARENA : opspace_open(&robot, arena, arena_size, spoiled, size);
    if (status == OPSPACE_OK) {
      opspace_field field;
      opened++;
      for (uint32_t n = 0; opspace_field_at(robot, n, &field) == OPSPACE_OK; n++) opspace_find(robot, field.name, &field);
      for (uint32_t n = 0; opspace_joint(robot, n); n++) {}
    } else refused++;
  }
  printf("%d refused, %d opened\n", refused, opened);
  free(image), free(spoiled), free(arena);
  return 0;
}
