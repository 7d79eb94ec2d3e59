# SPDX-License-Identifier: Apache-2.0
"""Does the tick allocate, and how late is the latest of a thousand?"""

import tracemalloc
from collections.abc import Callable, Sequence
from itertools import repeat
from typing import NamedTuple

import numpy as np

from ..compiled.allocations import counted_allocations
from ..compiled.jit import entry, integer, prepare, real
from ..osim import OperationalSpace
from .states import State
from .timing import quiet, time_warm_block

BLOCK = 1000  # ticks between two turns of the loop
LATE = 3.0  # a call is late that takes longer than so many medians
RARE = 0.001


def allocations(space: OperationalSpace, state: State, ticks: int = 1000) -> dict[str, float]:
    """Memory that the tick asks for. NumPy reports its arrays to tracemalloc, compiled code counts its own.

    Returns:
        kept_bytes: What is still held after all ticks.
        transient_bytes: The most that was held at once.
        compiled: Allocations a tick by compiled code.
    """
    q, v, force, tau0 = state
    found = _held(lambda: space.control(q, v, force, tau0), ticks)
    return {
        "ticks": ticks,
        "kept_bytes": found.kept,
        "transient_bytes": found.most,
        "compiled": found.compiled,
    }


class _Held(NamedTuple):
    """Bytes held after calls, the most held during them, and allocations a call by compiled code."""

    kept: int
    most: int
    compiled: float


def _held(call: Callable[[], object], ticks: int) -> _Held:
    turns = repeat(None, ticks)
    call()
    with counted_allocations() as compiled:
        tracemalloc.start()
        try:
            before = tracemalloc.get_traced_memory()[0]
            tracemalloc.reset_peak()
            for _ in turns:
                call()
            after, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    return _Held(after - before, most - before, compiled() / ticks)


def tail(space: OperationalSpace, states: Sequence[State], calls: int) -> dict[str, float]:
    """Median, 99.9th percentile and maximum of the tick [us], the percentile without the preempted ticks, late shares.

    `calls` are rounded up to whole blocks of 1000; what is returned says how many there were.

    An interrupt is told to nobody if the hypervisor takes it, so preemption is measured, not asked for: in turns with
    the tick runs a loop that takes as long, in registers alone. Nothing but preemption can make it late, and it is
    preempted as often as the tick.
    """
    inputs = [states[k % len(states)] for k in range(BLOCK)]
    loop = [(1.0, _turns_like(space.control, inputs))] * BLOCK
    ticks: list[int] = []
    loops: list[int] = []
    with quiet():
        while len(ticks) < calls:
            ticks += time_warm_block(space.control, inputs)
            loops += time_warm_block(spin, loop)
    tick, machine = np.array(ticks) / 1e3, np.array(loops) / 1e3
    return {
        **_percentiles(tick, ""),
        "not_preempted_p999": not_preempted(tick, machine),
        "late": late(tick),
        **_percentiles(machine, "loop_"),
        "loop_late": late(machine),
    }


def late(times: np.ndarray) -> float:
    """Share of the calls that took more than `LATE` medians."""
    return float(np.mean(times > LATE * np.median(times)))


def not_preempted(tick: np.ndarray, loop: np.ndarray) -> float:
    """99.9th percentile of the ticks, without as many of the latest as the loop has late calls."""
    return float(np.quantile(tick, (1.0 - late(loop)) * (1.0 - RARE)))


@entry(real, integer)
def spin(x, turns):
    """Takes time in registers; x comes from outside, so that the compiler cannot know the answer."""
    for _ in range(turns):
        x = 0.5 * x + 0.5
    return x


def _turns_like(call: Callable, inputs: Sequence[State], turns: int = 10_000) -> int:
    """The number of turns that make `spin` take as long as a call."""
    prepare([spin])
    wanted = float(np.median(time_warm_block(call, inputs)))
    empty, full = (float(np.median(time_warm_block(spin, [(1.0, n)] * BLOCK))) for n in (0, turns))
    return max(1, round(turns * (wanted - empty) / max(full - empty, 1.0)))


def _percentiles(us: np.ndarray, prefix: str) -> dict[str, float]:
    return {
        f"{prefix}calls": us.size,
        f"{prefix}median": float(np.median(us)),
        f"{prefix}p999": float(np.quantile(us, 1.0 - RARE)),
        f"{prefix}max": float(us.max()),
    }
