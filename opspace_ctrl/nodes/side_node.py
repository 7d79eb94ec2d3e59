# SPDX-License-Identifier: Apache-2.0
"""A node beside another: its names, but a place of its own in the middleware.

A context is a participant with its own ports and threads. What is sent to one does not wait behind what is sent to
another, be it a flood.
"""

from __future__ import annotations

from rclpy.context import Context
from rclpy.node import Node
from rclpy.parameter import Parameter

__all__ = ["close_side_node", "make_side_node"]


def make_side_node(node: Node, what: str) -> Node:
    """A node in a context of its own, in the namespace and domain of another; `what` ends its name."""
    context = Context()
    # sys.argv: whatever security enclave the process was given holds for all of it
    context.init(None, initialize_logging=False, domain_id=node.context.get_domain_id())
    return Node(
        f"{node.get_name()}_{what}",
        namespace=node.get_namespace(),
        context=context,
        use_global_arguments=False,  # they would give it the other node's name
        start_parameter_services=False,
        enable_rosout=False,
        # the other node has one
        parameter_overrides=[Parameter("start_type_description_service", value=False)],
    )


def close_side_node(node: Node) -> None:
    """End it and its context; nothing may use them any more."""
    node.destroy_node()
    node.context.try_shutdown()
