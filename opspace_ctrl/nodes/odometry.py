"""nav_msgs/Odometry into the first elements of q and v: the floating base."""
from __future__ import annotations

import math

import numpy as np

from opspace_ctrl.nodes.messages import nanoseconds

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

    def __init__(self, root: str):
        """Root: the link that the messages must be about (child_frame_id, where they say so)."""
        self.pose = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
        self.twist = np.zeros(6)
        self.stamp = 0
        self.frame_id = ""
        self._root = root

    def forget(self) -> None:
        """Start again: nothing has been told."""
        self.stamp = 0

    def read(self, message, unstamped: int) -> str:
        """Take over a message; unstamped: its time [ns] if its stamp is zero. What is wrong: then nothing changes."""
        if message.child_frame_id not in ("", self._root):
            return FRAME
        pose, twist = message.pose.pose, message.twist.twist
        p, o, u, w = pose.position, pose.orientation, twist.linear, twist.angular
        numbers = (p.x, p.y, p.z, o.x, o.y, o.z, o.w, u.x, u.y, u.z, w.x, w.y, w.z)
        if not math.isfinite(sum(numbers)):
            return FINITE
        norm = math.hypot(o.x, o.y, o.z, o.w)
        if not abs(norm - 1.0) <= TOLERANCE:
            return QUATERNION
        self.pose[:] = numbers[:7]
        self.pose[3:] /= norm
        self.twist[:] = numbers[7:]
        self.stamp = nanoseconds(message.header.stamp) or unstamped
        self.frame_id = message.header.frame_id
        return OK
