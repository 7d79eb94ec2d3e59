# SPDX-License-Identifier: Apache-2.0
"""What a loop tells, row by row, in memory that two processes share: one writes, the other reads, nobody waits."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..control.settings import ControllerSettings
from ..model import Model

__all__ = ["Ring", "row_type"]

LENGTH = 4096  # rows that are kept
EXTRA_LEVELS = 3  # bias, limits and posture beside the levels of tasks


def row_type(model: Model, settings: ControllerSettings) -> np.dtype[Any]:
    """The fields of a row.

    time [s] of the robot; turns, missed: of the loop so far; since the last row [us]: late, of the turn that began
    latest; tick, tick_most, computing time of the controller, mean and largest; trip, from a state to its command, the
    longest; q, v; effort (k,) [Nm or N] that the drives apply; level (levels, k) [Nm or N]
    of each level as it was scaled; scale, damped (levels,); pose, target (tasks, 12): rotation by rows and position;
    error (tasks, 6); wrench, margin (contacts, 6), (contacts, 4) as the controller reports them; gates: bits of those
    that are closed; method: its number among the loop's; residual, switches: of changing it.
    """
    k, tasks, contacts = len(model.effort_limits), len(settings.tasks), len(settings.contacts)
    levels = len(settings.levels()) + EXTRA_LEVELS
    return np.dtype(
        [
            ("time", float),
            ("turns", np.int64),
            ("missed", np.int64),
            ("late", float),
            ("trip", float),
            ("tick", float),
            ("tick_most", float),
            ("q", float, (model.nq,)),
            ("v", float, (model.nv,)),
            ("effort", float, (k,)),
            ("level", float, (levels, k)),
            ("scale", float, (levels,)),
            ("damped", float, (levels,)),
            ("pose", float, (tasks, 12)),
            ("target", float, (tasks, 12)),
            ("error", float, (tasks, 6)),
            ("wrench", float, (contacts, 6)),
            ("margin", float, (contacts, 4)),
            ("gates", np.int64),
            ("method", np.int64),
            ("residual", float),
            ("switches", np.int64),
        ]
    )


class Ring:
    """The last rows of a loop.

    Args:
        kind: As `row_type` says.
        memory: Where they are, `Ring.size(kind)` bytes that both processes have.
    """

    def __init__(self, kind: np.dtype[Any], memory: Any):
        self._count = np.frombuffer(memory, np.int64, 1)
        self._rows = np.frombuffer(memory, kind, LENGTH, offset=64)

    @staticmethod
    def size(kind: np.dtype[Any]) -> int:
        """How many bytes it takes."""
        return 64 + LENGTH * kind.itemsize

    @property
    def count(self) -> int:
        """How many rows were written so far."""
        return int(self._count[0])

    def next_row(self) -> np.void:
        """The row that is to be written now; `publish` shows it."""
        row: np.void = self._rows[self.count % LENGTH]
        return row

    def publish(self) -> None:
        """Let the row that was written be seen."""
        self._count[0] += 1

    def since(self, count: int) -> tuple[int, np.ndarray]:
        """How many rows there are now, and copies of those after the first `count` that are still there."""
        now = self.count
        first = max(
            count, now - LENGTH + 64, 0
        )  # a writer does not come round while these are copied
        rows = self._rows[np.arange(first, now) % LENGTH]
        return now, rows

    def latest(self) -> np.void | None:
        """A copy of the newest row, None before the first."""
        count, rows = self.since(max(0, self.count - 1))
        row: np.void | None = rows[-1] if count and len(rows) else None
        return row

    def whole(self) -> np.ndarray:
        """Copies of all rows that are still there."""
        return self.since(0)[1]
