// SPDX-License-Identifier: Apache-2.0
// Counts what is allocated and given back: everywhere, and between `begin` and `end` in this thread. With sanitizers,
// which have an allocator of their own, nothing is counted.
#ifndef COUNTING_HPP_
#define COUNTING_HPP_

#include <cstdint>

namespace counting
{

void begin();
void end();
uint64_t inside();
uint64_t everywhere();

}  // namespace counting

#endif  // COUNTING_HPP_
