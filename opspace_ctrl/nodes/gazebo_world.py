# SPDX-License-Identifier: Apache-2.0
"""Gazebo's world control through ROS: run and step; ros_gz_interfaces is optional."""

from collections.abc import Callable
from typing import Protocol

from ..errors import GazeboError

__all__ = ["ServiceWorld", "World"]


class World(Protocol):
    """What the bridge needs of a world; no call waits for the world to obey."""

    def is_ready(self) -> bool:
        """Would a request arrive?"""

    def step(self, count: int) -> None:
        """Make so many steps and pause again."""

    def run(self) -> None:
        """Run freely."""


class ServiceWorld:
    """The world behind the service ros_gz_interfaces/srv/ControlWorld that ros_gz_bridge offers.

    Gazebo answers before the steps are done, so nothing waits for the answer: the next stamp says that they are.

    Args:
        node: the node that calls.
        service: name of the service.
        failed: called with the reason when the service refuses a request.
    """

    def __init__(self, node, service: str, failed: Callable[[str], None]) -> None:
        try:
            from ros_gz_interfaces.srv import ControlWorld
        except ImportError:
            raise GazeboError(
                "stepping or starting the world (lockstep, run_on_command) needs ros_gz_interfaces, "
                "which is not importable; install ros_gz or set both to false"
            ) from None
        self._request = ControlWorld.Request
        self._client = node.create_client(ControlWorld, service)
        self._failed = failed

    def is_ready(self) -> bool:
        """Is the service there?"""
        return self._client.service_is_ready()

    def step(self, count: int) -> None:
        """Make so many steps; `pause` must be in the same request."""
        request = self._request()
        request.world_control.pause = True
        request.world_control.multi_step = count
        self._call(request)

    def run(self) -> None:
        """Run freely."""
        self._call(self._request())  # pause is false by default

    def _call(self, request) -> None:
        self._client.call_async(request).add_done_callback(self._answered)

    def _answered(self, future) -> None:
        error = future.exception()
        if error is not None or not future.result().success:
            self._failed(f"the world did not take a request: {error or 'refused'}")
