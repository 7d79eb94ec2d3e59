// SPDX-License-Identifier: Apache-2.0
// A robot of an image: in locked memory of its own, and refused unless its reference ticks come out as recorded.
#ifndef OPSPACE_CORE__ROBOT_HPP_
#define OPSPACE_CORE__ROBOT_HPP_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "opspace_core/library.hpp"

namespace opspace_core
{

/// What the reference ticks of an image gave on this machine.
struct Replay
{
  uint32_t ticks = 0;
  uint32_t identical = 0;   ///< in every bit
  double worst = 0.0;       ///< difference, as a share of the largest torque
  std::string recorded_on;  ///< the target that they were recorded on
  std::string target;       ///< the target of this library

  /// One line for a log.
  std::string words() const;
};

/// Memory on whole pages, which is given back at the end.
class Arena
{
public:
  explicit Arena(std::size_t size);
  ~Arena();
  Arena(const Arena &) = delete;
  Arena & operator=(const Arena &) = delete;

  void * at() const { return at_; }
  std::size_t size() const { return size_; }

private:
  std::size_t size_;
  void * at_;
};

/// An opened image. Everything here allocates, and is for the time before the loop.
class Robot
{
public:
  /// Read, replay and open an image. Error: it cannot be read, is refused by the library, or its reference ticks differ
  /// (in any bit on the target that they were recorded on, by more than 1e-12 on another).
  Robot(const std::string & library, const std::string & image);

  const Library & library() const { return library_; }
  ::opspace * get() const { return robot_; }
  const Replay & replay() const { return replay_; }

  std::size_t nq() const { return library_.nq(robot_); }
  std::size_t nv() const { return library_.nv(robot_); }
  /// What its commands are, as ros2_control names interfaces: effort or velocity.
  std::string commands() const { return library_.commands(robot_); }
  bool has_base() const { return nq() > joints().size(); }

  const std::vector<std::string> & joints() const { return joints_; }
  const std::vector<std::string> & tasks() const { return tasks_; }
  const std::vector<std::string> & methods() const { return methods_; }
  const std::vector<std::string> & gates() const { return gates_; }

  /// A field by name; Error if there is none.
  opspace_field field(const std::string & name) const;

  /// All parameters that may be set while it runs.
  std::vector<opspace_field> live_fields() const;

private:
  void replay_reference(const std::string & path, const std::vector<double> & image, std::size_t size);

  Library library_;
  std::unique_ptr<Arena> arena_;
  ::opspace * robot_ = nullptr;
  Replay replay_;
  std::vector<std::string> joints_, tasks_, methods_, gates_;
};

/// Keep all memory of the process, present and future, from being swapped out; false where that is not permitted.
bool lock_memory();

/// `name` among `valid`, by place; Error that lists them otherwise.
std::size_t place_of(
  const std::string & name, const std::vector<std::string> & valid, const std::string & what);

/// Where each of `wanted` is among `given`, which may hold others between them; Error that names the missing ones.
std::vector<std::size_t> places_of(
  const std::vector<std::string> & wanted, const std::vector<std::string> & given, const std::string & what);

/// Names in one line.
std::string listed(const std::vector<std::string> & names);

}  // namespace opspace_core

#endif  // OPSPACE_CORE__ROBOT_HPP_
