# SPDX-License-Identifier: Apache-2.0
"""When the simulator's cycles are due and how its states are stamped, on clocks of the test."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from opspace_ctrl.nodes.pacing import Pacer
from opspace_ctrl.nodes.stamping import Stamping

PERIOD = 0.001


def run(pacer, delays):
    """Cycles whose beginnings are delayed by the machine; the times at which they began."""
    now, begun = 100.0, []
    pacer.start(now)
    for delay in delays:
        now += pacer.delay(now) + delay
        pacer.begin(now)
        begun.append(now)
    return begun


@given(st.lists(st.floats(0.0, 0.02), min_size=1, max_size=200), st.sampled_from([0.25, 1.0, 4.0]))
def test_what_is_late_is_made_up_for(delays, factor):
    pacer = Pacer(PERIOD, factor, catch_up=True, max_catch_up=1e9)
    begun = run(pacer, delays)
    assert pacer.skipped == 0.0
    # no cycle before its time, and once the machine keeps up, the last is on time again
    due = 100.0 + PERIOD / factor * np.arange(1, len(begun) + 1)
    assert np.all(np.array(begun) >= due - 1e-9)
    begun += [*run_on(pacer, begun[-1], 20 * len(delays) + 20000)]
    assert abs(begun[-1] - (100.0 + PERIOD / factor * len(begun))) < 1e-6


def run_on(pacer, now, count):
    for _ in range(count):
        now += pacer.delay(now)
        pacer.begin(now)
        yield now


@given(st.lists(st.floats(0.0, 0.02), min_size=1, max_size=200))
def test_without_catching_up_late_time_is_given_up(delays):
    pacer = Pacer(PERIOD, 1.0, catch_up=False, max_catch_up=1.0)
    begun = run(pacer, delays)
    # around 100 s a clock's difference is exact to 1e-14 s: a delay of just one period may count or not
    least, most = (sum(delay > PERIOD + edge for delay in delays) for edge in (1e-12, -1e-12))
    assert least <= pacer.overruns <= most or max(delays) <= 2 * PERIOD
    # cycles and what was given up together fill the time, to one cycle
    assert abs((begun[-1] - 100.0) - (PERIOD * len(begun) + pacer.skipped)) <= PERIOD + 1e-9


def test_more_than_the_allowance_is_skipped():
    pacer = Pacer(PERIOD, 1.0, catch_up=True, max_catch_up=0.05)
    begun = run(pacer, [0.0] * 10 + [1.0] + [0.0] * 200)
    np.testing.assert_allclose(pacer.skipped, 0.95, atol=2 * PERIOD)
    np.testing.assert_allclose(begun[-1] - 100.0, 211 * PERIOD + pacer.skipped, atol=1e-9)


def test_without_a_factor_a_cycle_is_always_due():
    pacer = Pacer(PERIOD, 0.0, catch_up=True, max_catch_up=0.1)
    pacer.start(0.0)
    pacer.begin(0.0)
    assert pacer.delay(0.0) == 0.0
    pacer.factor = 1.0  # and from then on not before its time
    pacer.begin(0.0005)
    assert pacer.delay(0.0005) == 0.0005


def test_owned_time_is_simulated_time():
    stamping = Stamping(False, lambda: 10**18)
    stamping.anchor(0.0)
    stamping.skip(1.0)
    assert [stamping.now(k * PERIOD) for k in range(3)] == [0, 10**6, 2 * 10**6]
    assert stamping.stamp(0.001) == 10**6


def test_free_stamps_follow_a_clock_that_runs_faster_and_stay_evenly_spaced():
    wall = [0]
    stamping = Stamping(True, lambda: wall[0])
    start = wall[0] = 1_700_000_000 * 10**9
    stamping.anchor(0.0)
    stamps = []
    for k in range(60_000):
        wall[0] = start + round(k * 1e6 * (1 + 1e-4))  # 100 ppm: 6 ms in a minute
        stamps.append(stamping.now(k * PERIOD))
    assert abs(stamps[-1] - wall[0]) < 200_000
    assert 0.999e6 < min(np.diff(stamps)) and max(np.diff(stamps)) < 1.001e6
    assert stamping.stamp(60_000 * PERIOD - PERIOD) == stamps[-1]
    stamping.skip(2.0)
    assert stamping.stamp(60.0) - stamps[-1] > 2 * 10**9
