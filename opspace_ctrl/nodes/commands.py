"""The way out: efforts to the effort controller, finite and within limits whatever is asked for."""

from __future__ import annotations

from math import isfinite

import numpy as np
from std_msgs.msg import Float64MultiArray

from . import qos
from .cdr import Command
from .runtime import publish_last

__all__ = ["Commands"]

TOPIC = "effort_controller/commands"


class Commands:
    """Publishes efforts (k,) in the order of `joints`.

    Attributes:
        count: commands sent.
        refused: commands that were not finite; zeros were sent instead.
        last: (k,) what was sent last.
    """

    def __init__(self, node, effort_limits: np.ndarray):
        """effort_limits: (k,), inf where there is none."""
        self._node = node
        self._publisher = node.create_publisher(Float64MultiArray, TOPIC, qos.COMMANDS)
        self._command = Command(len(effort_limits))
        self.last = self._command.values
        self._high, self._low = effort_limits.copy(), -effort_limits
        self.count = self.refused = 0

    def send(self, tau: np.ndarray) -> None:
        """Publish; what the controller has limited already is limited once more, because this is the only way out."""
        self._write(tau)
        self._publisher.publish(self._command.message())
        self.count += 1

    def send_last(self, tau: np.ndarray) -> None:
        """Publish what is to stand when nothing follows, and wait for the acknowledgement."""
        self._write(tau)
        publish_last(self._publisher, self._command.message())
        self.count += 1

    def _write(self, tau: np.ndarray) -> None:
        last = self.last
        np.minimum(tau, self._high, out=last)
        np.maximum(last, self._low, out=last)
        if not isfinite(last.dot(last)):
            last[:] = 0.0
            self.refused += 1

    def others(self) -> int:
        """How many other publishers the topic has: two controllers on one robot fight each other."""
        return max(0, self._node.count_publishers(self._publisher.topic_name) - 1)

    def close(self) -> None:
        """Destroy the publisher."""
        self._node.destroy_publisher(self._publisher)
