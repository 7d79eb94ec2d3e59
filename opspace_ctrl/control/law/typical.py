"""What is typical of a robot and its tasks, measured when a core is built: by it singular is told from regular.

SCALE makes metres and radians comparable: the response r of a row while the other rows of its task stand still,
1 / Lambda_ii, and not that of the row alone, (Lambda^-1)_ii. A light wrist turns far more readily when its tool may
move than when it must not; by the response alone, a least eigenvalue of a few thousandths would be usual of a pose,
and the lost direction of a stretched arm, about 1 while it is regular, would be damped only below that: too late.
TYPICAL is how small the least response of each level usually is in these units.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...osim.response import REACH, SAMPLES
from ..fields import CUT, DAMPING, N_LEVELS
from ..pack import OF_LIMITS

__all__ = ["measure_typical"]

# what rounding leaves of a task that is there twice is below
EXACT = {DAMPING: 1e-7, CUT: 1e-8}
LOST = 1e-6  # of the largest response: a direction below it is one that the robot does not have


def measure_typical(core) -> None:
    """SCALE of the rows, then TYPICAL of every level of tasks: medians over sampled configurations."""
    work, m = core._work, core._space.m
    work["scale"][:m] = np.sqrt(_response_together(core._space, np.square(work["scale"][:m])))
    before, found = core.options.copy(), {}
    for option, value in EXACT.items():
        core.options[option] = value
    work["typical_response"][:] = 1.0
    for q in _configurations(core.model):
        core.tick(q, np.zeros(core.model.nv), 0.0)
        for start, end, _, level in work["STACK_LEVEL"][: work["NUMBERS"][N_LEVELS]]:
            scale = work["stack_scale"][start:end]
            largest = np.linalg.eigvalsh(work["P"][start:end, start:end] * np.outer(scale, scale))[
                -1
            ]
            if level >= 2 and largest > 0.0:
                found.setdefault(level, []).append(1.0 / largest)
    work["typical_response"][1] = OF_LIMITS
    for level, values in found.items():
        work["typical_response"][level] = np.median(values)
    core.options[:] = before
    for slot in ("STATE", "tau", "integral", "error_side"):
        work[slot][...] = 0.0


def _configurations(model) -> Iterator[np.ndarray]:
    """The sampled configurations: always the same ones."""
    rng = np.random.default_rng(0)
    for _ in range(SAMPLES):
        step = np.clip(
            model.difference(model.neutral(), model.random_configuration(rng)), -REACH, REACH
        )
        yield model.integrate(model.neutral(), step, 1.0)


def _response_together(space, alone: np.ndarray) -> np.ndarray:
    """Median of n / sum Lambda_ii (m,) over the n rows of one kind of one task; never above `alone`, r of the row."""
    found = np.tile(alone, (SAMPLES, 1))
    for sample, q in zip(found, _configurations(space.model)):
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
