"""Every parameter of the controller: what it is, its default and what is valid.

`controller_table` is what the node declares, the settings check and the documentation lists.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..osim.registry import methods
from ..parameters import Parameter
from .structure import LAWS, WHOLE_ROBOT

__all__ = ["AXES", "CONTACT_ROWS", "GATES", "TASK_ROWS", "controller_table"]

AXES = ("x", "y", "z", "rx", "ry", "rz")
TASK_ROWS = ("pose", "position", "orientation", *WHOLE_ROBOT)
CONTACT_ROWS = ("pose", "position")
SAFE_COMMANDS = ("zero", "gravity", "damping")  # in the order of `fields.NO_TORQUE` and its like
LAST_COMMANDS = ("zero", "gravity")
# The gates of `safety`, in rising order of precedence.
GATES = (
    "target",
    "publishers",
    "overrun",
    "position",
    "enable",
    "velocity",
    "names",
    "size",
    "quaternion",
    "finite",
    "clock",
    "odom",
    "state",
    "first",
    "error",
    "stop",
)

_ROBOT = (
    Parameter(
        "robot",
        "",
        "Robot: a shipped name (arm7, asimo, free_flyer), the path of a URDF or xacro file, or "
        "empty: the topic robot_description.",
        read_only=True,
    ),
    Parameter(
        "base",
        "",
        "How the root link is held; empty: a shipped robot's own, else fixed.",
        choices=("", "fixed", "floating"),
        read_only=True,
    ),
    Parameter(
        "joints",
        [],
        "Joints in the order of the effort controller; empty: those of the robot in its own order.",
        kind="string_array",
        read_only=True,
    ),
    Parameter(
        "locked_joints",
        [],
        "Joints that the effort controller does not move, such as a gripper's: they are "
        "frozen, and not among `joints`.",
        kind="string_array",
        read_only=True,
    ),
    Parameter(
        "locked_positions",
        [],
        "Where they are frozen [rad or m]; empty: 0.",
        kind="double_array",
        read_only=True,
    ),
    Parameter(
        "mode",
        "tasks",
        "tasks: the hierarchy of tasks; raw: F and tau0 come from topics; gravity: compensation "
        "only, for the first power-on.",
        choices=("tasks", "raw", "gravity"),
        read_only=True,
    ),
    Parameter(
        "tasks",
        [],
        "Names of the tasks; each has its own parameters <name>.*.",
        kind="string_array",
        read_only=True,
        names_others=True,
    ),
    Parameter(
        "contacts",
        [],
        "Names of the support contacts, which come before every task; each has its own "
        "parameters <name>.*.",
        kind="string_array",
        read_only=True,
        names_others=True,
    ),
)

_COMPENSATION = (
    Parameter(
        "compensate",
        True,
        "Add the bias forces h(q, v); without it the task law is F = Lambda (a - beta).",
    ),
    Parameter("compensation.gravity", True, "Gravity is a part of h."),
    Parameter("compensation.coriolis", True, "Coriolis and centrifugal forces are a part of h."),
    Parameter(
        "compensation.friction",
        False,
        "Add the URDF's joint damping and friction, for the present velocity.",
    ),
    Parameter(
        "compensation.friction_speed",
        0.05,
        "Speed below which dry friction fades out, so that noise does not make it chatter [rad/s].",
        minimum=1e-4,
        maximum=10.0,
    ),
    Parameter(
        "payload.mass", 0.0, "Mass of what the robot carries [kg].", minimum=0.0, maximum=1000.0
    ),
    Parameter(
        "payload.centre",
        [0.0, 0.0, 0.0],
        "Its centre of mass in the payload's frame [m].",
        minimum=-10.0,
        maximum=10.0,
    ),
    Parameter("payload.frame", "", "Frame that carries it; empty: the frame of the first task."),
)

_LIMITS = (
    Parameter(
        "ramp",
        1.0,
        "Time in which task torque comes in after activation; compensation is there at once [s].",
        minimum=0.0,
        maximum=60.0,
    ),
    Parameter(
        "fade",
        0.3,
        "Time in which a task or contact that is switched on or off comes or goes [s].",
        minimum=0.001,
        maximum=60.0,
    ),
    Parameter(
        "torque_rate_limit",
        1000.0,
        "Largest change of any joint's effort [Nm/s].",
        minimum=1.0,
        maximum=1e7,
    ),
    Parameter(
        "effort_scale",
        1.0,
        "Share of the URDF's effort limits that is used.",
        minimum=0.01,
        maximum=1.0,
    ),
    Parameter(
        "limits.margin",
        0.05,
        "Distance from a position limit at which a joint comes to rest, before all tasks; "
        "0: it is not kept [rad or m].",
        minimum=0.0,
        maximum=1.0,
    ),
    Parameter(
        "limits.speed_margin",
        0.1,
        "Likewise for velocity limits, as a share of them; 0: not kept.",
        minimum=0.0,
        maximum=1.0,
    ),
    Parameter(
        "limits.stiffness",
        400.0,
        "Acceleration per intrusion into a position margin [1/s^2].",
        minimum=1.0,
        maximum=1e5,
    ),
    Parameter(
        "limits.damping",
        40.0,
        "Acceleration per velocity inside a margin [1/s].",
        minimum=0.0,
        maximum=1e4,
    ),
    Parameter(
        "singularity.damping",
        0.5,
        "Response of a task's worst direction, as a share of what is typical of "
        "it, below which the force along it is lowered.",
        minimum=1e-9,
        maximum=1.0,
    ),
    Parameter(
        "singularity.cut",
        0.005,
        "Likewise, below which it is given up and left to the levels after it.",
        minimum=1e-12,
        maximum=1.0,
    ),
    Parameter(
        "internal_forces",
        "balanced",
        "Forces that contacts exert on each other in double support: zero: least "
        "norm; balanced: large margins of friction, pressure and normal force.",
        choices=("zero", "balanced"),
    ),
)

_POSTURE = (
    Parameter(
        "posture.enabled",
        True,
        "Keep a posture in the null space of all tasks; else its motion is damped.",
    ),
    Parameter(
        "posture.joints",
        [],
        "Joints that `posture.positions` is given for; empty: all of `joints`.",
        kind="string_array",
        read_only=True,
    ),
    Parameter(
        "posture.positions",
        [],
        "Posture [rad or m]; empty: where the robot is when it is activated.",
        kind="double_array",
        minimum=-1e6,
        maximum=1e6,
    ),
    Parameter(
        "posture.stiffness",
        [50.0],
        "One number, or one a joint of `posture.joints` [1/s^2].",
        minimum=0.0,
        maximum=1e5,
    ),
    Parameter(
        "posture.damping",
        [],
        "Likewise [1/s]; empty: critical, 2 sqrt(stiffness).",
        kind="double_array",
        minimum=0.0,
        maximum=1e4,
    ),
    Parameter(
        "posture.error_clip",
        0.2,
        "Errors of the posture count as no larger than this, so that a robot that a "
        "task has taken far away is not thrown back [rad or m].",
        minimum=1e-4,
        maximum=10.0,
    ),
    Parameter(
        "posture.speed",
        0.5,
        "Speed at which a new posture is approached [rad/s].",
        minimum=1e-3,
        maximum=100.0,
    ),
    Parameter(
        "null_damping",
        5.0,
        "Damping of the null space where no posture is kept [1/s].",
        minimum=0.0,
        maximum=1e3,
    ),
)

_SAFETY = (
    Parameter(
        "safe_command",
        "damping",
        "What is sent while a gate is closed, where the gate permits it: zero, "
        "gravity (compensation) or damping (compensation that also brakes).",
        choices=SAFE_COMMANDS,
    ),
    Parameter(
        "last_command",
        "zero",
        "What is left standing on deactivation and shutdown.",
        choices=LAST_COMMANDS,
    ),
    Parameter(
        "safe_damping",
        5.0,
        "Braking of the safe command `damping`: deceleration per velocity [1/s].",
        minimum=0.0,
        maximum=1e3,
    ),
    Parameter(
        "gravity_time",
        0.5,
        "How long the gravity torque of the last valid state is sent when there is none any more [s].",
        minimum=0.0,
        maximum=60.0,
    ),
    Parameter(
        "state_timeout",
        0.02,
        "Joint states older than this, and than state_periods periods, are stale [s].",
        minimum=1e-4,
        maximum=600.0,
    ),
    Parameter(
        "state_periods",
        3.0,
        "Periods of the joint states after which they are stale.",
        minimum=1.0,
        maximum=1e4,
    ),
    Parameter(
        "odom_timeout",
        0.02,
        "Odometry this much older than the joint states is stale [s].",
        minimum=0.0,
        maximum=600.0,
    ),
    Parameter(
        "target_timeout",
        0.0,
        "A target pose this old is stale and its task holds where it is; 0: never [s].",
        minimum=0.0,
        maximum=3600.0,
    ),
    Parameter(
        "stream_timeout",
        0.5,
        "Target twists, wrenches, F, tau0 and measured wrenches this old count as gone [s].",
        minimum=1e-3,
        maximum=3600.0,
    ),
    Parameter(
        "liveness_timeout",
        0.2,
        "Under simulated time: wall-clock time without any message of joint states, repeated ones "
        "included, after which they are stale, if it is also longer than state_timeout and ten of "
        "their mean intervals; 0: never [s].",
        minimum=0.0,
        maximum=3600.0,
    ),
    Parameter(
        "clock_jump",
        1.0,
        "Stamps that jump ahead by more than this close the gate `clock` [s].",
        minimum=0.01,
        maximum=3600.0,
    ),
    Parameter(
        "position_margin",
        0.1,
        "Joints outside their limits by more than this close the gate `position`; 0: "
        "never [rad or m].",
        minimum=0.0,
        maximum=10.0,
    ),
    Parameter(
        "velocity_factor",
        2.0,
        "Velocities beyond the URDF's limits times this, and positions that have moved faster, close "
        "the gate `velocity`; 0: never.",
        minimum=0.0,
        maximum=1e6,
    ),
    Parameter(
        "overrun_time",
        0.0,
        "Computation of a tick longer than this is an overrun; 0: one period of the joint "
        "states [s].",
        minimum=0.0,
        maximum=1.0,
    ),
    Parameter(
        "overrun_count",
        20,
        "Consecutive overruns that close the gate `overrun`; 0: never.",
        minimum=0,
        maximum=1000000,
    ),
    Parameter(
        "enable_timeout",
        0.0,
        "Motion needs `true` on ~/enable, as old as this at most (a dead man's switch); 0: it needs none [s].",
        minimum=0.0,
        maximum=3600.0,
    ),
    Parameter("single_publisher", False, "Refuse targets on a topic that has several publishers."),
    Parameter(
        "manual_recovery",
        [],
        "Gates that stay closed until ~/reset; the others open by themselves.",
        kind="string_array",
        choices=GATES,
    ),
    Parameter(
        "recovery_time",
        0.0,
        "Time without a fault after which a gate opens by itself [s].",
        minimum=0.0,
        maximum=3600.0,
    ),
)

_NODE = (
    Parameter("autostart", False, "Configure and activate without being told.", read_only=True),
    Parameter(
        "world_frame",
        "",
        "Name of the world in messages; empty: odom's frame_id, or the root link's parent.",
        read_only=True,
    ),
    Parameter(
        "frame_prefix",
        "",
        "Put before the names of the robot's frames in messages and tf, such as left/; as "
        "robot_state_publisher's.",
        read_only=True,
    ),
    Parameter(
        "publish_rate",
        50.0,
        "Rate of ~/<task>/pose, ~/<task>/error and ~/osim; 0: none [Hz].",
        minimum=0.0,
        maximum=1000.0,
    ),
    Parameter("marker_rate", 10.0, "Rate of ~/markers; 0: none [Hz].", minimum=0.0, maximum=100.0),
    Parameter(
        "publish_tf",
        True,
        "Floating base: publish the transform from the world to the root link, where tf2_ros "
        "is installed.",
        read_only=True,
    ),
    Parameter(
        "velocity_time",
        0.005,
        "Time constant of the low-pass of velocities that are differentiated because the "
        "joint states carry none [s].",
        minimum=0.0,
        maximum=1.0,
        read_only=True,
    ),
    Parameter(
        "thread_priority",
        50,
        "SCHED_FIFO priority of the loop's thread, where permitted; 0: as started.",
        minimum=0,
        maximum=99,
        read_only=True,
    ),
    Parameter(
        "black_box",
        "auto",
        "Folder where the last 5 s are kept when a gate closes; auto: opspace_ctrl in ROS's folder of logs; "
        "empty: nowhere.",
        read_only=True,
    ),
    Parameter("lock_memory", True, "Keep the process in memory, where permitted.", read_only=True),
)


def controller_table(
    tasks: Sequence[str] = (), contacts: Sequence[str] = ()
) -> tuple[Parameter, ...]:
    """Every parameter of a controller with these tasks and contacts."""
    method = Parameter(
        "method",
        "auto",
        "Algorithm of the operational-space inertia; auto: the fastest here.",
        choices=("auto", *methods()),
    )
    return (
        *_ROBOT,
        method,
        *_COMPENSATION,
        *_LIMITS,
        *_POSTURE,
        *_SAFETY,
        *_NODE,
        *(parameter for name in tasks for parameter in _task(name)),
        *(parameter for name in contacts for parameter in _contact(name)),
    )


def _task(t: str) -> tuple[Parameter, ...]:
    return (
        Parameter(
            f"{t}.frame",
            "",
            "Frame that is moved; empty: the one named like the task.",
            read_only=True,
        ),
        Parameter(
            f"{t}.rows",
            "pose",
            "What of it: pose, position, orientation; com: the robot's centre of mass.",
            choices=TASK_ROWS,
            read_only=True,
        ),
        Parameter(
            f"{t}.relative_to",
            "",
            "Frame in whose axes it moves; empty: the world.",
            read_only=True,
        ),
        Parameter(
            f"{t}.level",
            1,
            "Priority: 1 comes first, and no level disturbs those before it.",
            minimum=1,
            maximum=100,
            read_only=True,
        ),
        Parameter(f"{t}.enabled", True, "Is the task on? It comes and goes over `fade`."),
        *_law(t),
        *_force(t),
        *_motion(t),
    )


def _law(t: str) -> tuple[Parameter, ...]:
    return (
        Parameter(
            f"{t}.law",
            "inertia",
            "inertia: F = Lambda (a + Kd e_v + Kp e_x - Jdot v); impedance: F = Kp e_x + Kd e_v.",
            choices=LAWS,
            read_only=True,
        ),
        Parameter(
            f"{t}.stiffness",
            [],
            "Kp: one number, two (linear, angular) or one an axis. inertia: [1/s^2]; "
            "impedance: [N/m], [Nm/rad]. Empty: 400 1/s^2, or 400 N/m and 20 Nm/rad.",
            kind="double_array",
            minimum=0.0,
            maximum=1e6,
        ),
        Parameter(
            f"{t}.damping",
            [],
            "Kd, likewise. inertia: [1/s]; impedance: [Ns/m], [Nms/rad]. Empty: critical, "
            "2 sqrt(Kp) (impedance: of 1 kg, 1 kg m^2).",
            kind="double_array",
            minimum=0.0,
            maximum=1e5,
        ),
        Parameter(
            f"{t}.axes",
            "",
            "Frame in whose axes gains and force axes are given; empty: the world's, or "
            "those of relative_to.",
            read_only=True,
        ),
        Parameter(
            f"{t}.error_clip",
            0.1,
            "Position errors count as no larger than this [m].",
            minimum=1e-4,
            maximum=100.0,
        ),
        Parameter(
            f"{t}.error_clip_angle",
            0.5,
            "Orientation errors likewise [rad].",
            minimum=1e-3,
            maximum=3.2,
        ),
    )


def _force(t: str) -> tuple[Parameter, ...]:
    return (
        Parameter(
            f"{t}.force_axes",
            [],
            "Axes in which the target wrench is controlled instead of the motion; without "
            "a target they are free.",
            kind="string_array",
            choices=AXES,
        ),
        Parameter(
            f"{t}.force_gain",
            0.0,
            "F = F_d + gain (F_d - F_measured) + integral, where a wrench is measured.",
            minimum=0.0,
            maximum=100.0,
        ),
        Parameter(
            f"{t}.force_integral",
            0.0,
            "Gain of the integral of F_d - F_measured [1/s].",
            minimum=0.0,
            maximum=1000.0,
        ),
        Parameter(
            f"{t}.force_limit",
            50.0,
            "Largest part of the force that the integral supplies [N, Nm].",
            minimum=0.0,
            maximum=1e5,
        ),
        Parameter(
            f"{t}.force_damping",
            10.0,
            "Damping of the motion along the force axes [1/s].",
            minimum=0.0,
            maximum=1e4,
        ),
        Parameter(
            f"{t}.wrench_limit",
            200.0,
            "Target wrenches count as no larger than this [N, Nm].",
            minimum=0.0,
            maximum=1e5,
        ),
    )


def _motion(t: str) -> tuple[Parameter, ...]:
    return (
        Parameter(
            f"{t}.time",
            0.0,
            "Least time of a motion to a new target pose [s].",
            minimum=0.0,
            maximum=3600.0,
        ),
        Parameter(
            f"{t}.speed",
            0.5,
            "Largest speed of it, and of twists and trajectories: they are slowed down [m/s].",
            minimum=1e-4,
            maximum=100.0,
        ),
        Parameter(
            f"{t}.angular_speed",
            1.5,
            "Largest angular speed, likewise [rad/s].",
            minimum=1e-3,
            maximum=100.0,
        ),
        Parameter(
            f"{t}.acceleration",
            2.0,
            "Largest acceleration, likewise [m/s^2].",
            minimum=1e-3,
            maximum=1e4,
        ),
        Parameter(
            f"{t}.angular_acceleration",
            8.0,
            "Largest angular acceleration, likewise [rad/s^2].",
            minimum=1e-2,
            maximum=1e4,
        ),
        Parameter(
            f"{t}.jump",
            0.0,
            "A target pose further than this from the reference is moved nearer; 0: any "
            "distance [m].",
            minimum=0.0,
            maximum=1e4,
        ),
        Parameter(
            f"{t}.jump_angle",
            0.0,
            "Likewise for the angle; 0: any [rad].",
            minimum=0.0,
            maximum=3.2,
        ),
    )


def _contact(c: str) -> tuple[Parameter, ...]:
    return (
        Parameter(
            f"{c}.frame",
            "",
            "Frame that stands on the ground; empty: the one named like the contact.",
            read_only=True,
        ),
        Parameter(
            f"{c}.axes",
            "frame",
            "Whose z axis is the normal of the ground: the frame's or the world's.",
            choices=("frame", "world"),
            read_only=True,
        ),
        Parameter(
            f"{c}.rows",
            "pose",
            "pose: a sole, six rows; position: a point, three.",
            choices=CONTACT_ROWS,
            read_only=True,
        ),
        Parameter(f"{c}.enabled", True, "Does it carry? It comes and goes over `fade`."),
        Parameter(f"{c}.friction", 0.6, "Coefficient of friction.", minimum=0.0, maximum=10.0),
        Parameter(
            f"{c}.front",
            0.1,
            "Reach of the sole along +x of its frame [m].",
            minimum=0.0,
            maximum=10.0,
        ),
        Parameter(f"{c}.back", 0.1, "Reach along -x [m].", minimum=0.0, maximum=10.0),
        Parameter(f"{c}.left", 0.05, "Reach along +y [m].", minimum=0.0, maximum=10.0),
        Parameter(f"{c}.right", 0.05, "Reach along -y [m].", minimum=0.0, maximum=10.0),
        Parameter(
            f"{c}.minimum_force",
            5.0,
            "Normal force below which it is reported as lifting [N].",
            minimum=0.0,
            maximum=1e5,
        ),
        Parameter(
            f"{c}.damping",
            10.0,
            "Damping of what is left of its velocity [1/s].",
            minimum=0.0,
            maximum=1e4,
        ),
    )
