# SPDX-License-Identifier: Apache-2.0
"""Robots under ros2_control: the controllers' parameters, and the part of the URDF that names the hardware."""

from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element

from ..command_kind import CommandKind
from ..model.xml_safety import parse_xml
from .xml import add, numbers, xml_text

BROADCASTER = {"joint_state_broadcaster": "joint_state_broadcaster/JointStateBroadcaster"}
FORWARD = "forward_command_controller/ForwardCommandController"


def started(commands: CommandKind = "effort") -> dict[str, str]:
    """The controllers that stand for the simulator's topics and their types, in the order in which they are started."""
    return {**BROADCASTER, f"{commands}_controller": FORWARD}


def controllers(
    joints: Sequence[str], update_rate: int, commands: CommandKind = "effort"
) -> dict[str, Any]:
    """The parameters of controller_manager and of the two controllers, in any namespace.

    Args:
        joints: in the order of the commands.
        update_rate: of the controller manager [Hz].
        commands: what the hardware takes.
    """
    types = {name: {"type": kind} for name, kind in started(commands).items()}
    return {
        "/**/controller_manager": {"ros__parameters": {"update_rate": update_rate, **types}},
        f"/**/{commands}_controller": {
            "ros__parameters": {"joints": list(joints), "interface_name": commands}
        },
    }


def urdf_with_hardware(
    source: str,
    hardware: str,
    start: Mapping[str, float],
    parameters: Mapping[str, str] | None = None,
    sensors: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """The URDF with a <ros2_control> of its own: effort commands; position, velocity and effort states.

    Args:
        source: the URDF; a <ros2_control> in it, made for other hardware, is replaced.
        hardware: the plugin of the hardware.
        start: {joint: position it begins at}, in the order of the model.
        parameters: of the hardware.
        sensors: {name: its state interfaces}.
    """
    robot = parse_xml(source)
    for other in robot.findall("ros2_control"):
        robot.remove(other)
    control = add(robot, "ros2_control", name=f"{robot.get('name')}_system", type="system")
    system = add(control, "hardware")
    add(system, "plugin", hardware)
    for name, value in (parameters or {}).items():
        add(system, "param", value, name=name)
    for name, position in start.items():
        joint = add(control, "joint", name=name)
        add(joint, "command_interface", name="effort")
        add(
            add(joint, "state_interface", name="position"),
            "param",
            numbers(position),
            name="initial_value",
        )
        for interface in ("velocity", "effort"):
            add(joint, "state_interface", name=interface)
    for name, interfaces in (sensors or {}).items():
        sensor = add(control, "sensor", name=name)
        for interface in interfaces:
            add(sensor, "state_interface", name=interface)
    return xml_text(robot)


def add_system(
    model: Element, library: str, system: str, parameters: str, namespace: str = ""
) -> None:
    """The system that runs the controller manager inside Gazebo; `parameters` is the path of their file."""
    plugin = add(model, "plugin", filename=library, name=system)
    add(plugin, "parameters", parameters)
    if namespace:
        add(add(plugin, "ros"), "namespace", namespace)
