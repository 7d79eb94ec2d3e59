"""nav_msgs/Odometry into the first elements of q and v: the floating base."""

from __future__ import annotations

import math

import numpy as np

from .cdr import Base

__all__ = ["FINITE", "FRAME", "OK", "Odometry", "QUATERNION"]

# What is wrong with a message: the name of the gate it concerns.
OK, FINITE, QUATERNION, FRAME = "", "finite", "quaternion", "names"
TOLERANCE = 0.01  # of a quaternion's norm; what is within is normalised


class Odometry:
    """The newest base pose and twist.

    Attributes:
        pose: (7,) position [m] and quaternion xyzw in the world.
        twist: (6,) linear [m/s] and angular [rad/s] in base axes.
        stamp: [ns], 0 before the first message.
        frame_id: the world's name in the messages.
    """

    def __init__(self, root: str, prefix: str = ""):
        """Root: the link that the messages must be about (child_frame_id, where they say so); prefix: may be before."""
        self.pose = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
        self.twist = np.zeros(6)
        self.stamp = 0
        self.frame_id = ""
        self._roots = "", root, prefix + root

    def forget(self) -> None:
        """Start again: nothing has been told."""
        self.stamp = 0

    def read(self, base: Base, unstamped: int) -> str:
        """Take over a message; unstamped: its time [ns] if its stamp is zero. What is wrong: then nothing changes."""
        if base.child_frame_id not in self._roots:
            return FRAME
        if not math.isfinite(sum(base.pose) + sum(base.twist)):
            return FINITE
        norm = math.hypot(*base.pose[3:])
        if not abs(norm - 1.0) <= TOLERANCE:
            return QUATERNION
        self.pose[:] = base.pose
        self.pose[3:] /= norm
        self.twist[:] = base.twist
        self.stamp = base.stamp or unstamped
        self.frame_id = base.frame_id
        return OK
