# SPDX-License-Identifier: Apache-2.0
"""From simulated time to stamps; knows no ROS."""

from collections.abc import Callable

__all__ = ["Stamping"]

SLEW = 1024  # the part of the difference to the clock that one stamp takes in, inverse


class Stamping:
    """Stamps of simulated times.

    A simulator that owns time stamps with simulated time itself. A free-running one stamps with the node's clock, for
    its peers compare with theirs: simulated time plus a distance that follows the clock slowly, so that stamps stay
    evenly spaced, and that jumps when time was skipped.

    Attributes:
        last: the newest stamp [ns].
    """

    def __init__(self, follows_clock: bool, clock: Callable[[], int]) -> None:
        self._follows, self._clock = follows_clock, clock
        self._distance = 0  # [ns] from simulated time to stamps
        self.last = 0

    def anchor(self, simulated: float) -> None:
        """The simulated time [s] is now: at the start, after a pause, after a reset."""
        if self._follows:
            self._distance = self._clock() - _nanoseconds(simulated)

    def skip(self, seconds: float) -> None:
        """So much time passed without being simulated."""
        if self._follows and seconds:
            self._distance += _nanoseconds(seconds)

    def now(self, simulated: float) -> int:
        """The stamp [ns] of the present state."""
        if self._follows:
            self._distance += (self._clock() - self.stamp(simulated)) // SLEW
        self.last = self.stamp(simulated)
        return self.last

    def stamp(self, simulated: float) -> int:
        """The stamp [ns] of any state."""
        return _nanoseconds(simulated) + self._distance


def _nanoseconds(seconds: float) -> int:
    return round(seconds * 1e9)
