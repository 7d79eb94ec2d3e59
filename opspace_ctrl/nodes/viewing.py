# SPDX-License-Identifier: Apache-2.0
"""A running graph as the viewer sees it: a robot's states and its controller's words become rows.

It listens; what it may ask for, if it may, goes over the topics, services and parameters that everybody has.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any

import numpy as np
import rclpy
from geometry_msgs.msg import PoseStamped, TwistStamped, WrenchStamped
from nav_msgs.msg import Odometry
from rcl_interfaces.srv import GetParameters, ListParameters, SetParametersAtomically
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter, parameter_value_to_python
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger

from ..control.safety.fields import BIT
from ..control.settings import ControllerSettings, controller_settings, table_for
from ..dynamics import frame_pose
from ..errors import OpspaceError, ViewError, listed
from ..model.rotations import from_quaternion, quaternion_exp, quaternion_product
from ..robot_settings import load_any
from ..sim.joint_index import base_index, coordinate_names, position_index
from . import qos
from .messages import nanoseconds, pose_message, quaternion_of, twist_of, vector_message, vector_of

__all__ = ["GraphView"]

CONTROLLER, SIMULATOR = "opspace_controller", "opspace_simulator"
TRIGGERS = {"hold": "hold", "stop": "emergency_stop", "release": "reset"}
ROWS = 100.0  # a second at most
ASKED = ("target", "settings", "push", *TRIGGERS)


class GraphView:
    """One robot of a graph; a context manager.

    Args:
        namespace: Of the robot.
        patience: [s] for its description and its controller to be found.

    Attributes:
        model, settings: Of the robot and its controller, as the graph tells them.
        write: Takes a function that fills a row; set it before `listen`.
    """

    def __init__(self, namespace: str = "", patience: float = 30.0):
        self._namespace, self._patience = namespace, patience
        self._publishers: dict[str, Any] = {}
        self._clients: dict[str, Any] = {}
        self._errors: dict[str, np.ndarray] = {}
        self._closed, self._description = 0, ""
        self._base: tuple[np.ndarray, np.ndarray] | None = None
        self._told = 0.0
        self.write: Callable[[Callable[[np.void], None]], None] | None = None

    def __enter__(self) -> GraphView:
        self._context = rclpy.Context()
        rclpy.init(args=[], context=self._context, signal_handler_options=SignalHandlerOptions.NO)
        self._node = rclpy.create_node(
            "opspace_viewer",
            namespace=self._namespace or None,
            context=self._context,
            start_parameter_services=False,
        )
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._thread = threading.Thread(target=self._executor.spin, name="ros", daemon=True)
        self._node.create_subscription(
            String, "robot_description", self._on_description, qos.DESCRIPTION
        )
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._executor.shutdown(timeout_sec=1.0)
        self._thread.join(2.0)
        self._node.destroy_node()
        self._context.try_shutdown()

    # ---- who is there ----

    def find(self, robot: str | None = None) -> None:
        """Learn which robot it is, and what its controller does.

        Raises:
            ViewError: No robot is described; a graph without our controller is shown without tasks.
        """
        self.settings = self._settings_of_controller()
        if robot is None and not self._until(lambda: self._description):
            raise ViewError(
                f"nobody publishes {self._node.resolve_topic_name('robot_description')}: start the robot, or name "
                "it (opspace view ROBOT --ros), or its --namespace"
            )
        own = self.settings.robot
        base = own.base or ("floating" if self._has_odometry() else "fixed")
        self.model = load_any(robot or self._description, base, own.locked)

    def _has_odometry(self) -> bool:
        return self._node.count_publishers(self._node.resolve_topic_name("odom")) > 0

    def _settings_of_controller(self) -> ControllerSettings:
        listing = self._client(ListParameters, f"{CONTROLLER}/list_parameters")
        if not listing.wait_for_service(self._patience):
            return ControllerSettings()
        names = self._answer(listing, ListParameters.Request()).result.names
        wanted = list(names)
        getting = self._client(GetParameters, f"{CONTROLLER}/get_parameters")
        values = self._answer(getting, GetParameters.Request(names=wanted)).values
        found: dict[str, Any] = {}
        for name, value in zip(wanted, values):
            plain: Any = parameter_value_to_python(value)
            if plain is not None:
                found[name] = list(plain) if hasattr(plain, "tolist") else plain
        known = {parameter.name for parameter in table_for(found)}  # ROS adds some of its own
        return controller_settings({name: found[name] for name in known & found.keys()})

    def _client(self, kind: Any, name: str) -> Any:
        if name not in self._clients:
            self._clients[name] = self._node.create_client(kind, name)
        return self._clients[name]

    def _answer(self, client: Any, request: Any) -> Any:
        future = client.call_async(request)
        if not self._until(future.done):
            raise ViewError(f"{client.srv_name} has not answered within {self._patience:g} s")
        return future.result()

    def _until(self, condition: Callable[[], Any]) -> bool:
        done, end = threading.Event(), monotonic() + self._patience
        while not condition() and monotonic() < end:
            done.wait(0.02)
        return bool(condition())

    # ---- what it says ----

    def listen(self) -> None:
        """Let rows come."""
        node, model = self._node, self.model
        self._names, self._places = coordinate_names(model), position_index(model)
        self._rates = np.flatnonzero(~model.is_base_coordinate)
        self._q, self._v = model.neutral(), np.zeros(model.nv)
        node.create_subscription(
            JointState, "joint_states", self._on_states, qos.profile(1, reliable=False)
        )
        node.create_subscription(
            Odometry, "odom", self._on_odometry, qos.profile(1, reliable=False)
        )
        node.create_subscription(
            String, f"{CONTROLLER}/safety", self._on_safety, qos.profile(1, latched=True)
        )
        for task in self.settings.tasks:
            node.create_subscription(
                TwistStamped,
                f"{CONTROLLER}/{task.name}/error",
                lambda message, name=task.name: self._errors.__setitem__(
                    name, twist_of(message.twist)
                ),
                qos.profile(1, reliable=False),
            )

    def _on_description(self, message: String) -> None:
        self._description = message.data

    def _on_safety(self, message: String) -> None:
        self._closed = sum(BIT.get(name, 0) for name in set(message.data.split()))

    def _on_odometry(self, message: Odometry) -> None:
        pose = message.pose.pose
        place = np.concatenate([vector_of(pose.position), quaternion_of(pose.orientation)])
        self._base = place, twist_of(message.twist.twist)

    def _on_states(self, message: JointState) -> None:
        if monotonic() - self._told < 1.0 / ROWS or self.write is None:
            return
        order = {name: i for i, name in enumerate(message.name)}
        if not set(self._names) <= set(order):
            return
        self._told = monotonic()
        index = [order[name] for name in self._names]
        self._q[self._places] = np.asarray(message.position)[index]
        if len(message.velocity) == len(order):
            self._v[self._rates] = np.asarray(message.velocity)[index]
        base = base_index(self.model)
        if base is not None and self._base is not None:
            self._q[base[0] : base[0] + 7], self._v[base[1] : base[1] + 6] = self._base
        effort = np.asarray(message.effort)[index] if len(message.effort) == len(order) else 0.0
        time = 1e-9 * nanoseconds(message.header.stamp)
        self.write(lambda row: self._fill(row, time, effort))

    def _fill(self, row: np.void, time: float, effort: Any) -> None:
        row["time"], row["q"], row["v"], row["effort"] = time, self._q, self._v, effort
        row["gates"] = self._closed
        for number, task in enumerate(self.settings.tasks):
            if not task.moved_frame:
                continue
            position, turn = frame_pose(self.model, self._q, task.moved_frame)
            error = self._errors.get(task.name, np.zeros(6))
            row["error"][number] = error
            row["pose"][number] = _row_pose(position, turn)
            wanted = quaternion_product(quaternion_exp(error[3:]), turn)
            row["target"][number] = _row_pose(position + error[:3], wanted)

    # ---- what it is asked for ----

    def ask(
        self, name: str, *arguments: Any, answer: Callable[[str], object] | None = None
    ) -> None:
        """Ask the graph for something; `answer` gets why not, "" where it was sent or done."""
        tell = answer or (lambda text: None)
        try:
            if name in TRIGGERS:
                self._trigger(TRIGGERS[name], tell)
            elif name == "target":
                self._send_target(*arguments)
                tell("")
            elif name == "settings":
                self._set(arguments[0], tell)
            elif name == "push":
                self._push(*arguments)
            else:
                raise ViewError(
                    f"{name.replace('_', ' ')}: not over ROS; what can be asked for is {listed(ASKED)}"
                )
        except OpspaceError as error:
            tell(str(error))

    def _trigger(self, service: str, tell: Callable[[str], object]) -> None:
        client = self._client(Trigger, f"{CONTROLLER}/{service}")
        if not client.service_is_ready():
            raise ViewError(f"{client.srv_name}: nobody serves it")
        future = client.call_async(Trigger.Request())
        future.add_done_callback(
            lambda done: tell("" if done.result().success else done.result().message)
        )

    def _send_target(self, task: str, position: Any, turn: Any) -> None:
        number = self.settings.values["tasks"].index(task)
        present = frame_pose(self.model, self._q, self.settings.tasks[number].moved_frame)
        message = PoseStamped()
        message.pose = pose_message(
            present[0] if position is None else position, present[1] if turn is None else turn
        )
        self._publisher(PoseStamped, f"{CONTROLLER}/{task}/target_pose").publish(message)

    def _set(self, changes: Mapping[str, Any], tell: Callable[[str], object]) -> None:
        client = self._client(SetParametersAtomically, f"{CONTROLLER}/set_parameters_atomically")
        if not client.service_is_ready():
            raise ViewError(f"{client.srv_name}: nobody serves it")
        request = SetParametersAtomically.Request(
            parameters=[
                Parameter(name, value=value).to_parameter_msg() for name, value in changes.items()
            ]
        )
        future = client.call_async(request)
        future.add_done_callback(
            lambda done: tell(
                "" if done.result().result.successful else done.result().result.reason
            )
        )

    def _push(self, frame: str, force: Any, point: Any) -> None:
        """Over the simulator's topic; hardware has none."""
        position, _ = frame_pose(self.model, self._q, frame)
        message = WrenchStamped()
        message.header.frame_id = frame
        message.wrench.force = vector_message(force)
        message.wrench.torque = vector_message(np.cross(np.asarray(point) - position, force))
        self._publisher(WrenchStamped, f"{SIMULATOR}/wrench").publish(message)

    def _publisher(self, kind: Any, topic: str) -> Any:
        if topic not in self._publishers:
            self._publishers[topic] = self._node.create_publisher(kind, topic, qos.TARGETS)
        return self._publishers[topic]


def _row_pose(position: np.ndarray, quaternion: np.ndarray) -> np.ndarray:
    return np.concatenate([from_quaternion(quaternion).ravel(), position])
