"""The arguments of every launch file: name, default, description and choices."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..gazebo.generation import GENERATIONS
from ..model.source import ROBOTS
from ..osim.registry import methods
from ..sim.settings import ENGINES

__all__ = ["LAUNCHES", "Argument", "arguments", "default_robot"]

BOOLEAN = ("true", "false")
LOG_LEVELS = ("debug", "info", "warn", "error", "fatal")


@dataclass(frozen=True)
class Argument:
    """An argument of a launch file; an empty tuple of choices permits any text."""

    name: str
    default: str
    description: str
    choices: tuple[str, ...] = ()


_MODEL = (
    Argument(
        "robot",
        "",
        f"a shipped robot ({', '.join(ROBOTS)}) or the path of a URDF or .xacro file; empty: as the "
        "parameter file says, else arm7 (humanoid: asimo, free_flyer: free_flyer)",
    ),
    Argument("xacro_args", "", "arguments of a .xacro file: 'name:=value other:=value'"),
    Argument(
        "base",
        "",
        "how the root link is held; empty: as the parameter file says, else a shipped robot's own, "
        "else fixed",
        ("", "fixed", "floating"),
    ),
    Argument("namespace", "", "namespace of all nodes and topics"),
    Argument(
        "rviz",
        "false",
        "start robot_state_publisher and RViz with robot, tasks and targets",
        BOOLEAN,
    ),
)
_CONTROLLER = (
    Argument("params_file", "", "ROS 2 parameter file; empty: that of the shipped robot"),
    Argument(
        "method",
        "",
        "algorithm of the operational-space inertia; empty: as the parameter file says",
        ("", "auto", *methods()),
    ),
    Argument(
        "activate",
        "true",
        "activate the controller when it is configured; false: it waits for "
        "`ros2 lifecycle set ... activate`",
        BOOLEAN,
    ),
    Argument("log_level", "info", "log level of our nodes", LOG_LEVELS),
)
_TIME = Argument(
    "use_sim_time",
    "auto",
    "nodes follow /clock; auto: where a simulator owns the time",
    ("auto", *BOOLEAN),
)
_SIMULATOR = (
    Argument(
        "mode",
        "lockstep",
        "free: real time; scaled: real_time_factor times real time; lockstep: a step for each "
        "command, no faster than real time",
        ("free", "scaled", "lockstep"),
    ),
    Argument(
        "engine", "native", "engine of the simulator: our own, or DART (needs dartpy)", ENGINES
    ),
)
_HIL = (
    Argument("faults", "", "YAML file with faults of the simulated hardware; empty: none"),
    Argument("seed", "0", "seed of all that is random in the faults"),
    Argument(
        "log",
        "",
        "folder for the log of the run, which `opspace_ctrl.sim.record.log.read_log` reads; empty: none",
    ),
)
_GAZEBO = (
    Argument("gazebo", "harmonic", "generation of Gazebo", tuple(GENERATIONS)),
    Argument(
        "mode",
        "free",
        "free: the world runs from the first command on; lockstep: a world step for each command",
        ("free", "lockstep"),
    ),
    Argument(
        "ros2_control",
        "false",
        "gz_ros2_control instead of force topics; the world then runs freely",
        BOOLEAN,
    ),
    Argument("gui", "true", "show Gazebo's window", BOOLEAN),
    Argument(
        "files",
        "",
        "folder that `opspace gazebo` has written: that world is used; empty: one is generated",
    ),
    Argument(
        "out", "", "folder for the generated world, model and bridge files; empty: a temporary one"
    ),
)
_HARDWARE = (
    Argument(
        "controller_manager",
        "true",
        "start robot_state_publisher, ros2_control_node and the controllers; false: "
        "a driver already runs them",
        BOOLEAN,
    ),
    Argument(
        "controllers_file",
        "",
        "parameters of the controller manager; empty: joint_state_broadcaster and "
        "effort_controller on all joints",
    ),
    Argument(
        "update_rate", "1000", "rate of the controller manager where controllers_file is empty [Hz]"
    ),
)

LAUNCHES = ("arm", "humanoid", "free_flyer", "hil", "gazebo", "hardware", "description")
_ROBOT_OF = {"humanoid": "asimo", "free_flyer": "free_flyer"}
_OWN = {"hil": (*_SIMULATOR, *_HIL), "gazebo": _GAZEBO, "hardware": _HARDWARE}


def default_robot(launch: str) -> str:
    """The robot of a launch where nobody names one."""
    return _ROBOT_OF.get(launch, "arm7")


def arguments(launch: str) -> tuple[Argument, ...]:
    """All arguments of one of LAUNCHES; `description` shows a robot and controls nothing."""
    if launch == "description":
        return (*_MODEL, replace(_TIME, default="false"))
    changed = {"hil": {"mode": "free"}, "hardware": {"use_sim_time": "false"}}.get(launch, {})
    own = (*_MODEL, *_CONTROLLER, _TIME, *_OWN.get(launch, _SIMULATOR))
    return tuple(
        replace(argument, default=changed.get(argument.name, argument.default)) for argument in own
    )
