# SPDX-License-Identifier: Apache-2.0
"""How close a robot must stay to a trajectory, and come to its end: what a goal of the action asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np


class Component(IntEnum):
    """What of an error a tolerance is about, numbered as in control_msgs/JointComponentTolerance."""

    X_AXIS = 1
    Y_AXIS = 2
    Z_AXIS = 3
    TRANSLATION = 4
    ROTATION = 5

    def of(self, error: np.ndarray) -> float:
        """Its size [m or rad] in an error (6,), linear first."""
        if self is Component.ROTATION:
            return float(np.linalg.norm(error[3:]))
        if self is Component.TRANSLATION:
            return float(np.linalg.norm(error[:3]))
        return abs(float(error[self - 1]))


class Outcome(IntEnum):
    """How a pursuit ends, numbered as the error codes of control_msgs/FollowJointTrajectory."""

    SUCCESSFUL = 0
    INVALID_GOAL = -1
    INVALID_JOINTS = -2
    PATH_TOLERANCE_VIOLATED = -4
    GOAL_TOLERANCE_VIOLATED = -5


class Tolerance(NamedTuple):
    """A component of the error and its limit [m or rad]."""

    component: Component
    limit: float


@dataclass(frozen=True)
class Pursuit:
    """A trajectory that is being followed.

    Attributes:
        end: When its reference comes to rest [s].
        path, goal: Tolerances on the way and at the end.
        leeway: Time after the end in which the goal's must be met [s].
    """

    end: float
    path: Sequence[Tolerance] = ()
    goal: Sequence[Tolerance] = ()
    leeway: float = 0.0

    def judge(self, time: float, error: np.ndarray) -> tuple[Outcome, str] | None:
        """The outcome in a number and words, None while it goes on.

        Args:
            time: Of the error [s].
            error: (6,) wanted minus present pose, linear first.
        """
        if time < self.end:
            reason = _violated(self.path, error)
            return (Outcome.PATH_TOLERANCE_VIOLATED, reason) if reason else None
        reason = _violated(self.goal, error)
        if not reason:
            return Outcome.SUCCESSFUL, ""
        if time < self.end + self.leeway:
            return None
        late = f"{reason}, {time - self.end:.3g} s after the end of the trajectory"
        return Outcome.GOAL_TOLERANCE_VIOLATED, late


def _violated(tolerances: Sequence[Tolerance], error: np.ndarray) -> str:
    """The first tolerance that an error exceeds, in words, or ""."""
    for component, limit in tolerances:
        size = component.of(error)
        if size > limit:
            unit = "rad" if component is Component.ROTATION else "m"
            return (
                f"{component.name}: the error is {size:.3g} {unit}, the tolerance {limit:g} {unit}"
            )
    return ""
