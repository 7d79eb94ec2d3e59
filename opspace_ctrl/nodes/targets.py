"""What comes from the user: target poses, twists, wrenches, trajectories, postures, and F and tau0 of the raw law.

Everything here runs in the executor's thread. Messages come as bytes: what is longer than its kind can be is refused
unread, and the rest is read before any lock is taken. A program for the tick is built and handed over by one pointer,
so that a long trajectory delays no tick.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Lock
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped, TwistStamped, WrenchStamped
from rclpy.qos_overriding_options import QoSOverridingOptions
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import MultiDOFJointTrajectory

from ..control.controller import Controller
from ..control.targets.target import unit_quaternion, vector
from ..errors import OpspaceError, TargetError
from . import qos
from .cdr import read_trajectory
from .frames import Frames
from .hearing import unheard
from .messages import quaternion_of, twist_of, vector_of, wrench_of

__all__ = ["Targets"]

MOST_POINTS = 10_000  # way points of a trajectory
MOST_BYTES = 65_536  # of a message
POINT_BYTES = 256  # of a way point, at most
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
        self._node, self._controller, self._frames = node, controller, frames
        self._lock, self._now = lock, now
        self.refused, self.reason, self.several = 0, "", ""
        self._subscriptions: list[Any] = []
        for task in controller.settings.tasks:
            name, reference = task.name, task.reference_frame
            self._listen(
                PoseStamped,
                f"~/{name}/target_pose",
                partial(self._pose, name, reference),
                partial(controller.target_pose, name),
            )
            for topic, kind, six_of, take in (
                ("target_twist", TwistStamped, _twist, controller.target_twist),
                ("target_wrench", WrenchStamped, _wrench, controller.target_wrench),
                ("measured_wrench", WrenchStamped, _wrench, controller.measured_wrench),
            ):
                what = f"{name}: {topic.replace('_', ' ')}"
                read = partial(self._six, what, reference, six_of)
                self._listen(kind, f"~/{name}/{topic}", read, partial(take, name))
            self._listen(
                MultiDOFJointTrajectory,
                f"~/{name}/trajectory",
                partial(self._trajectory, name, reference),
                partial(self._take_trajectory, name),
                most=MOST_BYTES + POINT_BYTES * MOST_POINTS,
                convert=partial(read_trajectory, most_points=MOST_POINTS),
            )
        self._listen(JointState, "~/posture", _posture, controller.posture)
        self._listen(Float64MultiArray, "~/force", partial(_raw, "F"), controller.force)
        self._listen(Float64MultiArray, "~/tau0", partial(_raw, "tau0"), controller.tau0)

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

    def _listen(
        self,
        message_type,
        topic: str,
        read: Callable,
        take: Callable,
        most: int = MOST_BYTES,
        convert: Callable[[bytes], Any] | None = None,
    ) -> None:
        """Subscribe; what is refused on the way is counted and said.

        Args:
            message_type, topic: What is subscribed to.
            read: From a message and the stamp of the newest tick [ns] to the arguments of `take` but for the last.
            take: What takes them, with the time [s].
            most: Bytes of a message.
            convert: From bytes to what `read` takes; None: as rclpy does it.
        """
        convert = convert or partial(_deserialize, message_type)
        name = self._node.resolve_topic_name(topic)

        def callback(data: bytes) -> None:
            try:
                now = self._now()
                if now is None:
                    raise TargetError(
                        "targets are taken only while the node is active and no gate is closed"
                    )
                if self.several and self._node.count_publishers(name) > 1:
                    raise TargetError(
                        "the topic has several publishers and single_publisher is set"
                    )
                if len(data) > most:
                    raise TargetError(
                        f"a message of {len(data)} bytes; valid are up to {most}: it was not read"
                    )
                arguments = read(_converted(convert, data), now[1])
                with self._lock:
                    take(*arguments, time=now[0])
            except OpspaceError as error:
                self._refuse(name, error)

        self._subscriptions.append(self._subscribe(message_type, topic, callback))

    def _subscribe(self, message_type, topic: str, callback: Callable) -> Any:
        return self._node.create_subscription(
            message_type,
            topic,
            callback,
            qos.TARGETS,
            raw=True,
            qos_overriding_options=QoSOverridingOptions.with_default_policies(),
        )

    def hear_the_unreliable(self) -> list[str]:
        """Subscribe with best effort where a publisher offers no more and so is not heard; the topics."""
        deaf = [
            number
            for number, old in enumerate(self._subscriptions)
            if unheard(self._node, old.topic_name, old.qos_profile)
        ]
        for number in deaf:
            old = self._subscriptions[number]
            self._subscriptions[number] = self._node.create_subscription(
                old.msg_type, old.topic_name, old.callback, qos.UNRELIABLE_TARGETS, raw=True
            )
            self._node.destroy_subscription(old)
        return [self._subscriptions[number].topic_name for number in deaf]

    def _refuse(self, topic: str, error: OpspaceError) -> None:
        self.refused += 1
        self.reason = f"{topic}: {error}"
        self._node.get_logger().warning(f"refused: {self.reason}", throttle_duration_sec=QUIET)

    def _pose(self, name: str, reference: str, message: PoseStamped, stamp: int) -> tuple:
        position = vector(f"{name}: target position", vector_of(message.pose.position), 3)
        quaternion = unit_quaternion(
            f"{name}: target orientation", quaternion_of(message.pose.orientation)
        )
        return self._frames.placement(message.header.frame_id, reference).pose(position, quaternion)

    def _six(self, what: str, reference: str, six_of: Callable, message, stamp: int) -> tuple:
        """A twist or wrench, in the axes of its frame_id."""
        value = vector(what, six_of(message), 6)
        return (self._frames.placement(message.header.frame_id, reference).turned(value),)

    def _trajectory(self, name: str, reference: str, message, stamp: int) -> tuple:
        delay = message.stamp - stamp if message.stamp else 0
        positions, quaternions = np.split(message.transforms, [3], axis=1)
        positions = vector(f"{name}: positions of the trajectory", positions, -1, 3)
        quaternions = unit_quaternion(f"{name}: orientations of the trajectory", quaternions, -1)
        placement = self._frames.placement(message.frame_id, reference)
        twists = message.twists
        if twists is not None:
            twists = (twists.reshape(-1, 2, 3) @ placement.rotation.T).reshape(-1, 6)
        poses = placement.poses(positions, quaternions)
        return ((message.times + delay) * 1e-9, *poses, twists)

    def _take_trajectory(self, name: str, times, positions, quaternions, twists, time) -> None:
        self._controller.trajectory(name, times, positions, quaternions, time, twists)


def _converted(convert: Callable[[bytes], Any], data: bytes) -> Any:
    try:
        return convert(data)
    except Exception as error:  # bytes that are no such message: rclpy raises whatever it likes
        raise TargetError(f"it cannot be read: {error}") from error


def _deserialize(message_type, data: bytes) -> Any:
    return deserialize_message(data, message_type)


def _twist(message: TwistStamped) -> np.ndarray:
    return twist_of(message.twist)


def _wrench(message: WrenchStamped) -> np.ndarray:
    return wrench_of(message.wrench)


def _posture(message: JointState, stamp: int) -> tuple:
    velocities = np.array(message.velocity) if len(message.velocity) else None
    return list(message.name), np.array(message.position), velocities


def _raw(what: str, message: Float64MultiArray, stamp: int) -> tuple:
    return (vector(what, message.data, -1, most=np.inf),)
