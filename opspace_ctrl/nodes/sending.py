# SPDX-License-Identifier: Apache-2.0
"""Publishing on a busy machine: DDS may have no room for a message in time, and rclpy raises what it does not name."""

from typing import Any

from rclpy.node import Node
from rclpy.publisher import Publisher

__all__ = ["UNSENT", "say_lost", "send"]

UNSENT = RuntimeError  # the parent of rcl's own errors
SAY_AGAIN = 5.0  # [s] between two warnings


def send(node: Node, publisher: Publisher, message: Any) -> bool:
    """Publish; what cannot be sent in time is lost, as it may be on the way, and said. Whether it was sent."""
    try:
        publisher.publish(message)
    except UNSENT as error:
        say_lost(node, publisher, error)
        return False
    return True


def say_lost(node: Node, publisher: Publisher, error: Exception) -> None:
    """Warn of a message that could not be sent, now and then."""
    node.get_logger().warning(
        f"a message of {publisher.topic_name} could not be sent: {error}",
        throttle_duration_sec=SAY_AGAIN,
    )
