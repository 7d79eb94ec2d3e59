# SPDX-License-Identifier: Apache-2.0
"""The user of a robot, as a schedule has one: asks the controller for poses, trajectories and methods.

Everything but `ask` runs in the executor's thread. A request is over when the controller has answered it. A lock-step
waits for that, so that a run is the same every time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from time import monotonic
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped, Transform
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.task import Future
from rclpy.timer import Timer
from std_msgs.msg import String
from trajectory_msgs.msg import MultiDOFJointTrajectory, MultiDOFJointTrajectoryPoint

from ..dynamics import frame_pose
from ..model import Model
from ..model.rotations import quaternion_exp, quaternion_product
from ..sim.plant.faults import Fault, Schedule
from ..sim.plant.timetable import Activity
from . import qos
from .messages import pose_message, stamp_of, vector_message
from .sending import send

__all__ = ["Operator"]

CONTROLLER = "opspace_controller"
PATIENCE = 10.0  # [s] for a controller to be found, or to answer
AGAIN = 1.0  # [s] after which a message without an answer is sent again
LOOK = 0.01  # [s] between two looks for it
KINDS = {
    "target": (PoseStamped, "target_pose"),
    "trajectory": (MultiDOFJointTrajectory, "trajectory"),
}


class Operator:
    """Sends requests one after the other.

    Args:
        node: whose executor serves it.
        model: of the robot.
        answered: called with a request and why the controller has not taken it, or "".
    """

    def __init__(
        self, node: Node, model: Model, answered: Callable[[Activity, str], object]
    ) -> None:
        self._node, self._model, self._answered = node, model, answered
        self._publishers: dict[str, Any] = {}
        self._client: Any = node.create_client(SetParameters, f"{CONTROLLER}/set_parameters")
        self._open: deque[tuple[Activity, np.ndarray]] = deque()
        self._timer: Timer | None = None
        self._waits_until = self._again = 0.0
        # of the first that is open, when it was sent: the service's answer, or the topic that is to be answered
        self._answer: Future | str | None = None
        self._answers = node.create_subscription(
            String, f"{CONTROLLER}/answers", self._on_answer, qos.profile(100)
        )
        self._woken = node.create_guard_condition(self._serve)

    def close(self) -> None:
        """Destroy everything."""
        self._stop_timer()
        self._open.clear()
        self._node.destroy_guard_condition(self._woken)
        self._node.destroy_client(self._client)
        self._node.destroy_subscription(self._answers)
        for publisher in self._publishers.values():
            self._node.destroy_publisher(publisher)

    def prepare(self, schedule: Schedule) -> None:
        """Make the publishers for requests that will come, so that the controller finds them in time."""
        for fault in schedule.faults:
            self._publisher(fault)

    def ask(self, activities: Iterable[Activity], home: np.ndarray) -> None:
        """Ask for this; displacements count from `home` (nq,). Any thread may call it."""
        self._open.extend((activity, home) for activity in activities)
        self._woken.trigger()

    def _publisher(self, fault: Fault) -> Any:
        """Of a target or a trajectory; None for everything else."""
        if fault.kind not in KINDS:
            return None
        kind, topic = KINDS[fault.kind]
        topic = f"{CONTROLLER}/{fault.name}/{topic}"
        if topic not in self._publishers:
            self._publishers[topic] = self._node.create_publisher(kind, topic, qos.TARGETS)
        return self._publishers[topic]

    def _serve(self) -> None:
        """Go on with the first request that is open; again and again until there is none."""
        if not self._open:
            self._stop_timer()
        elif self._timer is None:
            steady = Clock(clock_type=ClockType.STEADY_TIME)  # simulated time stands
            self._timer = self._node.create_timer(LOOK, self._serve, clock=steady)
            self._waits_until = monotonic() + PATIENCE
        if not self._open:
            return
        activity, home = self._open[0]
        is_late = monotonic() > self._waits_until
        if isinstance(self._answer, Future) and self._answer.done():
            self._end(_refusal(self._answer.result()))
        elif is_late and self._answer is not None:
            self._end(f"{CONTROLLER} has not answered within {PATIENCE:g} s")
        elif not isinstance(self._answer, Future) and monotonic() > self._again:
            if self._is_heard(activity, is_late):
                self._send(activity, home)
            elif is_late:
                self._end(f"nobody has listened for {PATIENCE:g} s")

    def _is_heard(self, activity: Activity, is_late: bool) -> bool:
        """Can it be sent? The last resort is a controller that takes it and never answers."""
        publisher = self._publisher(activity.fault)
        if publisher is None:
            return bool(self._client.service_is_ready())
        return bool(publisher.get_subscription_count()) and (is_late or self._has_answers)

    @property
    def _has_answers(self) -> bool:
        return self._node.count_publishers(self._answers.topic_name) > 0

    def _send(self, activity: Activity, home: np.ndarray) -> None:
        """Send it; an answer that goes astray while the two get to know each other is asked for again."""
        publisher, fault = self._publisher(activity.fault), activity.fault
        self._again = monotonic() + AGAIN
        if publisher is None:
            value = ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=fault.name)
            request = SetParameters.Request(parameters=[Parameter(name="method", value=value)])
            self._answer = self._client.call_async(request)
        else:
            self._answer = publisher.topic_name
            send(self._node, publisher, self._message(activity, home))
            if not self._has_answers:
                self._end("")

    def _on_answer(self, message: String) -> None:
        topic, _, verdict = message.data.partition(": ")
        if self._open and topic == self._answer:
            self._end("" if verdict == "taken" else verdict)

    def _end(self, problem: str) -> None:
        activity, _ = self._open.popleft()
        self._answer, self._again = None, 0.0
        self._stop_timer()
        self._answered(activity, problem)
        if self._open:
            self._woken.trigger()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._node.destroy_timer(self._timer)
            self._timer = None

    def _message(self, activity: Activity, home: np.ndarray) -> Any:
        fault, start = activity.fault, frame_pose(self._model, home, activity.fault.frame)
        if fault.kind == "target":
            message = PoseStamped()
            message.pose = pose_message(
                *_moved(start, (*fault.values["by"], *fault.values["turn"]))
            )
            return message
        points = [_point(row[0], *_moved(start, row[1:])) for row in fault.values["points"]]
        return MultiDOFJointTrajectory(joint_names=[fault.name], points=points)


def _moved(start: tuple[np.ndarray, np.ndarray], by: Any) -> tuple[np.ndarray, np.ndarray]:
    """A pose displaced by (3,) [m] and turned by a rotation vector (3,) [rad], world axes."""
    position, quaternion = start
    return position + by[:3], quaternion_product(quaternion_exp(np.array(by[3:])), quaternion)


def _point(time: float, position: np.ndarray, quaternion: np.ndarray) -> Any:
    place = Transform(translation=vector_message(position))
    turn = place.rotation
    turn.x, turn.y, turn.z, turn.w = map(float, quaternion)
    point, stamp = MultiDOFJointTrajectoryPoint(transforms=[place]), stamp_of(round(1e9 * time))
    point.time_from_start.sec, point.time_from_start.nanosec = stamp.sec, stamp.nanosec
    return point


def _refusal(response: Any) -> str:
    """Why a parameter was not taken, or ""."""
    refused = [each.reason for each in response.results if not each.successful]
    return f"refused: {refused[0]}" if refused else ""
