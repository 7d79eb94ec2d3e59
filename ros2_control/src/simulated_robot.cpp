// SPDX-License-Identifier: Apache-2.0
#include "opspace_ctrl_plugin/simulated_robot.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "hardware_interface/types/hardware_interface_type_values.hpp"
#include "opspace_ctrl_plugin/interfaces.hpp"
#include "pluginlib/class_list_macros.hpp"

namespace opspace_ctrl
{

namespace
{

constexpr double NOBODY = std::numeric_limits<double>::quiet_NaN();  // drives a joint

/// A value into an interface that somebody has asked for; one that is being read just now keeps the last one.
void put(const hardware_interface::StateInterface::SharedPtr & handle, double value)
{
  if (handle) {
    std::ignore = handle->set_value(value);
  }
}

}  // namespace

#if __has_include("hardware_interface/types/hardware_component_interface_params.hpp")
SimulatedRobot::CallbackReturn SimulatedRobot::on_init(
  const hardware_interface::HardwareComponentInterfaceParams & params)
{
  const CallbackReturn result = SystemInterface::on_init(params);
  return result == CallbackReturn::SUCCESS ? open() : result;
}
#else
SimulatedRobot::CallbackReturn SimulatedRobot::on_init(const hardware_interface::HardwareInfo & info)
{
  const CallbackReturn result = SystemInterface::on_init(info);
  return result == CallbackReturn::SUCCESS ? open() : result;
}
#endif

SimulatedRobot::CallbackReturn SimulatedRobot::open()
{
  try {
    const std::string image = info_.hardware_parameters["image"];
    std::string library = info_.hardware_parameters["library"];
    if (image.empty()) {
      throw opspace_core::Error("the hardware parameter image is missing: a file of `opspace export --simulator`");
    }
    if (library.empty()) {
      library = (std::filesystem::absolute(image).parent_path() / "libopspace.so").string();
    }
    simulation_ = std::make_unique<opspace_core::Simulation>(library, image);
    const std::vector<std::string> & own = simulation_->robot().joints();
    joints_.clear();
    for (const hardware_interface::ComponentInfo & joint : info_.joints) {
      joints_.push_back({opspace_core::place_of(joint.name, own, "joint"), nullptr, nullptr, nullptr, nullptr});
    }
    efforts_.assign(own.size(), NOBODY);
    RCLCPP_INFO(get_logger(), "%s: %s", image.c_str(), simulation_->robot().replay().words().c_str());
  } catch (const std::exception & error) {
    RCLCPP_ERROR(get_logger(), "%s: %s", info_.name.c_str(), error.what());
    return CallbackReturn::ERROR;
  }
  return CallbackReturn::SUCCESS;
}

hardware_interface::StateInterface::SharedPtr SimulatedRobot::state_handle(const std::string & name) const
{
  return has_state(name) ? get_state_interface_handle(name) : nullptr;
}

SimulatedRobot::CallbackReturn SimulatedRobot::on_activate(const State &)
{
  simulation_->reset();
  for (std::size_t i = 0; i < joints_.size(); i++) {
    const std::string prefix = info_.joints[i].name + "/", effort = prefix + hardware_interface::HW_IF_EFFORT;
    joints_[i].position = state_handle(prefix + hardware_interface::HW_IF_POSITION);
    joints_[i].velocity = state_handle(prefix + hardware_interface::HW_IF_VELOCITY);
    joints_[i].effort = state_handle(effort);
    joints_[i].command = has_command(effort) ? get_command_interface_handle(effort) : nullptr;
    if (joints_[i].command) {
      std::ignore = joints_[i].command->set_value(NOBODY);
    }
  }
  base_.clear();
  for (const char * name : BASE_INTERFACES) {
    for (const hardware_interface::ComponentInfo & sensor : info_.sensors) {
      base_.push_back(simulation_->robot().has_base() ? state_handle(sensor.name + "/" + name) : nullptr);
    }
  }
  return CallbackReturn::SUCCESS;
}

SimulatedRobot::return_type SimulatedRobot::read(const rclcpp::Time &, const rclcpp::Duration &)
{
  for (const Joint & joint : joints_) {
    put(joint.position, simulation_->position(joint.place));
    put(joint.velocity, simulation_->velocity(joint.place));
    put(joint.effort, simulation_->tau()[joint.place]);
  }
  const std::size_t sensors = info_.sensors.size();
  for (std::size_t i = 0; i < base_.size(); i++) {
    const std::size_t entry = i / sensors;
    put(base_[i], entry < POSE_SIZE ? simulation_->q()[entry] : simulation_->v()[entry - POSE_SIZE]);
  }
  return return_type::OK;
}

SimulatedRobot::return_type SimulatedRobot::write(const rclcpp::Time &, const rclcpp::Duration & period)
{
  bool is_driven = true;
  for (const Joint & joint : joints_) {
    if (joint.command) {
      efforts_[joint.place] = joint.command->get_optional().value_or(efforts_[joint.place]);
    }
  }
  for (double effort : efforts_) {
    is_driven = is_driven && std::isfinite(effort);
  }
  return simulation_->advance(is_driven ? efforts_.data() : nullptr, period.nanoseconds()) ? return_type::OK
                                                                                           : return_type::ERROR;
}

}  // namespace opspace_ctrl

PLUGINLIB_EXPORT_CLASS(opspace_ctrl::SimulatedRobot, hardware_interface::SystemInterface)
