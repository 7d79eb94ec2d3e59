# SPDX-License-Identifier: Apache-2.0
"""A bond: the heartbeat by which a lifecycle manager knows that an active node lives; where the package bond is there.

A manager, such as that of Nav2, ends what it has activated when the topic `bond` falls silent for 4 s. The node sends
from its executor's thread, so that one that serves nobody any more is not taken for alive.
"""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from .runtime import publish_last
from .sending import send

# [s] those of Nav2's nodes
HEARTBEAT_PERIOD, HEARTBEAT_TIMEOUT = 0.1, 4.0


def has_bond() -> bool:
    """Is the package bond installed?"""
    try:
        import bond.msg  # noqa: F401
    except ImportError:
        return False
    return True


class Bond:
    """The bond of one node; without the package bond it does nothing."""

    def __init__(self, node: Node):
        self._node = node
        self._status: Any = None
        self._publisher: Any = None
        self._timer: Any = None

    def start(self) -> None:
        """Begin to send: the node is active."""
        if not has_bond():
            return
        from bond.msg import Status

        node = self._node
        self._status = Status(
            id=node.get_name(),
            instance_id=str(uuid4()),
            active=True,
            heartbeat_timeout=HEARTBEAT_TIMEOUT,
            heartbeat_period=HEARTBEAT_PERIOD,
        )
        # it stays: what was sent last is sent again until it has arrived
        self._publisher = self._publisher or node.create_publisher(Status, "bond", 1)
        # by the steady clock: simulated time may stand
        self._timer = node.create_timer(
            HEARTBEAT_PERIOD, self._beat, clock=Clock(clock_type=ClockType.STEADY_TIME)
        )

    def end(self) -> None:
        """Say that the node is no longer active, and fall silent; nothing if it was not."""
        if self._timer is None:
            return
        self._node.destroy_timer(self._timer)
        self._timer = None
        self._status.active = False
        self._stamp()
        publish_last(self._publisher, self._status)

    def _beat(self) -> None:
        self._stamp()
        send(self._node, self._publisher, self._status)

    def _stamp(self) -> None:
        self._status.header.stamp = self._node.get_clock().now().to_msg()
