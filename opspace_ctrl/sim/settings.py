# SPDX-License-Identifier: Apache-2.0
"""The simulator's parameters: the physics (`SimulatorSettings`) and what only the node needs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from ..command_kind import CommandKind
from ..declaration import Names, Numbers, NumbersByName, Settings, declared, fixed, live
from ..dynamics.forward import forward_methods
from ..errors import ConfigurationError, quoted
from ..parameters import checked
from ..robot_settings import RobotSettings

__all__ = [
    "ENGINES",
    "SIMULATOR_TABLE",
    "EngineName",
    "IntegratorName",
    "SimulatorNodeSettings",
    "SimulatorSettings",
    "simulator_settings",
]

EngineName: TypeAlias = Literal["native", "dart", "mujoco"]
IntegratorName: TypeAlias = Literal["semi_implicit", "explicit", "rkmk4", "algorithm7"]
ENGINES: tuple[str, ...] = get_args(EngineName)


@dataclass(frozen=True, kw_only=True)
class SimulatorSettings(Settings):
    """How a robot is simulated.

    Attributes:
        initial_positions: The coordinates of all joints in q, or {joint: its position, or coordinates}, or nothing.
        initial_pose: (7,) a floating base, x y z qx qy qz qw; for a forest one after the other.
    """

    engine: EngineName = fixed(
        "native",
        "native (our own recursions), dart (dartpy, the engine of Gazebo) or mujoco.",
    )
    step: float = fixed(0.001, "Time step of the simulation.", "s", 1e-06, 0.1)
    integrator: IntegratorName = fixed(
        "semi_implicit",
        "semi_implicit: Euler with damping at the end of the step, as DART and Gazebo; "
        "explicit: Euler with damping at its start; rkmk4: Runge-Kutta-Munthe-Kaas, order four; "
        "algorithm7: every link of a free flyer integrates itself, order four, for study (slow).",
    )
    forward_method: str = live(
        "crba_ltdl",
        "Forward dynamics, also behind contacts and closures; a method that cannot carry the robot "
        "is refused.",
        choices=forward_methods(),
    )
    initial_positions: NumbersByName = fixed(
        (),
        "Joint positions at the start [rad, m], one a coordinate (a ball joint: its quaternion x y z "
        "w); empty: zero, or the nearest limit.",
    )
    initial_pose: Numbers = fixed(
        (),
        "Floating base at the start: x y z [m] qx qy qz qw; empty: level at the origin, with "
        "the lowest contact point on the ground.",
    )
    contacts: Names = fixed(
        (),
        "Where the robot can touch the ground: 'frame', the frame's origin as a point; 'frame x y', "
        "the four corners (+-x, +-y, 0) [m] in the frame's axes; or 'frame front back left right "
        "height', a sole that reaches so far along +x, -x, +y, -y, at this z.",
    )
    closures: Names = fixed(
        (),
        "Frames held together: 'first second' or 'first second rows', rows pose (rigid, as they"
        " are at the start relative to each other), position (a ball joint) or orientation.",
    )
    ground_normal: Numbers = fixed(
        (0.0, 0.0, 1.0), "Normal of the ground plane, world axes; any length.", name="ground.normal"
    )
    ground_height: float = fixed(
        0.0,
        "Height of the ground plane above the world's origin along its normal.",
        "m",
        name="ground.height",
    )
    ground_friction: float = fixed(
        0.8, "Coulomb friction coefficient of the ground.", "", 0.0, 1000.0, name="ground.friction"
    )
    joint_limits: bool = fixed(True, "Joints stop at their position limits.")
    joint_friction: bool = fixed(True, "Joints have the Coulomb friction of the URDF.")
    joint_damping: bool = fixed(True, "Joints have the viscous damping of the URDF.")
    velocity_limits: bool = fixed(
        True,
        "Joints go no faster than their velocity limits, as in DART and Gazebo; 0 is no limit.",
    )
    effort_limits: bool = fixed(True, "Efforts are cut off at the URDF's limits.")
    solver_sweeps: int = fixed(
        100, "The most Gauss-Seidel sweeps over the contacts in a step.", "", 1, 100000
    )

    def check(self) -> None:
        """Is the normal of the ground a direction?"""
        if np.size(self.ground_normal) != 3 or not np.any(self.ground_normal):
            raise ConfigurationError(
                f"ground.normal = {quoted(self.ground_normal)} is not a direction: three numbers, "
                "not all zero, are valid"
            )


@dataclass(frozen=True, kw_only=True)
class SimulatorNodeSettings(Settings):
    """What only the node needs."""

    joints: Names = fixed((), "Order of joints in commands and states; empty: the robot's own.")
    commands: CommandKind = fixed(
        "effort",
        "What the drives take, and on which topic: effort, effort_controller/commands; velocity, "
        "velocity_controller/commands, which they follow within the effort limits.",
    )
    rate: float = fixed(
        1000.0,
        "States published a second of simulated time [Hz]; a whole number of steps each.",
        "",
        0.001,
        1e6,
    )
    mode: Literal["free", "scaled", "lockstep"] = fixed(
        "free",
        "free: real time; scaled: real_time_factor times real time; lockstep: a step only after"
        " a command.",
    )
    real_time_factor: float = live(
        1.0,
        "Simulated seconds a second in mode scaled, and in lockstep if paced; 0: as fast as it "
        "goes.",
        "",
        0.0,
        1e6,
    )
    pace: bool = fixed(
        False, "In lockstep a step never begins before its time at real_time_factor."
    )
    catch_up: bool = fixed(
        True,
        "Steps that are late are made up for, at most those of max_catch_up; otherwise they are"
        " skipped.",
    )
    max_catch_up: float = fixed(
        0.1, "What is made up for at most [s]; the rest is skipped.", "", 0.0, 1e3
    )
    lockstep_timeout: float = live(
        1.0,
        "Without a command for so long in lockstep [s of real time], it is reported and the "
        "state is sent again, so that a controller that comes back is served.",
        "",
        0.001,
        1e6,
    )
    publish_clock: Literal["auto", "always", "never"] = fixed(
        "auto", "Publish /clock; auto: where the simulator owns time, in scaled and lockstep."
    )
    clock_rate: float = fixed(
        100.0,
        "Messages on /clock a second of simulated time, at most one a state.",
        "Hz",
        0.001,
        1e6,
    )
    odom_frame: str = fixed("odom", "frame_id of odom.")
    autostart: bool = fixed(False, "Configure and activate without being told to.")
    log: str = fixed("", "Folder for the log of the run, as `opspace hil` reads it; empty: none.")
    command_timeout: float = live(
        0.02,
        "Without a command for so long [s], timeout_action acts; 0: never.",
        "",
        0.0,
        1e6,
    )
    timeout_action: Literal["zero", "hold", "damping"] = live(
        "zero", "What drives the joints when commands fail to come."
    )
    faults: str = fixed("", "YAML file of faults; empty: none.")
    fault: str = live(
        "",
        "Faults set live: YAML text as in the file, times counted from now; each setting adds "
        "to those before, empty text ends them.",
        longest=16384,
    )
    seed: int = fixed(0, "Seed of all that is random in the faults.", "", 0)
    publish_robot_description: bool = fixed(True, "Publish robot_description.")
    wrench_hold: float = live(0.1, "For how long a wrench from ~/wrench acts.", "s", 0.0, 1e6)
    wrench_frames: Names = fixed((), "Frames with a simulated force-torque sensor.")
    step_count: int = live(1, "Steps that ~/step takes.", "", 1, 10**9)


SIMULATOR_TABLE = tuple(
    each
    for group in (RobotSettings, SimulatorSettings, SimulatorNodeSettings)
    for each in declared(group).values()
)


def simulator_settings(values: Mapping[str, Any]) -> SimulatorSettings:
    """The physics of a mapping of parameters; those of the node are checked and left out.

    Raises:
        ParameterError: A name is unknown, or a value is not valid.
    """
    return SimulatorSettings.of(checked(SIMULATOR_TABLE, values))
