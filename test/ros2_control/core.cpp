// SPDX-License-Identifier: Apache-2.0
// Plain tests of the ROS-free core:  core LIBRARY IMAGE SIMULATOR-IMAGE
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "opspace_core/control_loop.hpp"
#include "opspace_core/simulation.hpp"

using namespace opspace_core;  // NOLINT

namespace
{

int failures = 0;

void check(bool is_true, const char * text, int line)
{
  if (!is_true) {
    std::printf("line %d: %s\n", line, text);
    failures++;
  }
}
#define CHECK(...) check((__VA_ARGS__), #__VA_ARGS__, __LINE__)

std::string refusal(const std::function<void()> & action)
{
  try {
    action();
  } catch (const Error & error) {
    return error.what();
  }
  return "";
}

bool has(const std::string & text, const std::string & part) { return text.find(part) != std::string::npos; }

std::vector<char> bytes_of(const std::string & path)
{
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::string & path, const std::vector<char> & bytes)
{
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

void test_what_cannot_be_opened_is_refused_by_name(const std::string & library, const std::string & image)
{
  CHECK(has(refusal([&] { Robot("nowhere.so", image); }), "nowhere.so"));
  CHECK(has(refusal([&] { Robot("libm.so.6", image); }), "libm.so.6 has no opspace_"));
  CHECK(has(refusal([&] { Robot(library, "nowhere.opspace"); }), "nowhere.opspace cannot be read"));
  CHECK(has(refusal([&] { Robot(library, "."); }), "cannot be read"));
  CHECK(has(refusal([&] { Robot(library, library); }), "no image"));
  std::vector<char> bytes = bytes_of(image);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  write(image + ".damaged", bytes);
  CHECK(has(refusal([&] { Robot(library, image + ".damaged"); }), "damaged"));
  bytes.resize(100);
  write(image + ".short", bytes);
  CHECK(refusal([&] { Robot(library, image + ".short"); }) != "");
}

void test_names_are_found_or_told(const Robot & robot)
{
  CHECK(robot.joints().size() == 7 && robot.joints()[2] == "joint3");
  CHECK(robot.tasks() == std::vector<std::string>{"tool"});
  CHECK(!robot.has_base() && robot.nq() == 7 && robot.nv() == 7);
  CHECK(robot.gates().size() > 10 && robot.gates().back() == "stop");
  CHECK(place_of("rjk", robot.methods(), "method") > 0);
  CHECK(has(refusal([&] { place_of("best", robot.methods(), "method"); }), "\"best\"; valid are dense"));
  const std::vector<std::string> given{"other", "joint2", "joint1"};
  CHECK(places_of({"joint1", "joint2"}, given, "joints") == std::vector<std::size_t>{2, 1});
  CHECK(has(refusal([&] { places_of({"joint1", "joint9"}, given, "joints"); }), "joints: joint9 is missing"));
  CHECK(has(refusal([&] { robot.field("tool.stifness"); }), "tool.stifness"));
}

void test_parameters_are_words_flags_and_lists(const Robot & robot)
{
  const opspace_field stiffness = robot.field("tool.stiffness"), enabled = robot.field("tool.enabled");
  CHECK(std::get<std::vector<double>>(value_of(robot, stiffness)) == std::vector<double>(6, 900.0));
  CHECK(std::get<bool>(value_of(robot, enabled)));
  CHECK(std::get<std::string>(value_of(robot, robot.field("internal_forces"))) == "balanced");
  CHECK(std::get<std::vector<std::string>>(value_of(robot, robot.field("tool.force_axes"))).empty());
  CHECK(std::get<double>(value_of(robot, robot.field("tool.integral"))) == 7.0);
  CHECK(numbers_of(stiffness, Value(5.0)) == std::vector<double>(6, 5.0));
  CHECK(numbers_of(stiffness, Value(std::vector<double>{1.0, 2.0}))[3] == 2.0);
  CHECK(numbers_of(enabled, Value(false)) == std::vector<double>{0.0});
  CHECK(numbers_of(robot.field("internal_forces"), Value(std::string("zero")))[0] == 0.0);
  const std::vector<std::string> axes{"z", "x"};
  CHECK(numbers_of(robot.field("tool.force_axes"), Value(axes)) == std::vector<double>{1, 0, 1, 0, 0, 0});
  const double endless = std::numeric_limits<double>::infinity();
  for (const Value & bad :
       {Value(-1.0), Value(std::nan("")), Value(endless), Value(true), Value(std::string("stiff")),
        Value(std::vector<double>{1, 2, 3}), Value(std::vector<double>{}), Value(axes)}) {
    CHECK(has(refusal([&] { numbers_of(stiffness, bad); }), "tool.stiffness: valid is 1 or 6 numbers from 0 to 1e+06"));
  }
  const double none = std::nan("");
  for (const char * name : {"tool.damping", "posture.damping", "posture.positions"}) {  // lists that may be empty
    const opspace_field field = robot.field(name);
    const std::vector<double> empty = numbers_of(field, Value(std::vector<double>{}));
    CHECK(empty.size() == std::size_t{field.rows} * field.columns);
    CHECK(std::all_of(empty.begin(), empty.end(), [](double x) { return std::isnan(x); }));
    std::vector<double> single(empty.size(), 1.0);
    single[1] = none;
    for (const Value & bad : {Value(single), Value(empty), Value(std::vector<double>{none}), Value(endless)}) {
      CHECK(has(refusal([&] { numbers_of(field, bad); }), std::string(name) + ": valid is none, 1 or "));
    }
  }
  CHECK(has(refusal([&] { numbers_of(enabled, Value(1.0)); }), "true or false"));
  CHECK(has(refusal([&] { numbers_of(robot.field("internal_forces"), Value(std::string("none"))); }), "balanced"));
}

void test_a_set_of_changes_is_taken_whole_or_not_at_all()
{
  Changes changes(1);
  Change one;
  one.values = {1.0};
  CHECK(changes.put(std::vector<Change>(Changes::SLOTS, one)) && !changes.put({one}));
  std::size_t taken = 0;
  changes.take([&](const Change &) { taken++; });
  CHECK(taken == Changes::SLOTS && changes.put({one}));
  CHECK(!changes.put(std::vector<Change>(Changes::SLOTS, one)));
}

void test_changes_of_another_thread_arrive_in_order_and_complete()
{
  Changes changes(1);
  constexpr int COUNT = 20000;
  std::thread writer([&] {
    for (int i = 0; i < COUNT; i += 2) {
      Change first, second;
      first.values = {static_cast<double>(i)};
      second.values = {static_cast<double>(i + 1)};
      while (!changes.put({first, second})) {
        std::this_thread::yield();
      }
    }
  });
  int next = 0;
  while (next < COUNT) {
    const int before = next;
    changes.take([&](const Change & change) { check(change.values[0] == next++, "in order", __LINE__); });
    check((next - before) % 2 == 0, "in pairs", __LINE__);
  }
  writer.join();
}

void test_a_loop_takes_targets_and_parameters_of_other_threads(Robot & robot)
{
  ControlLoop loop(robot);
  const std::vector<double> q(7, 0.3), v(7, 0.0);
  std::vector<double> tau(7);
  const double pose[7] = {0.4, 0.1, 0.5, 0.0, 0.0, 0.0, 1.0};
  CHECK(has(loop.target_pose(0, pose, pose + 3), "not active") && has(loop.hold(), "not active"));
  int64_t now = 1'000'000'000;
  loop.begin({now, now}, tau.data());
  std::atomic<bool> is_over{false};
  std::atomic<int> taken{0}, sets{0};
  std::thread targets([&] {
    while (!is_over) {
      taken += loop.target_pose(0, pose, pose + 3).empty();
    }
  });
  std::thread elsewhere([&] {  // of another manager in the same process: nothing happens
    while (!is_over) {
      loop.warm();
    }
  });
  std::thread parameters([&] {
    while (!is_over) {
      sets += loop.set({{"tool.stiffness", Value(100.0)}, {"method", Value(std::string("rjk"))}}).empty();
    }
  });
  int commands = 0;
  for (int i = 0; i < 3000 || ((taken == 0 || sets == 0) && i < 1'000'000); i++) {
    loop.warm();
    now += 1'000'000;
    commands += loop.update({q.data(), v.data(), nullptr, nullptr}, {now, now}, tau.data()) == Outcome::command;
    for (double each : tau) {
      check(std::isfinite(each), "finite", __LINE__);
    }
  }
  is_over = true;
  targets.join();
  elsewhere.join();
  parameters.join();
  CHECK(commands >= 3000 && taken > 0 && sets > 0);
  now += 1'000'000;
  loop.update({q.data(), v.data(), nullptr, nullptr}, {now, now}, tau.data());
  CHECK(std::get<std::vector<double>>(value_of(robot, robot.field("tool.stiffness")))[5] == 100.0);
  loop.set_chained(true);
  CHECK(has(loop.target_pose(0, pose, pose + 3), "chained"));
  loop.end(tau.data());
}

void test_what_is_wrong_with_parameters_is_told_and_none_is_taken(Robot & robot)
{
  ControlLoop loop(robot);
  std::vector<double> tau(7), q(7, 0.3), v(7, 0.0);
  const Value before = value_of(robot, robot.field("tool.integral"));
  CHECK(has(loop.set({{"tool.integral", Value(1.0)}, {"tool.stiffness", Value(-1.0)}}), "tool.stiffness"));
  CHECK(has(loop.set({{"tool.integral", Value(1.0)}, {"nothing", Value(1.0)}}), "nothing"));
  CHECK(has(loop.set({{"level_torque", Value(1.0)}}), "export it again"));
  CHECK(has(loop.set({{"method", Value(std::string("best"))}}), "valid are"));
  CHECK(has(loop.way_points(0, 0.0, {}, {}, {}, {}), "0 way points; valid are 1 to 64"));
  CHECK(has(loop.posture({1.0}, {}), "one number a joint"));
  while (loop.set({{"tool.integral", Value(7.0)}}).empty()) {  // nobody takes them: the controller is not active
  }
  CHECK(has(loop.refusal({{"tool.integral", Value(7.0)}}), "is the controller active"));
  int64_t now = 1'000'000'000;
  loop.begin({now, now}, tau.data());
  loop.update({q.data(), v.data(), nullptr, nullptr}, {now + 1, now + 1}, tau.data());
  CHECK(value_of(robot, robot.field("tool.integral")) == before);
  CHECK(has(loop.way_points(0, 0.0, {1.0}, {0.0}, {0.0, 0.0, 0.0, 1.0}, {}), "every way point"));
  loop.end(tau.data());
}

void test_closed_gates_are_counted_and_told_in_words(Robot & robot)
{
  ControlLoop loop(robot);
  const std::vector<double> q(7, 0.3), v(7, 0.0), none(7, std::nan(""));
  std::vector<double> tau(7);
  const std::vector<std::string> & gates = robot.gates();
  const std::size_t finite = place_of("finite", gates, "gate"), stop = place_of("stop", gates, "gate");
  const uint64_t before = loop.watched().gates[finite].closings;
  int64_t now = 10'000'000'000'000;  // time goes on since the loops before
  loop.begin({now, now}, tau.data());
  const auto cycle = [&](const std::vector<double> & positions) {
    now += 1'000'000;
    return loop.update({positions.data(), v.data(), nullptr, nullptr}, {now, now}, tau.data());
  };
  CHECK(cycle(q) == Outcome::command && loop.why_closed().empty());
  for (int i = 0; i < 3; i++) {
    CHECK(cycle(none) == Outcome::safe);
    CHECK(has(loop.why_closed(), "finite: a number that is used is NaN or infinite"));
  }
  while (cycle(q) != Outcome::command) {
  }
  CHECK(loop.watched().gates[finite].closings == before + 1 && loop.watched().gates[finite].messages >= 3);
  CHECK(loop.watched().gates[stop].closings == 0 && loop.why_closed().empty());
  loop.end(tau.data());
}

void test_a_simulated_robot_falls_holds_and_starts_again(const std::string & library, const std::string & image)
{
  Simulation simulation(library, image);
  const std::vector<double> start = simulation.q();
  CHECK(simulation.advance(nullptr, 500'000'000));
  CHECK(std::fabs(simulation.position(1) - start[1]) < 1e-6);
  const std::vector<double> none(7, 0.0);
  CHECK(simulation.advance(none.data(), 100'000'000));
  CHECK(std::fabs(simulation.position(1) - start[1]) > 1e-3 && std::fabs(simulation.velocity(1)) > 1e-2);
  const std::vector<double> there = simulation.q();
  CHECK(simulation.advance(none.data(), 100'000) && simulation.q() == there);  // no step is due yet
  CHECK(simulation.advance(none.data(), 450'000) && simulation.q() != there);  // cycles jitter
  simulation.reset();
  CHECK(simulation.q() == start);
}

void test_images_of_another_kind_are_refused(
  const std::string & library, const std::string & image, const std::string & simulated)
{
  CHECK(has(refusal([&] { Simulation(library, image); }), "no simulated robot"));
  Robot robot(library, simulated);
  CHECK(has(refusal([&] { ControlLoop(robot).use_simulated_time(false); }), "no such part"));
}

}  // namespace

int main(int, char ** words)
{
  const std::string library = words[1], image = words[2], simulated = words[3];
  Robot robot(library, image);
  CHECK(robot.replay().ticks == 200 && robot.replay().identical == 200);
  test_what_cannot_be_opened_is_refused_by_name(library, image);
  test_names_are_found_or_told(robot);
  test_parameters_are_words_flags_and_lists(robot);
  test_a_set_of_changes_is_taken_whole_or_not_at_all();
  test_changes_of_another_thread_arrive_in_order_and_complete();
  test_what_is_wrong_with_parameters_is_told_and_none_is_taken(robot);
  test_a_loop_takes_targets_and_parameters_of_other_threads(robot);
  test_closed_gates_are_counted_and_told_in_words(robot);
  test_a_simulated_robot_falls_holds_and_starts_again(library, simulated);
  test_images_of_another_kind_are_refused(library, image, simulated);
  std::printf("%d failures\n", failures);
  return failures != 0;
}
