/* SPDX-License-Identifier: Apache-2.0 */
/* The floating-point state that kernels expect: rounding to nearest, subnormal numbers as they are, no traps. */
#ifndef OPSPACE_FLOATS_H
#define OPSPACE_FLOATS_H

#include <stdint.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
typedef uint32_t floats_state;
#define FLOATS_WANTED 0x1f80u /* all exceptions masked */
#define FLOATS_FLAGS 0x3fu    /* what has happened so far: any */
static inline floats_state floats_read(void) { return _mm_getcsr(); }
static inline void floats_write(floats_state state) { _mm_setcsr(state); }
#elif defined(__aarch64__)
typedef uint64_t floats_state;
#define FLOATS_WANTED 0u
#define FLOATS_FLAGS 0u
static inline floats_state floats_read(void) {
  floats_state state;
  __asm__ volatile("mrs %0, fpcr" : "=r"(state));
  return state;
}
static inline void floats_write(floats_state state) { __asm__ volatile("msr fpcr, %0" : : "r"(state)); }
#else
#error "opspace: an unknown processor"
#endif

/* Set the state if it differs; writing it is slow, reading is not. */
static inline floats_state floats_begin(void) {
  floats_state before = floats_read();
  if ((before & ~(floats_state)FLOATS_FLAGS) != FLOATS_WANTED) floats_write(FLOATS_WANTED);
  return before;
}

/* Put back what was there. */
static inline void floats_end(floats_state before) {
  if ((before & ~(floats_state)FLOATS_FLAGS) != FLOATS_WANTED) floats_write(before);
}

#endif
