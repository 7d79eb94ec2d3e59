// SPDX-License-Identifier: Apache-2.0
#include "counting.hpp"

#include <atomic>
#include <cstddef>

namespace
{

thread_local bool is_inside = false;
std::atomic<uint64_t> all{0}, counted{0};

#ifndef __SANITIZE_ADDRESS__
void count()
{
  all++;
  if (is_inside) {
    counted++;
  }
}
#endif

}  // namespace

namespace counting
{

void begin() { is_inside = true; }
void end() { is_inside = false; }
uint64_t inside() { return counted; }
uint64_t everywhere() { return all; }

}  // namespace counting

#ifndef __SANITIZE_ADDRESS__
extern "C" {
void * __libc_malloc(std::size_t size);
void * __libc_calloc(std::size_t count, std::size_t size);
void * __libc_realloc(void * at, std::size_t size);
void * __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void * at);

void * malloc(std::size_t size)
{
  count();
  return __libc_malloc(size);
}
void * calloc(std::size_t number, std::size_t size)
{
  count();
  return __libc_calloc(number, size);
}
void * realloc(void * at, std::size_t size)
{
  count();
  return __libc_realloc(at, size);
}
void * aligned_alloc(std::size_t alignment, std::size_t size)
{
  count();
  return __libc_memalign(alignment, size);
}
void free(void * at)
{
  count();
  __libc_free(at);
}
}
#endif
