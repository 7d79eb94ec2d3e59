# SPDX-License-Identifier: Apache-2.0
"""The demo in the browser: the same figure, methods and push, again and again, while somebody watches."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from .scenario import Scenario, waypoints

__all__ = ["Player", "watch_demo"]

LEAD = 2.0  # [s] of standing still before the figure begins


class Player:
    """Asks a loop for what the scenario says when its time has come.

    Args:
        scenario: What is played.
        task: The number of its task in rows.
        ask: Takes requests, as `LoopProcess.ask`.
    """

    def __init__(self, scenario: Scenario, task: int, ask: Callable[..., None]):
        self._scenario, self._task, self._ask = scenario, task, ask
        self._begin: float | None = None  # when the figure begins [s]
        self._method = ""
        self._centre = self._turn = np.zeros(0)

    def play(self, row: np.void) -> None:
        """Go on: a row has come."""
        scenario, time = self._scenario, float(row["time"])
        if self._begin is None or time > self._begin + scenario.seconds + LEAD:
            self._start(row)
        assert self._begin is not None
        at = time - self._begin
        method = scenario.method_at(at)
        if method != self._method:
            self._method = method
            self._ask("settings", {"method": method})
        if scenario.is_pushed(at):
            self._ask("push", scenario.moved_frame, scenario.push, row["pose"][self._task][9:])

    def _start(self, row: np.void) -> None:
        """Begin a figure, always round the place where the first one began."""
        from opspace_ctrl.model.rotations import to_quaternion

        pose, scenario = row["pose"][self._task], self._scenario
        if not len(self._centre):
            self._centre, self._turn = pose[9:].copy(), to_quaternion(pose[:9].reshape(3, 3))
        times, positions, velocities = waypoints(scenario, self._centre)
        self._ask(
            "trajectory",
            scenario.task,
            LEAD + times,
            positions,
            np.tile(self._turn, (len(times), 1)),
            np.hstack([velocities, np.zeros_like(velocities)]),
        )
        self._begin = float(row["time"]) + LEAD + scenario.lap


def watch_demo(scenario: Scenario, args: Any, stop: Any, stack: ExitStack, folder: Path) -> None:
    """Show the scenario in a page until a signal comes."""
    from ..view import ensure_viser, open_page

    ensure_viser()
    from ...view.live import live_subject
    from ...view.page import feed

    config = None if scenario.config is None else str(scenario.config)
    subject, title = live_subject(
        scenario.robot, config, folder, stack, is_given_up=lambda: stop.requested
    )
    page = open_page([subject], title, args, stack)
    number = subject.settings.values["tasks"].index(scenario.task)
    assert subject.ask is not None  # the loop is ours
    feed(page, stop.wait, Player(scenario, number, subject.ask).play)
