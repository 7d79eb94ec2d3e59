"""The simulator's parameters: the table the node declares, and what of it the physics needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..dynamics.forward import forward_methods
from ..errors import ConfigurationError, quoted
from ..parameters import Parameter, checked, checked_value

__all__ = [
    "ENGINES",
    "INTEGRATORS",
    "SIMULATOR_TABLE",
    "SimulatorSettings",
    "locked_joints",
    "simulator_settings",
]

ENGINES = ("native", "dart")
INTEGRATORS = ("semi_implicit", "explicit", "rkmk4")

_PHYSICS = (
    Parameter(
        "engine",
        "native",
        "native (our own recursions) or dart (dartpy, the engine of Gazebo).",
        choices=ENGINES,
        read_only=True,
    ),
    Parameter("step", 0.001, "Time step of the simulation [s].", 1e-6, 0.1, read_only=True),
    Parameter(
        "integrator",
        "semi_implicit",
        "semi_implicit: Euler with damping at the end of the step, as DART and "
        "Gazebo; explicit: Euler with damping at its start; rkmk4: Runge-Kutta-Munthe-Kaas, order four.",
        choices=INTEGRATORS,
        read_only=True,
    ),
    Parameter(
        "forward_method",
        "crba_ltdl",
        "Forward dynamics, also behind contacts and closures; a method that cannot carry the robot is refused.",
        choices=forward_methods(),
    ),
    Parameter(
        "initial_positions",
        [],
        "Joint positions at the start [rad, m], one a joint; empty: zero, or the nearest limit.",
        kind="double_array",
        read_only=True,
    ),
    Parameter(
        "initial_pose",
        [],
        "Floating base at the start: x y z [m] qx qy qz qw; empty: level at the origin, with "
        "the lowest contact point on the ground.",
        kind="double_array",
        read_only=True,
    ),
    Parameter(
        "contacts",
        [],
        "Where the robot can touch the ground: 'frame', the frame's origin as a point, or 'frame "
        "x y', the four corners (+-x, +-y, 0) [m] in the frame's axes.",
        kind="string_array",
        read_only=True,
    ),
    Parameter(
        "closures",
        [],
        "Frames held together: 'first second' or 'first second rows', rows pose (rigid, as they "
        "are at the start relative to each other), position (a ball joint) or orientation.",
        kind="string_array",
        read_only=True,
    ),
    Parameter(
        "ground.normal",
        [0.0, 0.0, 1.0],
        "Normal of the ground plane, world axes; any length.",
        read_only=True,
    ),
    Parameter(
        "ground.height",
        0.0,
        "Height of the ground plane above the world's origin along its normal [m].",
        read_only=True,
    ),
    Parameter(
        "ground.friction",
        0.8,
        "Coulomb friction coefficient of the ground.",
        0.0,
        1e3,
        read_only=True,
    ),
    Parameter("joint_limits", True, "Joints stop at their position limits.", read_only=True),
    Parameter(
        "joint_friction", True, "Joints have the Coulomb friction of the URDF.", read_only=True
    ),
    Parameter(
        "joint_damping", True, "Joints have the viscous damping of the URDF.", read_only=True
    ),
    Parameter("effort_limits", True, "Efforts are cut off at the URDF's limits.", read_only=True),
    Parameter(
        "solver_sweeps",
        100,
        "The most Gauss-Seidel sweeps over the contacts in a step.",
        1,
        100000,
        read_only=True,
    ),
)

_ROBOT = (
    Parameter(
        "robot",
        "",
        "A shipped robot (arm7, asimo, free_flyer) or the path of a URDF or xacro file.",
        read_only=True,
    ),
    Parameter(
        "base",
        "",
        "How the root link is held; empty: as shipped, else fixed.",
        choices=("", "fixed", "floating"),
        read_only=True,
    ),
    Parameter(
        "joints",
        [],
        "Order of efforts in commands and of joints in states; empty: the robot's own.",
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
)

_NODE = (
    Parameter(
        "rate",
        1000.0,
        "States published a second of simulated time [Hz]; a whole number of steps each.",
        1e-3,
        1e6,
        read_only=True,
    ),
    Parameter(
        "mode",
        "free",
        "free: real time; scaled: real_time_factor times real time; lockstep: a step only after "
        "a command.",
        choices=("free", "scaled", "lockstep"),
        read_only=True,
    ),
    Parameter(
        "real_time_factor",
        1.0,
        "Simulated seconds a second in mode scaled, and in lockstep if paced; 0: as "
        "fast as it goes.",
        0.0,
        1e6,
    ),
    Parameter(
        "pace",
        False,
        "In lockstep a step never begins before its time at real_time_factor.",
        read_only=True,
    ),
    Parameter(
        "catch_up",
        True,
        "Steps that are late are made up for, at most those of max_catch_up; otherwise they "
        "are skipped.",
        read_only=True,
    ),
    Parameter(
        "max_catch_up",
        0.1,
        "What is made up for at most [s]; the rest is skipped.",
        0.0,
        1e3,
        read_only=True,
    ),
    Parameter(
        "lockstep_timeout",
        1.0,
        "Without a command for so long in lockstep [s of real time], it is reported and "
        "the state is sent again, so that a controller that comes back is served.",
        1e-3,
        1e6,
    ),
    Parameter(
        "publish_clock",
        "auto",
        "Publish /clock; auto: where the simulator owns time, in scaled and lockstep.",
        choices=("auto", "always", "never"),
        read_only=True,
    ),
    Parameter(
        "clock_rate",
        100.0,
        "Messages on /clock a second of simulated time, at most one a state [Hz].",
        1e-3,
        1e6,
        read_only=True,
    ),
    Parameter("odom_frame", "odom", "frame_id of odom.", read_only=True),
    Parameter("autostart", False, "Configure and activate without being told to.", read_only=True),
    Parameter(
        "log",
        "",
        "Folder for the log of the run, as `opspace hil` reads it; empty: none.",
        read_only=True,
    ),
    Parameter(
        "command_timeout",
        0.02,
        "Without a command for so long [s], timeout_action acts; 0: never.",
        0.0,
        1e6,
    ),
    Parameter(
        "timeout_action",
        "zero",
        "What drives the joints when commands fail to come.",
        choices=("zero", "hold", "damping"),
    ),
    Parameter("faults", "", "YAML file of faults; empty: none.", read_only=True),
    Parameter(
        "fault",
        "",
        "Faults set live: YAML text as in the file, times counted from now; each setting adds to "
        "those before, empty text ends them.",
        longest=16384,
    ),
    Parameter("seed", 0, "Seed of all that is random in the faults.", 0, read_only=True),
    Parameter("publish_robot_description", True, "Publish robot_description.", read_only=True),
    Parameter("wrench_hold", 0.1, "For how long a wrench from ~/wrench acts [s].", 0.0, 1e6),
    Parameter(
        "wrench_frames",
        [],
        "Frames with a simulated force-torque sensor.",
        kind="string_array",
        read_only=True,
    ),
    Parameter("step_count", 1, "Steps that ~/step takes.", 1, 10**9),
)

SIMULATOR_TABLE = _ROBOT + _PHYSICS + _NODE
_BY_FIELD = {parameter.name.replace(".", "_"): parameter for parameter in _PHYSICS}


@dataclass(frozen=True)
class SimulatorSettings:
    """How a robot is simulated: the parameters of the same names, dots replaced by underscores.

    Attributes:
        initial_positions: A position for every joint coordinate (k,), or {joint: position}, or nothing.
        initial_pose: (7,) a floating base, x y z qx qy qz qw; for a forest one after the other.

    Raises:
        ParameterError: A value has the wrong type, is out of range or not among the choices.
    """

    engine: str = "native"
    step: float = 0.001
    integrator: str = "semi_implicit"
    forward_method: str = "crba_ltdl"
    initial_positions: Any = ()
    initial_pose: Any = ()
    contacts: tuple[str, ...] = ()
    closures: tuple[str, ...] = ()
    ground_normal: tuple[float, ...] = (0.0, 0.0, 1.0)
    ground_height: float = 0.0
    ground_friction: float = 0.8
    joint_limits: bool = True
    joint_friction: bool = True
    joint_damping: bool = True
    effort_limits: bool = True
    solver_sweeps: int = 100

    def __post_init__(self):
        for name, parameter in _BY_FIELD.items():
            value = getattr(self, name)
            if name == "initial_positions" and isinstance(value, Mapping):
                continue  # checked against the robot
            value = checked_value(parameter, value)
            object.__setattr__(self, name, tuple(value) if isinstance(value, list) else value)
        if len(self.ground_normal) != 3 or not any(self.ground_normal):
            raise ConfigurationError(
                f"ground.normal = {quoted(self.ground_normal)} is not a direction: three numbers, "
                "not all zero, are valid"
            )


def simulator_settings(values: Mapping[str, Any]) -> SimulatorSettings:
    """The physics of a mapping of parameters; those of the node are checked and left out.

    Raises:
        ParameterError: A name is unknown, or a value is not valid.
    """
    known = checked(SIMULATOR_TABLE, values)
    return SimulatorSettings(
        **{name: known[parameter.name] for name, parameter in _BY_FIELD.items()}
    )


def locked_joints(values: Mapping[str, Any]) -> dict[str, float]:
    """Joints to freeze when the robot is loaded, and where, by the parameters `locked_joints` and `locked_positions`.

    Raises:
        ConfigurationError: Their numbers differ.
    """
    names, positions = (values.get(name) or [] for name in ("locked_joints", "locked_positions"))
    if len(positions) not in (0, len(names)):
        raise ConfigurationError(
            f"locked_positions has {len(positions)} numbers for {len(names)} locked_joints"
        )
    return dict(zip(names, positions or [0.0] * len(names)))
