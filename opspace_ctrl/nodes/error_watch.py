"""Listens to the tracking errors that controllers publish: every TwistStamped topic whose name ends in /error."""

from __future__ import annotations

from time import monotonic, perf_counter

import numpy as np
import rclpy
from geometry_msgs.msg import TwistStamped
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions

__all__ = ["ErrorWatch"]

KIND, ENDING = "geometry_msgs/msg/TwistStamped", "/error"
LOOK_EVERY = (
    0.05  # [s] between two looks for new topics; lock-step may run through a second meanwhile
)
QOS = QoSProfile(depth=50, reliability=ReliabilityPolicy.BEST_EFFORT)


class ErrorWatch:
    """A node of its own in a context of its own; a context manager. Serve it with `spin`."""

    def __init__(self, domain: int) -> None:
        """Join the graph of this ROS domain."""
        self._domain = domain
        self._rows: dict[str, list[tuple[float, ...]]] = {}
        self._looked = -LOOK_EVERY

    def __enter__(self) -> ErrorWatch:
        self._context = rclpy.Context()
        rclpy.init(
            args=[],
            context=self._context,
            domain_id=self._domain,  # ours are not ROS's: --set NAME:=VALUE
            signal_handler_options=SignalHandlerOptions.NO,
        )
        self._node = rclpy.create_node(
            "opspace_hil", context=self._context, start_parameter_services=False
        )
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        return self

    def __exit__(self, *_: object) -> None:
        self._executor.shutdown(timeout_sec=1.0)
        self._node.destroy_node()
        self._context.try_shutdown()

    def spin(self, seconds: float) -> None:
        """Take what comes during this time."""
        if monotonic() - self._looked > LOOK_EVERY:
            self._looked = monotonic()
            self._look()
        end = monotonic() + seconds
        while (left := end - monotonic()) > 0.0:
            self._executor.spin_once(timeout_sec=left)

    def tracking(self) -> dict[str, np.ndarray]:
        """For every topic rows (wall time [s] of `perf_counter`, error (6,): linear, angular)."""
        return {topic: np.array(rows).reshape(-1, 7) for topic, rows in self._rows.items()}

    def _look(self) -> None:
        for topic, kinds in self._node.get_topic_names_and_types():
            if topic.endswith(ENDING) and KIND in kinds and topic not in self._rows:
                rows = self._rows[topic] = []
                self._node.create_subscription(
                    TwistStamped, topic, lambda message, rows=rows: _note(rows, message), QOS
                )


def _note(rows: list[tuple[float, ...]], message: TwistStamped) -> None:
    linear, angular = message.twist.linear, message.twist.angular
    rows.append((perf_counter(), linear.x, linear.y, linear.z, angular.x, angular.y, angular.z))
