# SPDX-License-Identifier: Apache-2.0
"""The settings of the gates."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from ...declaration import Names, Settings, fixed, live

__all__ = ["GATES", "SAFE_COMMANDS", "SafetySettings"]

# The gates, in rising order of precedence.
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
SafeCommand: TypeAlias = Literal["zero", "gravity", "damping"]
LastCommand: TypeAlias = Literal["zero", "gravity"]
# both in the order of `fields.NO_TORQUE` and its like
SAFE_COMMANDS: tuple[str, ...] = get_args(SafeCommand)


@dataclass(frozen=True, kw_only=True)
class SafetySettings(Settings):
    """When a state, clock or target is not to be trusted, and what is sent then."""

    safe_command: SafeCommand = live(
        "damping",
        "What is sent while a gate is closed, where the gate permits it: zero, "
        "gravity (compensation) or damping (compensation that also brakes); in mode velocity each is "
        "zero velocity.",
    )
    last_command: LastCommand = live("zero", "What is left standing on deactivation and shutdown.")
    safe_damping: float = live(
        5.0,
        "Braking of the safe command `damping`: deceleration per velocity.",
        "1/s",
        0.0,
        1e3,
        law=True,
    )
    gravity_time: float = live(
        0.5,
        "How long the gravity torque of the last valid state is sent when there is none any more.",
        "s",
        0.0,
        60.0,
    )
    state_timeout: float = live(
        0.02,
        "Joint states older than this, and than state_periods periods, are stale.",
        "s",
        1e-4,
        600.0,
    )
    state_periods: float = live(
        3.0, "Periods of the joint states after which they are stale.", "", 1.0, 1e4
    )
    odom_timeout: float = live(
        0.02, "Odometry this much older than the joint states is stale.", "s", 0.0, 600.0
    )
    target_timeout: float = live(
        0.0,
        "A target pose this old is stale and its task holds where it is; 0: never.",
        "s",
        0.0,
        3600.0,
    )
    stream_timeout: float = live(
        0.5,
        "Target twists, wrenches, F, tau0 and measured wrenches this old count as gone.",
        "s",
        1e-3,
        3600.0,
    )
    liveness_timeout: float = live(
        0.2,
        "Under simulated time: wall-clock time without any message of joint states, repeated ones "
        "included, after which they are stale, if it is also longer than state_timeout and ten of "
        "their mean intervals; 0: never.",
        "s",
        0.0,
        3600.0,
    )
    clock_jump: float = live(
        1.0, "Stamps that jump ahead by more than this close the gate `clock`.", "s", 0.01, 3600.0
    )
    position_margin: float = live(
        0.1,
        "Joints outside their limits by more than this close the gate `position`; 0: never.",
        "rad or m",
        0.0,
        10.0,
    )
    velocity_factor: float = live(
        2.0,
        "Velocities beyond the URDF's limits times this, and positions that have moved faster, close "
        "the gate `velocity`; 0: never.",
        "",
        0.0,
        1e6,
    )
    velocity_time: float = fixed(
        0.005,
        "Time constant of the low-pass of velocities that are differentiated because the "
        "joint states carry none.",
        "s",
        0.0,
        1.0,
    )
    overrun_time: float = live(
        0.0,
        "Computation of a tick longer than this is an overrun; 0: one period of the joint states.",
        "s",
        0.0,
        1.0,
    )
    overrun_count: int = live(
        20, "Consecutive overruns that close the gate `overrun`; 0: never.", "", 0, 1000000
    )
    enable_timeout: float = live(
        0.0,
        "Motion needs `true` on ~/enable, as old as this at most (a dead man's switch); 0: it needs "
        "none.",
        "s",
        0.0,
        3600.0,
    )
    single_publisher: bool = live(False, "Refuse targets on a topic that has several publishers.")
    manual_recovery: Names = live(
        (),
        "Gates that stay closed until ~/reset; the others open by themselves.",
        choices=GATES,
    )
    recovery_time: float = live(
        0.0, "Time without a fault after which a gate opens by itself.", "s", 0.0, 3600.0
    )
