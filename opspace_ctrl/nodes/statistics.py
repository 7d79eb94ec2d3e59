# SPDX-License-Identifier: Apache-2.0
"""How regular a loop is: its period and how long it computes, over the last seconds."""

from dataclasses import dataclass

import numpy as np

__all__ = ["THRESHOLDS", "LoopStatistics", "Summary", "judge"]

KEPT = 2048  # ticks: two seconds at 1 kHz
# ros2_control's names and defaults: rates in Hz, times in us.
THRESHOLDS = {
    "periodicity.mean_error": (5.0, 10.0),
    "periodicity.standard_deviation": (5.0, 10.0),
    "execution_time.mean_error": (1000.0, 2000.0),
    "execution_time.standard_deviation": (100.0, 200.0),
}


@dataclass(frozen=True)
class Summary:
    """The last ticks: rates [Hz], times [us].

    Attributes:
        rate, expected: mean rate of the ticks, and of the stamps they answer; 0 while unknown.
        period_mean, period_deviation: of the time between two ticks.
        rate_deviation: of the reciprocal of that time.
        median, p99, longest, mean, deviation: of the computation.
    """

    count: int
    rate: float
    expected: float
    period_mean: float
    period_deviation: float
    rate_deviation: float
    median: float
    p99: float
    longest: float
    mean: float
    deviation: float


class LoopStatistics:
    """A ring of the last ticks; the loop's thread writes, any thread may read.

    Attributes:
        ticks: how many there were in all.
        longest: longest computation of all [ns].
    """

    def __init__(self) -> None:
        self._period = np.zeros(KEPT)  # [ns]
        self._computation = np.zeros(KEPT)  # [ns]
        self._last = 0
        self.ticks = 0
        self.longest = 0

    def pause(self) -> None:
        """The next period is not one of the loop."""
        self._last = 0

    def tick(self, start: int, end: int) -> None:
        """A tick began and ended [ns]."""
        at = self.ticks % KEPT
        self._period[at] = start - self._last if self._last else np.nan
        self._computation[at] = end - start
        self._last = start
        self.ticks += 1
        if end - start > self.longest:
            self.longest = end - start

    def summary(self, expected_period: float) -> Summary:
        """The last ticks; expected_period: mean period of the stamps [s], 0 if unknown."""
        kept = min(self.ticks, KEPT)
        period = self._period[:kept]
        period = period[np.isfinite(period) & (period > 0.0)] * 1e-3
        computation = self._computation[:kept] * 1e-3
        if not kept:
            period = computation = np.zeros(0)
        expected = 1.0 / expected_period if expected_period > 0.0 else 0.0
        of_period = (0.0,) * 4
        if len(period):
            of_period = (1e6 / period.mean(), period.mean(), period.std(), (1e6 / period).std())
        of_work = (
            (
                *np.percentile(computation, (50.0, 99.0)),
                computation.max(),
                computation.mean(),
                computation.std(),
            )
            if kept
            else (0.0,) * 5
        )
        return Summary(
            kept, of_period[0], expected, *map(float, of_period[1:]), *map(float, of_work)
        )


def judge(values: dict[str, float]) -> tuple[str, list[str]]:
    """The level ("ok", "warn", "error") of some of THRESHOLDS' numbers, and what is above its threshold, in words."""
    level, texts = "ok", []
    for name, value in values.items():
        warn, error = THRESHOLDS[name]
        if value > warn:
            texts.append(f"{name} {value:.1f} > {error if value > error else warn:g}")
            level = "error" if value > error or level == "error" else "warn"
    return level, texts
