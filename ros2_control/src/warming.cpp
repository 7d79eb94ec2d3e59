// SPDX-License-Identifier: Apache-2.0
#include "opspace_ctrl_plugin/warming.hpp"

#include <algorithm>

#include "pluginlib/class_list_macros.hpp"

namespace opspace_ctrl
{

Warming & Warming::all()
{
  static Warming one;
  return one;
}

void Warming::add(opspace_core::ControlLoop & loop)
{
  const std::lock_guard<std::mutex> alone(mutex_);
  loops_.push_back(&loop);
}

void Warming::remove(opspace_core::ControlLoop & loop)
{
  const std::lock_guard<std::mutex> alone(mutex_);
  loops_.erase(std::remove(loops_.begin(), loops_.end(), &loop), loops_.end());
}

void Warming::warm()
{
  const std::unique_lock<std::mutex> alone(mutex_, std::try_to_lock);
  if (alone) {
    for (opspace_core::ControlLoop * loop : loops_) {
      loop->warm();
    }
  }
}

hardware_interface::return_type WarmUp::read(const rclcpp::Time &, const rclcpp::Duration &)
{
  Warming::all().warm();
  return hardware_interface::return_type::OK;
}

}  // namespace opspace_ctrl

PLUGINLIB_EXPORT_CLASS(opspace_ctrl::WarmUp, hardware_interface::SensorInterface)
