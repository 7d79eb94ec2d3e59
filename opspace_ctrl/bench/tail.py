"""Does the tick allocate, and how late is the latest of a thousand?"""
from __future__ import annotations

import os
import tracemalloc
from collections.abc import Callable
from itertools import repeat
from pathlib import Path

import numpy as np
from numba.core.runtime import _nrt_python, rtsys

from ..osim import OperationalSpace
from .states import State
from .timing import quiet, time_warm_block

try:
    from resource import RUSAGE_THREAD, getrusage
except ImportError:  # not on Linux: nothing tells preemption from slowness
    getrusage = None

__all__ = ["allocations", "tail"]

CHUNK = 50  # ticks between two looks at what the kernel has done
INTERRUPTS = Path("/proc/interrupts")


def allocations(space: OperationalSpace, state: State, ticks: int = 1000) -> dict[str, float]:
    """Memory that ticks ask for.

    Returns:
        python_bytes: Most that Python and NumPy (which reports its arrays to tracemalloc) held beyond the start.
        compiled: Allocations a tick by compiled code: Numba makes a small record for each array it is handed.
    """
    q, v, force, tau0 = state
    control, turns = space.control, repeat(None, ticks)
    control(q, v, force, tau0)
    _nrt_python.memsys_enable_stats()
    compiled = rtsys.get_allocation_stats().alloc
    tracemalloc.start()
    try:
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()
        for _ in turns:
            control(q, v, force, tau0)
        after = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    compiled = rtsys.get_allocation_stats().alloc - compiled
    _nrt_python.memsys_disable_stats()
    own = _cost_of_looking()
    return {"ticks": ticks, "python_bytes": max(0, after[1] - before[0] - own), "compiled": compiled / ticks}


def _cost_of_looking() -> int:
    """Bytes that tracemalloc's own answer takes."""
    tracemalloc.start()
    try:
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()
        after = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return after[1] - before[0]


def tail(space: OperationalSpace, states: list[State], calls: int,
         after_chunk: Callable[[], None] = lambda: None) -> dict[str, float]:
    """Median, 99.9th percentile and maximum of the tick [us], of all calls and of the undisturbed ones.

    Undisturbed: without the chunks in which this core served an interrupt or this thread was switched off it, as far
    as the system tells. What a hypervisor takes is not told, and stays.
    """
    inputs = [states[k % len(states)] for k in range(CHUNK)]
    chunks, disturbed = [], []
    with quiet():
        while len(chunks) * CHUNK < calls:
            before = _disturbances()
            chunks.append(time_warm_block(space.control, inputs))
            disturbed.append(_disturbances() > before)
            after_chunk()
    times = np.array(chunks) / 1e3
    calm = times[~np.array(disturbed)] if not all(disturbed) else times
    return {**_percentiles(times, ""), **_percentiles(calm, "undisturbed_")}


def _percentiles(us: np.ndarray, prefix: str) -> dict[str, float]:
    return {f"{prefix}calls": us.size, f"{prefix}median": float(np.median(us)),
            f"{prefix}p999": float(np.percentile(us, 99.9)), f"{prefix}max": float(us.max())}


def _disturbances() -> int:
    """How often this thread was switched off the core it is pinned to, and how many interrupts that core served."""
    if getrusage is None:
        return 0
    count, core = getrusage(RUSAGE_THREAD).ru_nivcsw, _core()
    if core is not None:
        head, *lines = INTERRUPTS.read_text().splitlines()
        column = 1 + head.split().index(f"CPU{core}")
        for line in lines:
            words = line.split()
            if len(words) > column and words[column].isdigit():
                count += int(words[column])
    return count


def _core() -> int | None:
    """The one core we may run on; None if there are several, or nobody counts interrupts."""
    allowed = sorted(os.sched_getaffinity(0))
    return allowed[0] if len(allowed) == 1 and INTERRUPTS.exists() else None
