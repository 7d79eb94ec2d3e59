// SPDX-License-Identifier: Apache-2.0
// The clock that never jumps, by which the loop is paced.
#ifndef OPSPACE_CTRL_PLUGIN__CLOCK_HPP_
#define OPSPACE_CTRL_PLUGIN__CLOCK_HPP_

#include <chrono>
#include <cstdint>

namespace opspace_ctrl
{

/// [ns]
inline int64_t steady_now()
{
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
    .count();
}

}  // namespace opspace_ctrl

#endif  // OPSPACE_CTRL_PLUGIN__CLOCK_HPP_
