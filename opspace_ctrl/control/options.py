# SPDX-License-Identifier: Apache-2.0
"""What is compensated and carried, and how torques and joints are limited."""

from dataclasses import dataclass

import numpy as np

from ..declaration import Numbers, Settings, live
from ..errors import SettingsError

__all__ = ["Compensation", "Limits", "Payload"]


@dataclass(frozen=True, kw_only=True)
class Compensation(Settings, prefix="compensation."):
    """What is added to the task torques."""

    bias: bool = live(
        True,
        "Add the bias forces h(q, v); without it the task law is F = Lambda (a - beta).",
        name="compensate",
        law=True,
    )
    gravity: bool = live(True, "Gravity is a part of h.", law=True)
    coriolis: bool = live(True, "Coriolis and centrifugal forces are a part of h.", law=True)
    friction: bool = live(
        False,
        "Add the URDF's joint damping and friction, for the velocity that the targets ask of a "
        "joint; in modes raw and gravity, for the present one.",
        law=True,
    )
    friction_speed: float = live(
        0.01,
        "Speed below which the compensation of dry friction fades out, so that no joint starts or "
        "turns with a step.",
        "rad/s",
        1e-4,
        10.0,
        law=True,
    )


@dataclass(frozen=True, kw_only=True)
class Payload(Settings, prefix="payload."):
    """A point mass that the robot carries."""

    mass: float = live(0.0, "Mass of what the robot carries.", "kg", 0.0, 1000.0, derived=True)
    centre: Numbers = live(
        (0.0, 0.0, 0.0),
        "Its centre of mass in the payload's frame.",
        "m",
        -10.0,
        10.0,
        derived=True,
    )
    frame: str = live("", "Frame that carries it; empty: the frame of the first task.")

    def check(self) -> None:
        """Is the centre a point?"""
        if np.size(self.centre) != 3:
            raise SettingsError(f"payload.centre has {np.size(self.centre)} numbers; valid are 3")


@dataclass(frozen=True, kw_only=True)
class Limits(Settings, prefix="limits."):
    """Limits of the command, how joints are kept from theirs, and where directions of tasks count as lost."""

    ramp: float = live(
        1.0,
        "Time in which task torque comes in after activation; compensation is there at once.",
        "s",
        0.0,
        60.0,
        name="ramp",
        law=True,
    )
    fade: float = live(
        0.3,
        "Time in which a task or contact that is switched on or off comes or goes.",
        "s",
        0.001,
        60.0,
        name="fade",
        law=True,
    )
    torque_rate: float = live(
        1000.0,
        "Largest change of any joint's effort.",
        "Nm/s",
        1.0,
        1e7,
        name="torque_rate_limit",
        law=True,
    )
    effort_scale: float = live(
        1.0,
        "Share of the URDF's effort limits that is used.",
        "",
        0.01,
        1.0,
        name="effort_scale",
        law=True,
    )
    velocity_rate: float = live(
        10.0,
        "Mode velocity: largest change of any joint's velocity.",
        "rad/s^2",
        1e-3,
        1e6,
        name="velocity_rate_limit",
        law=True,
    )
    velocity_scale: float = live(
        1.0,
        "Mode velocity: share of the URDF's velocity limits that is used.",
        "",
        0.01,
        1.0,
        name="velocity_scale",
        law=True,
    )
    margin: float = live(
        0.05,
        "Distance from a position limit at which a joint comes to rest, before all tasks; "
        "0: it is not kept.",
        "rad or m",
        0.0,
        1.0,
        law=True,
    )
    speed_margin: float = live(
        0.1,
        "Likewise for velocity limits, as a share of them; 0: not kept.",
        "",
        0.0,
        1.0,
        law=True,
    )
    stiffness: float = live(
        400.0, "Acceleration per intrusion into a position margin.", "1/s^2", 1.0, 1e5, law=True
    )
    damping: float = live(
        40.0, "Acceleration per velocity inside a margin.", "1/s", 0.0, 1e4, law=True
    )
    singular_damping: float = live(
        0.5,
        "Response of a task's worst direction, as a share of what is typical of "
        "it, below which the force along it is lowered.",
        "",
        1e-9,
        1.0,
        name="singularity.damping",
        law=True,
    )
    singular_cut: float = live(
        0.005,
        "Likewise, below which it is given up and left to the levels after it.",
        "",
        1e-12,
        1.0,
        name="singularity.cut",
        law=True,
    )

    def check(self) -> None:
        """Is a direction damped before it is lost?"""
        if not self.singular_cut < self.singular_damping:
            raise SettingsError(
                f"singularity.cut = {self.singular_cut:g} must be below singularity.damping = "
                f"{self.singular_damping:g}"
            )
