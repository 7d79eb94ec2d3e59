"""Does the tick allocate, and how late is the latest of a thousand?"""
from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from itertools import repeat

import numpy as np
from numba.core.runtime import _nrt_python, rtsys

from ..osim import OperationalSpace
from .states import State
from .timing import quiet, time_block

try:
    from resource import RUSAGE_THREAD, getrusage
except ImportError:  # not on Linux: nothing tells preemption from slowness
    getrusage = None

__all__ = ["allocations", "tail"]

CHUNK = 500  # ticks between two looks at the count of preemptions


def allocations(space: OperationalSpace, state: State, ticks: int = 1000) -> dict[str, int]:
    """Memory that ticks ask for.

    Returns:
        python_bytes: Most that Python and NumPy (which reports its arrays to tracemalloc) held beyond the start.
        compiled: Allocations by compiled code.
    """
    q, v, force, tau0 = state
    control = space.control
    control(q, v, force, tau0)
    _nrt_python.memsys_enable_stats()
    tracemalloc.start()
    try:
        turns = repeat(None, ticks)
        before, compiled = tracemalloc.get_traced_memory()[0], rtsys.get_allocation_stats().alloc
        tracemalloc.reset_peak()
        for _ in turns:
            control(q, v, force, tau0)
        compiled_after, (_, peak) = rtsys.get_allocation_stats().alloc, tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        _nrt_python.memsys_disable_stats()
    return {"ticks": ticks, "python_bytes": peak - before, "compiled": compiled_after - compiled}


def tail(space: OperationalSpace, states: list[State], calls: int,
         after_chunk: Callable[[], None] = lambda: None) -> dict[str, float]:
    """Median and 99.9th percentile of the tick [us]; `undisturbed`: without the chunks in which we were preempted.

    Preemptions are involuntary context switches of this thread. What a hypervisor takes stays in the figures.
    """
    inputs = [states[k % len(states)] for k in range(CHUNK)]
    chunks, disturbed = [], []
    with quiet():
        while len(chunks) * CHUNK < calls:
            before = _preemptions()
            chunks.append(np.array(time_block(space.control, inputs)))
            disturbed.append(_preemptions() > before)
            after_chunk()
    times = np.array(chunks) / 1e3
    calm = times[~np.array(disturbed)] if not all(disturbed) else times
    return {"calls": times.size, "median": float(np.median(times)), "p999": float(np.percentile(times, 99.9)),
            "max": float(times.max()), "undisturbed_calls": calm.size, "undisturbed_median": float(np.median(calm)),
            "undisturbed_p999": float(np.percentile(calm, 99.9)), "undisturbed_max": float(calm.max())}


def _preemptions() -> int:
    return getrusage(RUSAGE_THREAD).ru_nivcsw if getrusage else 0
