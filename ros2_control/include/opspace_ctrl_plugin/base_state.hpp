// SPDX-License-Identifier: Apache-2.0
// Where a floating base is: from odometry, or from state interfaces of a state estimator.
#ifndef OPSPACE_CTRL_PLUGIN__BASE_STATE_HPP_
#define OPSPACE_CTRL_PLUGIN__BASE_STATE_HPP_

#include <array>
#include <string>
#include <vector>

#include "hardware_interface/loaned_state_interface.hpp"
#include "nav_msgs/msg/odometry.hpp"
#include "opspace_core/control_loop.hpp"
#include "opspace_ctrl_plugin/door.hpp"
#include "rclcpp_lifecycle/lifecycle_node.hpp"
#include "realtime_tools/realtime_thread_safe_box.hpp"

namespace opspace_ctrl
{

/// The base of a robot, if it has one.
class BaseState
{
public:
  /// `source`: "odom", a topic, or "interfaces" of the component `name`.
  BaseState(
    rclcpp_lifecycle::LifecycleNode & node, const opspace_core::Robot & robot, const std::string & source,
    const std::string & name, DoorPtr door);

  /// The state interfaces that it needs, behind those of the joints.
  const std::vector<std::string> & interfaces() const { return interfaces_; }

  /// Put what is known now into a state. In the loop; `first` of the loaned interfaces is the base's.
  void tell(
    const std::vector<hardware_interface::LoanedStateInterface> & loaned, std::size_t first, int64_t steady,
    opspace_core::State & state);

private:
  struct Told
  {
    std::array<double, 7> pose{};
    std::array<double, 6> twist{};
    int64_t arrival = 0;
  };

  std::vector<std::string> interfaces_;
  rclcpp::Subscription<nav_msgs::msg::Odometry>::SharedPtr odometry_;
  realtime_tools::RealtimeThreadSafeBox<Told> box_;
  Told now_;
  const double * timeout_ = nullptr;  ///< odom_timeout [s] in the image
};

}  // namespace opspace_ctrl

#endif  // OPSPACE_CTRL_PLUGIN__BASE_STATE_HPP_
