# SPDX-License-Identifier: Apache-2.0
"""Joint states and odometry as the controller wants them, from what Gazebo sends; knows no ROS.

Gazebo repeats the same stamp while it is paused, lists joints in an order and under names of its own (fixed ones too),
and sends odometry on a topic of its own: none while it is paused nor in the first step, and with a twist that is a mean
over many steps and begins at the world's origin. Here repeats are dropped, joints selected by name, a joint state waits
for the odometry of the same stamp, and the twist is that of the last step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..model.rotations import (
    from_quaternion,
    quaternion_conjugate,
    quaternion_log,
    quaternion_product,
)

__all__ = ["BaseTwist", "JointSelection", "Pairing"]

KEPT = 16  # messages that wait for their partner


class JointSelection:
    """Picks our joints, in our order, out of the arrays of a message.

    Attributes:
        problem: why the last message was not taken, "" if it was.
    """

    def __init__(self, gazebo_joints: Sequence[str], offsets: Sequence[float]) -> None:
        self._wanted = list(gazebo_joints)
        self._offsets = np.asarray(offsets, float) if len(offsets) else np.zeros(len(self._wanted))
        self._names: list[str] = []
        self._index: np.ndarray = np.zeros(0, int)
        self.problem = ""

    def __call__(
        self, names: Sequence[str], positions, velocities
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Positions (offset added) and velocities (k,), or None; velocities may be missing: then empty."""
        if list(names) != self._names and not self._learn(names):
            return None
        if len(positions) != len(names) or len(velocities) not in (0, len(names)):
            self.problem = f"{len(positions)} positions and {len(velocities)} velocities for {len(names)} names"
            return None
        chosen = np.asarray(positions, float)[self._index] + self._offsets
        rates = np.asarray(velocities, float)[self._index] if len(velocities) else np.zeros(0)
        if not (np.isfinite(chosen).all() and np.isfinite(rates).all()):
            self.problem = "a position or velocity is not finite"
            return None
        return chosen, rates

    def _learn(self, names: Sequence[str]) -> bool:
        numbers = {name: number for number, name in enumerate(names)}
        missing = [name for name in self._wanted if name not in numbers]
        if missing:
            self.problem = f"no joint {missing[0]!r} among the joints of Gazebo: {', '.join(names)}"
            return False
        self._names = list(names)
        self._index = np.array([numbers[name] for name in self._wanted], int)
        return True


class Pairing:
    """Finds joint states and odometry of the same stamp and drops repeats.

    Stamps are integers [ns]. A topic keeps its order; so where its stamps go back the world was reset or restarted, and
    what still waits on that topic is forgotten.

    Attributes:
        repeats: messages dropped because their stamp had come before.
        unpaired: joint states dropped because their odometry never came.
    """

    def __init__(self, floating: bool) -> None:
        self._states = _Waiting()
        self._odometry = _Waiting() if floating else None
        self._released: int | None = None
        self.repeats = 0
        self.unpaired = 0

    @property
    def lacks_odometry(self) -> bool:
        """Does a joint state wait for its odometry?"""
        return bool(self._states.messages)

    def state(self, stamp: int, message: Any) -> tuple[Any, Any] | None:
        """(joint state, odometry or None) that may leave now, or None."""
        if self._states.goes_back(stamp):
            self._released = None
        return self._add(self._states, stamp, message)

    def odometry(self, stamp: int, message: Any) -> tuple[Any, Any] | None:
        """As `state`, for an odometry message, which may be late; without a floating base it is of no use."""
        if self._odometry is None:
            return None
        self._odometry.goes_back(stamp)
        return self._add(self._odometry, stamp, message)

    def _add(self, side: _Waiting, stamp: int, message: Any) -> tuple[Any, Any] | None:
        if stamp == self._released or stamp in side.messages:
            self.repeats += 1
            return None
        side.messages[stamp] = message
        if stamp in self._states.messages and (
            self._odometry is None or stamp in self._odometry.messages
        ):
            return self._release(stamp)
        if len(side.messages) > KEPT:
            del side.messages[next(iter(side.messages))]
            self.unpaired += side is self._states
        return None

    def _release(self, stamp: int) -> tuple[Any, Any]:
        state, earlier = self._states.take(stamp)
        self.unpaired += earlier
        self._released = stamp
        return state, self._odometry and self._odometry.take(stamp)[0]


class _Waiting:
    """The messages of one topic that wait for their partner, by stamp."""

    def __init__(self) -> None:
        self.messages: dict[int, Any] = {}
        self._newest: int | None = None

    def goes_back(self, stamp: int) -> bool:
        """Is this stamp before the last one? Then what waits is of another time, and is forgotten."""
        goes_back = self._newest is not None and stamp < self._newest
        self._newest = stamp
        if goes_back:
            self.messages.clear()
        return goes_back

    def take(self, stamp: int) -> tuple[Any, int]:
        """The message of a stamp, and how many earlier ones are given up."""
        message = self.messages.pop(stamp)
        earlier = [waiting for waiting in self.messages if waiting < stamp]
        for waiting in earlier:
            del self.messages[waiting]
        return message, len(earlier)


class BaseTwist:
    """The twist of the base from its poses, as the engine under Gazebo has it after a step.

    omega = log(R_(k-1)^T R_k) / dt and v = R_k^T (p_k - p_(k-1)) / dt, both in base axes, with dt the time between the
    two stamps: the engine moves the origin by dt times its new velocity. Where poses are missing it is their mean.
    Without a pose before (the first one, or after a reset) it is zero. Gazebo's own is never used: it is late, and at
    the start it says pose / step.
    """

    def __init__(self) -> None:
        self._stamp: int | None = None
        self._position: np.ndarray = np.zeros(3)
        self._quaternion: np.ndarray = np.array([0.0, 0.0, 0.0, 1.0])

    def __call__(self, stamp: int, position, quaternion) -> np.ndarray:
        """(6,) linear, angular of the pose of a stamp [ns]."""
        before, self._stamp = self._stamp, stamp
        p, self._position = self._position, np.asarray(position, float)
        r, self._quaternion = self._quaternion, np.asarray(quaternion, float)
        if before is None or stamp <= before:
            return np.zeros(6)
        dt = (stamp - before) * 1e-9
        linear = from_quaternion(self._quaternion).T @ (self._position - p) / dt
        angular = quaternion_log(quaternion_product(quaternion_conjugate(r), self._quaternion)) / dt
        return np.concatenate((linear, angular))
