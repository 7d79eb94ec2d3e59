"""The time that messages tell: what is new, repeated, late, or a clock that was set."""

from __future__ import annotations

__all__ = ["AHEAD", "BACK", "LATE", "NEW", "REPEATED", "Stamps"]

# What a stamp is, seen from the last one that counted.
NEW, REPEATED, LATE, BACK, AHEAD = range(5)
LATE_IN_A_ROW = 5  # so many late messages in a row are a clock that was set back, not messages in the wrong order
PAUSE = 500_000_000  # [ns] likewise, when nothing else has come for so long
ZEROS_IN_A_ROW = 3  # so many zero stamps in quick succession are a publisher that does not stamp, not the time zero
SMOOTHING = 0.05  # share of a new period in the mean


class Stamps:
    """Judges the stamps of one topic.

    A message that is a little older than the last was overtaken on its way and is dropped. A clock that is set back (a
    simulation that starts again) shows as a large step, as several old stamps in a row, or as an old stamp after a
    pause. A publisher that leaves its stamps at zero is timed by the arrival of its messages.

    Attributes:
        last: the newest stamp that counted [ns], 0 before the first.
        arrival: when it came, by the steady clock [ns].
        period: mean period of the stamps [s], 0 while unknown.
        is_unstamped: the publisher does not stamp.
    """

    def __init__(self, jump: float):
        """Jump: the largest step that is no fault [s]."""
        self.jump = jump
        self._zeros, self._zero_arrival = 0, 0
        self.forget()

    def forget(self) -> None:
        """Start again: nothing has come."""
        self._late, self.last, self.arrival, self.period = 0, 0, 0, 0.0

    @property
    def is_unstamped(self) -> bool:
        """Does the publisher leave its stamps at zero?"""
        return self._zeros >= ZEROS_IN_A_ROW

    def judge(self, stamp: int, arrival: int) -> int:
        """What a stamp is; if it is NEW, BACK or AHEAD it counts from now on. Both in ns."""
        stamp = stamp if stamp else self._zero(arrival)
        step, jump = stamp - self.last, int(self.jump * 1e9)
        if self.last == 0:
            return self._count(NEW, stamp, arrival)
        if step == 0:
            return REPEATED
        if step < 0:
            self._late += 1
            is_set = -step > jump or self._late >= LATE_IN_A_ROW or arrival - self.arrival > PAUSE
            return self._count(BACK, stamp, arrival) if is_set else LATE
        if step > jump and step - (arrival - self.arrival) > jump:
            return self._count(AHEAD, stamp, arrival)
        return self._count(NEW, stamp, arrival)

    def _zero(self, arrival: int) -> int:
        """What a stamp of zero means: the first instant, or no stamp at all."""
        self._zeros = self._zeros + 1 if arrival - self._zero_arrival < PAUSE else 1
        self._zero_arrival = arrival
        if self._zeros == ZEROS_IN_A_ROW:
            self.forget()
        return arrival if self.is_unstamped else 1

    def _count(self, verdict: int, stamp: int, arrival: int) -> int:
        if verdict == NEW and self.last:
            period = (stamp - self.last) * 1e-9
            self.period = (
                self.period + SMOOTHING * (period - self.period) if self.period else period
            )
        self.last, self.arrival, self._late = stamp, arrival, 0
        return verdict
