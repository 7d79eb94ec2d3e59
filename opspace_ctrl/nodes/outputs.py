# SPDX-License-Identifier: Apache-2.0
"""What the controller tells at a decimated rate: poses, errors, the operational-space inertia.

Everything here runs in the executor's thread and reads the results of the newest tick; what nobody listens to is not
made.
"""

import json
from array import array
from collections.abc import Callable, Iterable

import numpy as np
from geometry_msgs.msg import PoseStamped, TwistStamped
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.timer import Timer
from std_msgs.msg import (
    Float64,
    Float64MultiArray,
    Header,
    MultiArrayDimension,
    MultiArrayLayout,
)
from visualization_msgs.msg import MarkerArray

from ..control.controller import Controller
from . import qos
from .black_box import BlackBox
from .markers import Markers
from .messages import matrix_message, pose_message, vector_message
from .sending import send
from .task_topics import TaskTopics

__all__ = ["Outputs"]


class Outputs:
    """The publishers and their timers; silent until the first tick.

    Attributes:
        also: called at the rate at which the poses are published.
        of_tasks: the publishers of each task.
    """

    def __init__(
        self,
        node: Node,
        controller: Controller,
        box: BlackBox,
        header: Callable[[], Header | None],
        configuration: Callable[[], np.ndarray],
        rate: float,
        marker_rate: float,
        prefix: str = "",
    ):
        """Box: remembers every tick.

        Header: stamp of the newest tick and name of the world, None while there is nothing to tell.

        Configuration: returns a copy of the present q (nq,). Rates in Hz, 0: none. Prefix: of the robot's frames.
        """
        self._node, self._controller, self._header = node, controller, header
        self._prefix = prefix
        self._box, self._told = box, 0  # commands whose references were told
        self.of_tasks = TaskTopics(self._make, self._destroy)
        self.of_tasks.add(controller.task_names)
        self._osim = node.create_publisher(Float64MultiArray, "~/osim", qos.OUTPUTS)
        self._residual = node.create_publisher(Float64, "~/method_residual", qos.profile(10))
        self._markers = Markers(controller, configuration, prefix)
        self._marker_array = node.create_publisher(MarkerArray, "~/markers", qos.OUTPUTS)
        self.also: Callable[[], None] | None = None
        self._rates = (0.0, 0.0)
        self._timers: list[Timer | None] = [None, None]
        self.set_rates(rate, marker_rate)

    def _make(self, task: str) -> tuple[Publisher, ...]:
        """What is told about a task: its pose, its error, its references."""
        create = self._node.create_publisher
        return (
            create(PoseStamped, f"~/{task}/pose", qos.OUTPUTS),
            create(TwistStamped, f"~/{task}/error", qos.OUTPUTS),
            create(Float64MultiArray, f"~/{task}/reference", qos.REFERENCES),
        )

    def _destroy(self, publishers: Iterable[Publisher]) -> None:
        for publisher in publishers:
            self._node.destroy_publisher(publisher)

    def set_rates(self, rate: float, marker_rate: float) -> None:
        """Rates of all but the markers, and of those [Hz]; 0: none."""
        if (rate, marker_rate) != self._rates:
            self._rates = rate, marker_rate
            self._stop_timers()
        self.look()

    def look(self) -> None:
        """Run a timer only while somebody listens: one that finds nothing to do costs the executor as much."""
        steady = Clock(clock_type=ClockType.STEADY_TIME)  # simulated time may stand
        numbers = [self._osim, *(each for pair in self.of_tasks.made.values() for each in pair)]
        streams = ((self.publish, numbers), (self.publish_markers, [self._marker_array]))
        for number, (rate, (callback, publishers)) in enumerate(zip(self._rates, streams)):
            is_heard = any(publisher.get_subscription_count() for publisher in publishers)
            is_wanted = rate > 0.0 and (
                is_heard or (callback == self.publish and self.also is not None)
            )
            timer = self._timers[number]
            if is_wanted and timer is None:
                self._timers[number] = self._node.create_timer(1.0 / rate, callback, clock=steady)
            elif timer is not None and not is_wanted:
                self._node.destroy_timer(timer)
                self._timers[number] = None

    def _stop_timers(self) -> None:
        for timer in self._timers:
            if timer is not None:
                self._node.destroy_timer(timer)
        self._timers = [None, None]

    def close(self) -> None:
        """Fall silent."""
        self._stop_timers()
        self.of_tasks.keep(())
        self._destroy((self._osim, self._residual, self._marker_array))

    def publish(self) -> None:
        """Pose and error of each task, and the operational-space inertia's inverse."""
        header = self._header()
        if header is None:
            return
        if self.also is not None:
            self.also()
        for task in self._controller.tasks:
            name, (pose, error, _) = task.name, self.of_tasks.made[task.name]
            reference = self._prefix + task.reference_frame if task.reference_frame else ""
            of_task = Header(stamp=header.stamp, frame_id=reference or header.frame_id)
            if pose.get_subscription_count():
                message = PoseStamped(header=of_task)
                message.pose = pose_message(*self._controller.pose(name))
                send(self._node, pose, message)
            if error.get_subscription_count():
                twist, value = TwistStamped(header=of_task), self._controller.error(name)
                twist.twist.linear = vector_message(value[:3])
                twist.twist.angular = vector_message(value[3:])
                send(self._node, error, twist)
        if self._osim.get_subscription_count():
            send(self._node, self._osim, matrix_message(self._controller.osim))
        if any(made[-1].get_subscription_count() for made in self.of_tasks.made.values()):
            self._publish_references()

    def _publish_references(self) -> None:
        """Every tick since the last time: when its state came, and the rotation and position asked of the task."""
        since, self._told = self._told, self._box.count
        time, targets = self._box.references(since)
        for task in self._controller.tasks:
            if task.name not in targets:
                continue
            rows = np.column_stack((time, targets[task.name]))
            rows = rows[np.isfinite(rows[:, -1])]  # the task may be a new one
            label = json.dumps([task.rows, task.moved_frame, task.reference_frame])
            size = [MultiArrayDimension(label=label, size=len(rows), stride=rows.size)]
            layout = MultiArrayLayout(dim=[*size, MultiArrayDimension(size=13, stride=13)])
            message = Float64MultiArray(layout=layout, data=array("d", rows.tobytes()))
            send(self._node, self.of_tasks.made[task.name][-1], message)

    def publish_markers(self) -> None:
        """What RViz shows."""
        header = self._header()
        if header is not None and self._marker_array.get_subscription_count():
            send(self._node, self._marker_array, self._markers.message(header))

    def publish_residual(self) -> None:
        """How far the torques of the old and the new method were apart when they were switched."""
        residual = Float64(data=float(self._controller.method_residual))
        send(self._node, self._residual, residual)
