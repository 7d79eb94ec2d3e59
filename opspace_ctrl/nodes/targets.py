"""What comes from the user: target poses, twists, wrenches, trajectories, postures, and F and tau0 of the raw law.

Everything here runs in the executor's thread. A program for the tick is built there and handed over by one pointer, so
that a long trajectory delays no tick.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped, TwistStamped, WrenchStamped
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import MultiDOFJointTrajectory

from ..control.controller import Controller
from ..control.targets.target import unit_quaternion, vector
from ..errors import OpspaceError, TargetError
from . import qos
from .frames import Frames
from .messages import nanoseconds, quaternion_of, twist_of, vector_of, wrench_of

__all__ = ["Targets"]

MOST_POINTS = 10_000  # way points of a trajectory
QUIET = 1.0  # [s] between two warnings about refused targets


class Targets:
    """The subscriptions for targets.

    Attributes:
        refused: how many were refused.
        reason: why the last one was.
        several: a topic that has several publishers although `single_publisher` is set, or "".
    """

    def __init__(
        self,
        node,
        controller: Controller,
        frames: Frames,
        lock: Lock,
        now: Callable[[], tuple[float, int] | None],
    ):
        """Now: the controller's time [s] and the stamp [ns] of the newest tick; None while targets are not taken."""
        self._node, self._controller, self._frames, self._lock, self._now = (
            node,
            controller,
            frames,
            lock,
            now,
        )
        self.refused, self.reason, self.several = 0, "", ""
        self._subscriptions: list[Any] = []
        for task in controller.settings.tasks:
            name, reference = task.spec.name, task.spec.relative_to or ""
            self._listen(PoseStamped, f"~/{name}/target_pose", self._pose, name, reference)
            self._listen(
                TwistStamped,
                f"~/{name}/target_twist",
                self._six,
                name,
                reference,
                "target twist",
                lambda message: twist_of(message.twist),
                controller.target_twist,
            )
            self._listen(
                WrenchStamped,
                f"~/{name}/target_wrench",
                self._six,
                name,
                reference,
                "target wrench",
                lambda message: wrench_of(message.wrench),
                controller.target_wrench,
            )
            self._listen(
                WrenchStamped,
                f"~/{name}/measured_wrench",
                self._six,
                name,
                reference,
                "measured wrench",
                lambda message: wrench_of(message.wrench),
                controller.measured_wrench,
            )
            self._listen(
                MultiDOFJointTrajectory, f"~/{name}/trajectory", self._trajectory, name, reference
            )
        self._listen(JointState, "~/posture", self._posture)
        self._listen(Float64MultiArray, "~/force", self._raw, controller.force, "F")
        self._listen(Float64MultiArray, "~/tau0", self._raw, controller.tau0, "tau0")

    def close(self) -> None:
        """Destroy the subscriptions."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        self._subscriptions.clear()

    def several_publishers(self) -> str:
        """The first topic with several publishers, or ""."""
        return next(
            (
                subscription.topic_name
                for subscription in self._subscriptions
                if self._node.count_publishers(subscription.topic_name) > 1
            ),
            "",
        )

    def _listen(self, message_type, topic: str, take: Callable, *which) -> None:
        """Subscribe; what `take` refuses is counted and said."""

        def callback(message) -> None:
            try:
                now = self._now()
                if now is None:
                    raise TargetError(
                        "targets are taken only while the node is active and no gate is closed"
                    )
                if self.several and self._node.count_publishers(subscription.topic_name) > 1:
                    raise TargetError(
                        "the topic has several publishers and single_publisher is set"
                    )
                with self._lock:
                    take(message, now, *which)
            except OpspaceError as error:
                self._refuse(subscription.topic_name, error)

        subscription = self._node.create_subscription(message_type, topic, callback, qos.TARGETS)
        self._subscriptions.append(subscription)

    def _refuse(self, topic: str, error: OpspaceError) -> None:
        self.refused += 1
        self.reason = f"{topic}: {error}"
        self._node.get_logger().warning(f"refused: {self.reason}", throttle_duration_sec=QUIET)

    def _pose(self, message: PoseStamped, now, name: str, reference: str) -> None:
        position = vector(f"{name}: target position", vector_of(message.pose.position), 3)
        quaternion = unit_quaternion(
            f"{name}: target orientation", quaternion_of(message.pose.orientation)
        )
        placement = self._frames.placement(message.header.frame_id, reference)
        self._controller.target_pose(name, *placement.pose(position, quaternion), now[0])

    def _six(
        self, message, now, name: str, reference: str, what: str, six_of: Callable, take: Callable
    ) -> None:
        """A twist or wrench, in the axes of its frame_id."""
        value = vector(f"{name}: {what}", six_of(message), 6)
        take(name, self._frames.placement(message.header.frame_id, reference).turned(value), now[0])

    def _trajectory(self, message: MultiDOFJointTrajectory, now, name: str, reference: str) -> None:
        time, stamp = now
        points = message.points
        if not 0 < len(points) <= MOST_POINTS:
            raise TargetError(
                f"{name}: a trajectory has 1 to {MOST_POINTS} points, not {len(points)}"
            )
        if any(len(point.transforms) != 1 or len(point.velocities) > 1 for point in points):
            raise TargetError(
                f"{name}: each point of a trajectory has one transform and at most one velocity"
            )
        start = nanoseconds(message.header.stamp)
        delay = (start - stamp) * 1e-9 if start else 0.0
        times = np.array([nanoseconds(point.time_from_start) * 1e-9 + delay for point in points])
        positions = vector(
            f"{name}: positions of the trajectory",
            [vector_of(point.transforms[0].translation) for point in points],
            -1,
            3,
        )
        quaternions = unit_quaternion(
            f"{name}: orientations of the trajectory",
            [quaternion_of(point.transforms[0].rotation) for point in points],
            -1,
        )
        placement = self._frames.placement(message.header.frame_id, reference)
        twists = None
        if all(point.velocities for point in points):
            twists = [placement.turned(twist_of(point.velocities[0])) for point in points]
        self._controller.trajectory(
            name, times, *placement.poses(positions, quaternions), time, twists
        )

    def _posture(self, message: JointState, now) -> None:
        velocities = np.array(message.velocity) if len(message.velocity) else None
        self._controller.posture(list(message.name), np.array(message.position), velocities, now[0])

    def _raw(self, message: Float64MultiArray, now, take: Callable, what: str) -> None:
        take(vector(what, message.data, -1, most=np.inf), now[0])
