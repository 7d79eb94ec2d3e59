# SPDX-License-Identifier: Apache-2.0
"""The record of a demo, step by step, and the figures that sum it up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from opspace_ctrl import Model

from .scenario import Scenario

__all__ = ["Record"]

LOST = 0.25  # share of the figure's size: a tool that is further off does not follow it


@dataclass(frozen=True)
class Record:
    """The states and efforts of a run, one row a step.

    Attributes:
        time: (n,) time of the figure [s], below zero before it began.
        q: (n, nq) configurations.
        torque: (n, k) efforts of the drives [Nm or N].
        delay: (n,) from the state to its command [us]: round trip over ROS, or computation in one process.
        wall: (n,) when the state was there, on the wall clock [s].
        centre: (3,) where the figure's centre is, world axes [m].
        residuals: Of each change of the method, how far the torques of both were apart at that state, relative.
        remarks: Warnings of the nodes, as they printed them.
    """

    scenario: Scenario
    model: Model
    time: np.ndarray
    q: np.ndarray
    torque: np.ndarray
    delay: np.ndarray
    wall: np.ndarray
    centre: np.ndarray
    residuals: tuple[float, ...] = ()
    remarks: tuple[str, ...] = ()

    @cached_property
    def position(self) -> np.ndarray:
        """(n, 3) where the task's frame was [m]."""
        return np.array([self.scenario.place(self.model, q) for q in self.q]).reshape(-1, 3)

    @cached_property
    def target(self) -> np.ndarray:
        """(n, 3) where it should have been [m]."""
        return self.centre + self.scenario.figure(self.time)

    @cached_property
    def error(self) -> np.ndarray:
        """(n,) distance between the two [mm]."""
        return 1e3 * np.linalg.norm(self.target - self.position, axis=1)

    @cached_property
    def share(self) -> np.ndarray:
        """(n, k) efforts as a share of their limits."""
        return self.torque / self.model.effort_limits

    @property
    def rate(self) -> float:
        """States a second of the wall clock; NaN for less than two."""
        return (
            (len(self.wall) - 1) / (self.wall[-1] - self.wall[0])
            if len(self.wall) > 1
            else float("nan")
        )

    @property
    def is_followed(self) -> bool:
        """Did the tool follow the figure wherever nothing pushed it?"""
        free = self.error[self.time < self.scenario.push_start]
        return bool(free.max(initial=0.0) < 1e3 * LOST * max(map(abs, self.scenario.size)))

    def rows(self, choice: slice | np.ndarray) -> Record:
        """Some of the rows."""
        columns = ("time", "q", "torque", "delay", "wall")
        return replace(self, **{name: getattr(self, name)[choice] for name in columns})

    def figure_only(self) -> Record:
        """The rows of the figure itself."""
        return self.rows((self.time >= 0.0) & (self.time <= self.scenario.seconds))

    def lap(self, number: int) -> Record:
        """The rows of a lap, from 0 on; that of the push is the last."""
        start = number * self.scenario.lap
        return self.rows((self.time >= start) & (self.time < start + self.scenario.lap))
