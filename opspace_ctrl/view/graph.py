# SPDX-License-Identifier: Apache-2.0
"""A robot of a running ROS graph to look at, and, where that is permitted, to move."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from ..errors import ViewError, without_ros
from ..osim import methods
from .rows import Ring, row_type
from .source import Subject

__all__ = ["graph_subject"]


def graph_subject(
    namespace: str, robot: str | None, is_controlled: bool, stack: ExitStack, patience: float = 30.0
) -> tuple[Subject, str]:
    """What a graph shows, and a title.

    Args:
        namespace: Of the robot.
        robot: A shipped name or a path; None: what the graph describes.
        is_controlled: It may be asked for something.
        stack: What leaves the graph again.
        patience: [s] for the robot and its controller to be found.

    Raises:
        OpspaceError: There is no ROS here, or no robot.
    """
    try:
        from ..nodes.viewing import GraphView
    except ImportError as error:
        raise ViewError(without_ros("opspace view --ros", error)) from None
    view = stack.enter_context(GraphView(namespace, patience))
    view.find(robot)
    kind = row_type(view.model, view.settings)
    ring = Ring(kind, bytearray(Ring.size(kind)))

    def write(fill: Callable[[np.void], None]) -> None:
        fill(ring.next_row())
        ring.publish()

    view.write = write
    view.listen()
    subject = Subject(
        view.model,
        view.settings,
        ring,
        methods(view.model),
        view.ask if is_controlled else None,
        Path(robot).parent if robot and Path(robot).is_file() else None,
    )
    how = "under control" if is_controlled else "watched"
    return subject, f"{namespace or '/'} {view.model.name}, {how}"
