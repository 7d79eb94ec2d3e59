// SPDX-License-Identifier: Apache-2.0
// The parameters of an image on a ROS node: declared with the image's own values, checked, and handed to the loop.
#ifndef OPSPACE_CTRL_PLUGIN__IMAGE_PARAMETERS_HPP_
#define OPSPACE_CTRL_PLUGIN__IMAGE_PARAMETERS_HPP_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "opspace_core/control_loop.hpp"
#include "opspace_ctrl_plugin/door.hpp"
#include "opspace_ctrl_plugin/opspace_ctrl_parameters.hpp"
#include "rclcpp_lifecycle/lifecycle_node.hpp"

namespace opspace_ctrl
{

/// {name: value in the image}, of parameters that no file has given.
using Exported = std::map<std::string, rclcpp::ParameterValue>;

/// Declared by generate_parameter_library, with the values of the image as defaults; what a file gives counts more.
class ImageParameters
{
public:
  /// `exported`: what the last image had, which does not count any more; it stays with the node, whose parameters do.
  /// Error: a value is refused by the image.
  ImageParameters(
    rclcpp_lifecycle::LifecycleNode::SharedPtr node, opspace_core::ControlLoop & loop, DoorPtr door,
    Exported & exported);

  /// Those of the plugin itself.
  const opspace_ctrl_parameters::Params & own() const { return own_; }

private:
  using Named = std::vector<std::pair<std::string, opspace_core::Value>>;

  void declare(Exported & exported);
  void declare(const opspace_field & field, Exported & exported);
  void apply_given();
  rcl_interfaces::msg::SetParametersResult check(const std::vector<rclcpp::Parameter> & changes) const;
  void apply(const std::vector<rclcpp::Parameter> & changes);
  Named of_image(const std::vector<rclcpp::Parameter> & changes) const;

  rclcpp_lifecycle::LifecycleNode::SharedPtr node_;
  opspace_core::ControlLoop & loop_;
  std::vector<std::string> names_;
  std::unique_ptr<opspace_ctrl_parameters::ParamListener> listener_;
  opspace_ctrl_parameters::Params own_;
  rclcpp::node_interfaces::OnSetParametersCallbackHandle::SharedPtr checking_;
  rclcpp::node_interfaces::PostSetParametersCallbackHandle::SharedPtr applying_;
};

}  // namespace opspace_ctrl

#endif  // OPSPACE_CTRL_PLUGIN__IMAGE_PARAMETERS_HPP_
