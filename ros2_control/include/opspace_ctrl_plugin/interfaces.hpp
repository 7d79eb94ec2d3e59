// SPDX-License-Identifier: Apache-2.0
// Names of interfaces that describe a pose, and a floating base.
#ifndef OPSPACE_CTRL_PLUGIN__INTERFACES_HPP_
#define OPSPACE_CTRL_PLUGIN__INTERFACES_HPP_

#include <array>
#include <cstddef>

namespace opspace_ctrl
{

constexpr std::size_t POSE_SIZE = 7, TWIST_SIZE = 6;

/// Pose in the world, then twist in the base's axes; what refers to a task is called as the pose.
constexpr std::array<const char *, POSE_SIZE + TWIST_SIZE> BASE_INTERFACES{
  "position.x",        "position.y",        "position.z",        "orientation.x",      "orientation.y",
  "orientation.z",     "orientation.w",     "linear_velocity.x", "linear_velocity.y",  "linear_velocity.z",
  "angular_velocity.x", "angular_velocity.y", "angular_velocity.z"};

}  // namespace opspace_ctrl

#endif  // OPSPACE_CTRL_PLUGIN__INTERFACES_HPP_
