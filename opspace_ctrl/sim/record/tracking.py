# SPDX-License-Identifier: Apache-2.0
"""The tracking error of a run, step by step: what was asked of each task, against where the log says that it was.

A reference that a controller told counts until it tells the next one, so that a step in which nothing reached it, or in
which a gate was closed, is judged too. The pose is the true one: what the encoders measured does not enter. An error
that a controller told itself can only be taken as it came.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy.spatial.transform import Rotation

from ...dynamics import center_of_mass, frame_pose
from ...model import Model
from .log import Run

__all__ = ["Told", "Tracking", "tracking_errors"]


@dataclass
class Told:
    """What a controller told of a task.

    Attributes:
        task: Kind of its rows, frame, and the frame it moves relative to or ""; empty where errors were told.
        rows: Arrays (n, 13): wall time of the state [s], rotation row by row, position; or (n, 7): wall time, error.
    """

    task: list[str] = field(default_factory=list)
    rows: list[np.ndarray] = field(default_factory=list)

    @property
    def is_reference(self) -> bool:
        """Was the reference told, or an error?"""
        return bool(self.task)


@dataclass(frozen=True)
class Tracking:
    """The tracking of a task.

    Attributes:
        rows: (n, 7) time of the schedule [s], error: linear [m], angular [rad]; what the task leaves free is zero.
        coverage: The share of the run's steps that could be judged.
        told: The share in which the controller said something.
    """

    rows: np.ndarray
    coverage: float
    told: float


def tracking_errors(run: Run, model: Model, told: Mapping[str, Told]) -> dict[str, Tracking]:
    """The tracking of every task of which something was told, in a run that is cut at its end."""
    during = np.flatnonzero(np.isfinite(run["schedule"]))
    left = during[np.isfinite(run["left"][during])]
    tracking = {}
    for name, each in told.items():
        rows = np.vstack(each.rows or [np.empty((0, 7))])
        # each row belongs to the state that had left last when it was made
        place = np.searchsorted(run["left"][left], rows[:, 0], side="right") - 1
        at, first = np.unique(left[place[place >= 0]], return_index=True)
        rows = rows[place >= 0][first, 1:]
        if not len(at):
            continue
        share = len(at) / len(during)
        if each.is_reference:
            steps = during[during >= at[0]]
            rows = rows[np.searchsorted(at, steps, side="right") - 1]
            at, rows = steps, _errors(model, run["q"][steps], each.task, rows)
        judged = np.column_stack((run["schedule"][at], rows))
        tracking[name] = Tracking(judged, len(at) / len(during), share)
    return tracking


def _errors(model: Model, q: np.ndarray, task: list[str], targets: np.ndarray) -> np.ndarray:
    """(n, 6): targets (n, 12) minus where the task was in configurations (n, nq)."""
    rows, frame, reference = task
    errors = np.zeros((len(q), 6))
    if rows == "com":
        errors[:, :3] = targets[:, 9:] - [center_of_mass(model, each) for each in q]
        return errors
    position, turn = _poses(model, q, frame)
    if reference:
        origin, axes = _poses(model, q, reference)
        position, turn = axes.inv().apply(position - origin), axes.inv() * turn
    if rows != "orientation":
        errors[:, :3] = targets[:, 9:] - position
    if rows != "position":
        wanted = Rotation.from_matrix(targets[:, :9].reshape(-1, 3, 3))
        errors[:, 3:] = (wanted * turn.inv()).as_rotvec()
    return errors


def _poses(model: Model, q: np.ndarray, frame: str) -> tuple[np.ndarray, Rotation]:
    poses = [frame_pose(model, each, frame) for each in q]
    return np.array([place for place, _ in poses]), Rotation.from_quat([turn for _, turn in poses])
