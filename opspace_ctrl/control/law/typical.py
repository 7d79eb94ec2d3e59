# SPDX-License-Identifier: Apache-2.0
"""What is typical of a robot and its tasks, measured when a core is built: by it singular is told from regular.

space.scale makes metres and radians comparable: the root of the response r of a row while the other rows of its task
stand still, 1 / Lambda_ii, and not that of the row alone, (Lambda^-1)_ii. A light wrist turns far more readily when its
tool may move than when it must not; by the response alone, a least eigenvalue of a few thousandths would be usual of a
pose, and the lost direction of a stretched arm, about 1 while it is regular, would be damped only below that: too late.
`typical_response` is how small the least response of each level usually is in these units.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...osim.response import SAMPLES, sampled_configurations
from ..build import OF_LIMITS
from ..fields import TASKS_MODE, Law

if TYPE_CHECKING:
    from ..core import Core

__all__ = ["measure_typical"]

# what rounding leaves of a task that is there twice is below
EXACT_DAMPING, EXACT_CUT = 1e-7, 1e-8
LOST = 1e-6  # of the largest response: a direction below it is one that the robot does not have


def measure_typical(core: Core) -> None:
    """space.scale of the rows, then `typical_response` of every level of tasks: medians over sampled configurations."""
    law, space = core.law, core._space
    row_scale = law.space.scale[: law.m]
    row_scale[:] = np.sqrt(_response_together(space, np.square(row_scale)))
    neutral: dict[str, Any] = {"mode": TASKS_MODE, "task_enabled": 1.0, "contact_enabled": 1.0}
    neutral |= {"singularity_damping": EXACT_DAMPING, "singularity_cut": EXACT_CUT}
    before = {name: np.array(getattr(law, name)) for name in neutral}
    _set(law, neutral)
    law.typical_response = 1.0
    found: dict[int, list[float]] = {}
    for q in sampled_configurations(core.model):
        core.tick(q, np.zeros(core.model.nv), 0.0)
        for l in range(law.stack_levels):
            level = int(law.stack_level_report[l])
            rows = np.s_[law.stack_level_start[l] : law.stack_level_end[l]]
            scale = law.stack_scale[rows]
            largest = np.linalg.eigvalsh(law.P[rows, rows] * np.outer(scale, scale))[-1]
            if level >= 2 and largest > 0.0:
                found.setdefault(level, []).append(1.0 / largest)
    law.typical_response[1] = OF_LIMITS
    for level, values in found.items():
        law.typical_response[level] = np.median(values)
    _set(law, before)
    law.reset()


def _set(law: Law, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        setattr(law, name, value)


def _response_together(space, alone: np.ndarray) -> np.ndarray:
    """Median of n / sum Lambda_ii (m,) over the n rows of one kind of one task; never above `alone`, r of the row."""
    found = np.tile(alone, (SAMPLES, 1))
    for sample, q in zip(found, sampled_configurations(space.model)):
        space.update(q)
        for block in space._blocks:
            rows = np.arange(block.row, block.row + len(block.selection))
            scale = np.sqrt(alone[rows])
            values, vectors = np.linalg.eigh(
                space.inertia_inv[np.ix_(rows, rows)] / np.outer(scale, scale)
            )
            kept = values > LOST * values[-1]
            inertia = np.square(vectors[:, kept]) @ (1.0 / values[kept])
            kinds = [(row[:3].any(), row[3:].any()) for row in block.selection]
            for kind in set(kinds):  # sharing keeps the rule independent of how the axes are turned
                same = [i for i, other in enumerate(kinds) if other == kind]
                sample[rows[same]] /= max(np.mean(inertia[same]), 1.0)
    return np.median(found, axis=0)
