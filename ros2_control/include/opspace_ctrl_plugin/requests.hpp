// SPDX-License-Identifier: Apache-2.0
// What comes from users: targets by topics, hold, reset and emergency stop by services; as the Python node has them.
#ifndef OPSPACE_CTRL_PLUGIN__REQUESTS_HPP_
#define OPSPACE_CTRL_PLUGIN__REQUESTS_HPP_

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "geometry_msgs/msg/pose_stamped.hpp"
#include "geometry_msgs/msg/twist_stamped.hpp"
#include "geometry_msgs/msg/wrench_stamped.hpp"
#include "opspace_core/control_loop.hpp"
#include "opspace_ctrl_plugin/door.hpp"
#include "rclcpp_lifecycle/lifecycle_node.hpp"
#include "sensor_msgs/msg/joint_state.hpp"
#include "std_msgs/msg/bool.hpp"
#include "std_msgs/msg/string.hpp"
#include "std_srvs/srv/trigger.hpp"
#include "trajectory_msgs/msg/multi_dof_joint_trajectory.hpp"

namespace opspace_ctrl
{

/// Subscriptions and services of a configured controller. Everything here runs in threads of the executor.
class Requests
{
public:
  /// `is_stopped`: remembers an emergency stop when this is gone. `world`: name of the world in messages.
  Requests(
    rclcpp_lifecycle::LifecycleNode::SharedPtr node, opspace_core::ControlLoop & loop, std::atomic<bool> & is_stopped,
    const std::string & world, DoorPtr door);

  uint64_t refused() const { return refused_.load(); }
  /// Why the last of them was; "" if none was.
  std::string last_refusal() const;

private:
  template <typename Message>
  void listen(const std::string & topic, std::function<std::string(const Message &)> take);
  void listen_for(std::size_t task);
  void serve(const std::string & name, std::function<std::string()> action, const std::string & done);

  std::string check_frame(const std::string & frame_id) const;
  std::string pose(std::size_t task, const geometry_msgs::msg::PoseStamped & message);
  std::string trajectory(std::size_t task, const trajectory_msgs::msg::MultiDOFJointTrajectory & message);
  std::string posture(const sensor_msgs::msg::JointState & message);

  rclcpp_lifecycle::LifecycleNode::SharedPtr node_;
  opspace_core::ControlLoop & loop_;
  std::atomic<bool> & is_stopped_;
  std::string world_;
  DoorPtr door_;
  std::atomic<uint64_t> refused_{0};
  mutable std::mutex saying_;  ///< of the last refusal
  std::string last_refusal_;
  std::vector<rclcpp::SubscriptionBase::SharedPtr> subscriptions_;
  std::vector<rclcpp::ServiceBase::SharedPtr> services_;
  rclcpp::CallbackGroup::SharedPtr urgent_;  ///< the emergency stop does not wait behind targets
  rclcpp::Publisher<std_msgs::msg::String>::SharedPtr answers_;
};

}  // namespace opspace_ctrl

#endif  // OPSPACE_CTRL_PLUGIN__REQUESTS_HPP_
