// SPDX-License-Identifier: Apache-2.0
// The control loop behind its gates: states in, torques out; and what other threads may ask of it.
#ifndef OPSPACE_CORE__CONTROL_LOOP_HPP_
#define OPSPACE_CORE__CONTROL_LOOP_HPP_

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "opspace_core/changes.hpp"
#include "opspace_core/parameters.hpp"
#include "opspace_core/robot.hpp"

namespace opspace_core
{

/// What a robot says in one cycle, in the order of `Robot::joints`.
struct State
{
  const double * positions = nullptr;
  const double * velocities = nullptr;
  const double * pose = nullptr;   ///< of a floating base: x y z qx qy qz qw in the world; null if it was not told
  const double * twist = nullptr;  ///< linear, angular in the base's axes
};

/// When [ns]: by the clock of the states, and by one that never jumps.
struct Instant
{
  int64_t time;
  int64_t steady;
};

/// Parameters by name.
using Named = std::vector<std::pair<std::string, Value>>;

/// What an update came to.
enum class Outcome {
  command,  ///< a torque of the controller
  safe,     ///< a gate is closed: a safe command
  nothing,  ///< nothing is to be sent: no state is known yet
  error     ///< gates have been closed for `error_after`: let another controller take over
};

/// What became of a gate so far.
struct GateCounts
{
  std::atomic<uint64_t> closings{0};
  std::atomic<uint64_t> messages{0};  ///< that were refused for it
};

/// Numbers about the loop that other threads may read at any time.
struct Watched
{
  static constexpr std::size_t GATES = 64;  ///< as many as `closed` has bits

  std::atomic<uint64_t> closed{0};   ///< gates, as bits
  std::atomic<uint64_t> updates{0};  ///< since it began
  std::atomic<uint64_t> commands{0};
  std::atomic<uint64_t> refused{0};  ///< targets that a tick found unusable
  std::atomic<double> time{0.0};     ///< of the state that is believed, on the controller's clock [s]
  std::atomic<bool> is_active{false};
  std::array<GateCounts, GATES> gates;  ///< those that have ever been closed; up to date when all are open again
};

/// One thread, the loop, calls what stands under "loop"; any others what stands under "other threads".
class ControlLoop
{
public:
  explicit ControlLoop(Robot & robot);

  // ---- before the loop ----

  /// States are judged by a simulated clock.
  void use_simulated_time(bool is_simulated);

  // ---- loop: nothing here allocates, waits, or makes a system call ----

  Outcome begin(const Instant & now, double * tau);
  Outcome update(const State & state, const Instant & now, double * tau);

  /// The command that is left standing, if any; nothing follows.
  Outcome end(double * tau);

  /// Take the parameters that wait; `update` does that, too.
  void take_changes();

  /// Repeat the last tick and forget it, a little before the next state is there: caches and branch predictors are as
  /// after a tick then. Only by the thread of `update`; what it does beside `begin` or `end` in another thread is nothing.
  void warm();

  /// How long an update took [ns].
  void spent(int64_t elapsed);

  /// Another controller refers to the tasks: a pose x y z qx qy qz qw each, before `update`. A pose counts when it differs
  /// from the last one, or gates have been closed since; while any entry is not finite it does not. A cycle takes two,
  /// the tasks by turns.
  void refer(const double * poses);

  /// Gates may be closed for so long [s] before an update comes to an error; at first for ever.
  void set_error_after(double seconds) { error_after_.store(seconds, std::memory_order_relaxed); }

  /// References come from another controller, and targets of other threads are refused; or they do not.
  void set_chained(bool is_chained);

  // ---- other threads; each returns "" or why it was refused ----

  std::string target_pose(std::size_t task, const double * position, const double * quaternion);
  std::string target_twist(std::size_t task, const double * twist);
  std::string target_wrench(std::size_t task, const double * wrench);
  std::string measured_wrench(std::size_t task, const double * wrench);
  /// Times [s] from `start` on, which is in seconds from now; twists may be empty.
  std::string way_points(
    std::size_t task, double start, const std::vector<double> & times, const std::vector<double> & positions,
    const std::vector<double> & quaternions, const std::vector<double> & twists);
  /// One entry a joint, NaN leaves it as it is to be; velocities may be empty.
  std::string posture(const std::vector<double> & positions, const std::vector<double> & velocities);
  std::string hold();
  std::string stop();
  std::string reset();
  std::string enable(bool is_permitted, int64_t steady);

  /// Hand over parameters, `method` among them: all, or none.
  std::string set(const Named & parameters);

  /// Why `set` would refuse these; "" if it would not.
  std::string refusal(const Named & parameters) const;

  const Watched & watched() const { return watched_; }
  const Robot & robot() const { return robot_; }

  /// Names of the closed gates, what matters most first; "" if none is.
  std::string closed_gates() const;

  /// Why each of the closed gates is closed, what matters most first; "" if none is.
  std::string why_closed() const;

private:
  class Turn;
  template <typename Send>
  std::string sent(Send send);
  std::string put(const std::vector<Change> & changes);
  std::vector<Change> changes_of(const Named & parameters) const;
  Outcome judged(int status, int64_t steady);
  void count_gates(uint64_t closed);
  template <typename Say>
  std::string closed_in_text(const char * separator, Say say) const;
  bool has_referred(std::size_t task, const double * pose);
  void forget_references();

  Robot & robot_;
  const Library & library_;
  Changes changes_;
  Watched watched_;
  std::atomic<double> error_after_;
  std::atomic<bool> is_chained_{false};
  std::atomic_flag sending_ = ATOMIC_FLAG_INIT;  ///< of targets: by one thread at a time
  std::atomic_flag turning_ = ATOMIC_FLAG_INIT;  ///< it begins, ends, or is warmed
  std::atomic<std::thread::id> thread_{std::thread::id()};  ///< of the last update
  std::vector<double> q_, v_, last_reference_;
  std::size_t next_reference_ = 0;  ///< the task whose turn it is
  bool is_open_ = false;            ///< the last command was the controller's
  int64_t good_ = 0;  ///< when all gates were open last
};

}  // namespace opspace_core

#endif  // OPSPACE_CORE__CONTROL_LOOP_HPP_
