# SPDX-License-Identifier: Apache-2.0
"""What comes from the user: target poses, twists, wrenches, trajectories, postures, and F and tau0 of the raw law.

Everything here runs in the executor's thread. Messages come as bytes (`Inbox`): what is longer than its kind can be is
refused unread, and the rest is read before any lock is taken. A program for the tick is built and handed over by one
pointer, so that a long trajectory delays no tick.
"""

from collections.abc import Callable
from functools import partial
from threading import Lock
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped, TwistStamped, WrenchStamped
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from trajectory_msgs.msg import MultiDOFJointTrajectory

from ..control.controller import Controller
from ..control.targets.target import unit_quaternion, vector
from ..errors import OpspaceError, TargetError
from . import qos
from .cdr import read_trajectory
from .frames import Frames, Placement
from .hearing import unheard
from .inbox import Inbox
from .messages import quaternion_of, twist_of, vector_of, wrench_of
from .sending import send
from .task_topics import TaskTopics

__all__ = ["Targets"]

MOST_POINTS = 10_000  # way points of a trajectory
MOST_BYTES = 65_536  # of a message
POINT_BYTES = 256  # of a way point, at most
ANSWERS = qos.profile(100)
QUIET = 1.0  # [s] between two warnings about refused targets


class Targets:
    """The subscriptions for targets.

    Attributes:
        refused: how many were refused.
        reason: why the last one was.
        take: {topic as it is named here: takes the bytes of a message and their number, or raises TargetError}.
        several: a topic that has several publishers although `single_publisher` is set, or "".
        of_tasks: the subscriptions of each task.
    """

    def __init__(
        self,
        node,
        inbox: Inbox,
        controller: Controller,
        frames: Frames,
        lock: Lock,
        now: Callable[[], tuple[float, int]],
    ):
        """Listen.

        Args:
            inbox: Where all of it comes, and nothing else.
            now: The controller's time [s] and the stamp [ns] of the newest tick; raises TargetError if none is taken.
        """
        self._node, self._controller, self._frames = node, controller, frames
        self._lock, self._now = lock, now
        self.refused, self.reason, self.several = 0, "", ""
        self._answers = node.create_publisher(String, "~/answers", ANSWERS)
        self._inbox = inbox
        self.take: dict[str, Callable[[bytes, int], None]] = {}
        self.of_tasks = TaskTopics(self._listen_for, self._inbox.forget)
        self.of_tasks.add(controller.task_names)
        self._listen(JointState, "~/posture", _posture, controller.posture)
        self._listen(Float64MultiArray, "~/force", partial(_raw, "F"), controller.force)
        self._listen(Float64MultiArray, "~/tau0", partial(_raw, "tau0"), controller.tau0)

    def _listen_for(self, name: str) -> list[str]:
        """Subscribe to the targets of a task; the topics."""
        controller = self._controller
        topics = [
            self._listen(
                PoseStamped,
                f"~/{name}/target_pose",
                partial(self._pose, name),
                partial(controller.target_pose, name),
            )
        ]
        for topic, kind, six_of, take in (
            ("target_twist", TwistStamped, _twist, controller.target_twist),
            ("target_wrench", WrenchStamped, _wrench, controller.target_wrench),
            ("measured_wrench", WrenchStamped, _wrench, controller.measured_wrench),
        ):
            read = partial(self._six, name, topic.replace("_", " "), six_of)
            topics.append(self._listen(kind, f"~/{name}/{topic}", read, partial(take, name)))
        topics.append(
            self._listen(
                MultiDOFJointTrajectory,
                f"~/{name}/trajectory",
                partial(self._trajectory, name),
                partial(self._take_trajectory, name),
                most=MOST_BYTES + POINT_BYTES * MOST_POINTS,
                convert=partial(read_trajectory, most_points=MOST_POINTS),
            )
        )
        return topics

    def close(self) -> None:
        """Destroy the subscriptions."""
        self._inbox.forget([topic for topic, _ in self._inbox.topics()])
        self._node.destroy_publisher(self._answers)

    def several_publishers(self) -> str:
        """The first topic with several publishers, or ""."""
        return next(
            (topic for topic, _ in self._inbox.topics() if self._node.count_publishers(topic) > 1),
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
    ) -> str:
        """Subscribe; what is refused on the way is counted and said. Returns the topic's full name.

        Args:
            message_type, topic: What is subscribed to.
            read: From a message and the stamp of the newest tick [ns] to the arguments of `take` but for the last.
            take: What takes them, with the time [s].
            most: Bytes of a message.
            convert: From bytes to what `read` takes; None: as rclpy does it.
        """
        convert = convert or partial(_deserialize, message_type)
        name = self._node.resolve_topic_name(topic)

        def take_bytes(data: bytes, size: int) -> None:
            time, stamp = self._now()
            if self.several and self._node.count_publishers(name) > 1:
                raise TargetError("the topic has several publishers and single_publisher is set")
            if size > most:
                raise TargetError(
                    f"a message of {size} bytes; valid are up to {most}: it was not read"
                )
            arguments = read(_converted(convert, data), stamp)
            with self._lock:
                take(*arguments, time=time)

        def callback(data: bytes, size: int) -> None:
            try:
                take_bytes(data, size)
                self._answer(f"{name}: taken")
            except OpspaceError as error:
                self._refuse(name, error)

        self._inbox.subscribe(message_type, topic, callback, qos.TARGETS, most)
        self.take[topic] = take_bytes
        return name

    def hear_the_unreliable(self) -> list[str]:
        """Subscribe with best effort where a publisher offers no more and so is not heard; the topics."""
        deaf = [
            (inlet, topic)
            for inlet, (topic, policies) in enumerate(self._inbox.topics())
            if unheard(self._node, topic, policies)
        ]
        for inlet, _ in deaf:
            self._inbox.resubscribe(inlet, qos.UNRELIABLE_TARGETS)
        return [topic for _, topic in deaf]

    def _answer(self, text: str) -> None:
        """Tell whoever wants to know what became of a message."""
        if self._answers.get_subscription_count():
            send(self._node, self._answers, String(data=text))

    def _refuse(self, topic: str, error: OpspaceError) -> None:
        self.refused += 1
        self.reason = f"{topic}: {error}"
        self._answer(f"{topic}: refused: {error}")
        self._node.get_logger().warning(f"refused: {self.reason}", throttle_duration_sec=QUIET)

    def _placement(self, name: str, frame_id: str) -> Placement:
        """From a frame of a message to the axes of a task."""
        references = {task.name: task.reference_frame for task in self._controller.tasks}
        return self._frames.placement(frame_id, references[name])

    def _pose(self, name: str, message: PoseStamped, stamp: int) -> tuple:
        position = vector(f"{name}: target position", vector_of(message.pose.position), 3)
        quaternion = unit_quaternion(
            f"{name}: target orientation", quaternion_of(message.pose.orientation)
        )
        return self._placement(name, message.header.frame_id).pose(position, quaternion)

    def _six(self, name: str, what: str, six_of: Callable, message, stamp: int) -> tuple:
        """A twist or wrench, in the axes of its frame_id."""
        value = vector(f"{name}: {what}", six_of(message), 6)
        return (self._placement(name, message.header.frame_id).turned(value),)

    def _trajectory(self, name: str, message, stamp: int) -> tuple:
        delay = message.stamp - stamp if message.stamp else 0
        positions, quaternions = np.split(message.transforms, [3], axis=1)
        positions = vector(f"{name}: positions of the trajectory", positions, -1, 3)
        quaternions = unit_quaternion(f"{name}: orientations of the trajectory", quaternions, -1)
        placement = self._placement(name, message.frame_id)
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
