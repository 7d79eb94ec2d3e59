// SPDX-License-Identifier: Apache-2.0
#include "opspace_core/control_loop.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>

namespace opspace_core
{

namespace
{

constexpr std::size_t POSE = 7;
constexpr std::size_t TAKEN = 2;  // targets that a tick takes out of the mailbox
constexpr double LATER = 1e-9;  // seconds of a nanosecond
const char * const METHOD = "method";
const char * const FULL = "too many changes wait for the loop: is the controller active?";

std::size_t longest(const Robot & robot)
{
  std::size_t most = 1;
  for (const opspace_field & field : robot.live_fields()) {
    most = std::max(most, std::size_t{field.rows} * field.columns);
  }
  return most;
}

}  // namespace

ControlLoop::ControlLoop(Robot & robot)
: robot_(robot),
  library_(robot.library()),
  changes_(longest(robot)),
  error_after_(std::numeric_limits<double>::infinity()),
  q_(robot.nq()),
  v_(robot.nv()),
  last_reference_(POSE * robot.tasks().size())
{
  forget_references();
}

void ControlLoop::use_simulated_time(bool is_simulated)
{
  library_.check(library_.simulated_time(robot_.get(), is_simulated), "simulated time");
}

// ---- loop ----

/// Waits for its turn, which the others have for a few microseconds.
class ControlLoop::Turn
{
public:
  explicit Turn(std::atomic_flag & flag) : flag_(flag)
  {
    while (flag_.test_and_set(std::memory_order_acquire)) {
      std::this_thread::yield();
    }
  }
  ~Turn() { flag_.clear(std::memory_order_release); }
  Turn(const Turn &) = delete;
  Turn & operator=(const Turn &) = delete;

private:
  std::atomic_flag & flag_;
};

Outcome ControlLoop::begin(const Instant & now, double * tau)
{
  const Turn turn(turning_);
  thread_.store(std::thread::id(), std::memory_order_relaxed);
  good_ = now.steady;
  watched_.updates.store(0, std::memory_order_relaxed);
  const Outcome outcome = judged(library_.begin(robot_.get(), now.time, now.steady, tau), now.steady);
  watched_.is_active.store(true, std::memory_order_release);
  return outcome;
}

Outcome ControlLoop::update(const State & state, const Instant & now, double * tau)
{
  thread_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  take_changes();
  ::opspace * robot = robot_.get();
  // the stamp of the cycle: what is told in it belongs together
  if (state.pose) {
    library_.odometry(robot, state.pose, state.twist, now.time, now.steady, now.time, nullptr);
  }
  const auto count = static_cast<uint32_t>(robot_.joints().size());
  library_.joint_states(
    robot, count, nullptr, state.positions, state.velocities, now.time, now.steady, now.time, nullptr);
  const int status = library_.command(robot, now.time, now.steady, tau);
  watched_.updates.fetch_add(1, std::memory_order_relaxed);
  return judged(status, now.steady);
}

Outcome ControlLoop::judged(int status, int64_t steady)
{
  uint64_t closed = 0, ticks = 0, refused = 0;
  double time = 0.0;
  library_.closed(robot_.get(), &closed);
  library_.counts(robot_.get(), &ticks, &refused);
  if (library_.believed(robot_.get(), nullptr, nullptr, &time) == OPSPACE_OK) {
    watched_.time.store(time, std::memory_order_relaxed);
  }
  count_gates(closed | watched_.closed.load(std::memory_order_relaxed));
  watched_.closed.store(closed, std::memory_order_relaxed);
  watched_.refused.store(refused, std::memory_order_relaxed);
  is_open_ = status == OPSPACE_OK;
  if (is_open_) {
    good_ = steady;
    watched_.commands.fetch_add(1, std::memory_order_relaxed);
    return Outcome::command;
  }
  const bool is_late = static_cast<double>(steady - good_) * LATER > error_after_.load(std::memory_order_relaxed);
  if (is_late || (status != OPSPACE_SAFE && status != OPSPACE_NOTHING)) {
    return Outcome::error;
  }
  return status == OPSPACE_SAFE ? Outcome::safe : Outcome::nothing;
}

void ControlLoop::count_gates(uint64_t closed)
{
  for (std::size_t i = 0; i < Watched::GATES && closed >> i; i++) {
    uint64_t closings = 0, messages = 0;
    if (closed >> i & 1 && library_.closings(robot_.get(), static_cast<uint32_t>(i), &closings, &messages) == OPSPACE_OK) {
      watched_.gates[i].closings.store(closings, std::memory_order_relaxed);
      watched_.gates[i].messages.store(messages, std::memory_order_relaxed);
    }
  }
}

Outcome ControlLoop::end(double * tau)
{
  const Turn turn(turning_);
  watched_.is_active.store(false, std::memory_order_release);
  return library_.end(robot_.get(), tau) == OPSPACE_SAFE ? Outcome::safe : Outcome::nothing;
}

void ControlLoop::warm()
{
  if (thread_.load(std::memory_order_relaxed) != std::this_thread::get_id() ||
      turning_.test_and_set(std::memory_order_acquire)) {
    return;
  }
  if (watched_.is_active.load(std::memory_order_relaxed)) {
    library_.warm(robot_.get());
  }
  turning_.clear(std::memory_order_release);
}

void ControlLoop::spent(int64_t elapsed) { library_.elapsed(robot_.get(), elapsed); }

void ControlLoop::refer(const double * poses)
{
  if (!is_open_) {
    forget_references();  // targets are not taken now, and the controller starts anew where the robot is
    return;
  }
  const std::size_t tasks = robot_.tasks().size();
  std::size_t taken = 0;
  for (std::size_t i = 0; i < tasks && taken < TAKEN; i++, next_reference_ = (next_reference_ + 1) % tasks) {
    taken += has_referred(next_reference_, poses + POSE * next_reference_) ? 1 : 0;
  }
}

void ControlLoop::forget_references()
{
  std::fill(last_reference_.begin(), last_reference_.end(), std::numeric_limits<double>::quiet_NaN());
}

bool ControlLoop::has_referred(std::size_t task, const double * pose)
{
  double * last = last_reference_.data() + POSE * task;
  const bool is_whole = std::all_of(pose, pose + POSE, [](double x) { return std::isfinite(x); });
  if (!is_whole || std::memcmp(last, pose, POSE * sizeof(double)) == 0) {
    return false;
  }
  if (sending_.test_and_set(std::memory_order_acquire)) {
    return false;  // another thread has not noticed yet that this one refers: the next cycle will do
  }
  const double time = watched_.time.load(std::memory_order_relaxed);
  const int status = library_.target_pose(robot_.get(), static_cast<uint32_t>(task), pose, pose + 3, time);
  sending_.clear(std::memory_order_release);
  if (status != OPSPACE_BUSY) {
    std::memcpy(last, pose, POSE * sizeof(double));
  }
  return status == OPSPACE_OK;
}

void ControlLoop::set_chained(bool is_chained) { is_chained_.store(is_chained, std::memory_order_release); }

void ControlLoop::take_changes()
{
  changes_.take([this](const Change & change) {
    double time = 0.0;
    switch (change.kind) {
      case Change::set:
        library_.set(robot_.get(), &change.field, change.values.data(), change.values.size());
        break;
      case Change::method:
        library_.use_method(robot_.get(), change.name);
        break;
      case Change::hold:
        if (library_.believed(robot_.get(), q_.data(), v_.data(), &time) == OPSPACE_OK) {
          library_.hold(robot_.get(), q_.data(), v_.data(), time);
        }
        break;
    }
  });
}

// ---- other threads ----

template <typename Send>
std::string ControlLoop::sent(Send send)
{
  if (!watched_.is_active.load(std::memory_order_acquire)) {
    return "the controller is not active";
  }
  if (is_chained_.load(std::memory_order_acquire)) {
    return "another controller refers to this one: it is in chained mode";
  }
  while (sending_.test_and_set(std::memory_order_acquire)) {
    std::this_thread::yield();
  }
  const int status = send(watched_.time.load(std::memory_order_relaxed));
  sending_.clear(std::memory_order_release);
  return status == OPSPACE_OK ? "" : library_.words(status);
}

std::string ControlLoop::target_pose(std::size_t task, const double * position, const double * quaternion)
{
  return sent([=](double time) {
    return library_.target_pose(robot_.get(), static_cast<uint32_t>(task), position, quaternion, time);
  });
}

std::string ControlLoop::target_twist(std::size_t task, const double * twist)
{
  return sent(
    [=](double time) { return library_.target_twist(robot_.get(), static_cast<uint32_t>(task), twist, time); });
}

std::string ControlLoop::target_wrench(std::size_t task, const double * wrench)
{
  return sent(
    [=](double time) { return library_.target_wrench(robot_.get(), static_cast<uint32_t>(task), wrench, time); });
}

std::string ControlLoop::measured_wrench(std::size_t task, const double * wrench)
{
  return sent(
    [=](double time) { return library_.measured_wrench(robot_.get(), static_cast<uint32_t>(task), wrench, time); });
}

std::string ControlLoop::way_points(
  std::size_t task, double start, const std::vector<double> & times, const std::vector<double> & positions,
  const std::vector<double> & quaternions, const std::vector<double> & twists)
{
  const std::size_t count = times.size(), most = library_.most_way_points(robot_.get());
  if (count < 1 || count > most) {
    return std::to_string(count) + " way points; valid are 1 to " + std::to_string(most) +
           " (`opspace export --way-points`)";
  }
  if (positions.size() != 3 * count || quaternions.size() != 4 * count || twists.size() % (6 * count) != 0) {
    return "every way point needs a position and an orientation, and all or none a twist";
  }
  return sent([&](double time) {
    return library_.way_points(
      robot_.get(), static_cast<uint32_t>(task), static_cast<uint32_t>(count), times.data(), positions.data(),
      quaternions.data(), twists.empty() ? nullptr : twists.data(), time + start);
  });
}

std::string ControlLoop::posture(const std::vector<double> & positions, const std::vector<double> & velocities)
{
  const std::size_t count = robot_.joints().size();
  if (positions.size() != count || (!velocities.empty() && velocities.size() != count)) {
    return "a posture has one number a joint";
  }
  return sent([&](double time) {
    const double * speeds = velocities.empty() ? nullptr : velocities.data();
    return library_.posture(robot_.get(), positions.data(), speeds, time);
  });
}

std::string ControlLoop::put(const std::vector<Change> & changes)
{
  while (sending_.test_and_set(std::memory_order_acquire)) {
    std::this_thread::yield();
  }
  const bool is_put = changes_.put(changes);
  sending_.clear(std::memory_order_release);
  return is_put ? "" : FULL;
}

std::string ControlLoop::hold()
{
  if (!watched_.is_active.load(std::memory_order_acquire)) {
    return "the controller is not active";
  }
  Change change;
  change.kind = Change::hold;
  return put({change});
}

std::string ControlLoop::stop() { return library_.stop(robot_.get()) == OPSPACE_OK ? "" : "there are no gates"; }

std::string ControlLoop::reset()
{
  const int status = library_.open_gates(robot_.get());
  return status == OPSPACE_OK ? "" : library_.words(status);
}

std::string ControlLoop::enable(bool is_permitted, int64_t steady)
{
  const int status = library_.enable(robot_.get(), is_permitted, steady);
  return status == OPSPACE_OK ? "" : library_.words(status);
}

std::vector<Change> ControlLoop::changes_of(const Named & parameters) const
{
  std::vector<Change> changes;
  for (const auto & [name, value] : parameters) {
    Change change;
    if (name == METHOD) {
      const auto * word = std::get_if<std::string>(&value);
      change.kind = Change::method;
      change.name = robot_.methods()[place_of(word ? *word : "", robot_.methods(), METHOD)].c_str();
    } else {
      change.field = robot_.field(name);
      if (!change.field.is_live) {
        throw Error(name + " cannot be changed while the controller runs: export it again");
      }
      change.values = numbers_of(change.field, value);
    }
    changes.push_back(change);
  }
  return changes;
}

std::string ControlLoop::refusal(const Named & parameters) const
{
  try {
    return changes_.has_room(changes_of(parameters).size()) ? "" : FULL;
  } catch (const Error & error) {
    return error.what();
  }
}

std::string ControlLoop::set(const Named & parameters)
{
  const std::string refused = refusal(parameters);
  return refused.empty() ? put(changes_of(parameters)) : refused;
}

template <typename Say>
std::string ControlLoop::closed_in_text(const char * separator, Say say) const
{
  const uint64_t closed = watched_.closed.load(std::memory_order_relaxed);
  std::string text;
  for (std::size_t i = robot_.gates().size(); i-- > 0;) {
    if (closed >> i & 1) {
      text += (text.empty() ? "" : separator) + say(i);
    }
  }
  return text;
}

std::string ControlLoop::closed_gates() const
{
  return closed_in_text(" ", [this](std::size_t i) { return robot_.gates()[i]; });
}

std::string ControlLoop::why_closed() const
{
  return closed_in_text("; ", [this](std::size_t i) {
    return robot_.gates()[i] + ": " + library_.gate_words(robot_.get(), static_cast<uint32_t>(i));
  });
}

}  // namespace opspace_core
