"""Does the tick allocate, and how late is the latest of a thousand?"""
from __future__ import annotations

import os
import tracemalloc
from collections.abc import Callable
from itertools import repeat
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numba.core.runtime import _nrt_python, rtsys
from numba.types import float64, int64

from ..jit import entry
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
    """Memory that the tick asks for beyond what handing six arguments to any compiled function takes.

    That is measured by the same call with an empty q, which is refused before anything is computed. NumPy
    reports its arrays to tracemalloc, compiled code counts its own.

    Returns:
        kept_bytes: What is still held after all ticks.
        transient_bytes: The most that was held at once, beyond the call.
        compiled: Allocations a tick by compiled code, beyond the call.
        call_bytes, call_compiled: What the call itself takes, for a while.
    """
    q, v, force, tau0 = state
    empty, raw = np.empty(0), space._control
    call = _held(lambda: raw(empty, v, force, tau0, True), ticks)
    tick = _held(lambda: space.control(q, v, force, tau0), ticks)
    return {"ticks": ticks, "kept_bytes": tick.kept, "transient_bytes": tick.most - call.most,
            "compiled": tick.compiled - call.compiled, "call_bytes": call.most,
            "call_compiled": call.compiled}


class _Held(NamedTuple):
    """Bytes held after calls, the most held during them, and allocations a call by compiled code."""

    kept: int
    most: int
    compiled: float


def _held(call: Callable[[], object], ticks: int) -> _Held:
    turns = repeat(None, ticks)
    call()
    _nrt_python.memsys_enable_stats()
    compiled = rtsys.get_allocation_stats().alloc
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        for _ in turns:
            call()
        after, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    compiled = rtsys.get_allocation_stats().alloc - compiled
    _nrt_python.memsys_disable_stats()
    return _Held(after - before, most - before, compiled / ticks)


def tail(space: OperationalSpace, states: list[State], calls: int) -> dict[str, float]:
    """Median, 99.9th percentile and maximum of the tick [us], of all calls and of the undisturbed ones.

    Undisturbed: without the chunks in which this core served an interrupt or this thread was switched off it,
    as far as the system tells. What a hypervisor takes is not told, and stays; so the same is measured, in turns, of a
    loop that takes as long and touches no memory: `machine_...`, undisturbed. Its tail is the machine's own.
    """
    inputs = [states[k % len(states)] for k in range(CHUNK)]
    contestants = (space.control, inputs), (spin.prepare(), [(_turns_like(space.control, inputs),)] * CHUNK)
    chunks: tuple[list, list] = ([], [])
    disturbed: tuple[list, list] = ([], [])
    with quiet():
        while len(chunks[0]) * CHUNK < calls:
            for (call, given), times, flags in zip(contestants, chunks, disturbed):
                before = _disturbances()
                times.append(time_warm_block(call, given))
                flags.append(_disturbances() > before)
    tick, machine = (np.array(times) / 1e3 for times in chunks)
    calm, idle = (times[~np.array(flags)] if not all(flags) else times
                  for times, flags in zip((tick, machine), disturbed))
    return {**_percentiles(tick, ""), **_percentiles(calm, "undisturbed_"), **_percentiles(idle, "machine_")}


@entry(float64(int64))
def spin(turns):
    """Takes time in a register, and touches no memory."""
    x = 1.0
    for _ in range(turns):
        x = 0.5 * x + 0.5
    return x


def _turns_like(call: Callable, inputs: list[State], turns: int = 1000) -> int:
    """How many turns `spin` has to make to take as long as a call."""
    wanted, taken = min(time_warm_block(call, inputs)), min(time_warm_block(spin.prepare(), [(turns,)] * CHUNK))
    return max(1, round(turns * wanted / taken))


def _percentiles(us: np.ndarray, prefix: str) -> dict[str, float]:
    return {f"{prefix}calls": us.size, f"{prefix}median": float(np.median(us)),
            f"{prefix}p999": float(np.percentile(us, 99.9)), f"{prefix}max": float(us.max())}


def _disturbances() -> int:
    """How often this thread was switched off its core, plus the interrupts that core served."""
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
