# SPDX-License-Identifier: Apache-2.0
"""A running graph as the viewer sees it: a robot's states and its controller's words become rows. It only listens."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import contextmanager
from time import monotonic
from typing import Any

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import TwistStamped
from nav_msgs.msg import Odometry
from rcl_interfaces.srv import GetParameters, ListParameters
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import parameter_value_to_python
from rclpy.serialization import deserialize_message
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String

from ..command_kind import command_topic
from ..control.safety.fields import BIT
from ..control.settings import ControllerSettings, controller_settings, table_for
from ..errors import ViewError
from ..model.rotations import from_quaternion, quaternion_exp, quaternion_product
from ..osim import methods
from ..robot_settings import load_any
from ..sim.joint_index import base_index, coordinate_names, position_index
from ..view.geometry import task_pose
from . import qos
from .messages import full_name, nanoseconds, quaternion_of, twist_of, vector_of

__all__ = ["CONTROLLER", "GraphView", "described_robots"]

CONTROLLER = "opspace_controller"
DESCRIPTION = "robot_description"
ROWS = 100.0  # a second at most
SETTLE = 1.0  # [s] in which robots that are there have been found, once one is


def described_robots(patience: float) -> list[str]:
    """The namespaces of all robots that a graph describes, in order; none if there is none within `patience` [s]."""
    with _node("") as node:
        end, found = monotonic() + patience, set[str]()
        while monotonic() < end:
            for name, kinds in node.get_topic_names_and_types():
                if name.endswith(f"/{DESCRIPTION}") and "std_msgs/msg/String" in kinds:
                    if node.count_publishers(name) and name.removesuffix(DESCRIPTION) not in found:
                        found.add(name.removesuffix(DESCRIPTION))
                        end = monotonic() + SETTLE
            threading.Event().wait(0.05)
    return sorted(each.rstrip("/") for each in found)


@contextmanager
def _node(namespace: str) -> Any:
    """A node whose executor spins in a thread of its own; both end."""
    context = rclpy.Context()
    rclpy.init(args=[], context=context, signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node(
        "opspace_viewer",
        namespace=namespace or None,
        context=context,
        start_parameter_services=False,
    )
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    thread = threading.Thread(target=executor.spin, name="ros", daemon=True)
    thread.start()
    try:
        yield node
    finally:
        executor.shutdown(timeout_sec=1.0)
        thread.join(2.0)
        node.destroy_node()
        context.try_shutdown()


class GraphView:
    """One robot of a graph; a context manager.

    Args:
        namespace: Of the robot.
        patience: [s] for its description and its controller to be found.

    Attributes:
        node: Its own.
        model, settings: Of the robot and its controller, as the graph tells them.
        methods: That a row's `method` counts.
        q: (nq,) where the robot is.
        write: Takes a function that fills a row; set it before `listen`.
    """

    def __init__(self, namespace: str = "", patience: float = 30.0):
        self._namespace, self._patience = namespace, patience
        self._errors: dict[str, np.ndarray] = {}
        self._closed, self._description = 0, ""
        self._base: tuple[np.ndarray, np.ndarray] | None = None
        self._told, self._sent, self._trip = 0.0, 0, 0.0
        self._numbers: dict[str, str] = {}  # of the controller's diagnostics
        self.write: Callable[[Callable[[np.void], None]], None] | None = None

    def __enter__(self) -> GraphView:
        self._spinning = _node(self._namespace)
        self.node = self._spinning.__enter__()
        self.node.create_subscription(String, DESCRIPTION, self._on_description, qos.DESCRIPTION)
        return self

    def __exit__(self, *_: object) -> None:
        self._spinning.__exit__(None, None, None)

    # ---- who is there ----

    def find(self, robot: str | None = None) -> None:
        """Learn which robot it is, and what its controller does.

        Raises:
            ViewError: No robot is described; a graph without our controller is shown without tasks.
        """
        self.settings = self._settings_of_controller()
        if robot is None and not self._until(lambda: self._description):
            raise ViewError(
                f"nobody publishes {self.node.resolve_topic_name(DESCRIPTION)}: start the robot, or name "
                "it (opspace view ROBOT --ros), or its --namespace"
            )
        own = self.settings.robot
        base = own.base or ("floating" if self._has_odometry() else "fixed")
        self.model = load_any(robot or self._description, base, own.locked)
        self.methods = methods(self.model)

    def _has_odometry(self) -> bool:
        return self.node.count_publishers(self.node.resolve_topic_name("odom")) > 0

    def _settings_of_controller(self) -> ControllerSettings:
        listing = self.node.create_client(ListParameters, f"{CONTROLLER}/list_parameters")
        if not listing.wait_for_service(self._patience):
            return ControllerSettings()
        wanted = list(self._answer(listing, ListParameters.Request()).result.names)
        getting = self.node.create_client(GetParameters, f"{CONTROLLER}/get_parameters")
        values = self._answer(getting, GetParameters.Request(names=wanted)).values
        found: dict[str, Any] = {}
        for name, value in zip(wanted, values):
            plain: Any = parameter_value_to_python(value)
            if plain is not None:
                found[name] = list(plain) if hasattr(plain, "tolist") else plain
        known = {parameter.name for parameter in table_for(found)}  # ROS adds some of its own
        return controller_settings({name: found[name] for name in known & found.keys()})

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
        subscribe, model = self.node.create_subscription, self.model
        self._names, self._places = coordinate_names(model), position_index(model)
        self._rates = np.flatnonzero(~model.is_base_coordinate)
        self.q, self._v = model.neutral(), np.zeros(model.nv)
        self._time, self._effort = 0.0, np.zeros(len(self._names))
        newest = qos.profile(1, reliable=False)
        # as bytes: most states only say when they left
        subscribe(JointState, "joint_states", self._on_states, newest, raw=True)
        topic = command_topic(self.settings.commands)
        subscribe(Float64MultiArray, topic, self._on_command, newest, raw=True)
        subscribe(Odometry, "odom", self._on_odometry, newest)
        subscribe(String, f"{CONTROLLER}/safety", self._on_safety, qos.profile(1, latched=True))
        subscribe(DiagnosticArray, "/diagnostics", self._on_diagnostics, qos.profile(10))
        for task in self.settings.tasks:

            def on_error(message: TwistStamped, name: str = task.name) -> None:
                self._errors[name] = twist_of(message.twist)

            subscribe(TwistStamped, f"{CONTROLLER}/{task.name}/error", on_error, newest)

    def _on_description(self, message: String) -> None:
        self._description = message.data

    def _on_safety(self, message: String) -> None:
        self._closed = sum(BIT.get(name, 0) for name in set(message.data.split()))
        if self._told:  # gates close when no state comes, too
            self._tell()

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        """The controller's own numbers, once a second."""
        name = full_name(self.node, CONTROLLER)
        for status in message.status:
            if status.name in (f"{name}: loop", f"{name}: tick"):
                self._numbers |= {each.key: each.value for each in status.values}

    def _on_odometry(self, message: Odometry) -> None:
        pose = message.pose.pose
        place = np.concatenate([vector_of(pose.position), quaternion_of(pose.orientation)])
        self._base = place, twist_of(message.twist.twist)

    def _on_command(self, data: bytes, info: Any) -> None:
        """How long after the newest state a command left, by the clocks of those who sent them."""
        if self._sent:
            self._trip = max(1e-3 * (info["source_timestamp"] - self._sent), 0.0)

    def _on_states(self, data: bytes, info: Any) -> None:
        self._sent = info["source_timestamp"]
        if monotonic() - self._told < 1.0 / ROWS or self.write is None:
            return
        message = deserialize_message(data, JointState)
        order = {name: i for i, name in enumerate(message.name)}
        if not set(self._names) <= set(order):
            return
        self._told = monotonic()
        index = [order[name] for name in self._names]
        self.q[self._places] = np.asarray(message.position)[index]
        if len(message.velocity) == len(order):
            self._v[self._rates] = np.asarray(message.velocity)[index]
        base = base_index(self.model)
        if base is not None and self._base is not None:
            self.q[base[0] : base[0] + 7], self._v[base[1] : base[1] + 6] = self._base
        if len(message.effort) == len(order):
            self._effort = np.asarray(message.effort)[index]
        self._time = 1e-9 * nanoseconds(message.header.stamp)
        self._tell()

    def _tell(self) -> None:
        if self.write is not None:
            self.write(self._fill)

    def _fill(self, row: np.void) -> None:
        row["time"], row["q"], row["v"] = self._time, self.q, self._v
        row["effort"] = self._effort
        row["gates"], row["trip"] = self._closed, self._trip
        self._fill_numbers(row)
        for number, task in enumerate(self.settings.tasks):
            position, turn = task_pose(self.model, self.q, task)
            error = self._errors.get(task.name, np.zeros(6))
            row["error"][number] = error
            row["pose"][number] = _row_pose(position, turn)
            wanted = quaternion_product(quaternion_exp(error[3:]), turn)
            row["target"][number] = _row_pose(position + error[:3], wanted)

    def _fill_numbers(self, row: np.void) -> None:
        told = self._numbers
        for name, key in NUMBERS.items():
            row[name] = float(told.get(key, 0.0))
        row["damped"] = float(told.get("is_damped", 0.0))
        method = told.get("method_in_use", "")
        row["method"] = self.methods.index(method) if method in self.methods else 0


# of a row, as the diagnostics of the controller name them
NUMBERS = {
    "tick": "computation_p50_us",
    "tick_most": "computation_max_us",
    "turns": "ticks",
    "missed": "overruns",
    "residual": "method_residual",
    "switches": "method_switches",
}


def _row_pose(position: np.ndarray, quaternion: np.ndarray) -> np.ndarray:
    return np.concatenate([from_quaternion(quaternion).ravel(), position])
