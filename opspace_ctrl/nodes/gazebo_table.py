"""The parameters of the Gazebo bridge and the names of its topics; knows no ROS."""
from __future__ import annotations

import re

from opspace_ctrl.parameters import Parameter

__all__ = ["BRIDGE_TABLE", "STATES", "ODOMETRY", "CONTROL", "force_topic", "ros_name"]

# The ROS side of ros_gz_bridge: what comes from Gazebo, and the service that steps the world.
STATES = "gazebo/joint_states"
ODOMETRY = "gazebo/odom"
CONTROL = "gazebo/control"

BRIDGE_TABLE = (
    Parameter("model", "robot", "Name of the model in Gazebo.", read_only=True),
    Parameter("joints", [], "Joints in the order of effort_controller/commands.", kind="string_array", read_only=True),
    Parameter("gazebo_joints", [], "Names of the same joints in Gazebo; empty: they are the same.",
              kind="string_array", read_only=True),
    Parameter("effort_limits", [], "Largest effort of each joint [Nm or N]; a command beyond is refused. Empty: none.",
              kind="double_array", minimum=0.0, read_only=True),
    Parameter("floating", False, "Relay odometry too, each message just before the joint states of the same stamp.",
              read_only=True),
    Parameter("command_timeout", 0.02, "Without a command for so long in simulated time, the forces go to zero [s].",
              minimum=0.0),
    Parameter("silence_timeout", 1.0, "Without a message from either side for so long in real time, the forces go to "
              "zero [s].", minimum=0.0),
    Parameter("lockstep", False, "Step the world once for each command; it must be paused.", read_only=True),
    Parameter("steps", 1, "World steps for each command in lock-step.", minimum=1, read_only=True),
    Parameter("run_on_command", False, "Start the paused world with the first command (free-running only).",
              read_only=True),
    Parameter("resend", 1.0, "While the world stands and no command comes, its state is sent again at this interval "
              "in real time, so that a controller that starts later is served [s].", minimum=0.01),
)


def ros_name(text: str) -> str:
    """The text as one part of a ROS name: what ROS forbids becomes an underscore, and no digit comes first."""
    name = re.sub(r"_{2,}", "_", re.sub(r"[^A-Za-z0-9_]", "_", text))
    return f"_{name}" if name[:1].isdigit() or not name else name


def force_topic(model: str, joint: str) -> str:
    """The ROS topic (std_msgs/Float64) of one joint's force, both names as Gazebo has them.

    It is the name of ApplyJointForce's own topic without the leading slash, so that a namespace works.
    """
    return f"model/{ros_name(model)}/joint/{ros_name(joint)}/cmd_force"
