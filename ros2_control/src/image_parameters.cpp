// SPDX-License-Identifier: Apache-2.0
#include "opspace_ctrl_plugin/image_parameters.hpp"

#include <algorithm>

namespace opspace_ctrl
{

namespace
{

using opspace_core::Value;

const std::string METHOD = "method";
const std::string AS_EXPORTED = "auto";
const std::string CONTACT = ".minimum_force";  // what every contact has, and nothing else

rclcpp::ParameterValue ros_value(const Value & value)
{
  return std::visit([](const auto & each) { return rclcpp::ParameterValue(each); }, value);
}

Value own_value(const rclcpp::Parameter & parameter)
{
  switch (parameter.get_type()) {
    case rclcpp::ParameterType::PARAMETER_BOOL:
      return parameter.as_bool();
    case rclcpp::ParameterType::PARAMETER_INTEGER:
      return parameter.as_int();
    case rclcpp::ParameterType::PARAMETER_DOUBLE:
      return parameter.as_double();
    case rclcpp::ParameterType::PARAMETER_STRING:
      return parameter.as_string();
    case rclcpp::ParameterType::PARAMETER_DOUBLE_ARRAY:
      return parameter.as_double_array();
    case rclcpp::ParameterType::PARAMETER_STRING_ARRAY:
      return parameter.as_string_array();
    default:
      throw opspace_core::Error(parameter.get_name() + ": a parameter of type " + parameter.get_type_name());
  }
}

rcl_interfaces::msg::SetParametersResult accepted()
{
  rcl_interfaces::msg::SetParametersResult result;
  result.successful = true;
  return result;
}

std::vector<std::string> contacts_of(const std::vector<std::string> & names)
{
  std::vector<std::string> found;
  for (const std::string & name : names) {
    if (name.size() > CONTACT.size() && name.compare(name.size() - CONTACT.size(), CONTACT.size(), CONTACT) == 0) {
      found.push_back(name.substr(0, name.size() - CONTACT.size()));
    }
  }
  return found;
}

}  // namespace

ImageParameters::ImageParameters(
  rclcpp_lifecycle::LifecycleNode::SharedPtr node, opspace_core::ControlLoop & loop, DoorPtr door, Exported & exported)
: node_(node), loop_(loop)
{
  declare(exported);
  listener_ = std::make_unique<opspace_ctrl_parameters::ParamListener>(node);
  own_ = listener_->get_params();
  apply_given();
  checking_ = node->add_on_set_parameters_callback(
    [this, door](const std::vector<rclcpp::Parameter> & changes) {
      const Door::Inside inside = door->enter();
      return inside ? check(changes) : accepted();
    });
  applying_ = node->add_post_set_parameters_callback(
    [this, door](const std::vector<rclcpp::Parameter> & changes) {
      if (const Door::Inside inside = door->enter()) {
        apply(changes);
      }
    });
}

void ImageParameters::declare(const opspace_field & field, Exported & exported)
{
  const rclcpp::ParameterValue value = ros_value(value_of(loop_.robot(), field));
  const auto last = exported.find(field.name);
  if (!node_->has_parameter(field.name)) {
    rcl_interfaces::msg::ParameterDescriptor descriptor;
    descriptor.description = std::string("As exported, unless it is given") +
                             (*field.unit ? std::string(" [") + field.unit + "]" : std::string()) + ".";
    node_->declare_parameter(field.name, value, descriptor);
    exported[field.name] = value;
  } else if (last != exported.end() && node_->get_parameter(field.name).get_parameter_value() == last->second) {
    node_->set_parameter({field.name, value});  // nobody has set it since the last image
    last->second = value;
  }
}

void ImageParameters::declare(Exported & exported)
{
  const opspace_core::Robot & robot = loop_.robot();
  for (const opspace_field & field : robot.live_fields()) {
    names_.emplace_back(field.name);
    declare(field, exported);
  }
  rcl_interfaces::msg::ParameterDescriptor fixed;
  fixed.read_only = true;
  const std::pair<const char *, std::vector<std::string>> lists[] = {
    {"tasks", robot.tasks()}, {"contacts", contacts_of(names_)}};
  for (const auto & [name, several] : lists) {
    if (!node_->has_parameter(name)) {
      node_->declare_parameter(name, several, fixed);
    }
    if (node_->get_parameter(name).as_string_array() != several) {
      throw opspace_core::Error(std::string(name) + " are those of the image: " + opspace_core::listed(several) +
                                "; unload the controller if there was another image before");
    }
  }
}

void ImageParameters::apply_given()
{
  loop_.set_error_after(own_.error_after);
  const opspace_core::Robot & robot = loop_.robot();
  Named given;
  for (const std::string & name : names_) {
    const Value value = own_value(node_->get_parameter(name));
    if (value != value_of(robot, robot.field(name))) {
      given.emplace_back(name, value);
    }
  }
  if (own_.method != AS_EXPORTED) {
    given.emplace_back(METHOD, own_.method);
  }
  for (const auto & each : given) {
    const std::string refusal = loop_.set({each});
    if (!refusal.empty()) {
      throw opspace_core::Error(refusal);
    }
    loop_.take_changes();
  }
}

ImageParameters::Named ImageParameters::of_image(const std::vector<rclcpp::Parameter> & changes) const
{
  Named found;
  for (const rclcpp::Parameter & change : changes) {
    const std::string & name = change.get_name();
    if (name == METHOD || std::find(names_.begin(), names_.end(), name) != names_.end()) {
      found.emplace_back(name, own_value(change));
    }
  }
  return found;
}

rcl_interfaces::msg::SetParametersResult ImageParameters::check(const std::vector<rclcpp::Parameter> & changes) const
{
  rcl_interfaces::msg::SetParametersResult result;
  try {
    result.reason = loop_.refusal(of_image(changes));
  } catch (const opspace_core::Error & error) {
    result.reason = error.what();
  }
  result.successful = result.reason.empty();
  return result;
}

void ImageParameters::apply(const std::vector<rclcpp::Parameter> & changes)
{
  for (const rclcpp::Parameter & change : changes) {
    if (change.get_name() == "error_after") {
      loop_.set_error_after(change.as_double());
    }
  }
  const std::string refusal = loop_.set(of_image(changes));
  if (!refusal.empty()) {
    RCLCPP_ERROR(node_->get_logger(), "parameters are not in the loop: %s", refusal.c_str());
  }
}

}  // namespace opspace_ctrl
