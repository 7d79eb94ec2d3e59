// SPDX-License-Identifier: Apache-2.0
// Runs a script of events through a ControlLoop and prints every command in all its bits.
//   script LIBRARY IMAGE < events       a line an event, see `run`; numbers may be hexadecimal
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "counting.hpp"
#include "opspace_core/control_loop.hpp"

using opspace_core::ControlLoop;
using opspace_core::Instant;
using opspace_core::Outcome;
using opspace_core::Robot;
using opspace_core::State;
using opspace_core::Value;

namespace
{

const char * const OUTCOMES[] = {"command", "safe", "nothing", "error"};

std::vector<double> numbers(std::istringstream & line)
{
  std::vector<double> found;
  for (std::string word; line >> word;) {
    found.push_back(std::strtod(word.c_str(), nullptr));
  }
  return found;
}

std::string word(std::istringstream & line)
{
  std::string found;
  line >> found;
  return found;
}

int64_t integer(std::istringstream & line) { return std::strtoll(word(line).c_str(), nullptr, 10); }

void print(Outcome outcome, const std::vector<double> & tau)
{
  std::printf("%s", OUTCOMES[static_cast<int>(outcome)]);
  for (double each : tau) {
    std::printf(" %a", each);
  }
  std::printf("\n");
}

/// Ask for what stands in a line and is no cycle; why it was refused, or "".
std::string ask(ControlLoop & loop, const std::string & event, std::istringstream & line)
{
  const Robot & robot = loop.robot();
  if (event == "set") {
    const std::string name = word(line);
    return loop.set({{name, Value(numbers(line))}});
  }
  if (event == "choose") {
    const std::string name = word(line);
    return loop.set({{name, Value(word(line))}});
  }
  if (event == "hold") return loop.hold();
  if (event == "stop") return loop.stop();
  if (event == "reset") return loop.reset();
  if (event == "posture") return loop.posture(numbers(line), {});
  if (event == "refer") {  // a pose a task
    loop.refer(numbers(line).data());
    return "";
  }
  const std::size_t task = opspace_core::place_of(word(line), robot.tasks(), "task");
  std::vector<double> x = numbers(line);
  if (event == "pose") return loop.target_pose(task, x.data(), x.data() + 3);
  if (event == "position") return loop.target_pose(task, x.data(), nullptr);
  if (event == "twist") return loop.target_twist(task, x.data());
  if (event == "wrench") return loop.target_wrench(task, x.data());
  return "unknown event " + event;
}

void run(ControlLoop & loop, std::size_t k, bool has_base)
{
  std::vector<double> tau(k);
  for (std::string text; std::getline(std::cin, text);) {
    std::istringstream line(text);
    const std::string event = word(line);
    if (event == "begin") {
      const int64_t now = integer(line);
      print(loop.begin({now, now}, tau.data()), tau);
    } else if (event == "state") {
      const int64_t now = integer(line);
      const std::vector<double> x = numbers(line);
      State state{x.data(), x.data() + k, nullptr, nullptr};
      if (has_base && x.size() == 2 * k + 13) {
        state.pose = x.data() + 2 * k;
        state.twist = state.pose + 7;
      }
      counting::begin();
      const Outcome outcome = loop.update(state, {now, now}, tau.data());
      loop.spent(1000);
      counting::end();
      print(outcome, tau);
    } else if (event == "warm") {
      counting::begin();
      loop.warm();
      counting::end();
    } else if (event == "end") {
      print(loop.end(tau.data()), tau);
    } else if (event == "error_after") {
      loop.set_error_after(numbers(line).at(0));
    } else if (event == "chained") {
      loop.set_chained(integer(line) != 0);
    } else if (event == "field") {
      const opspace_field field = loop.robot().field(word(line));
      std::vector<double> x(std::size_t{field.rows} * field.columns);
      const Robot & robot = loop.robot();
      robot.library().check(robot.library().get(robot.get(), &field, x.data(), x.size()), field.name);
      print(Outcome::nothing, x);
    } else {
      std::printf("asked %s\n", ask(loop, event, line).c_str());
    }
  }
}

}  // namespace

int main(int, char ** words)
{
  try {
    Robot robot(words[1], words[2]);
    std::printf("opened %s\n", robot.replay().words().c_str());
    ControlLoop loop(robot);
    run(loop, robot.joints().size(), robot.has_base());
  } catch (const opspace_core::Error & error) {
    std::printf("refused %s\n", error.what());
    return 1;
  }
  std::printf("allocations %" PRIu64 " of %" PRIu64 "\n", counting::inside(), counting::everywhere());
  return 0;
}
