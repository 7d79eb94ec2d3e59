"""How small the least response of each level usually is: a constant of robot and tasks, by which singular is told."""
from __future__ import annotations

import numpy as np

from ..osim.response import REACH, SAMPLES
from . import layout as at
from .pack import OF_LIMITS

__all__ = ["measure_typical"]

EXACT = {at.DAMPING: 1e-9, at.CUT: 1e-11}


def measure_typical(core) -> None:
    """TYPICAL of every level of tasks: the median, over sampled configurations, of the least eigenvalue it has left."""
    work, model, rng = core._work, core.model, np.random.default_rng(0)
    before, found = core.options.copy(), {}
    for option, value in EXACT.items():
        core.options[option] = value
    work[at.TYPICAL][:] = 1.0
    for _ in range(SAMPLES):
        step = np.clip(model.difference(model.neutral(), model.random_configuration(rng)), -REACH, REACH)
        core.tick(model.integrate(model.neutral(), step, 1.0), np.zeros(model.nv), 0.0)
        for start, end, _, level in work[at.STACK_LEVEL][:work[at.NUMBERS][at.N_LEVELS]]:
            scale = work[at.ROW_SCALE][start:end]
            largest = np.linalg.eigvalsh(work[at.INVERSE][start:end, start:end] * np.outer(scale, scale))[-1]
            if level >= 2 and largest > 0.0:
                found.setdefault(level, []).append(1.0 / largest)
    work[at.TYPICAL][1] = OF_LIMITS
    for level, values in found.items():
        work[at.TYPICAL][level] = np.median(values)
    core.options[:] = before
    for slot in (at.STATE, at.TAU, at.INTEGRAL, at.ERROR_SIDE):
        work[slot][...] = 0.0
