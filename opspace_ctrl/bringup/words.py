# SPDX-License-Identifier: Apache-2.0
"""What the arguments of the launch files mean, each in one place: what `ros2 launch ... --show-args` prints."""

from ..gazebo.generation import GENERATIONS
from ..model.source import ROBOTS
from ..osim.registry import methods
from ..sim.settings import ENGINES

__all__ = [
    "AUTO",
    "BASES",
    "BOOLEAN",
    "ENGINES",
    "GAZEBOS",
    "GAZEBO_MODES",
    "HARDWARE",
    "LOG_LEVELS",
    "LOOPS",
    "METHODS",
    "MODES",
]

ROBOT = (
    f"a shipped robot ({', '.join(ROBOTS)}) or the path of a URDF or .xacro file; empty: as the "
    "parameter file says, else default_robot"
)
DEFAULT_ROBOT = "robot where neither robot nor a params_file names one"
XACRO_ARGS = "arguments of a .xacro file: 'name:=value other:=value'"
BASE = (
    "how the root link is held; empty: as the parameter file says, else a shipped robot's own, "
    "else fixed"
)
NAMESPACE = "namespace of all nodes and topics"
FRAME_PREFIX = "put before the names of all frames in tf and messages, such as left/"
STATE_PUBLISHER = (
    "start robot_state_publisher, for robot_description and the transforms of the links; auto: "
    "where it is installed"
)
RVIZ = "start robot_state_publisher and RViz with robot, tasks and targets"
PARAMS_FILE = "ROS 2 parameter file; empty: that of the shipped robot"
METHOD = "algorithm of the operational-space inertia; empty: as the parameter file says"
ACTIVATE = (
    "activate the controller when it is configured; false: it waits for "
    "`ros2 lifecycle set ... activate`"
)
LOG_LEVEL = "log level of our nodes"
CLOCK = "topic of the time; several robots need one each: clock, in the namespace of each"
USE_SIM_TIME = "nodes follow /clock; auto: where a simulator owns the time"

MODE = (
    "free: real time; scaled: real_time_factor times real time; lockstep: a step for each "
    "command, no faster than real time"
)
ENGINE = "engine of the simulator: our own, DART (needs dartpy) or MuJoCo (needs mujoco)"
SIMULATOR_FILE = "further parameter file of the simulator, before params_file; empty: none"

FAULTS = "YAML file with faults of the simulated hardware; empty: none"
SEED = "seed of all that is random in the faults"
LOG = (
    "folder for the log of the run, which `opspace_ctrl.sim.record.log.read_log` reads; empty: none"
)

GAZEBO = "generation of Gazebo"
GAZEBO_MODE = (
    "free: the world runs from the first command on; lockstep: a world step for each command"
)
ROS2_CONTROL = "gz_ros2_control instead of force topics; the world then runs freely"
GUI = "show Gazebo's window"
FILES = "folder that `opspace gazebo` has written: that world is used; empty: one is generated"
OUT = "folder for the generated world, model and bridge files; empty: a temporary one"

MANAGER = (
    "start robot_state_publisher, ros2_control_node and the controllers; false: a driver already "
    "runs them"
)
CONTROLLERS_FILE = (
    "parameters of the controller manager; empty: joint_state_broadcaster and effort_controller "
    "on all joints"
)
LOOP = (
    "python: our node, any robot, nothing to compile; compiled: our plugin in the controller manager "
    "(package opspace_ctrl_plugin), no Python in the loop"
)
IMAGES = (
    "compiled loop: folder with libopspace.so, controller.opspace and, for simulated hardware, "
    "simulator.opspace; empty: they are exported now"
)
HARDWARE_KIND = "simulated: our simulator; own: what the robot's URDF says in its <ros2_control>"
UPDATE_RATE = "rate of the controller manager where controllers_file is empty [Hz]"

# The choices of arguments; any text where there are none.
BOOLEAN = ("true", "false")
AUTO = ("auto", *BOOLEAN)
BASES = ("", "fixed", "floating")
LOG_LEVELS = ("debug", "info", "warn", "error", "fatal")
LOOPS, HARDWARE = ("python", "compiled"), ("simulated", "own")
METHODS = ("", "auto", *methods())
MODES = ("free", "scaled", "lockstep")
GAZEBOS, GAZEBO_MODES = tuple(GENERATIONS), ("free", "lockstep")
