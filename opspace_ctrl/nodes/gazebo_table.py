# SPDX-License-Identifier: Apache-2.0
"""The parameters of the Gazebo bridge and the names it shares with ros_gz_bridge; knows no ROS."""

from collections.abc import Mapping
from typing import Any

from ..errors import ParameterError
from ..parameters import Parameter
from .names import ros_name

__all__ = [
    "BRIDGE_TABLE",
    "CONTROL",
    "ODOMETRY",
    "STATES",
    "check_bridge",
    "force_topic",
    "ros_name",
]

# The ROS side of ros_gz_bridge: what comes from Gazebo, and the service (ControlWorld) that steps the world.
STATES = "gazebo/joint_states"
ODOMETRY = "gazebo/odom"
CONTROL = "gazebo/control"

BRIDGE_TABLE = (
    Parameter("model", "robot", "Name of the model in Gazebo.", read_only=True),
    Parameter(
        "joints",
        [],
        "Joints in the order of effort_controller/commands; none: odometry alone is relayed.",
        kind="string_array",
        read_only=True,
    ),
    Parameter(
        "gazebo_joints",
        [],
        "Names of the same joints in Gazebo; empty: they are the same.",
        kind="string_array",
        read_only=True,
    ),
    Parameter(
        "offsets",
        [],
        "Position of the model = position in Gazebo + offset, for each joint [rad or m]; empty: "
        "zero.",
        kind="double_array",
        read_only=True,
    ),
    Parameter(
        "effort_limits",
        [],
        "Largest effort of each joint [Nm or N]; a command beyond is refused. Empty: none.",
        kind="double_array",
        minimum=0.0,
        read_only=True,
    ),
    Parameter(
        "floating",
        False,
        "Relay odometry too, each message just before the joint states of the same stamp.",
        read_only=True,
    ),
    Parameter("base_frame", "base_link", "Root link: child_frame_id of odom.", read_only=True),
    Parameter("odom_frame", "odom", "Frame_id of odom.", read_only=True),
    Parameter("lockstep", False, "The world is paused, and each command steps it.", read_only=True),
    Parameter("steps", 1, "World steps for each command in lock-step.", minimum=1, read_only=True),
    Parameter(
        "run_on_command",
        False,
        "Start a paused world with the first command; not with lockstep.",
        read_only=True,
    ),
    Parameter(
        "resend",
        1.0,
        "While the world stands and no command comes, its state is sent again at this interval "
        "of real time, so that a controller that starts later is served; a request that the "
        "world has not obeyed for so long is made again [s].",
        minimum=0.01,
    ),
    Parameter(
        "settle",
        0.0,
        "Real time between the forces and the step in lock-step: Gazebo's transport keeps no "
        "order between the two [s].",
        minimum=0.0,
        maximum=10.0,
    ),
    Parameter(
        "command_timeout",
        0.02,
        "Without a command for so long in simulated time, `timeout_action` is taken [s].",
        minimum=0.0,
    ),
    Parameter(
        "silence_timeout",
        1.0,
        "Without a message from Gazebo for so long in real time, it is taken too [s].",
        minimum=0.0,
    ),
    Parameter(
        "timeout_action",
        "zero",
        "Zero: no force. Hold: the last force stays. Damping: `timeout_damping` times "
        "the joint velocity brakes.",
        choices=("zero", "hold", "damping"),
    ),
    Parameter("timeout_damping", 1.0, "Braking effort a velocity [Nms/rad or Ns/m].", minimum=0.0),
)


def force_topic(model: str, joint: str) -> str:
    """The ROS topic (std_msgs/Float64) of one joint's force, both names as Gazebo has them.

    It is the name of ApplyJointForce's own topic without the leading slash, so that a namespace works.
    """
    return f"model/{ros_name(model)}/joint/{ros_name(joint)}/cmd_force"


def check_bridge(values: Mapping[str, Any]) -> list[str]:
    """Check what no single parameter shows: that the lists fit the joints.

    Returns:
        The force topic of each joint.

    Raises:
        ParameterError: naming the list and what it should be.
    """
    count = len(values["joints"])
    if not (count or values["floating"]):
        raise ParameterError(
            "joints: the list is empty; the bridge needs the joints of effort_controller/commands, "
            "or a floating base whose odometry it relays"
        )
    for name in ("gazebo_joints", "offsets", "effort_limits"):
        if len(values[name]) not in (0, count):
            raise ParameterError(f"{name}: {len(values[name])} entries for {count} joints")
    topics = [
        force_topic(values["model"], joint) for joint in values["gazebo_joints"] or values["joints"]
    ]
    for name, items in (("joints", values["joints"]), ("gazebo_joints", topics)):
        repeated = [item for item in items if items.count(item) > 1]
        if repeated:
            raise ParameterError(
                f"{name}: {repeated[0]!r} is there twice; each joint needs a name of its own"
            )
    return topics
