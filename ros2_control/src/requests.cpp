// SPDX-License-Identifier: Apache-2.0
#include "opspace_ctrl_plugin/requests.hpp"

#include <limits>
#include <utility>

#include "opspace_ctrl_plugin/clock.hpp"

namespace opspace_ctrl
{

namespace
{

using geometry_msgs::msg::PoseStamped;
using geometry_msgs::msg::TwistStamped;
using geometry_msgs::msg::WrenchStamped;
using sensor_msgs::msg::JointState;
using std_srvs::srv::Trigger;
using trajectory_msgs::msg::MultiDOFJointTrajectory;

constexpr int QUIET = 1000;  // [ms] between two warnings about refused targets

template <typename Pair>
std::vector<double> six(const Pair & first, const Pair & second)
{
  return {first.x, first.y, first.z, second.x, second.y, second.z};
}

template <typename Linear, typename Turn>
void append(std::vector<double> & positions, std::vector<double> & quaternions, const Linear & p, const Turn & o)
{
  positions.insert(positions.end(), {p.x, p.y, p.z});
  quaternions.insert(quaternions.end(), {o.x, o.y, o.z, o.w});
}

}  // namespace

Requests::Requests(
  rclcpp_lifecycle::LifecycleNode::SharedPtr node, opspace_core::ControlLoop & loop, std::atomic<bool> & is_stopped,
  const std::string & world, DoorPtr door)
: node_(node),
  loop_(loop),
  is_stopped_(is_stopped),
  world_(world),
  door_(door),
  urgent_(node->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive))
{
  // a lifecycle publisher would be silent while the controller is inactive, which is when targets are refused
  answers_ = rclcpp::create_publisher<std_msgs::msg::String>(*node, "~/answers", rclcpp::QoS(100));
  for (std::size_t task = 0; task < loop.robot().tasks().size(); task++) {
    listen_for(task);
  }
  listen<JointState>("~/posture", [this](const JointState & message) { return posture(message); });
  listen<std_msgs::msg::Bool>(
    "~/enable", [this](const std_msgs::msg::Bool & message) { return loop_.enable(message.data, steady_now()); });
  serve("~/hold", [this] { return loop_.hold(); }, "holding");
  serve(
    "~/reset",
    [this] {
      is_stopped_ = false;
      return loop_.reset();
    },
    "reset");
  serve(
    "~/emergency_stop",
    [this] {
      is_stopped_ = true;
      return loop_.stop();
    },
    "stopped until ~/reset");
}

template <typename Message>
void Requests::listen(const std::string & topic, std::function<std::string(const Message &)> take)
{
  auto callback = [this, topic, take, door = door_](const Message & message) {
    const Door::Inside inside = door->enter();
    if (!inside) {
      return;
    }
    const std::string refusal = take(message);
    std_msgs::msg::String answer;
    answer.data = topic + (refusal.empty() ? ": taken" : ": refused: " + refusal);
    answer.data.replace(0, 1, node_->get_fully_qualified_name());
    if (!refusal.empty()) {
      refused_++;
      {
        const std::lock_guard<std::mutex> alone(saying_);
        last_refusal_ = answer.data;
      }
      RCLCPP_WARN_THROTTLE(node_->get_logger(), *node_->get_clock(), QUIET, "%s", answer.data.c_str());
    }
    answers_->publish(answer);
  };
  subscriptions_.push_back(node_->create_subscription<Message>(topic, rclcpp::QoS(10), callback));
}

std::string Requests::last_refusal() const
{
  const std::lock_guard<std::mutex> alone(saying_);
  return last_refusal_;
}

