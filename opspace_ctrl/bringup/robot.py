"""robot_state_publisher, which several launches start."""

from __future__ import annotations

from .processes import Process

__all__ = ["state_publisher"]


def state_publisher(description: str, use_sim_time: bool) -> Process:
    """The process that publishes robot_description and the transforms of the links."""
    parameters = {"robot_description": description, "use_sim_time": use_sim_time}
    return Process(
        "robot_state_publisher", "robot_state_publisher", "robot_state_publisher", (parameters,)
    )
