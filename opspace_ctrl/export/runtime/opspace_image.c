/* SPDX-License-Identifier: Apache-2.0 */
/* Images: what is wrong with one, and how a copy of one comes to life. */
#include "opspace_image.h"

#include <string.h>

static const uint32_t ENTRY_SIZE[SECTIONS] = {1, 4, 4, sizeof(image_field), 4, 4, sizeof(image_method),
                                              sizeof(image_gate), 4, 1, 8};

static uint32_t crc32(const unsigned char *bytes, size_t size) {
  static const uint32_t OF_NIBBLE[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                         0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                         0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
  uint32_t found = 0xffffffffu;
  for (size_t i = 0; i < size; i++) {
    found ^= bytes[i];
    found = (found >> 4) ^ OF_NIBBLE[found & 15];
    found = (found >> 4) ^ OF_NIBBLE[found & 15];
  }
  return ~found;
}

/* Sections follow each other, each on a cache line, and end with the file. */
static int has_sections(const image_header *image) {
  uint64_t end = sizeof(image_header);
  for (int i = 0; i < SECTIONS; i++) {
    const image_section *each = &image->sections[i];
    if (each->place % OPSPACE_ALIGNMENT || each->place < end || each->place > image->size) return 0;
    if (each->count > (image->size - each->place) / ENTRY_SIZE[i]) return 0;
    end = each->place + each->count * ENTRY_SIZE[i];
  }
  const image_section *strings = &image->sections[STRINGS];
  return strings->count > 0 && image_text(image, 0)[strings->count - 1] == 0;
}

/* Every listed word holds a number below `limit`. */
static int has_words(const image_header *image, int section, uint64_t limit) {
  const uint32_t *word = image_at(image, section);
  const char *data = image_at(image, DATA);
  for (uint64_t i = 0; i < image->sections[section].count; i++) {
    uint64_t value;
    if (word[i] % 8 || (uint64_t)word[i] + 8 > image->sections[DATA].count) return 0;
    memcpy(&value, data + word[i], 8);
    if (value >= limit) return 0;
  }
  return 1;
}

static int has_fields(const image_header *image) {
  const image_field *field = image_at(image, FIELDS);
  uint64_t bytes = image->sections[DATA].count, strings = image->sections[STRINGS].count;
  for (uint64_t i = 0; i < image->sections[FIELDS].count; i++, field++) {
    if (field->name >= strings || field->unit >= strings || field->choices >= strings) return 0;
    if (field->stride < field->columns || field->place % 8 || field->place > bytes) return 0;
    if (field->rows && ((uint64_t)(field->rows - 1) * field->stride + field->columns) > (bytes - field->place) / 8)
      return 0;
    if (i && strcmp(image_text(image, field[-1].name), image_text(image, field->name)) >= 0) return 0;
  }
  return 1;
}

static int has_names(const image_header *image) {
  static const int SECTIONS_OF_NAMES[] = {JOINTS, TASKS, GATES, FRAMES};
  uint64_t strings = image->sections[STRINGS].count;
  for (int k = 0; k < 4; k++) {
    int section = SECTIONS_OF_NAMES[k];
    const uint32_t *name = image_at(image, section);
    for (uint64_t i = 0; i < image->sections[section].count * ENTRY_SIZE[section] / 4; i++)
      if (name[i] >= strings) return 0;
  }
  const image_method *method = image_at(image, METHODS);
  for (uint64_t i = 0; i < image->sections[METHODS].count; i++)
    if (method[i].name >= strings || method[i].place % 8 || method[i].place >= image->sections[DATA].count) return 0;
  return image->robot < strings && image->target < strings;
}

/* A part of the image begins in its data, or there is none. */
static int has_part(const image_header *image, uint64_t place) {
  return place == IMAGE_NONE || (place % 8 == 0 && place < image->sections[DATA].count);
}

int image_check(const void *bytes, size_t size, uint64_t kernels, uint32_t stages) {
  const image_header *image = bytes;
  if (!bytes || (uintptr_t)bytes % 8 || size < sizeof(image_header)) return OPSPACE_NO_IMAGE;
  if (memcmp(image->magic, OPSPACE_MAGIC, sizeof image->magic)) return OPSPACE_NO_IMAGE;
  if (image->version != OPSPACE_IMAGE_VERSION) return OPSPACE_VERSION;
  if (image->size != size) return OPSPACE_DAMAGED;
  size_t start = offsetof(image_header, size);
  if (crc32((const unsigned char *)bytes + start, size - start) != image->checksum) return OPSPACE_DAMAGED;
  if (image->kernels != kernels) return OPSPACE_KERNELS;
  if (!has_sections(image)) return OPSPACE_DAMAGED;
  uint64_t row = 1 + (uint64_t)image->nq + image->nv + image->sections[JOINTS].count;
  if (image->capacity < 8 || image->capacity > 1u << 20 || image->sections[JOINTS].count > 1u << 20)
    return OPSPACE_DAMAGED;
  if (!has_part(image, image->law) || !has_part(image, image->gates) || !has_part(image, image->engine))
    return OPSPACE_DAMAGED;
  if (image->sections[TICKS].count % row || image->sections[GATES].count > 63) return OPSPACE_DAMAGED;
  uint64_t most = image->sections[DATA].count / 8;
  if (image->state > most || image->nq > most || image->nv > most) return OPSPACE_DAMAGED;
  int is_whole = has_names(image) && has_fields(image) && has_words(image, POINTERS, image->sections[DATA].count) &&
                 has_words(image, CALLS, stages);
  return is_whole ? OPSPACE_OK : OPSPACE_DAMAGED;
}

size_t image_kept(const image_header *image) { return (size_t)image->sections[TICKS].place; }

void image_relocate(void *copy, void (*const *stages)(void)) {
  image_header *image = copy;
  char *data = (char *)copy + image->sections[DATA].place;
  const uint32_t *word = image_at(image, POINTERS);
  for (uint64_t i = 0; i < image->sections[POINTERS].count; i++) *(uint64_t *)(data + word[i]) += (uint64_t)(uintptr_t)data;
  word = image_at(image, CALLS);
  for (uint64_t i = 0; i < image->sections[CALLS].count; i++) {
    uint64_t *call = (uint64_t *)(data + word[i]);
    *call = (uint64_t)(uintptr_t)stages[*call];
  }
}
