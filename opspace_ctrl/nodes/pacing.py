# SPDX-License-Identifier: Apache-2.0
"""When a cycle of a loop is due, on a steady clock; knows no ROS."""

__all__ = ["Pacer"]


class Pacer:
    """Cycles of equal length; those that are late are made up for or skipped.

    Attributes:
        period: simulated length of a cycle [s].
        factor: simulated seconds a second; 0: a cycle is always due.
        late: how late the cycle before this moment began [s].
        overruns: cycles that began more than their own length late.
        skipped: time given up so far [s].
    """

    def __init__(self, period: float, factor: float, catch_up: bool, max_catch_up: float) -> None:
        self.period, self.factor = period, factor
        self._allowance = max_catch_up if catch_up else 0.0
        self._due = 0.0
        self.late = 0.0
        self.overruns = 0
        self.skipped = 0.0

    def start(self, now: float) -> None:
        """Time runs from now on [s]: the first cycle is due when its own length has passed."""
        self._due = now + (self.period / self.factor if self.factor else 0.0)

    def delay(self, now: float) -> float:
        """Seconds until the next cycle is due, 0 if it is."""
        return max(0.0, self._due - now) if self.factor else 0.0

    def begin(self, now: float) -> float:
        """A cycle begins now.

        Returns:
            How much time was given up because of it [s].
        """
        if not self.factor:
            self._due, self.late = now, 0.0
            return 0.0
        length = self.period / self.factor
        late = self.late = now - self._due
        self.overruns += late > length
        given_up = late - self._allowance if late > max(length, self._allowance) else 0.0
        self.skipped += given_up
        self._due += length + given_up
        return given_up
