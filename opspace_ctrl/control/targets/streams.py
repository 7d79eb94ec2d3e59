"""`Streams`: inputs of a controller that count for a while only: wrenches, measured wrenches, F and tau0."""

from __future__ import annotations

from threading import Lock

import numpy as np

from ..fields import Law

__all__ = ["Streams"]

NEVER = float("inf")


class Streams:
    """Writes inputs into the tick's numbers, and takes them back when they are old.

    One thread may put while another expires; the latter never waits, for it ticks.

    Attributes:
        expires: When the next one goes stale [s]; the tick compares its time with it.
    """

    def __init__(self, law: Law):
        self._law = law
        # by name, a row a task; F and tau0 are one row
        self._rows = {
            "wrench": law.wrench,
            "measured": law.measured,
            "force": law.raw_force[None],
            "tau0": law.raw_tau0[None],
        }
        self._end: dict[tuple[str, int], float] = {}
        self._changing = Lock()
        self.expires = NEVER

    def put(self, name: str, task: int, value: np.ndarray, end: float = NEVER) -> None:
        """Let wrench or measured of a task, or force or tau0 (task 0), have a value until `end`."""
        with self._changing:
            self._rows[name][task] = value
            if name == "measured":
                self._law.measured_on[task] = 1.0
            self._end[name, task] = end
            self.expires = min(self._end.values())

    def expire(self, time: float) -> None:
        """Take back what has ended, unless something is just being put: then the next call does."""
        if not self._changing.acquire(blocking=False):
            return
        try:
            self._take_back(time)
        finally:
            self._changing.release()

    def clear(self) -> None:
        """Take back everything."""
        with self._changing:
            self._take_back(NEVER)

    def _take_back(self, time: float) -> None:
        for name, task in [key for key, end in self._end.items() if time >= end]:
            del self._end[name, task]
            if name == "measured":
                self._law.measured_on[task] = 0.0  # its last value does not matter then
            else:
                self._rows[name][task] = 0.0
        self.expires = min(self._end.values(), default=NEVER)
