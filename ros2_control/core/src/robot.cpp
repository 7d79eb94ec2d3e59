// SPDX-License-Identifier: Apache-2.0
#include "opspace_core/robot.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>

namespace opspace_core
{

namespace
{

/// A file in words of a double, so that it begins where an image has to.
std::vector<double> read_file(const std::string & path, std::size_t & size)
{
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff length = file ? static_cast<std::streamoff>(file.tellg()) : -1;
  if (length <= 0 || length == std::numeric_limits<std::streamoff>::max()) {
    throw Error(path + " cannot be read: an image that `opspace export` wrote is valid");
  }
  size = static_cast<std::size_t>(length);
  std::vector<double> words(size / sizeof(double) + 1);
  file.seekg(0);
  if (!file.read(reinterpret_cast<char *>(words.data()), length)) {
    throw Error(path + " cannot be read to its end");
  }
  return words;
}

template <typename NameOf>
std::vector<std::string> names(NameOf name_of, const ::opspace * robot)
{
  std::vector<std::string> found;
  while (const char * name = name_of(robot, static_cast<uint32_t>(found.size()))) {
    found.emplace_back(name);
  }
  return found;
}

}  // namespace

Arena::Arena(std::size_t size)
: size_(size), at_(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0))
{
  if (at_ == MAP_FAILED) {
    throw Error("no memory for a robot of " + std::to_string(size) + " bytes");
  }
}

Arena::~Arena() { munmap(at_, size_); }

std::string Replay::words() const
{
  std::ostringstream text;
  text << identical << " of " << ticks << " reference ticks bit-identical";
  if (identical != ticks) {
    text << ", the others to " << worst << " of the largest torque";
  }
  if (recorded_on != target) {
    text << "; recorded on " << recorded_on << ", this is " << target;
  }
  return text.str();
}

Robot::Robot(const std::string & library, const std::string & image) : library_(library)
{
  std::size_t size = 0;
  const std::vector<double> bytes = read_file(image, size);
  const std::size_t needed = library_.size(bytes.data(), size);
  arena_ = std::make_unique<Arena>(std::max<std::size_t>(needed, OPSPACE_ALIGNMENT));
  replay_reference(image, bytes, size);
  library_.check(library_.open(&robot_, arena_->at(), arena_->size(), bytes.data(), size), image);
  joints_ = names(library_.joint, robot_);
  tasks_ = names(library_.task, robot_);
  methods_ = names(library_.method_name, robot_);
  gates_ = names(library_.gate, robot_);
}

void Robot::replay_reference(const std::string & path, const std::vector<double> & image, std::size_t size)
{
  const int status = library_.replay(
    arena_->at(), arena_->size(), image.data(), size, &replay_.ticks, &replay_.identical, &replay_.worst);
  if (status != OPSPACE_OK && status != OPSPACE_DIFFERENT) {
    library_.check(status, path);
  }
  replay_.recorded_on = library_.recorded_on(image.data(), size);
  replay_.target = library_.target();
  if (replay_.ticks == 0) {
    throw Error(path + ": it has no reference ticks; `opspace export` records them");
  }
  const bool is_same_target = replay_.recorded_on == replay_.target;
  if (status == OPSPACE_DIFFERENT || (is_same_target && replay_.identical != replay_.ticks)) {
    throw Error(path + ": refused, " + replay_.words());
  }
}

opspace_field Robot::field(const std::string & name) const
{
  opspace_field found;
  library_.check(library_.find(robot_, name.c_str(), &found), name);
  return found;
}

std::vector<opspace_field> Robot::live_fields() const
{
  std::vector<opspace_field> found;
  opspace_field field;
  for (uint32_t i = 0; library_.field_at(robot_, i, &field) == OPSPACE_OK; i++) {
    if (field.is_live) {
      found.push_back(field);
    }
  }
  return found;
}

bool lock_memory() { return mlockall(MCL_CURRENT | MCL_FUTURE) == 0; }

std::size_t place_of(
  const std::string & name, const std::vector<std::string> & valid, const std::string & what)
{
  const auto found = std::find(valid.begin(), valid.end(), name);
  if (found == valid.end()) {
    throw Error("there is no " + what + " \"" + name + "\"; valid are " + listed(valid));
  }
  return static_cast<std::size_t>(found - valid.begin());
}

std::vector<std::size_t> places_of(
  const std::vector<std::string> & wanted, const std::vector<std::string> & given, const std::string & what)
{
  std::vector<std::size_t> places;
  std::vector<std::string> missing;
  for (const std::string & name : wanted) {
    const auto found = std::find(given.begin(), given.end(), name);
    if (found == given.end()) {
      missing.push_back(name);
    }
    places.push_back(static_cast<std::size_t>(found - given.begin()));
  }
  if (!missing.empty()) {
    throw Error(what + ": " + listed(missing) + " is missing; there are " + listed(given));
  }
  return places;
}

std::string listed(const std::vector<std::string> & names)
{
  std::string text;
  for (const std::string & name : names) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text.empty() ? "none" : text;
}

}  // namespace opspace_core
