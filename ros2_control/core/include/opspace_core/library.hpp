// SPDX-License-Identifier: Apache-2.0
// libopspace.so, opened where the robot runs: the machine code that `opspace export --library` wrote.
#ifndef OPSPACE_CORE__LIBRARY_HPP_
#define OPSPACE_CORE__LIBRARY_HPP_

#include <stdexcept>
#include <string>

#include "opspace.h"

namespace opspace_core
{

/// What is wrong with a file, a name or a value; the text says what would be valid.
class Error : public std::runtime_error
{
public:
  using std::runtime_error::runtime_error;
};

// clang-format off
/// Every function of opspace.h that is used here, without its prefix.
#define OPSPACE_FUNCTIONS(DO) \
  DO(abi) DO(words) DO(target) DO(recorded_on) DO(size) DO(open) DO(replay) DO(nq) DO(nv) DO(joints) DO(joint) DO(task) \
  DO(commands) DO(method_name) DO(hold) DO(stop) DO(target_pose) DO(target_twist) DO(target_wrench) DO(measured_wrench) \
  DO(way_points) DO(most_way_points) DO(posture) DO(counts) DO(find) DO(field_at) DO(set) DO(get) DO(use_method) \
  DO(simulated_time) DO(begin) DO(joint_states) DO(odometry) DO(command) DO(end) DO(elapsed) DO(warm) DO(enable) \
  DO(open_gates) DO(gate) DO(gate_words) DO(gate_number) DO(closed) DO(closings) DO(believed) \
  DO(sim_step) DO(sim_state) DO(sim_hold) DO(sim_reset) DO(sim_period)
// clang-format on

/// The functions of one library: `library.command(robot, ...)` is opspace_command of it.
class Library
{
public:
  /// Open a library; Error if it is none, or one of another interface.
  explicit Library(const std::string & path);
  ~Library();
  Library(const Library &) = delete;
  Library & operator=(const Library &) = delete;

  /// Error in the library's words, after what was tried, unless the status is that of success.
  void check(int status, const std::string & what) const;

#define OPSPACE_DECLARE(name) decltype(&::opspace_##name) name;
  OPSPACE_FUNCTIONS(OPSPACE_DECLARE)
#undef OPSPACE_DECLARE

private:
  void * handle_;
};

}  // namespace opspace_core

#endif  // OPSPACE_CORE__LIBRARY_HPP_