void Requests::listen_for(std::size_t task)
{
  const std::string prefix = "~/" + loop_.robot().tasks()[task] + "/";
  listen<PoseStamped>(prefix + "target_pose", [=](const PoseStamped & message) { return pose(task, message); });
  listen<TwistStamped>(prefix + "target_twist", [=](const TwistStamped & message) {
    const std::string refusal = check_frame(message.header.frame_id);
    return refusal.empty() ? loop_.target_twist(task, six(message.twist.linear, message.twist.angular).data()) : refusal;
  });
  const std::pair<const char *, std::string (opspace_core::ControlLoop::*)(std::size_t, const double *)> wrenches[] = {
    {"target_wrench", &opspace_core::ControlLoop::target_wrench},
    {"measured_wrench", &opspace_core::ControlLoop::measured_wrench}};
  for (const auto & each : wrenches) {
    const auto take = each.second;
    listen<WrenchStamped>(prefix + each.first, [=](const WrenchStamped & message) {
      const std::string refusal = check_frame(message.header.frame_id);
      return refusal.empty() ? (loop_.*take)(task, six(message.wrench.force, message.wrench.torque).data()) : refusal;
    });
  }
  listen<MultiDOFJointTrajectory>(
    prefix + "trajectory", [=](const MultiDOFJointTrajectory & message) { return trajectory(task, message); });
}

void Requests::serve(const std::string & name, std::function<std::string()> action, const std::string & done)
{
  auto callback = [action, done, door = door_](
                    const Trigger::Request::SharedPtr, Trigger::Response::SharedPtr response) {
    const Door::Inside inside = door->enter();
    const std::string refusal = inside ? action() : "the controller is not configured";
    response->success = refusal.empty();
    response->message = refusal.empty() ? done : refusal;
  };
  services_.push_back(node_->create_service<Trigger>(name, callback, rclcpp::ServicesQoS(), urgent_));
}

std::string Requests::check_frame(const std::string & frame_id) const
{
  if (frame_id.empty() || frame_id == world_) {
    return "";
  }
  return "frame_id \"" + frame_id + "\"; valid is the empty one" +
         (world_.empty() ? " (parameter world_frame names the world)" : " or \"" + world_ + "\"");
}

std::string Requests::pose(std::size_t task, const PoseStamped & message)
{
  const std::string refusal = check_frame(message.header.frame_id);
  if (!refusal.empty()) {
    return refusal;
  }
  std::vector<double> position, quaternion;
  append(position, quaternion, message.pose.position, message.pose.orientation);
  return loop_.target_pose(task, position.data(), quaternion.data());
}

std::string Requests::trajectory(std::size_t task, const MultiDOFJointTrajectory & message)
{
  const std::string refusal = check_frame(message.header.frame_id);
  if (!refusal.empty()) {
    return refusal;
  }
  std::vector<double> times, positions, quaternions, twists;
  for (const auto & point : message.points) {
    if (point.transforms.size() != 1 || point.velocities.size() > 1) {
      return "every point needs one transform, and at most one velocity";
    }
    times.push_back(rclcpp::Duration(point.time_from_start).seconds());
    append(positions, quaternions, point.transforms[0].translation, point.transforms[0].rotation);
    for (const auto & velocity : point.velocities) {
      const std::vector<double> twist = six(velocity.linear, velocity.angular);
      twists.insert(twists.end(), twist.begin(), twist.end());
    }
  }
  const rclcpp::Time start(message.header.stamp, node_->get_clock()->get_clock_type());
  const double delay = start.nanoseconds() ? (start - node_->now()).seconds() : 0.0;
  return loop_.way_points(task, delay, times, positions, quaternions, twists);
}

std::string Requests::posture(const JointState & message)
{
  const std::vector<std::string> & joints = loop_.robot().joints();
  const std::size_t count = message.name.size();
  if (message.position.size() != count || (!message.velocity.empty() && message.velocity.size() != count)) {
    return "a posture has a position, and all or no velocities, for each name";
  }
  std::vector<double> positions(joints.size(), std::numeric_limits<double>::quiet_NaN());
  std::vector<double> velocities(message.velocity.empty() ? 0 : joints.size(), 0.0);
  try {
    for (std::size_t i = 0; i < count; i++) {
      const std::size_t joint = opspace_core::place_of(message.name[i], joints, "joint");
      positions[joint] = message.position[i];
      if (!velocities.empty()) {
        velocities[joint] = message.velocity[i];
      }
    }
  } catch (const opspace_core::Error & error) {
    return error.what();
  }
  return loop_.posture(positions, velocities);
}

}  // namespace opspace_ctrl
