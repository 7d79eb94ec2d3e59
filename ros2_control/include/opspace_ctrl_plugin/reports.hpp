// SPDX-License-Identifier: Apache-2.0
// What the controller tells: poses and errors of the tasks, its gates, and how long updates take.
#ifndef OPSPACE_CTRL_PLUGIN__REPORTS_HPP_
#define OPSPACE_CTRL_PLUGIN__REPORTS_HPP_

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "diagnostic_msgs/msg/diagnostic_array.hpp"
#include "geometry_msgs/msg/pose_stamped.hpp"
#include "geometry_msgs/msg/twist_stamped.hpp"
#include "opspace_core/control_loop.hpp"
#include "opspace_ctrl_plugin/door.hpp"
#include "opspace_ctrl_plugin/requests.hpp"
#include "rclcpp_lifecycle/lifecycle_node.hpp"
#include "realtime_tools/realtime_publisher.hpp"
#include "std_msgs/msg/string.hpp"

namespace opspace_ctrl
{

/// Publishers of a configured controller.
class Reports
{
public:
  Reports(
    rclcpp_lifecycle::LifecycleNode::SharedPtr node, const opspace_core::ControlLoop & loop, const Requests & requests,
    const std::string & world, DoorPtr door);

  /// In the loop, after an update that took so long [ns].
  void updated(const rclcpp::Time & time, int64_t steady, int64_t elapsed);

private:
  using Pose = geometry_msgs::msg::PoseStamped;
  using Error = geometry_msgs::msg::TwistStamped;

  void tell();
  void look_at_rate();
  void tell_safety();
  void tell_diagnostics();
  diagnostic_msgs::msg::DiagnosticStatus gates();
  diagnostic_msgs::msg::DiagnosticStatus loop();
  diagnostic_msgs::msg::DiagnosticStatus status(const char * what) const;

  rclcpp_lifecycle::LifecycleNode::SharedPtr node_;
  const opspace_core::ControlLoop & loop_;
  const Requests & requests_;
  std::atomic<int64_t> period_{0};  ///< of poses and errors [ns]; 0: none
  int64_t next_ = 0;
  opspace_field pose_, error_;
  Pose pose_message_;
  Error error_message_;
  std::vector<std::unique_ptr<realtime_tools::RealtimePublisher<Pose>>> poses_;
  std::vector<std::unique_ptr<realtime_tools::RealtimePublisher<Error>>> errors_;
  rclcpp::Publisher<std_msgs::msg::String>::SharedPtr safety_;
  rclcpp::Publisher<diagnostic_msgs::msg::DiagnosticArray>::SharedPtr diagnostics_;
  rclcpp::TimerBase::SharedPtr timer_;
  std::string said_;
  int turns_ = 0;
  uint64_t refused_ = 0;  ///< targets, at the last diagnostics
  std::atomic<int64_t> longest_{0}, total_{0}, count_{0};  ///< of updates since the last diagnostics [ns]
};

}  // namespace opspace_ctrl

#endif  // OPSPACE_CTRL_PLUGIN__REPORTS_HPP_
