// SPDX-License-Identifier: Apache-2.0
#include "opspace_ctrl_plugin/base_state.hpp"

#include <algorithm>

#include "opspace_ctrl_plugin/clock.hpp"
#include "opspace_ctrl_plugin/interfaces.hpp"

namespace opspace_ctrl
{

BaseState::BaseState(
  rclcpp_lifecycle::LifecycleNode & node, const opspace_core::Robot & robot, const std::string & source,
  const std::string & name, DoorPtr door)
{
  if (!robot.has_base()) {
    return;
  }
  if (source == "interfaces") {
    for (const char * each : BASE_INTERFACES) {
      interfaces_.push_back(name + "/" + each);
    }
    return;
  }
  timeout_ = static_cast<const double *>(robot.field("odom_timeout").at);
  odometry_ = node.create_subscription<nav_msgs::msg::Odometry>(
    "odom", rclcpp::SensorDataQoS(), [this, door](const nav_msgs::msg::Odometry & message) {
      const Door::Inside inside = door->enter();
      if (!inside) {
        return;
      }
      const auto & p = message.pose.pose.position;
      const auto & o = message.pose.pose.orientation;
      const auto & v = message.twist.twist.linear;
      const auto & w = message.twist.twist.angular;
      box_.set(Told{{p.x, p.y, p.z, o.x, o.y, o.z, o.w}, {v.x, v.y, v.z, w.x, w.y, w.z}, steady_now()});
    });
}

void BaseState::tell(
  const std::vector<hardware_interface::LoanedStateInterface> & loaned, std::size_t first, int64_t steady,
  opspace_core::State & state)
{
  if (odometry_) {
    now_ = box_.try_get().value_or(now_);
    if (now_.arrival == 0 || static_cast<double>(steady - now_.arrival) * 1e-9 > *timeout_) {
      return;  // the gate `odom` says so
    }
  } else if (!interfaces_.empty()) {
    for (std::size_t i = 0; i < BASE_INTERFACES.size(); i++) {
      double & place = i < POSE_SIZE ? now_.pose[i] : now_.twist[i - POSE_SIZE];
      place = loaned[first + i].get_optional().value_or(place);
    }
  } else {
    return;
  }
  state.pose = now_.pose.data();
  state.twist = now_.twist.data();
}

}  // namespace opspace_ctrl
