# SPDX-License-Identifier: Apache-2.0
"""The robot that a node's parameters name, or that the topic robot_description tells."""

import warnings
from collections.abc import Callable, Mapping
from time import monotonic

from rclpy.node import Node
from std_msgs.msg import String

from ..errors import SourceError
from ..model import Model
from ..robot_settings import load_any
from . import qos
from .waiting import make_waiter

__all__ = ["Description", "load"]

TOPIC = "robot_description"
PATIENCE = 10.0  # [s] that the topic is waited for
LOOK = 0.1  # [s] between two looks at whether to stop


def load(
    robot: str, base: str, locked: Mapping[str, float], warn: Callable[[str], object]
) -> Model:
    """The robot of a shipped name, a path, or URDF text.

    Args:
        robot: Which.
        base: How it is held; "": a shipped robot's own, else fixed.
        locked: Joints that are frozen, and where.
        warn: Called with what is doubtful.

    Raises:
        OpspaceError: It cannot be read, or is no robot.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = load_any(robot, base, locked)
    for warning in caught:
        warn(str(warning.message))
    return model


class Description:
    """Listens to robot_description from the start on, so that configuring seldom waits."""

    def __init__(self, node: Node):
        self._waiter = make_waiter(node)
        self._inlet = self._waiter.subscribe(String, TOPIC, qos.DESCRIPTION)
        self._text = ""

    def text(self, is_stopped: Callable[[], bool]) -> str:
        """The newest description, waited for if none has come yet.

        Raises:
            SourceError: None came, or it was waited for no longer.
        """
        end = monotonic() + PATIENCE
        while True:
            while (message := self._waiter.take(self._inlet)) is not None:
                self._text = message.data
            if self._text:
                return self._text
            if monotonic() > end or is_stopped():
                raise SourceError(
                    f"no robot: nothing came on {self._waiter.topic(self._inlet)} within {PATIENCE:g} s, "
                    "and the parameter `robot` is empty"
                    + "".join(f"; {text}" for text in [self._waiter.advice(self._inlet)] if text)
                )
            self._waiter.wait(LOOK)
