// SPDX-License-Identifier: Apache-2.0
// The controller as a plugin of controller_manager: a thin shell over opspace_core::ControlLoop.
#ifndef OPSPACE_CTRL_PLUGIN__OPERATIONAL_SPACE_CONTROLLER_HPP_
#define OPSPACE_CTRL_PLUGIN__OPERATIONAL_SPACE_CONTROLLER_HPP_

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "controller_interface/chainable_controller_interface.hpp"
#include "opspace_core/control_loop.hpp"
#include "opspace_ctrl_plugin/base_state.hpp"
#include "opspace_ctrl_plugin/door.hpp"
#include "opspace_ctrl_plugin/image_parameters.hpp"
#include "opspace_ctrl_plugin/reports.hpp"
#include "opspace_ctrl_plugin/requests.hpp"
#include "opspace_ctrl_plugin/warming.hpp"

namespace opspace_ctrl
{

/// Effort commands from joint positions and velocities, by an image that `opspace export` wrote.
///
/// A closed gate sends a safe command and opens again as in the Python node; `update` comes to an error, so that
/// fallback controllers take over, when gates have been closed for `error_after`.
class OperationalSpaceController : public controller_interface::ChainableControllerInterface
{
public:
  using CallbackReturn = controller_interface::CallbackReturn;
  using State = rclcpp_lifecycle::State;
  using return_type = controller_interface::return_type;

  CallbackReturn on_init() override;
  CallbackReturn on_configure(const State & previous) override;
  CallbackReturn on_activate(const State & previous) override;
  CallbackReturn on_deactivate(const State & previous) override;
  CallbackReturn on_cleanup(const State & previous) override;

  controller_interface::InterfaceConfiguration command_interface_configuration() const override;
  controller_interface::InterfaceConfiguration state_interface_configuration() const override;

protected:
  std::vector<hardware_interface::CommandInterface::SharedPtr> on_export_reference_interfaces_list() override;
  bool on_set_chained_mode(bool is_chained) override;
  return_type update_reference_from_subscribers(const rclcpp::Time & time, const rclcpp::Duration & period) override;
  return_type update_and_write_commands(const rclcpp::Time & time, const rclcpp::Duration & period) override;

private:
  void configure();
  void read_states();
  void read_references();
  void write(opspace_core::Outcome outcome);
  void introspect(int64_t elapsed);
  opspace_core::Instant instant(const rclcpp::Time & time) const;

  std::unique_ptr<opspace_core::Robot> robot_;
  std::unique_ptr<opspace_core::ControlLoop> loop_;
  std::unique_ptr<ImageParameters> parameters_;
  Exported exported_;
  std::unique_ptr<BaseState> base_;
  std::unique_ptr<Requests> requests_;
  std::unique_ptr<Reports> reports_;
  std::unique_ptr<Warming::Kept> warmed_;
  std::vector<hardware_interface::CommandInterface::SharedPtr> references_;
  DoorPtr door_;  ///< for callbacks; open while it is configured
  std::vector<double> positions_, velocities_, tau_, poses_;
  std::atomic<bool> is_stopped_{false};  ///< emergency stop, also over cleanup and configure
  bool is_simulated_ = false;
  double update_time_us_ = 0.0;  ///< of the last update, for introspection, as the next three
  double closed_gates_ = 0.0;    ///< as bits
  double commands_ = 0.0;        ///< since it was configured
  double refused_ = 0.0;         ///< targets that a tick found unusable
};

}  // namespace opspace_ctrl

#endif  // OPSPACE_CTRL_PLUGIN__OPERATIONAL_SPACE_CONTROLLER_HPP_
