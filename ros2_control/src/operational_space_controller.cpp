// SPDX-License-Identifier: Apache-2.0
#include "opspace_ctrl_plugin/operational_space_controller.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <tuple>

#include "hardware_interface/types/hardware_interface_type_values.hpp"
#include "opspace_ctrl_plugin/clock.hpp"
#include "opspace_ctrl_plugin/interfaces.hpp"
#include "pluginlib/class_list_macros.hpp"

#if __has_include("hardware_interface/introspection.hpp")
#include "hardware_interface/introspection.hpp"
#endif

namespace opspace_ctrl
{

namespace
{

constexpr double NOTHING = std::numeric_limits<double>::quiet_NaN();

std::string beside(const std::string & image)
{
  return (std::filesystem::absolute(image).parent_path() / "libopspace.so").string();
}

}  // namespace

// ---- lifecycle ----

OperationalSpaceController::CallbackReturn OperationalSpaceController::on_init()
{
  rcl_interfaces::msg::ParameterDescriptor fixed;
  fixed.read_only = true;
  for (const char * name : {"image", "library"}) {  // all others depend on the image
    get_node()->declare_parameter(name, std::string(), fixed);
  }
#ifdef REGISTER_ROS2_CONTROL_INTROSPECTION
  REGISTER_ROS2_CONTROL_INTROSPECTION("update_time_us", &update_time_us_);
  REGISTER_ROS2_CONTROL_INTROSPECTION("closed_gates", &closed_gates_);
  REGISTER_ROS2_CONTROL_INTROSPECTION("commands", &commands_);
  REGISTER_ROS2_CONTROL_INTROSPECTION("targets_refused", &refused_);
#endif
  return CallbackReturn::SUCCESS;
}

OperationalSpaceController::CallbackReturn OperationalSpaceController::on_configure(const State &)
{
  try {
    configure();
  } catch (const std::exception & error) {  // a file, a name, a value: what it is stands in the text
    RCLCPP_ERROR(get_node()->get_logger(), "not configured: %s", error.what());
    on_cleanup(get_lifecycle_state());
    return CallbackReturn::FAILURE;
  }
  return CallbackReturn::SUCCESS;
}

void OperationalSpaceController::configure()
{
  const auto node = get_node();
  const std::string image = node->get_parameter("image").as_string();
  std::string library = node->get_parameter("library").as_string();
  if (image.empty()) {
    throw opspace_core::Error("parameter image is empty; valid is the path of a file that `opspace export` wrote");
  }
  library = library.empty() ? beside(image) : library;
  robot_ = std::make_unique<opspace_core::Robot>(library, image);
  const opspace_core::Replay & replay = robot_->replay();
  if (replay.identical == replay.ticks) {
    RCLCPP_INFO(node->get_logger(), "%s: %s", image.c_str(), replay.words().c_str());
  } else {
    RCLCPP_WARN(node->get_logger(), "%s: %s", image.c_str(), replay.words().c_str());
  }
  loop_ = std::make_unique<opspace_core::ControlLoop>(*robot_);
  is_simulated_ = node->get_parameter("use_sim_time").as_bool();
  loop_->use_simulated_time(is_simulated_);
  door_ = std::make_shared<Door>();
  parameters_ = std::make_unique<ImageParameters>(node, *loop_, door_, exported_);
  const opspace_ctrl_parameters::Params & own = parameters_->own();
  base_ = std::make_unique<BaseState>(*node, *robot_, own.base_source, own.base_name, door_);
  requests_ = std::make_unique<Requests>(node, *loop_, is_stopped_, own.world_frame, door_);
  reports_ = std::make_unique<Reports>(node, *loop_, *requests_, own.world_frame, door_);
  warmed_ = std::make_unique<Warming::Kept>(*loop_);
  positions_.assign(robot_->joints().size(), NOTHING);
  velocities_ = positions_;
  tau_.assign(robot_->joints().size(), 0.0);
  poses_.assign(POSE_SIZE * robot_->tasks().size(), NOTHING);
  if (is_stopped_) {
    loop_->stop();
  }
  if (own.lock_memory && !opspace_core::lock_memory()) {
    RCLCPP_WARN(node->get_logger(), "memory is not locked, which is not permitted here: updates may be late");
  }
}

OperationalSpaceController::CallbackReturn OperationalSpaceController::on_activate(const State &)
{
  for (const auto & reference : references_) {
    std::ignore = reference->set_value(NOTHING);
  }
  std::fill(positions_.begin(), positions_.end(), NOTHING);
  std::fill(velocities_.begin(), velocities_.end(), NOTHING);
  write(loop_->begin(instant(get_node()->now()), tau_.data()));
  return CallbackReturn::SUCCESS;
}

OperationalSpaceController::CallbackReturn OperationalSpaceController::on_deactivate(const State &)
{
  write(loop_->end(tau_.data()));
  return CallbackReturn::SUCCESS;
}

OperationalSpaceController::CallbackReturn OperationalSpaceController::on_cleanup(const State &)
{
  if (door_) {
    door_->close();
  }
  warmed_.reset();
  reports_.reset();
  requests_.reset();
  base_.reset();
  parameters_.reset();
  loop_.reset();
  robot_.reset();
  references_.clear();
  return CallbackReturn::SUCCESS;
}

// ---- interfaces ----

controller_interface::InterfaceConfiguration OperationalSpaceController::command_interface_configuration() const
{
  if (!robot_) {
    return {controller_interface::interface_configuration_type::NONE, {}};
  }
  controller_interface::InterfaceConfiguration wanted{controller_interface::interface_configuration_type::INDIVIDUAL, {}};
  for (const std::string & joint : robot_->joints()) {
    wanted.names.push_back(joint + "/" + robot_->commands());
  }
  return wanted;
}

controller_interface::InterfaceConfiguration OperationalSpaceController::state_interface_configuration() const
{
  if (!robot_) {
    return {controller_interface::interface_configuration_type::NONE, {}};
  }
  controller_interface::InterfaceConfiguration wanted{controller_interface::interface_configuration_type::INDIVIDUAL, {}};
  for (const char * kind : {hardware_interface::HW_IF_POSITION, hardware_interface::HW_IF_VELOCITY}) {
    for (const std::string & joint : robot_->joints()) {
      wanted.names.push_back(joint + "/" + kind);
    }
  }
  wanted.names.insert(wanted.names.end(), base_->interfaces().begin(), base_->interfaces().end());
  return wanted;
}

std::vector<hardware_interface::CommandInterface::SharedPtr>
OperationalSpaceController::on_export_reference_interfaces_list()
{
  references_.clear();
  for (const std::string & task : robot_->tasks()) {
    for (std::size_t i = 0; i < POSE_SIZE; i++) {
      hardware_interface::InterfaceInfo info{};
      info.name = BASE_INTERFACES[i];
      info.data_type = "double";
      hardware_interface::InterfaceDescription described(get_node()->get_name() + std::string("/") + task, info);
      references_.push_back(std::make_shared<hardware_interface::CommandInterface>(described));
      std::ignore = references_.back()->set_value(NOTHING);
    }
  }
  return references_;
}

bool OperationalSpaceController::on_set_chained_mode(bool is_chained)
{
  loop_->set_chained(is_chained);
  return true;
}

// ---- loop ----

opspace_core::Instant OperationalSpaceController::instant(const rclcpp::Time & time) const
{
  const int64_t steady = steady_now();
  return {is_simulated_ ? time.nanoseconds() : steady, steady};
}

OperationalSpaceController::return_type OperationalSpaceController::update_reference_from_subscribers(
  const rclcpp::Time &, const rclcpp::Duration &)
{
  return return_type::OK;  // targets have a mailbox of their own
}

OperationalSpaceController::return_type OperationalSpaceController::update_and_write_commands(
  const rclcpp::Time & time, const rclcpp::Duration &)
{
  const opspace_core::Instant now = instant(time);
  read_states();
  if (is_in_chained_mode()) {
    read_references();
  }
  opspace_core::State state{positions_.data(), velocities_.data(), nullptr, nullptr};
  base_->tell(state_interfaces_, 2 * positions_.size(), now.steady, state);
  const opspace_core::Outcome outcome = loop_->update(state, now, tau_.data());
  write(outcome);
  const int64_t elapsed = steady_now() - now.steady;
  loop_->spent(elapsed);
  introspect(elapsed);
  reports_->updated(time, now.steady, elapsed);
  return outcome == opspace_core::Outcome::error ? return_type::ERROR : return_type::OK;
}

void OperationalSpaceController::introspect(int64_t elapsed)
{
  const opspace_core::Watched & watched = loop_->watched();
  update_time_us_ = 1e-3 * static_cast<double>(elapsed);
  closed_gates_ = static_cast<double>(watched.closed.load(std::memory_order_relaxed));
  commands_ = static_cast<double>(watched.commands.load(std::memory_order_relaxed));
  refused_ = static_cast<double>(watched.refused.load(std::memory_order_relaxed));
}

void OperationalSpaceController::read_states()
{
  const std::size_t count = positions_.size();
  for (std::size_t j = 0; j < count; j++) {  // what is being written just now is that of the last cycle
    positions_[j] = state_interfaces_[j].get_optional().value_or(positions_[j]);
    velocities_[j] = state_interfaces_[count + j].get_optional().value_or(velocities_[j]);
  }
}

void OperationalSpaceController::read_references()
{
  for (std::size_t i = 0; i < references_.size(); i++) {
    poses_[i] = references_[i]->get_optional().value_or(NOTHING);
  }
  loop_->refer(poses_.data());
}

void OperationalSpaceController::write(opspace_core::Outcome outcome)
{
  if (outcome == opspace_core::Outcome::nothing) {
    return;  // the robot may be holding itself
  }
  for (std::size_t j = 0; j < tau_.size(); j++) {
    std::ignore = command_interfaces_[j].set_value(tau_[j]);
  }
}

}  // namespace opspace_ctrl

PLUGINLIB_EXPORT_CLASS(
  opspace_ctrl::OperationalSpaceController, controller_interface::ChainableControllerInterface)
