# SPDX-License-Identifier: Apache-2.0
"""Listens to what controllers tell of their tracking.

Ours tell the reference of every tick on `<task>/reference`, see `interface`; whoever tells an error instead publishes
TwistStamped on a topic whose name ends in /error.
"""

from __future__ import annotations

import json
from time import monotonic, perf_counter
from typing import Any

import numpy as np
import rclpy
from geometry_msgs.msg import TwistStamped
from rclpy.executors import SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions
from std_msgs.msg import Float64, Float64MultiArray

from ..sim.record.tracking import Told
from . import qos
from .messages import twist_of

__all__ = ["ErrorWatch"]

LOOK_EVERY = (
    0.05  # [s] between two looks for new topics; lock-step may run through a second meanwhile
)
RESIDUALS, ERRORS = qos.profile(10), qos.profile(50, reliable=False)


class ErrorWatch:
    """A node of its own in a context of its own; a context manager. Serve it with `spin`.

    Attributes:
        told: by task what came of it.
        residuals: of changes of a method, in the order in which they came.
        has_clock: does somebody listen to the simulated clock?
    """

    def __init__(self, domain: int) -> None:
        """Join the graph of this ROS domain."""
        self._domain = domain
        self.told: dict[str, Told] = {}
        self._with_references: set[str] = set()
        self.residuals: list[float] = []
        self._has_residuals = self.has_clock = False
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

    def wait_for(self, time: float, patience: float) -> None:
        """Take what comes until every reference of a time of the wall [s] is known, or patience [s] is at its end."""
        end = monotonic() + patience
        while monotonic() < end and any(
            each.is_reference and each.rows and each.rows[-1][-1, 0] < time
            for each in self.told.values()
        ):
            self._executor.spin_once(timeout_sec=0.01)

    def _look(self) -> None:
        """Subscribe to what is new; a task's reference takes the place of its error."""
        self.has_clock = self.has_clock or self._node.count_subscribers("/clock") > 0
        topics = dict(self._node.get_topic_names_and_types())
        for topic, kinds in sorted(topics.items(), reverse=True):
            task, _, what = topic.rpartition("/")
            if what == "method_residual" and not self._has_residuals:
                self._has_residuals = True
                self._node.create_subscription(Float64, topic, self._note_residual, RESIDUALS)
            if what == "reference" and "std_msgs/msg/Float64MultiArray" in kinds:
                if task not in self._with_references:  # its error may have been found before
                    self._with_references.add(task)
                    self._subscribe(
                        task, Float64MultiArray, topic, _note_references, qos.REFERENCES
                    )
            elif (
                what == "error"
                and task not in self.told
                and "geometry_msgs/msg/TwistStamped" in kinds
            ):
                self._subscribe(task, TwistStamped, topic, _note_error, ERRORS)

    def _note_residual(self, message: Float64) -> None:
        self.residuals.append(message.data)

    def _subscribe(self, task: str, kind: Any, topic: str, note: Any, quality: Any) -> None:
        told = self.told[task] = Told()
        self._node.create_subscription(kind, topic, lambda message: note(told, message), quality)


def _note_references(told: Told, message: Float64MultiArray) -> None:
    layout = message.layout.dim
    told.task = json.loads(layout[0].label)
    told.rows.append(np.array(message.data).reshape(layout[0].size, layout[1].size))


def _note_error(told: Told, message: TwistStamped) -> None:
    told.rows.append(np.array([[perf_counter(), *twist_of(message.twist)]]))
