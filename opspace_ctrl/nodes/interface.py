# SPDX-License-Identifier: Apache-2.0
"""Every topic, service and action of the nodes, declared once: for the documentation and for the SROS 2 policies.

`<t>` stands for the name of a task, `<frame>`, `<m>` and `<j>` for those of a frame, a model and a joint.
"""

from typing import NamedTuple

__all__ = ["COMMON", "INTERFACES", "LIFECYCLE", "Action", "Service", "Topic"]


class Topic(NamedTuple):
    """A topic of a node.

    Attributes:
        name: as the node names it.
        type: the message, and what is out of the ordinary in its quality of service.
        direction: "in" or "out".
        text: what it is, for the documentation.
    """

    name: str
    type: str
    direction: str
    text: str = ""


class Service(NamedTuple):
    """A service that a node offers (`direction` "in") or asks for ("out")."""

    name: str
    type: str
    text: str = ""
    direction: str = "in"


class Action(NamedTuple):
    """An action that a node serves; `direction` is "in"."""

    name: str
    type: str
    text: str = ""
    direction: str = "in"


Interface = tuple[Topic | Service | Action, ...]

BOND = Topic("bond", "bond/Status", "out", "10 Hz while active, where bond is installed")
DIAGNOSTICS = Topic("/diagnostics", "diagnostic_msgs/DiagnosticArray", "out", "1 Hz")
CONTROLLER: Interface = (
    Topic(
        "robot_description",
        "std_msgs/String, transient local",
        "in",
        "read where `robot` is empty",
    ),
    Topic(
        "joint_states",
        "sensor_msgs/JointState",
        "in",
        "mapped by name, partial messages are merged, missing velocities are differentiated",
    ),
    Topic(
        "odom",
        "nav_msgs/Odometry",
        "in",
        "floating base; paired with the joint states by its stamp",
    ),
    Topic(
        "effort_controller/commands",
        "std_msgs/Float64MultiArray",
        "out",
        "in the order of `joints`",
    ),
    Topic(
        "velocity_controller/commands",
        "std_msgs/Float64MultiArray",
        "out",
        "likewise, and instead, in mode `velocity`",
    ),
    Topic(
        "~/<t>/target_pose",
        "geometry_msgs/PoseStamped",
        "in",
        "reached by a minimum-jerk motion",
    ),
    Topic(
        "~/<t>/target_twist",
        "geometry_msgs/TwistStamped",
        "in",
        "moves the target until it is `stream_timeout` old",
    ),
    Topic(
        "~/<t>/target_wrench",
        "geometry_msgs/WrenchStamped",
        "in",
        "what the robot exerts, along `<t>.force_axes`",
    ),
    Topic(
        "~/<t>/measured_wrench",
        "geometry_msgs/WrenchStamped",
        "in",
        "closes the loop of the force axes",
    ),
    Topic(
        "~/<t>/trajectory",
        "trajectory_msgs/MultiDOFJointTrajectory",
        "in",
        "from `header.stamp` on, zero = now",
    ),
    Topic("~/posture", "sensor_msgs/JointState", "in", "joints by name"),
    Topic("~/force", "std_msgs/Float64MultiArray", "in", "mode `raw`: rows of the tasks in order"),
    Topic("~/tau0", "std_msgs/Float64MultiArray", "in", "mode `raw`: one entry a joint"),
    Topic(
        "~/answers",
        "std_msgs/String",
        "out",
        "what became of every message above: `<topic>: taken` or `<topic>: refused: <why>`",
    ),
    Topic("~/<t>/pose", "geometry_msgs/PoseStamped", "out", "where the frame is"),
    Topic("~/<t>/error", "geometry_msgs/TwistStamped", "out", "reference minus pose, world axes"),
    Topic(
        "~/<t>/reference",
        "std_msgs/Float64MultiArray",
        "out",
        "every tick since the last message, a row each: time on the steady clock [s], rotation (9), "
        "position (3); the last hundred messages are latched",
    ),
    Topic("~/osim", "std_msgs/Float64MultiArray", "out", "Lambda^-1, m x m"),
    Topic(
        "~/method_residual",
        "std_msgs/Float64",
        "out",
        "when `method` changes: old against new torque at the same state",
    ),
    Topic(
        "~/markers",
        "visualization_msgs/MarkerArray",
        "out",
        "frames, targets and contact forces",
    ),
    Topic("~/enable", "std_msgs/Bool", "in", "where `enable_timeout` is set: motion is permitted"),
    Topic(
        "~/safety",
        "std_msgs/String, transient local",
        "out",
        "when it changes: `unconfigured`, `inactive`, `active`, or the closed gates",
    ),
    Topic("/tf", "tf2_msgs/TFMessage", "out", "world to root link, where tf2_ros is installed"),
    BOND,
    DIAGNOSTICS,
    Service("~/hold", "std_srvs/Trigger", "every task takes its present pose as its target"),
    Service(
        "~/reset",
        "std_srvs/Trigger",
        "opens the gates that wait for it, the emergency stop among them",
    ),
    Service(
        "~/emergency_stop",
        "std_srvs/Trigger",
        "safe command at once, latched until `~/reset`, also over `cleanup` and `configure`",
    ),
    Action(
        "~/<t>/follow_joint_trajectory",
        "control_msgs/FollowJointTrajectory",
        "action: `multi_dof_trajectory` with feedback, result and cancel; where control_msgs is installed",
    ),
)
SIMULATOR: Interface = (
    Topic("joint_states", "sensor_msgs/JointState, reliable", "out"),
    Topic(
        "odom",
        "nav_msgs/Odometry",
        "out",
        "floating base, just before the joint states of the same stamp",
    ),
    Topic("/clock", "rosgraph_msgs/Clock", "out", "when it owns time"),
    Topic("robot_description", "std_msgs/String, transient local", "out", "unless switched off"),
    Topic(
        "effort_controller/commands",
        "std_msgs/Float64MultiArray",
        "in",
        "wrong sizes, non-finite and over-limit efforts are refused and counted",
    ),
    Topic(
        "velocity_controller/commands",
        "std_msgs/Float64MultiArray",
        "in",
        "likewise velocities, and instead, where `commands` is velocity",
    ),
    Topic(
        "~/wrench",
        "geometry_msgs/WrenchStamped",
        "in",
        "acts at the origin of the frame `frame_id`, in its axes, for `wrench_hold`",
    ),
    Topic(
        "~/<frame>/wrench",
        "geometry_msgs/WrenchStamped",
        "out",
        "simulated force-torque sensors (`wrench_frames`), in the axes of their frame",
    ),
    BOND,
    DIAGNOSTICS,
    Service("~/pause", "std_srvs/SetBool", "stop and go on"),
    Service("~/step", "std_srvs/Trigger", "`step_count` steps while paused"),
    Service("~/reset", "std_srvs/Trigger", "back to the initial state"),
)
BRIDGE: Interface = (
    Topic("effort_controller/commands", "std_msgs/Float64MultiArray", "in"),
    Topic("model/<m>/joint/<j>/cmd_force", "std_msgs/Float64", "out", "one a joint"),
    Topic("gazebo/joint_states", "sensor_msgs/JointState", "in", "repeated stamps are dropped"),
    Topic("gazebo/odom", "nav_msgs/Odometry", "in", "likewise; floating base"),
    Topic("joint_states", "sensor_msgs/JointState", "out", "with the model's names and positions"),
    Topic("odom", "nav_msgs/Odometry", "out", "floating base"),
    DIAGNOSTICS,
    Service(
        "gazebo/control",
        "ros_gz_interfaces/srv/ControlWorld",
        "in lock-step",
        "out",
    ),
)
INTERFACES: dict[str, Interface] = {
    "opspace_controller": CONTROLLER,
    "opspace_simulator": SIMULATOR,
    "opspace_gazebo_bridge": BRIDGE,
}

