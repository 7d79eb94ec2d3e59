# SPDX-License-Identifier: Apache-2.0
"""What is taken away from the page: a run as one HTML file, a table, a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..control.settings import ControllerSettings
from ..model import Model
from .scene import COLOURS, RobotScene, Trail, add_ground, extent, look_at_robots
from .server import start_server
from .shapes import Shape

__all__ = ["as_html"]

FRAMES = 25.0  # a second
LONGEST = 3000  # frames


def as_html(
    model: Model,
    settings: ControllerSettings,
    shapes: Sequence[Shape],
    rows: np.ndarray,
    ground: float = 0.0,
) -> str:
    """A page that plays rows without a server: the robot, the ground and the trails of its tasks.

    It is made by a server of its own that nobody else sees, so that those who watch are not disturbed.
    """
    server, _ = start_server(0, False, model.name)
    try:
        robot = RobotScene(server, model, shapes)
        add_ground(server, model, ground)
        look_at_robots(server, [extent(model, rows[0]["q"], shapes)])
        trails = [
            Trail(server, f"/trails/{task.name}", COLOURS[i % len(COLOURS)])
            for i, task in enumerate(settings.tasks)
        ]
        robot.show(rows[0]["q"])
        serializer = server.get_scene_serializer()
        for row in at_frames(rows):
            robot.show(row["q"])
            for i, trail in enumerate(trails):
                trail.add(row["pose"][i : i + 1, 9:])
                trail.draw()
            serializer.insert_sleep(1.0 / FRAMES)
        return str(serializer.as_html())
    finally:
        server.stop()


def at_frames(rows: np.ndarray) -> Any:
    """The rows that are shown, `FRAMES` a second of the run."""
    times = np.arange(rows["time"][0], rows["time"][-1] + 1e-9, 1.0 / FRAMES)[:LONGEST]
    return rows[np.searchsorted(rows["time"], times).clip(0, len(rows) - 1)]
