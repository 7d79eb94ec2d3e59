# SPDX-License-Identifier: Apache-2.0
"""Robots of a running ROS graph to look at, and, where that is permitted, to move."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from ..errors import ViewError, without_ros
from .rows import Ring, row_type
from .source import Subject

__all__ = ["graph_subject", "graph_subjects"]

PATIENCE = 30.0  # [s] for a robot and its controller to be found


def graph_subjects(
    namespaces: Sequence[str],
    robot: str | None,
    is_controlled: bool,
    stack: ExitStack,
    patience: float = PATIENCE,
) -> tuple[list[Subject], str]:
    """What a graph shows, and a title.

    Args:
        namespaces: Of the robots; empty: of all that the graph describes.
        robot, is_controlled, stack, patience: As for `graph_subject`.

    Raises:
        OpspaceError: There is no ROS here, or no robot.
    """
    try:
        from ..nodes.viewing import described_robots
    except ImportError as error:
        raise ViewError(without_ros("opspace view --ros", error)) from None
    found = namespaces or described_robots(patience) or [""]
    subjects = [graph_subject(each, robot, is_controlled, stack, patience) for each in found]
    how = "under control" if is_controlled else "watched"
    return subjects, f"{', '.join(each.name for each in subjects)}, {how}"


def graph_subject(
    namespace: str,
    robot: str | None,
    is_controlled: bool,
    stack: ExitStack,
    patience: float = PATIENCE,
) -> Subject:
    """What one robot of a graph shows.

    Args:
        namespace: Of the robot.
        robot: A shipped name or a path; None: what the graph describes.
        is_controlled: It may be asked for something.
        stack: What leaves the graph again.
        patience: [s] for the robot and its controller to be found.

    Raises:
        OpspaceError: There is no robot.
    """
    from ..nodes.asking import GraphRequests
    from ..nodes.viewing import GraphView

    view = stack.enter_context(GraphView(namespace, patience))
    view.find(robot)
    kind = row_type(view.model, view.settings)
    ring = Ring(kind, bytearray(Ring.size(kind)))

    def write(fill: Callable[[np.void], None]) -> None:
        fill(ring.next_row())
        ring.publish()

    view.write = write
    view.listen()
    requests = GraphRequests(view) if is_controlled else None
    return Subject(
        view.model,
        view.settings,
        ring,
        view.methods,
        requests.ask if requests else None,
        Path(robot).parent if robot and Path(robot).is_file() else None,
        able=requests.able if requests else frozenset(),
        name=f"{namespace}/{view.model.name}".strip("/"),
    )
