# SPDX-License-Identifier: Apache-2.0
"""Does a subscription hear the publishers of its topic? Not one that offers less than is asked for."""

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

__all__ = ["BEST_EFFORT", "advice", "unheard"]

BEST_EFFORT, VOLATILE = "with best effort", "volatile"


def unheard(node: Node, topic: str, asked: QoSProfile) -> str:
    """What a publisher of the topic offers that is less than what is asked for, "" if none does."""
    offered = [info.qos_profile for info in node.get_publishers_info_by_topic(topic)]
    if asked.reliability == ReliabilityPolicy.RELIABLE and any(
        profile.reliability == ReliabilityPolicy.BEST_EFFORT for profile in offered
    ):
        return BEST_EFFORT
    if asked.durability == DurabilityPolicy.TRANSIENT_LOCAL and any(
        profile.durability == DurabilityPolicy.VOLATILE for profile in offered
    ):
        return VOLATILE
    return ""


def advice(node: Node, topic: str, asked: QoSProfile) -> str:
    """A sentence on a publisher that is not heard, "" if all are."""
    offered = unheard(node, topic, asked)
    if not offered:
        return ""
    policy, value = (
        ("reliability", "best_effort") if offered == BEST_EFFORT else ("durability", "volatile")
    )
    return (
        f"a publisher of {topic} offers it {offered} and is not heard: let it offer more, or set "
        f"qos_overrides.{topic}.subscription.{policy} to {value}"
    )
