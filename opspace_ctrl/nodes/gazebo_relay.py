# SPDX-License-Identifier: Apache-2.0
"""Gazebo's joint states and odometry as the messages that a robot sends."""

from array import array
from collections.abc import Mapping
from typing import Any

import numpy as np
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState

from .gazebo_states import BaseTwist, JointSelection
from .messages import nanoseconds, quaternion_of, twist_message, vector_of

__all__ = ["Relay"]


class Relay:
    """Makes our messages of Gazebo's.

    Attributes:
        velocities: (k,) of the last joint state; empty where it had none.
        rejected: messages that could not be taken.
        problem: why the last of them was not.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._joints = settings["joints"]
        self._select = JointSelection(
            settings["gazebo_joints"] or self._joints, settings["offsets"]
        )
        self._frames = settings["odom_frame"], settings["base_frame"]
        self._twist = BaseTwist()
        self.velocities = np.zeros(0)
        self.rejected = 0
        self.problem = ""

    def joints(self, state: JointState) -> JointState | None:
        """Our joints under our names, from our zeros; None if they cannot be had."""
        selected = self._select(state.name, state.position, state.velocity)
        if selected is None:
            self._reject(self._select.problem)
            return None
        positions, self.velocities = selected
        # no effort: Gazebo does not measure it
        joints = JointState(
            name=self._joints, position=_doubles(positions), velocity=_doubles(self.velocities)
        )
        joints.header.stamp = state.header.stamp
        return joints

    def odometry(self, message: Odometry) -> Odometry | None:
        """The odometry under our frame names, its twist that of the last step; None if it is not finite."""
        pose = message.pose.pose
        position, quaternion = vector_of(pose.position), quaternion_of(pose.orientation)
        if not (np.isfinite(position).all() and np.isfinite(quaternion).all()):
            self._reject("a pose of the base is not finite")
            return None
        message.header.frame_id, message.child_frame_id = self._frames
        stamp = nanoseconds(message.header.stamp)
        message.twist.twist = twist_message(self._twist(stamp, position, quaternion))
        return message

    def _reject(self, problem: str) -> None:
        self.rejected += 1
        self.problem = problem


def _doubles(values: np.ndarray) -> array:
    return array("d", values.tobytes())
