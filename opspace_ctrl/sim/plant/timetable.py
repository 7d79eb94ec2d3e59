# SPDX-License-Identifier: Apache-2.0
"""Faults at work: which of a schedule act now, with random numbers of their own, and what each has done so far."""

import math
from collections.abc import Iterable

import numpy as np

from .faults import Fault, Schedule

SIDES = ("state", "command")


class Activity:
    """A fault with its times on the plant's schedule, its random numbers and its counts.

    Each fault draws from streams of its own, one a side, so that its numbers do not depend on other faults.

    Attributes:
        fault, number: What was asked for, and its place in the timetable.
        start, end: [s] since the first command; a live fault's are shifted to when it was set.
        is_live: Whether it was set while the robot ran.
        acts: Whether it acts now.
        counts: What it did: {"dropped": 12}; "steps" for faults that act in every step.
    """

    def __init__(
        self, fault: Fault, seed: int, number: int, shift: float = 0.0, is_live: bool = False
    ):
        self.fault, self.number, self.is_live = fault, number, is_live
        self.start, self.end = fault.start + shift, fault.end + shift
        self.acts = False
        self.counts: dict[str, int] = {}
        self.rng = {side: np.random.default_rng([seed, number, k]) for k, side in enumerate(SIDES)}

    def count(self, what: str, times: int = 1) -> None:
        """Add to one of the counts."""
        self.counts[what] = self.counts.get(what, 0) + times

    def record(self) -> dict:
        """For the log: the fault, its times and what it did, as plain data."""
        fault = self.fault
        return {
            "kind": fault.kind,
            "title": fault.title,
            "target": fault.target,
            "start": self.start,
            "end": None if math.isinf(self.end) else self.end,
            "live": self.is_live,
            "acts": self.acts,
            "values": dict(fault.values),
            "counts": dict(self.counts),
        }


class Timetable:
    """All faults of a run, in the order of the schedule, live ones after them."""

    def __init__(self, schedule: Schedule, seed: int):
        self.seed = seed
        self.all: list[Activity] = []
        self._next = math.inf
        self.add(schedule, 0.0, is_live=False)

    def add(self, schedule: Schedule, now: float, is_live: bool = True) -> list[Activity]:
        """Put in more faults, their times counted from now; the new ones are returned."""
        first = len(self.all)
        new = [
            Activity(fault, self.seed, first + k, now, is_live)
            for k, fault in enumerate(schedule.faults)
        ]
        self.all += new
        self._next = -math.inf
        return new

    def clear_live(self, now: float) -> None:
        """End the faults that were set live."""
        for activity in self.all:
            if activity.is_live:
                self.end(activity, now)

    def end(self, activity: Activity, now: float) -> None:
        """Let a fault act no longer than until now."""
        activity.end = min(activity.end, now)
        self._next = -math.inf

    def rewind(self) -> None:
        """Back to before the first command; the live ones are over."""
        for activity in self.all:
            if activity.is_live:
                activity.end = activity.start
        self._next = -math.inf

    def advance(self, now: float) -> list[Activity]:
        """Those that begin or end to act at this time [s]; between changes this costs one comparison."""
        if now < self._next:
            return []
        now += 1e-9  # times are sums of steps
        changed = [
            activity
            for activity in self.all
            if activity.acts != (activity.start <= now < activity.end)
        ]
        for activity in changed:
            activity.acts = not activity.acts
        times = [
            time for activity in self.all for time in (activity.start, activity.end) if time > now
        ]
        self._next = min(times, default=math.inf) - 1e-9
        return changed

    def active(self, kinds: Iterable[str]) -> list[Activity]:
        """Those of the given kinds that act now."""
        return [activity for activity in self.all if activity.acts and activity.fault.kind in kinds]

    def combinations(self, kinds: Iterable[str]) -> list[list[Activity]]:
        """Every set of faults of these kinds that will act together at some time, the empty one first."""
        mine = [activity for activity in self.all if activity.fault.kind in kinds]
        sets: list[list[Activity]] = [[]]
        for time in sorted({time for activity in mine for time in (activity.start, activity.end)}):
            acting = [activity for activity in mine if activity.start <= time < activity.end]
            if acting not in sets:
                sets.append(acting)
        return sets
