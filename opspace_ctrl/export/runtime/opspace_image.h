/* SPDX-License-Identifier: Apache-2.0 */
/* The format of an image, little-endian; export/image.py writes it. Nothing in here is public. */
#ifndef OPSPACE_IMAGE_H
#define OPSPACE_IMAGE_H

#include "opspace.h"

#define OPSPACE_IMAGE_VERSION 2u
#define IMAGE_NONE UINT64_MAX /* the place of a part that is not there */
#define OPSPACE_MAGIC "opspace"

typedef struct {
  uint64_t place; /* in the file [bytes]; a multiple of 64 */
  uint64_t count; /* of its entries */
} image_section;

enum {
  DATA,     /* bytes: the workspaces, see export/memory.py */
  POINTERS, /* uint32_t: words of DATA that hold a place in DATA */
  CALLS,    /* uint32_t: words of DATA that hold the number of a stage */
  FIELDS,   /* image_field, in the order of names */
  JOINTS,   /* uint32_t: names */
  TASKS,    /* uint32_t: names */
  METHODS,  /* image_method */
  GATES,    /* image_gate */
  FRAMES,   /* uint32_t: names; of a simulated robot */
  STRINGS,  /* bytes: texts, each ends with a zero; the others give places in here */
  TICKS,    /* double: time, q, v, tau of every reference tick or step; not kept in an arena */
  SECTIONS
};

typedef struct {
  char magic[8];
  uint32_t version;
  uint32_t checksum; /* CRC-32 of all that follows */
  uint64_t size;     /* of the file */
  uint64_t kernels;  /* which kernels it is for */
  uint64_t law, gates, engine; /* places of controller, its gates and simulated robot in DATA, or IMAGE_NONE */
  uint32_t nq, nv;
  uint32_t capacity; /* rows of a program: two more than way points fit */
  uint32_t state;    /* words of a simulated robot's state, without q and v */
  uint32_t robot, target; /* texts: of what robot, recorded on what processor */
  image_section sections[SECTIONS];
} image_header;

typedef struct {
  uint64_t place; /* of its first number in DATA */
  double least, most;
  uint32_t name, unit, choices;
  uint32_t rows, columns, stride;
  uint8_t is_whole, is_live, role, kind, spare[4];
} image_field;

typedef struct {
  uint32_t name;
  uint32_t place; /* of its workspace in DATA */
} image_method;

typedef struct {
  uint32_t name;
  uint32_t words; /* what it means that it is closed */
} image_gate;

/* What an image is, OPSPACE_OK if all of it is as it has to be; `stages` there are, of the kernels given. */
int image_check(const void *image, size_t size, uint64_t kernels, uint32_t stages);

/* Bytes of the file before its reference ticks: what is kept in an arena. */
size_t image_kept(const image_header *image);

/* Turn places and numbers of a copy of DATA into addresses. */
void image_relocate(void *copy, void (*const *stages)(void));

/* The beginning of a section. */
static inline const void *image_at(const image_header *image, int section) {
  return (const char *)image + image->sections[section].place;
}

/* A text. */
static inline const char *image_text(const image_header *image, uint32_t place) {
  return (const char *)image_at(image, STRINGS) + place;
}

#endif
