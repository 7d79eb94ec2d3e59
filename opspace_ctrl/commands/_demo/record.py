"""The record of a demo, step by step, and the figures that sum it up."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from opspace_ctrl import Model, frame_pose

from .scenario import SECONDS, Scenario

__all__ = ["Record"]


@dataclass(frozen=True)
class Record:
    """The states and efforts of a run, one row a step.

    Attributes:
        time: (n,) time of the figure [s], below zero before it began.
        q: (n, nq) configurations.
        torque: (n, k) efforts commanded [Nm].
        delay: (n,) from the state to its command [us]: round trip over ROS, or computation in one process.
        wall: (n,) when the state was there, on the wall clock [s].
        centre: (3,) where the figure's centre is, world axes [m].
    """

    scenario: Scenario
    model: Model
    time: np.ndarray
    q: np.ndarray
    torque: np.ndarray
    delay: np.ndarray
    wall: np.ndarray
    centre: np.ndarray

    @cached_property
    def position(self) -> np.ndarray:
        """(n, 3) where the task's frame was [m]."""
        return np.array([frame_pose(self.model, q, self.scenario.task)[0] for q in self.q]).reshape(
            -1, 3
        )

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
    def near_push(self) -> np.ndarray:
        """(n,) whether a row is within the push, which may come a moment late, or the time it takes to recover."""
        return (self.time >= self.scenario.push_start) & (self.time < self.scenario.push_end + 1.7)

    def rows(self, choice: slice | np.ndarray) -> Record:
        """Some of the rows."""
        return Record(
            self.scenario,
            self.model,
            self.time[choice],
            self.q[choice],
            self.torque[choice],
            self.delay[choice],
            self.wall[choice],
            self.centre,
        )

    def figure_only(self) -> Record:
        """The rows of the figure itself."""
        return self.rows((self.time >= 0.0) & (self.time <= SECONDS))

    def of_method(self, name: str) -> Record:
        """The rows of one method's turns, without the push and what follows it."""
        mine = np.array([self.scenario.method_at(t) == name for t in self.time], dtype=bool)
        return self.rows(mine & ~self.near_push)
