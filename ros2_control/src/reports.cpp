// SPDX-License-Identifier: Apache-2.0
#include "opspace_ctrl_plugin/reports.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace opspace_ctrl
{

namespace
{

using diagnostic_msgs::msg::DiagnosticArray;
using diagnostic_msgs::msg::DiagnosticStatus;
using diagnostic_msgs::msg::KeyValue;

constexpr std::chrono::milliseconds LOOK{100};  // how often gates are looked at
constexpr int DIAGNOSTICS = 10;                 // looks between two diagnostics

const double * row(const opspace_field & field, std::size_t number)
{
  return static_cast<const double *>(field.at) + number * field.stride;
}

/// From a rotation matrix, row by row; by its largest component, so that nothing is divided by little. What has no
/// orientation, the centre of mass, has none that is turned.
geometry_msgs::msg::Quaternion quaternion_of(const double * r)
{
  if (std::all_of(r, r + 9, [](double x) { return x == 0.0; })) {
    return geometry_msgs::msg::Quaternion();  // w is 1
  }
  const double squares[4] = {1 + r[0] - r[4] - r[8], 1 - r[0] + r[4] - r[8], 1 - r[0] - r[4] + r[8], 1 + r[0] + r[4] + r[8]};
  const auto k = static_cast<std::size_t>(std::max_element(squares, squares + 4) - squares);
  const double rows[4][4] = {
    {squares[0], r[1] + r[3], r[2] + r[6], r[7] - r[5]},
    {r[1] + r[3], squares[1], r[5] + r[7], r[2] - r[6]},
    {r[2] + r[6], r[5] + r[7], squares[2], r[3] - r[1]},
    {r[7] - r[5], r[2] - r[6], r[3] - r[1], squares[3]}};
  const double scale = 0.5 / std::sqrt(squares[k]);
  geometry_msgs::msg::Quaternion q;
  q.x = scale * rows[k][0];
  q.y = scale * rows[k][1];
  q.z = scale * rows[k][2];
  q.w = scale * rows[k][3];
  return q;
}

KeyValue pair(const std::string & key, const std::string & value)
{
  KeyValue made;
  made.key = key;
  made.value = value;
  return made;
}

}  // namespace

Reports::Reports(
  rclcpp_lifecycle::LifecycleNode::SharedPtr node, const opspace_core::ControlLoop & loop, const Requests & requests,
  const std::string & world, DoorPtr door)
: node_(node),
  loop_(loop),
  requests_(requests),
  pose_(loop.robot().field("pose")),
  error_(loop.robot().field("error"))
{
  look_at_rate();
  pose_message_.header.frame_id = world;
  error_message_.header.frame_id = world;
  for (const std::string & task : loop.robot().tasks()) {
    // plain publishers: the real-time ones publish whenever they are told to
    const std::string prefix = "~/" + task + "/";
    poses_.push_back(std::make_unique<realtime_tools::RealtimePublisher<Pose>>(
      rclcpp::create_publisher<Pose>(*node, prefix + "pose", rclcpp::QoS(10))));
    errors_.push_back(std::make_unique<realtime_tools::RealtimePublisher<Error>>(
      rclcpp::create_publisher<Error>(*node, prefix + "error", rclcpp::QoS(10))));
  }
  safety_ = rclcpp::create_publisher<std_msgs::msg::String>(*node, "~/safety", rclcpp::QoS(1).transient_local());
  diagnostics_ = rclcpp::create_publisher<DiagnosticArray>(*node, "/diagnostics", rclcpp::QoS(10));
  timer_ = node->create_wall_timer(LOOK, [this, door] {
    if (const Door::Inside inside = door->enter()) {
      tell();
    }
  });
}

void Reports::updated(const rclcpp::Time & time, int64_t steady, int64_t elapsed)
{
  total_.fetch_add(elapsed, std::memory_order_relaxed);
  count_.fetch_add(1, std::memory_order_relaxed);
  longest_.store(std::max(elapsed, longest_.load(std::memory_order_relaxed)), std::memory_order_relaxed);
  const int64_t period = period_.load(std::memory_order_relaxed);
  if (period == 0 || steady < next_) {
    return;
  }
  next_ = steady + period;
  pose_message_.header.stamp = time;
  error_message_.header.stamp = time;
  for (std::size_t task = 0; task < poses_.size(); task++) {
    const double * pose = row(pose_, task);
    const double * error = row(error_, task);
    pose_message_.pose.orientation = quaternion_of(pose);
    pose_message_.pose.position.x = pose[9];
    pose_message_.pose.position.y = pose[10];
    pose_message_.pose.position.z = pose[11];
    error_message_.twist.linear.x = error[0];
    error_message_.twist.linear.y = error[1];
    error_message_.twist.linear.z = error[2];
    error_message_.twist.angular.x = error[3];
    error_message_.twist.angular.y = error[4];
    error_message_.twist.angular.z = error[5];
    poses_[task]->try_publish(pose_message_);  // one that is still being sent is not waited for
    errors_[task]->try_publish(error_message_);
  }
}

void Reports::tell()
{
  tell_safety();
  look_at_rate();
  if (++turns_ % DIAGNOSTICS == 0) {
    tell_diagnostics();
  }
}

void Reports::look_at_rate()
{
  const double rate = node_->get_parameter("publish_rate").as_double();
  period_.store(rate > 0.0 ? static_cast<int64_t>(1e9 / rate) : 0, std::memory_order_relaxed);
}

void Reports::tell_safety()
{
  std_msgs::msg::String message;
  message.data = loop_.watched().is_active ? loop_.closed_gates() : "inactive";
  message.data = message.data.empty() ? "active" : message.data;
  if (message.data != said_) {
    said_ = message.data;
    safety_->publish(message);
  }
}

void Reports::tell_diagnostics()
{
  DiagnosticArray message;
  message.header.stamp = node_->now();
  message.status = {gates(), loop()};
  diagnostics_->publish(message);
}

DiagnosticStatus Reports::status(const char * what) const
{
  DiagnosticStatus made;
  made.hardware_id = std::string(node_->get_fully_qualified_name()).substr(1);
  made.name = made.hardware_id + ": " + what;
  return made;
}

DiagnosticStatus Reports::gates()
{
  const opspace_core::Watched & watched = loop_.watched();
  const bool is_active = watched.is_active;
  const std::string closed = loop_.closed_gates();
  const uint64_t refused = watched.refused + requests_.refused(), is_new = refused - refused_;
  refused_ = refused;
  DiagnosticStatus made = status("gates");
  made.message = is_active ? "active" : "inactive";
  if (is_active && !closed.empty()) {
    const std::string first = closed.substr(0, closed.find(' '));
    made.level = first == "target" || first == "publishers" ? DiagnosticStatus::WARN : DiagnosticStatus::ERROR;
    made.message = loop_.why_closed();
  } else if (is_active && is_new) {
    made.level = DiagnosticStatus::WARN;
    made.message = std::to_string(is_new) + " targets refused: " + requests_.last_refusal();
  }
  made.values = {
    pair("active", is_active ? "true" : "false"), pair("closed", closed),
    pair("targets_refused", std::to_string(refused)), pair("last_refusal", requests_.last_refusal())};
  const std::vector<std::string> & names = loop_.robot().gates();
  for (std::size_t i = 0; i < names.size(); i++) {
    const std::pair<const char *, uint64_t> counts[] = {
      {"faults.", watched.gates[i].messages}, {"closings.", watched.gates[i].closings}};
    for (const auto & [what, count] : counts) {
      if (count) {
        made.values.push_back(pair(what + names[i], std::to_string(count)));
      }
    }
  }
  return made;
}

DiagnosticStatus Reports::loop()
{
  const opspace_core::Watched & watched = loop_.watched();
  const int64_t count = count_.exchange(0), total = total_.exchange(0), longest = longest_.exchange(0);
  const double mean = count ? 1e-3 * static_cast<double>(total) / static_cast<double>(count) : 0.0;
  DiagnosticStatus made = status("loop");
  made.message = count ? "running" : "not running";
  made.values = {
    pair("rate", std::to_string(count * 1000 / (DIAGNOSTICS * LOOK.count()))),
    pair("updates", std::to_string(watched.updates)), pair("commands", std::to_string(watched.commands)),
    pair("update_mean_us", std::to_string(mean)),
    pair("update_max_us", std::to_string(1e-3 * static_cast<double>(longest)))};
  return made;
}

}  // namespace opspace_ctrl
