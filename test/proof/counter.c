/* SPDX-License-Identifier: Apache-2.0 */
/* Loaded before libc (LD_PRELOAD): counts allocations, and says at the end how many there were. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned long allocations;

void *malloc(size_t size) {
  static void *(*next)(size_t);
  if (!next) *(void **)&next = dlsym(RTLD_NEXT, "malloc");
  allocations++;
  return next(size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  static void *(*next)(size_t, size_t);
  if (!next) *(void **)&next = dlsym(RTLD_NEXT, "aligned_alloc");
  allocations++;
  return next(alignment, size);
}

void *realloc(void *block, size_t size) {
  static void *(*next)(void *, size_t);
  if (!next) *(void **)&next = dlsym(RTLD_NEXT, "realloc");
  allocations++;
  return next(block, size);
}

__attribute__((destructor)) static void say(void) { fprintf(stderr, "%lu allocations\n", allocations); }
