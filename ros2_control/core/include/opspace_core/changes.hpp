// SPDX-License-Identifier: Apache-2.0
// Changes of parameters on their way from other threads to the loop, which never waits for them.
#ifndef OPSPACE_CORE__CHANGES_HPP_
#define OPSPACE_CORE__CHANGES_HPP_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <vector>

#include "opspace_core/library.hpp"

namespace opspace_core
{

/// Numbers for a field, a method by name, or that every task stays where it is.
struct Change
{
  enum Kind { set, method, hold } kind = set;
  opspace_field field{};
  const char * name = nullptr;  ///< of a method; it must stay
  std::vector<double> values;
};

/// A ring: one thread at a time puts changes in, the loop takes them out, neither waits. A set of changes is taken in one
/// tick, or not at all.
class Changes
{
public:
  static constexpr std::size_t SLOTS = 256;

  /// `longest`: numbers that one change has at most.
  explicit Changes(std::size_t longest)
  {
    for (Change & slot : slots_) {
      slot.values.reserve(longest);
    }
  }

  bool has_room(std::size_t count) const
  {
    const std::size_t read = read_.load(std::memory_order_acquire);
    return count <= SLOTS - (written_.load(std::memory_order_relaxed) - read);
  }

  /// Hand over a set of changes; false if there is no room, and then none is.
  bool put(const std::vector<Change> & several)
  {
    const std::size_t written = written_.load(std::memory_order_relaxed);
    if (!has_room(several.size())) {
      return false;
    }
    for (std::size_t i = 0; i < several.size(); i++) {
      slots_[(written + i) % SLOTS] = several[i];
    }
    written_.store(written + several.size(), std::memory_order_release);
    return true;
  }

  /// Let `use` have every change that waits. In the loop: nothing is allocated or given back.
  template <typename Use>
  void take(Use use)
  {
    const std::size_t written = written_.load(std::memory_order_acquire);
    for (std::size_t read = read_.load(std::memory_order_relaxed); read != written; read++) {
      use(slots_[read % SLOTS]);
      read_.store(read + 1, std::memory_order_release);
    }
  }

private:
  std::array<Change, SLOTS> slots_;
  std::atomic<std::size_t> written_{0}, read_{0};
};

}  // namespace opspace_core

#endif  // OPSPACE_CORE__CHANGES_HPP_
