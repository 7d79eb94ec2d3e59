# SPDX-License-Identifier: Apache-2.0
"""What the viewer may ask of a graph, over the topics, services and parameters that everybody has."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped, WrenchStamped
from rcl_interfaces.srv import SetParametersAtomically
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger

from ..dynamics import frame_pose
from ..errors import OpspaceError, ViewError, listed
from ..model.rotations import from_quaternion
from ..view.geometry import task_pose
from . import qos
from .messages import pose_message, vector_message
from .viewing import CONTROLLER, GraphView

__all__ = ["GraphRequests"]

SIMULATOR = "opspace_simulator"
SERVICES = {  # by what is asked for
    "hold": (Trigger, f"{CONTROLLER}/hold"),
    "stop": (Trigger, f"{CONTROLLER}/emergency_stop"),
    "release": (Trigger, f"{CONTROLLER}/reset"),
    "settings": (SetParametersAtomically, f"{CONTROLLER}/set_parameters_atomically"),
    "reset": (Trigger, f"{SIMULATOR}/reset"),
    "pause": (SetBool, f"{SIMULATOR}/pause"),
    "fault": (SetParametersAtomically, f"{SIMULATOR}/set_parameters_atomically"),
}
OF_CONTROLLER = ("target", "hold_task", "posture", "settings", "hold", "stop", "release")
OF_SIMULATOR = ("push", "fault", "clear_faults", "reset", "pause")

Tell = Callable[[str], object]


class GraphRequests:
    """Requests of a page, as messages.

    Args:
        view: The robot.

    Attributes:
        able: What can be asked for: of hardware no push, no fault, no pause.
    """

    def __init__(self, view: GraphView):
        self._view, self._node = view, view.node
        create = self._node.create_client
        # made at once: who is in need of a stop does not wait for discovery
        self._clients = {name: create(kind, topic) for name, (kind, topic) in SERVICES.items()}
        self._publishers: dict[str, Any] = {}
        for task in view.settings.tasks:
            self._publisher(PoseStamped, f"{CONTROLLER}/{task.name}/target_pose")
        self._publisher(JointState, f"{CONTROLLER}/posture")
        has_simulator = self._clients["fault"].wait_for_service(1.0)
        self.able = frozenset(OF_CONTROLLER + (OF_SIMULATOR if has_simulator else ()))
        if has_simulator:
            self._publisher(WrenchStamped, f"{SIMULATOR}/wrench")
        self._tells: dict[str, Tell] = {}  # who sent the last target of a topic
        answers = f"{CONTROLLER}/answers"
        self._node.create_subscription(String, answers, self._on_answer, qos.profile(100))

    def ask(self, name: str, *arguments: Any, answer: Tell | None = None) -> None:
        """Ask the graph for something; `answer` gets why not, "" where it was sent or done."""
        tell = answer or (lambda text: None)
        try:
            if name not in self.able:
                raise ViewError(
                    f"{name.replace('_', ' ')}: not of this robot over ROS; what can be asked for is "
                    f"{listed(sorted(self.able))}"
                )
            getattr(self, f"_{name}")(*arguments, tell=tell)
        except OpspaceError as error:
            tell(str(error))

    # ---- services ----

    def _call(self, name: str, request: Any, verdict: Callable[[Any], str], tell: Tell) -> None:
        client = self._clients[name]
        if not client.service_is_ready():
            raise ViewError(f"{client.srv_name}: nobody serves it")
        client.call_async(request).add_done_callback(lambda done: tell(verdict(done.result())))

    def _trigger(self, name: str, tell: Tell) -> None:
        self._call(name, Trigger.Request(), _success, tell)

    def _hold(self, tell: Tell) -> None:
        self._trigger("hold", tell)

    def _stop(self, tell: Tell) -> None:
        self._trigger("stop", tell)

    def _release(self, tell: Tell) -> None:
        self._trigger("release", tell)

    def _reset(self, tell: Tell) -> None:
        self._trigger("reset", tell)

    def _pause(self, is_paused: bool, tell: Tell) -> None:
        self._call("pause", SetBool.Request(data=is_paused), _success, tell)

    def _settings(self, changes: Mapping[str, Any], tell: Tell) -> None:
        self._set("settings", changes, tell)

    def _fault(self, entry: Mapping[str, Any], tell: Tell) -> None:
        self._set("fault", {"fault": json.dumps({"faults": [dict(entry)]})}, tell)

    def _clear_faults(self, tell: Tell) -> None:
        self._set("fault", {"fault": ""}, tell)

    def _set(self, name: str, changes: Mapping[str, Any], tell: Tell) -> None:
        parameters = [
            Parameter(each, value=value).to_parameter_msg() for each, value in changes.items()
        ]
        request = SetParametersAtomically.Request(parameters=parameters)
        self._call(name, request, _reason, tell)

    # ---- topics ----

    def _target(self, task: str, position: Any, turn: Any, tell: Tell) -> None:
        """A pose in the axes that the task has; None leaves a part as it is."""
        own = next(each for each in self._view.settings.tasks if each.name == task)
        present = task_pose(self._view.model, self._view.q, own)
        message = PoseStamped()  # without a frame: in the task's own axes
        message.pose = pose_message(
            present[0] if position is None else position, present[1] if turn is None else turn
        )
        publisher = self._publisher(PoseStamped, f"{CONTROLLER}/{task}/target_pose")
        self._tells[publisher.topic_name] = tell
        publisher.publish(message)

    def _hold_task(self, task: str, tell: Tell) -> None:
        """Its target is where it is."""
        self._target(task, None, None, tell)

    def _posture(self, joints: Sequence[str], positions: Sequence[float], tell: Tell) -> None:
        publisher = self._publisher(JointState, f"{CONTROLLER}/posture")
        self._tells[publisher.topic_name] = tell
        publisher.publish(JointState(name=list(joints), position=[float(x) for x in positions]))

    def _push(self, frame: str, force: Any, point: Any, tell: Tell) -> None:
        """A force (3,) [N] at a point (3,) [m], world axes, over the simulator's topic, which has the frame's."""
        position, quaternion = frame_pose(self._view.model, self._view.q, frame)
        rotation = from_quaternion(quaternion)
        message = WrenchStamped()
        message.header.frame_id = frame
        message.wrench.force = vector_message(rotation.T @ force)
        torque = np.cross(np.asarray(point) - position, force)
        message.wrench.torque = vector_message(rotation.T @ torque)
        self._publisher(WrenchStamped, f"{SIMULATOR}/wrench").publish(message)

    def _publisher(self, kind: Any, topic: str) -> Any:
        if topic not in self._publishers:
            self._publishers[topic] = self._node.create_publisher(kind, topic, qos.TARGETS)
        return self._publishers[topic]

    def _on_answer(self, message: String) -> None:
        """What became of a target: "<topic>: taken" or "<topic>: refused: <why>"."""
        topic, _, answer = message.data.partition(": ")
        tell = self._tells.get(topic)
        if tell is not None:
            tell(answer.removeprefix("refused: ") if answer.startswith("refused: ") else "")


def _success(response: Any) -> str:
    return "" if response.success else str(response.message)


def _reason(response: Any) -> str:
    return "" if response.result.successful else str(response.result.reason)
