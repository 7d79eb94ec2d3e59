"""Joint states and odometry as the controller wants them, from what Gazebo sends; knows no ROS.

Gazebo repeats the same stamp while it is paused, gives joints in the order and under the names of its own, and sends
odometry on a topic of its own. Here repeats are dropped, names mapped, and a joint state waits for the odometry of
the same stamp.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

__all__ = ["NameMap", "Pairing", "is_finite"]

KEPT = 16  # messages that wait for their partner


class NameMap:
    """Gazebo's joint names turned into ours; names without an entry stay."""

    def __init__(self, ours: Mapping[str, str]) -> None:
        self._ours = dict(ours)
        self._seen: tuple[str, ...] = ()
        self._mapped: list[str] = []

    def __call__(self, names: Sequence[str]) -> list[str]:
        """Our names, in the order given."""
        if tuple(names) != self._seen:
            self._seen = tuple(names)
            self._mapped = [self._ours.get(name, name) for name in names]
        return self._mapped


class Pairing:
    """Finds joint states and odometry of the same stamp and drops repeats.

    Stamps are integers [ns]. A stamp earlier than the last one released belongs to a world that was reset: what
    waited from before is forgotten.

    Attributes:
        repeats: messages dropped because their stamp had come before.
        unpaired: joint states dropped because their odometry never came.
    """

    def __init__(self, floating: bool) -> None:
        self._floating = floating
        self._released: int | None = None
        self._states: dict[int, Any] = {}
        self._odometry: dict[int, Any] = {}
        self.repeats = 0
        self.unpaired = 0

    def state(self, stamp: int, message: Any) -> tuple[Any, Any] | None:
        """(joint state, odometry or None) that may leave now, or None; the stamp is that of the message."""
        return self._add(self._states, stamp, message)

    def odometry(self, stamp: int, message: Any) -> tuple[Any, Any] | None:
        """As `state`, for an odometry message."""
        return self._add(self._odometry, stamp, message)

    def _add(self, side: dict[int, Any], stamp: int, message: Any) -> tuple[Any, Any] | None:
        if stamp == self._released or stamp in side:
            self.repeats += 1
            return None
        if self._released is not None and stamp < self._released:
            self._states.clear()
            self._odometry.clear()
        side[stamp] = message
        if not self._floating:
            return self._release(stamp)
        if stamp in self._states and stamp in self._odometry:
            return self._release(stamp)
        if len(side) > KEPT:
            del side[min(side)]
            self.unpaired += side is self._states
        return None

    def _release(self, stamp: int) -> tuple[Any, Any]:
        pair = self._states[stamp], self._odometry.get(stamp)
        for side in (self._states, self._odometry):
            late = [waiting for waiting in side if waiting <= stamp]
            self.unpaired += sum(waiting < stamp for waiting in late) if side is self._states else 0
            for waiting in late:
                del side[waiting]
        self._released = stamp
        return pair


def is_finite(*arrays: Sequence[float]) -> bool:
    """Are all numbers of all arrays finite?"""
    return all(np.isfinite(np.asarray(array, float)).all() for array in arrays)
