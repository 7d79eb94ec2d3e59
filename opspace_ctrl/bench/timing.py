# SPDX-License-Identifier: Apache-2.0
"""The stopwatch: contestants in turns on one core, the least and the median time of each."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter_ns
from typing import Any

import numpy as np

WARM = 4  # untimed calls before each block: the others have been using the caches


@dataclass(frozen=True, eq=False)
class Contestant:
    """Something to time.

    Attributes:
        call: Takes one of the inputs, unpacked.
        inputs: One tuple of arguments a state, in the contestant's own coordinates, made beforehand.
        ours: (result, number of the state) -> arrays in our coordinates, to compare with; not timed.
        repeats: How often a call does the work; its time is divided by that.
    """

    call: Callable
    inputs: Sequence[tuple]
    ours: Callable[[Any, int], tuple[np.ndarray, ...]]
    repeats: int = 1


@dataclass(frozen=True)
class Timing:
    """Least, median and 99th percentile of the time of a call [us], `clock_cost` included."""

    least: float
    median: float
    p99: float
    calls: int

    @classmethod
    def of(cls, nanoseconds: np.ndarray) -> Timing:
        """The summary of the times of single calls."""
        us = np.asarray(nanoseconds) / 1e3
        return cls(float(us.min()), float(np.median(us)), float(np.percentile(us, 99)), us.size)


@contextmanager
def pinned() -> Iterator[int | None]:
    """Stay on one core (the last one allowed) inside; gives its number, None where the system cannot."""
    if not hasattr(os, "sched_setaffinity"):
        yield None
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed)})
    try:
        yield max(allowed)
    finally:
        os.sched_setaffinity(0, allowed)


@contextmanager
def quiet() -> Iterator[None]:
    """No garbage collection inside."""
    was_on = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def time_in_turns(contestants: Mapping[str, Contestant], calls: int) -> dict[str, Timing]:
    """Time contestants round after round, each through all its states, so that noise hits all alike.

    Args:
        contestants: By name.
        calls: At least so many timed calls of each.
    """
    times: dict[str, list[int]] = {name: [] for name in contestants}
    with quiet():
        while any(len(taken) < calls for taken in times.values()):
            for name, contestant in contestants.items():
                times[name] += time_warm_block(contestant.call, contestant.inputs)
    return {
        name: Timing.of(np.array(taken) / contestants[name].repeats)
        for name, taken in times.items()
    }


def time_warm_block(call: Callable, inputs: Sequence[tuple]) -> list[int]:
    """The time [ns] of one call at each input, after a few untimed ones."""
    for arguments in inputs[:WARM]:
        call(*arguments)
    return time_block(call, inputs)


def time_block(call: Callable, inputs: Sequence[tuple]) -> list[int]:
    """The time [ns] of one call at each input."""
    clock, taken = perf_counter_ns, [0] * len(inputs)
    for k, arguments in enumerate(inputs):
        start = clock()
        call(*arguments)
        taken[k] = clock() - start
    return taken


def clock_cost(calls: int = 2000) -> float:
    """The time that the clock adds to every call [us]: the least of calling nothing."""
    return min(time_block(_nothing, [()] * calls)) / 1e3


def _nothing() -> None:
    """Called to see what calling costs."""
