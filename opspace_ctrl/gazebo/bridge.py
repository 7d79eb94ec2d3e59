# SPDX-License-Identifier: Apache-2.0
"""The YAML files of ros_gz_bridge and of our own bridge node."""

from typing import Any

import numpy as np
import yaml

from ..model import Model
from ..nodes.gazebo_table import ODOMETRY, STATES, force_topic
from .generation import Generation
from .robot import RobotSdf
from .settings import WorldSettings

CLOCK = ("/clock", "/clock", "rosgraph_msgs/msg/Clock", "Clock", "GZ_TO_ROS")


def bridged_topics(
    robot: RobotSdf, settings: WorldSettings, floating: bool
) -> list[dict[str, str]]:
    """The entries of ros_gz_bridge's YAML: clock, joint states, odometry, and one force a joint.

    With ros2_control the controllers talk ROS themselves; only the clock and the odometry are left.
    """
    model = f"/model/{robot.name}"
    rows = [CLOCK]
    if floating:
        rows.append(
            (ODOMETRY, f"{model}/odometry", "nav_msgs/msg/Odometry", "Odometry", "GZ_TO_ROS")
        )
    if not settings.ros2_control:
        rows.append(
            (
                STATES,
                f"/world/{settings.world}{model}/joint_state",
                "sensor_msgs/msg/JointState",
                "Model",
                "GZ_TO_ROS",
            )
        )
        rows += [
            (
                force_topic(robot.name, joint),
                f"{model}/joint/{joint}/cmd_force",
                "std_msgs/msg/Float64",
                "Double",
                "ROS_TO_GZ",
            )
            for joint in robot.joints.values()
        ]
    return [_entry(settings.generation, *row) for row in rows]


def _entry(
    generation: Generation, ros: str, gazebo: str, ros_type: str, gazebo_type: str, way: str
) -> dict[str, str]:
    return {
        "ros_topic_name": ros,
        "gz_topic_name": gazebo,
        "ros_type_name": ros_type,
        "gz_type_name": f"{generation.messages}.{gazebo_type}",
        "direction": way,
    }


def bridge_node_parameters(
    model: Model, robot: RobotSdf, settings: WorldSettings, floating: bool
) -> dict[str, Any]:
    """The parameters of opspace_gazebo_bridge that depend on the robot and the world.

    With ros2_control it relays the odometry alone.
    """
    base = {"model": robot.name, "floating": floating, "base_frame": robot.base_link}
    if settings.ros2_control:
        return base
    joints = settings.commanded(model)
    rows = [model.joint_names.index(joint) for joint in joints]
    # ROS 2 parameter files know no infinity in an array of numbers
    limits = np.minimum(model.effort_limits, np.finfo(float).max)
    return {
        **base,
        "joints": joints,
        "gazebo_joints": [robot.joints[joint] for joint in joints],
        "offsets": robot.offsets[rows].tolist(),
        "effort_limits": limits[rows].tolist(),
    }


def parameter_file(parameters: dict[str, Any]) -> str:
    """A ROS 2 parameter file for one node in any namespace."""
    return yaml.safe_dump({"/**": {"ros__parameters": parameters}}, sort_keys=False, width=120)


def topic_file(entries: list[dict[str, str]]) -> str:
    """The configuration of ros_gz_bridge."""
    return yaml.safe_dump(entries, sort_keys=False, width=120)