# What rclpy adds to every node, and to those with a life cycle.
COMMON: Interface = (
    Topic("/rosout", "rcl_interfaces/Log", "out"),
    Topic("/parameter_events", "rcl_interfaces/ParameterEvent", "out"),
    Topic("/clock", "rosgraph_msgs/Clock", "in", "under `use_sim_time`"),
    Service("~/describe_parameters", "rcl_interfaces/DescribeParameters"),
    Service("~/get_parameter_types", "rcl_interfaces/GetParameterTypes"),
    Service("~/get_parameters", "rcl_interfaces/GetParameters"),
    Service("~/get_type_description", "type_description_interfaces/GetTypeDescription"),
    Service("~/list_parameters", "rcl_interfaces/ListParameters"),
    Service("~/set_parameters", "rcl_interfaces/SetParameters"),
    Service("~/set_parameters_atomically", "rcl_interfaces/SetParametersAtomically"),
)
LIFECYCLE: Interface = (
    Topic("~/transition_event", "lifecycle_msgs/TransitionEvent", "out"),
    Service("~/change_state", "lifecycle_msgs/ChangeState"),
    Service("~/get_available_states", "lifecycle_msgs/GetAvailableStates"),
    Service("~/get_available_transitions", "lifecycle_msgs/GetAvailableTransitions"),
    Service("~/get_state", "lifecycle_msgs/GetState"),
    Service("~/get_transition_graph", "lifecycle_msgs/GetAvailableTransitions"),
)
