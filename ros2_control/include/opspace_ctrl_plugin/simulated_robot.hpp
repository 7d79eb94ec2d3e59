// SPDX-License-Identifier: Apache-2.0
// The simulator as hardware of ros2_control: a thin shell over opspace_core::Simulation.
#ifndef OPSPACE_CTRL_PLUGIN__SIMULATED_ROBOT_HPP_
#define OPSPACE_CTRL_PLUGIN__SIMULATED_ROBOT_HPP_

#include <memory>
#include <string>
#include <vector>

#include "hardware_interface/system_interface.hpp"
#include "opspace_core/simulation.hpp"

namespace opspace_ctrl
{

/// A system whose joints move as an image of `opspace export --simulator` computes it. Parameters of its <hardware>:
/// `image`, and `library` (default: libopspace.so beside the image). Joints that no controller drives stay where they are.
class SimulatedRobot : public hardware_interface::SystemInterface
{
public:
  using CallbackReturn = hardware_interface::CallbackReturn;
  using State = rclcpp_lifecycle::State;
  using return_type = hardware_interface::return_type;

#if __has_include("hardware_interface/types/hardware_component_interface_params.hpp")
  CallbackReturn on_init(const hardware_interface::HardwareComponentInterfaceParams & params) override;
#else
  CallbackReturn on_init(const hardware_interface::HardwareInfo & info) override;
#endif
  CallbackReturn on_activate(const State & previous) override;
  return_type read(const rclcpp::Time & time, const rclcpp::Duration & period) override;
  return_type write(const rclcpp::Time & time, const rclcpp::Duration & period) override;

private:
  struct Joint
  {
    std::size_t place;  ///< among the image's joints
    hardware_interface::StateInterface::SharedPtr position, velocity, effort;  ///< null: nobody has asked for it
    hardware_interface::CommandInterface::SharedPtr command;
  };

  CallbackReturn open();
  hardware_interface::StateInterface::SharedPtr state_handle(const std::string & name) const;

  std::unique_ptr<opspace_core::Simulation> simulation_;
  std::vector<Joint> joints_;
  std::vector<hardware_interface::StateInterface::SharedPtr> base_;  ///< pose and twist of a floating base
  std::vector<double> efforts_;
};

}  // namespace opspace_ctrl

#endif  // OPSPACE_CTRL_PLUGIN__SIMULATED_ROBOT_HPP_
