# SPDX-License-Identifier: Apache-2.0
"""`Posture`: what the joints do in the null space of all tasks."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..declaration import Names, Numbers, Settings, fixed, live
from ..errors import SettingsError
from .names import check_unique

__all__ = ["Posture"]


@dataclass(frozen=True, kw_only=True)
class Posture(Settings, prefix="posture."):
    """The posture; what is one number a joint may be one number for all."""

    enabled: bool = live(
        True,
        "Keep a posture in the null space of all tasks; else its motion is damped.",
        derived=True,
    )
    joints: Names = fixed(
        (), "Joints that `posture.positions` is given for; empty: all of `joints`."
    )
    positions: Numbers = live(
        (),
        "Posture [rad or m]; empty: where the robot is when it is activated.",
        "",
        -1e6,
        1e6,
        derived=True,
    )
    stiffness: Numbers = live(
        (50.0,),
        "One number, or one a joint of `posture.joints`.",
        "1/s^2",
        0.0,
        1e5,
        derived=True,
    )
    damping: Numbers = live(
        (), "Likewise [1/s]; empty: critical, 2 sqrt(stiffness).", "", 0.0, 1e4, derived=True
    )
    error_clip: float = live(
        0.2,
        "Errors of the posture count as no larger than this, so that a robot that a "
        "task has taken far away is not thrown back.",
        "rad or m",
        1e-4,
        10.0,
        law=True,
    )
    speed: float = live(
        0.5, "Speed at which a new posture is approached.", "rad/s", 1e-3, 100.0, derived=True
    )
    null_damping: float = live(
        5.0,
        "Damping of the null space where no posture is kept.",
        "1/s",
        0.0,
        1e3,
        name="null_damping",
        derived=True,
    )

    def check(self) -> None:
        """Do the lists fit each other?"""
        check_unique("posture.joints", self.joints)
        if not len(self.gains()[0]):
            raise SettingsError("posture.stiffness is empty; valid is one number, or one a joint")
        if self.joints:
            self.check_sizes(len(self.joints), "posture.joints")

    def check_sizes(self, count: int, of: str) -> None:
        """Refuse lists that are not for `count` joints.

        Raises:
            SettingsError: A list has another length.
        """
        for name in ("positions", "stiffness", "damping"):
            given = np.size(getattr(self, name))
            if given not in (0, count) and (given != 1 or name == "positions"):
                raise SettingsError(
                    f"posture.{name} has {given} numbers for {count} {of}"
                    + ("" if name == "positions" else "; valid are one, or one a joint")
                )

    def gains(self) -> tuple[Sequence[float], Sequence[float]]:
        """Stiffness and damping, one number or one a joint each."""
        stiffness = np.atleast_1d(self.stiffness).tolist()
        damping = np.atleast_1d(self.damping).tolist()
        return stiffness, damping or [2.0 * k**0.5 for k in stiffness]
