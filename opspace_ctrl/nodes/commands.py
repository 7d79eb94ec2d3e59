# SPDX-License-Identifier: Apache-2.0
"""The way out: commands to the robot's drives, as they have left through the last door."""

import numpy as np
from std_msgs.msg import Float64MultiArray

from ..command_kind import CommandKind, command_topic
from . import qos
from .cdr import Command
from .runtime import publish_last
from .sending import UNSENT, say_lost

__all__ = ["Commands"]


class Commands:
    """Publishes efforts, or velocities, (k,) in the order of `joints`.

    Attributes:
        count: commands sent.
        lost: commands that could not be sent.
        last: (k,) what was sent last.
    """

    def __init__(self, node, size: int, kind: CommandKind):
        """Size: k."""
        self._node = node
        self._publisher = node.create_publisher(
            Float64MultiArray, command_topic(kind), qos.COMMANDS
        )
        self._command = Command(size)
        self.last = np.zeros(size)
        self.count = self.lost = 0

    def send(self, tau: np.ndarray) -> bool:
        """Publish; whether it was sent. On a busy machine DDS may have no room for it in time."""
        self._command.values[:] = tau
        try:
            self._publisher.publish(self._command.message())
        except UNSENT as error:
            self.lost += 1
            say_lost(self._node, self._publisher, error)
            return False
        self.last[:] = tau
        self.count += 1
        return True

    def send_last(self, tau: np.ndarray) -> None:
        """Publish what is to stand when nothing follows, and wait for the acknowledgement."""
        self._command.values[:] = tau
        publish_last(self._publisher, self._command.message())
        self.last[:] = tau
        self.count += 1

    def others(self) -> int:
        """How many other publishers the topic has: two controllers on one robot fight each other."""
        return max(0, self._node.count_publishers(self._publisher.topic_name) - 1)

    def close(self) -> None:
        """Destroy the publisher."""
        self._node.destroy_publisher(self._publisher)
