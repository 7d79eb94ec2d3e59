// SPDX-License-Identifier: Apache-2.0
// Controllers of this process that are warmed up before their robots are read.
#ifndef OPSPACE_CTRL_PLUGIN__WARMING_HPP_
#define OPSPACE_CTRL_PLUGIN__WARMING_HPP_

#include <mutex>
#include <vector>

#include "hardware_interface/sensor_interface.hpp"
#include "opspace_core/control_loop.hpp"

namespace opspace_ctrl
{

/// The loops of all configured controllers.
class Warming
{
public:
  static Warming & all();

  /// A loop is among them as long as this is kept.
  class Kept
  {
  public:
    explicit Kept(opspace_core::ControlLoop & loop) : loop_(loop) { all().add(loop_); }
    ~Kept() { all().remove(loop_); }
    Kept(const Kept &) = delete;
    Kept & operator=(const Kept &) = delete;

  private:
    opspace_core::ControlLoop & loop_;
  };

  /// In the real-time loop; while a controller is being added or removed it does nothing.
  void warm();

private:
  void add(opspace_core::ControlLoop & loop);
  void remove(opspace_core::ControlLoop & loop);

  std::mutex mutex_;
  std::vector<opspace_core::ControlLoop *> loops_;
};

/// A sensor without interfaces. Sensors are read before systems: so the ticks of the controllers in this manager have met
/// their branches and their memory before the robot is read, and take a third of the time when its state is there.
class WarmUp : public hardware_interface::SensorInterface
{
public:
  hardware_interface::return_type read(const rclcpp::Time & time, const rclcpp::Duration & period) override;
};

}  // namespace opspace_ctrl

#endif  // OPSPACE_CTRL_PLUGIN__WARMING_HPP_
