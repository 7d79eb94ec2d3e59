# SPDX-License-Identifier: Apache-2.0
"""The last door by itself: what leaves is finite, within limits, and as near the last command as the time allows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opspace_ctrl.compiled.workspace import Workspace, constant, count, part, scratch, setting
from opspace_ctrl.control.safety.door import FREE, NOMINAL, PERIODS, Door, leave, time_to_move

NAN = math.nan
LIMIT, SCALE, RATE = np.array([10.0, 20.0, np.inf]), 0.5, 1000.0


class SmallLaw(Workspace):
    """As much of a law as the door looks at."""

    door = part(Door, "the door")
    k = count("joints")
    joint_command = constant("k", "place in the command", int)
    hard_limits = constant("k", "of the URDF")
    command_limits = setting("k", "that are used")
    command_rate = setting("", "of the command")
    wanted_torque = scratch("k", "what is asked for")


def made(is_paced=0, rate=RATE):
    """Three joints, the command in reversed order."""
    law = SmallLaw(
        k=3,
        door=Door(k=3),
        joint_command=[2, 1, 0],
        hard_limits=LIMIT,
        command_limits=SCALE * LIMIT,
        command_rate=rate,
    )
    law.door.open()
    law.door.is_paced = is_paced
    return law


def sent(law, wanted, elapsed):
    """What leaves, in the order of what was asked for."""
    law.wanted_torque = wanted
    leave(law, elapsed)
    return law.door.sent[::-1].copy()


def test_the_first_command_is_free_of_the_rate_but_not_of_the_limits():
    assert sent(made(), [7.0, -7.0, 1e9], FREE).tolist() == [5.0, -7.0, 1e9]


def test_every_torque_moves_by_the_rate_at_most_and_stops_where_it_is_asked_to():
    law = made()
    sent(law, [1.0, -1.0, 0.0], FREE)
    assert sent(law, [5.0, -5.0, 0.5], 1e-3) == pytest.approx([2.0, -2.0, 0.5], abs=1e-12)
    assert sent(law, [5.0, -5.0, 0.5], 2e-3) == pytest.approx([4.0, -4.0, 0.5], abs=1e-12)
    assert sent(law, [-5.0, 5.0, 0.5], 1e-3) == pytest.approx([3.0, -3.0, 0.5], abs=1e-12)
    for nothing in (0.0, -0.5, NAN):
        assert sent(law, [0.0, 0.0, 0.0], nothing) == pytest.approx([3.0, -3.0, 0.5], abs=1e-12)


def test_a_rate_without_limit_is_none():
    law = made(rate=np.inf)
    sent(law, [1.0, 1.0, 1.0], FREE)
    assert sent(law, [-4.0, -4.0, 1e6], 0.0).tolist() == [-4.0, -4.0, 1e6]


def test_a_limit_that_was_lowered_below_the_last_command_is_approached_at_the_rate():
    law = made()
    sent(law, [5.0, -10.0, 0.0], FREE)
    law.command_limits = 0.1 * LIMIT
    assert sent(law, [9.0, -9.0, 0.0], 1e-3) == pytest.approx([4.0, -9.0, 0.0], abs=1e-12)
    for _ in range(20):
        found = sent(law, [9.0, -9.0, 0.0], 1e-3)
    assert found == pytest.approx([1.0, -2.0, 0.0], abs=1e-12)


def test_the_limits_of_the_robot_hold_whatever_the_settings_say():
    law = made()
    law.command_limits = 100.0
    assert sent(law, [50.0, -50.0, 50.0], FREE).tolist() == [10.0, -20.0, 50.0]


@pytest.mark.parametrize("bad", [NAN, math.inf, -math.inf])
def test_one_number_that_is_not_finite_lets_all_torques_go_to_zero_at_the_rate(bad):
    law = made()
    sent(law, [4.0, -4.0, 0.5], FREE)
    assert sent(law, [4.0, bad, 9.0], 1e-3) == pytest.approx([3.0, -3.0, 0.0], abs=1e-12)


@given(
    st.lists(
        st.tuples(
            st.lists(st.floats(), min_size=3, max_size=3),
            st.floats(0.0, 0.01) | st.sampled_from([NAN, 0.0, -3.0]),
            st.floats(0.0, 1.0),
        ),
        max_size=20,
    )
)
def test_whatever_is_asked_for_leaves_finite_and_within_limits_and_rate(asked):
    law = made()
    last = sent(law, [1.0, 2.0, 3.0], FREE)
    for wanted, elapsed, scale in asked:
        law.command_limits = scale * LIMIT[:2].max()
        found = sent(law, wanted, elapsed)
        step = RATE * elapsed if elapsed > 0.0 else 0.0
        assert np.isfinite(found).all() and (np.abs(found) <= LIMIT).all()
        assert (np.abs(found - last) <= step * (1.0 + 1e-12) + 1e-12).all()
        last = found


# ---- the time that counts ----


def opened(is_paced=0):
    """A door through which a command has gone, at time and steady clock 1."""
    door = made(is_paced).door
    assert time_to_move(door, 1.0, 1.0) == FREE and door.is_free == 0
    return door


def test_the_time_between_two_states_counts_up_to_three_mean_periods():
    door = opened()
    assert time_to_move(door, 1.001, 9.0) == pytest.approx(1e-3)
    assert time_to_move(door, 1.0015, 9.0) == pytest.approx(5e-4)
    period = door.period
    assert time_to_move(door, 2.0, 9.0) == pytest.approx(PERIODS * period)
    assert door.period == pytest.approx(1.15 * period)  # one long step counts as four
    period = door.period
    assert time_to_move(door, 2.0, 9.0) == 0.0 and door.period == period  # the same state again
    assert time_to_move(door, 1.5, 9.0) == 0.0 and door.period == period  # back
    assert time_to_move(door, 1.501, 9.0) == pytest.approx(1e-3)


def test_the_period_is_the_mean_of_the_time_between_states():
    door = opened()
    assert door.period == NOMINAL
    for step in range(1, 200):
        time_to_move(door, 1.0 + 0.01 * step, NAN)
    assert door.period == pytest.approx(0.01, rel=1e-3)
    assert time_to_move(door, 10.0, NAN) == pytest.approx(PERIODS * 0.01, rel=1e-3)


def test_without_a_state_the_wall_clock_counts():
    for is_paced in (0, 1):
        door = opened(is_paced)
        assert time_to_move(door, NAN, 1.002) == pytest.approx(2e-3)
        assert time_to_move(door, NAN, 5.0) == pytest.approx(PERIODS * NOMINAL)
        assert time_to_move(door, NAN, 4.0) == 0.0 and door.time == 1.0
        assert door.period == NOMINAL


def test_where_the_wall_clock_is_the_robots_what_is_not_used_is_kept_for_three_periods():
    door = opened(is_paced=1)
    # two states at once: the second has no time left, the third makes use of what the pause left
    assert time_to_move(door, 1.001, 1.001) == pytest.approx(1e-3)
    assert time_to_move(door, 1.002, 1.001) == 0.0
    assert time_to_move(door, 1.003, 1.0035) == pytest.approx(1e-3)
    assert time_to_move(door, 1.004, 1.0036) == pytest.approx(1e-3)
    assert time_to_move(door, 1.005, 1.0036) == pytest.approx(6e-4)
    time_to_move(door, 1.005, 9.0)
    found = [time_to_move(door, 1.005 + 0.001 * i, 9.0) for i in range(1, 6)]
    assert sum(found) == pytest.approx(PERIODS * door.period, rel=0.05) and found[-1] == 0.0


def test_without_a_wall_clock_only_a_robot_that_is_not_paced_by_it_moves():
    assert time_to_move(opened(0), 1.001, NAN) == pytest.approx(1e-3)
    assert time_to_move(opened(1), 1.001, NAN) == 0.0


def test_a_new_opening_forgets_what_was_left():
    door = opened(is_paced=1)
    time_to_move(door, 1.001, 1.003)
    door.is_free = 1
    assert time_to_move(door, 1.002, 1.004) == FREE and door.budget == 0.0
    door.sent = 3.0
    door.open()
    assert not door.sent.any() and door.is_free == 1 and door.period == NOMINAL
