"""What the controller tells at a decimated rate: poses, errors, the operational-space inertia.

Everything here runs in the executor's thread and reads the results of the newest tick; what nobody listens to is not
made.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from geometry_msgs.msg import PoseStamped, TwistStamped
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.timer import Timer
from std_msgs.msg import Float64, Float64MultiArray, Header
from visualization_msgs.msg import MarkerArray

from ..control.controller import Controller
from . import qos
from .markers import Markers
from .messages import matrix_message, pose_message, vector_message

__all__ = ["Outputs"]


class Outputs:
    """The publishers and their timers; silent until the first tick.

    Attributes:
        also: called at the rate at which the poses are published.
    """

    def __init__(
        self,
        node: Node,
        controller: Controller,
        header: Callable[[], Header | None],
        configuration: Callable[[], np.ndarray],
        rate: float,
        marker_rate: float,
        prefix: str = "",
    ):
        """Header: stamp of the newest tick and name of the world, None while there is nothing to tell.

        Configuration: returns a copy of the present q (nq,). Rates in Hz, 0: none. Prefix: of the robot's frames.
        """
        self._node, self._controller, self._header = node, controller, header
        self._tasks = [
            (
                task.name,
                prefix + task.reference_frame if task.reference_frame else "",
                node.create_publisher(PoseStamped, f"~/{task.name}/pose", qos.OUTPUTS),
                node.create_publisher(TwistStamped, f"~/{task.name}/error", qos.OUTPUTS),
            )
            for task in controller.settings.tasks
        ]
        self._osim = node.create_publisher(Float64MultiArray, "~/osim", qos.OUTPUTS)
        self._residual = node.create_publisher(Float64, "~/method_residual", qos.profile(10))
        self._markers = Markers(controller, configuration, prefix)
        self._marker_array = node.create_publisher(MarkerArray, "~/markers", qos.OUTPUTS)
        numbers = [
            self._osim,
            *(publisher for *_, pose, error in self._tasks for publisher in (pose, error)),
        ]
        self._streams = ((self.publish, numbers), (self.publish_markers, [self._marker_array]))
        self._publishers = [*numbers, self._residual, self._marker_array]
        self.also: Callable[[], None] | None = None
        self._rates = (0.0, 0.0)
        self._timers: list[Timer | None] = [None, None]
        self.set_rates(rate, marker_rate)

    def set_rates(self, rate: float, marker_rate: float) -> None:
        """Rates of all but the markers, and of those [Hz]; 0: none."""
        if (rate, marker_rate) != self._rates:
            self._rates = rate, marker_rate
            self._stop_timers()
        self.look()

    def look(self) -> None:
        """Run a timer only while somebody listens: one that finds nothing to do costs the executor as much."""
        steady = Clock(clock_type=ClockType.STEADY_TIME)  # simulated time may stand
        for number, (rate, (callback, publishers)) in enumerate(zip(self._rates, self._streams)):
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
        for publisher in self._publishers:
            self._node.destroy_publisher(publisher)

    def publish(self) -> None:
        """Pose and error of each task, and the operational-space inertia's inverse."""
        header = self._header()
        if header is None:
            return
        if self.also is not None:
            self.also()
        for name, reference, pose, error in self._tasks:
            of_task = Header(stamp=header.stamp, frame_id=reference or header.frame_id)
            if pose.get_subscription_count():
                pose.publish(
                    PoseStamped(header=of_task, pose=pose_message(*self._controller.pose(name)))
                )
            if error.get_subscription_count():
                message = TwistStamped(header=of_task)
                value = self._controller.error(name)
                message.twist.linear, message.twist.angular = (
                    vector_message(value[:3]),
                    vector_message(value[3:]),
                )
                error.publish(message)
        if self._osim.get_subscription_count():
            self._osim.publish(matrix_message(self._controller.osim))

    def publish_markers(self) -> None:
        """What RViz shows."""
        header = self._header()
        if header is not None and self._marker_array.get_subscription_count():
            self._marker_array.publish(self._markers.message(header))

    def publish_residual(self) -> None:
        """How far the torques of the old and the new method were apart when they were switched."""
        self._residual.publish(Float64(data=float(self._controller.method_residual)))
