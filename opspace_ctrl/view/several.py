# SPDX-License-Identifier: Apache-2.0
"""Several robots in one page: a tab of the panel for each, side by side in the scene."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import viser

from .page import Page
from .plots import plot_panel
from .scene import add_ground, extent, look_at_robots
from .shapes import robot_shapes
from .source import Subject
from .style import STOP_IN_SIGHT
from .within import Within

__all__ = ["Several"]

GAP = 0.3  # [m] between two robots that would stand in each other


class Several:
    """The pages of several robots, fed as one: a tab for each in the panel and in the plots.

    Robots stand where their own worlds have them. Nobody tells where these worlds are in each other; where two robots
    would stand in each other, the later one is drawn beside those before it.

    Args:
        server: viser's.
        subjects: The robots.

    Attributes:
        pages: Of each.
        places: (robots, 3) where the origins of their worlds are drawn [m].
    """

    def __init__(self, server: Any, subjects: Sequence[Subject]):
        gui = server.gui
        if any(subject.ask for subject in subjects):
            gui.add_html(STOP_IN_SIGHT)
            stop = gui.add_button("STOP ALL", color="red", icon=viser.Icon.HAND_STOP)
            stop.on_click(lambda _: self.stop())
            command = gui.add_command("Emergency stop", hotkey="escape", icon=viser.Icon.HAND_STOP)
            command.on_trigger(lambda _: self.stop())
        boxes: list[tuple[np.ndarray, np.ndarray]] = []
        self.pages: list[Page] = []
        self.places = np.zeros((len(subjects), 3))
        tabs, plots = gui.add_tab_group(), plot_panel(gui)
        for number, subject in enumerate(subjects):
            low, high = _extent(subject)
            self.places[number, 1] = place = beside(low, high, boxes)
            shift = np.array([0.0, place, 0.0])
            boxes.append((low + shift, high + shift))
            part = Within(server, f"/robot{number}", shift)
            part.scene.add_label(
                "/name",
                subject.name,
                position=tuple(np.append(0.5 * (low + high)[:2], high[2] + 0.15)),
            )
            with plots.add_tab(subject.name):
                own = gui.add_tab_group()
            with tabs.add_tab(subject.name):
                self.pages.append(Page(part, subject, is_alone=False, plot_tabs=own))
        add_ground(server, subjects[0].model, min(subject.ground for subject in subjects))
        look_at_robots(server, boxes)

    def stop(self) -> None:
        """Emergency stop of all."""
        for page in self.pages:
            page.panel.stop()

    def update(self) -> np.void | None:
        """Show what has happened; the newest row of the first robot."""
        return [page.update() for page in self.pages][0]


def _extent(subject: Subject) -> tuple[np.ndarray, np.ndarray]:
    row = subject.ring.latest()
    q = subject.model.neutral() if row is None else row["q"]
    return extent(subject.model, q, robot_shapes(subject.model, subject.folder))


def beside(
    low: np.ndarray, high: np.ndarray, boxes: Sequence[tuple[np.ndarray, np.ndarray]]
) -> float:
    """How far along y a box (corners (3,)) is to be shifted to stand in none of others: 0 if it does not."""
    if not any((low < other[1]).all() and (high > other[0]).all() for other in boxes):
        return 0.0
    return float(max(other[1][1] for other in boxes) + GAP - low[1])
