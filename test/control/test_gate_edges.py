# SPDX-License-Identifier: Apache-2.0
"""Where the limits of the gates lie: at a limit a message passes, the next number beyond it does not."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers.gate_cases import MS, ONE_JOINT, START, Robot
from helpers.support import load_quietly

from opspace_ctrl import load_robot
from opspace_ctrl.control.safety.fields import BIT, DROPPED, READY, REFUSED, TAKEN

ARM, HUMANOID = load_robot("arm7"), load_robot("asimo")
NAMES, SPEED = list(ARM.joint_names), float(ARM.velocity_limits[1])
HALF = 500 * MS  # [ns] half a second, which is exact in seconds too
SLACK = 0.01  # [s] of the stamps in a message
LARGEST = 1e12


def beyond(number):
    return math.nextafter(number, math.copysign(math.inf, number))


def only(number, joint=1):
    return [number if j == joint else 0.0 for j in range(7)]


def part(robot, *joints, position=0.0, velocity=0.0, stamp=None):
    """A message about some joints."""
    told = [velocity] * len(joints)
    return robot.joints([NAMES[j] for j in joints], [position] * len(joints), told, stamp)


# ---- joints ----


@pytest.mark.parametrize("joint", [0, 3, 6])
@pytest.mark.parametrize("side", [0, 1])
def test_a_joint_may_be_outside_its_limits_by_the_margin(joint, side):
    margin = 0.1
    edge = float(ARM.position_limits[joint, side]) + (margin if side else -margin)
    for position, gates in ((edge, 0), (beyond(edge), BIT["position"])):
        robot = Robot(ARM, velocity_factor=0.0, position_margin=margin)
        assert robot.message(position=only(position, joint)) == gates


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("field", ["position", "velocity"])
def test_the_largest_number_is_one(field, sign):
    values = {"velocity_factor": 0.0, "position_margin": 0.0}
    for number, gates in ((LARGEST, 0), (beyond(LARGEST), BIT["finite"])):
        robot = Robot(ARM, **values)
        robot.tick()
        robot.joints(**{field: only(sign * number)})
        assert robot.gate.faults == gates


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_a_joint_may_be_as_fast_as_its_limit_times_the_factor(factor):
    for speed, verdict in ((factor * SPEED, READY), (beyond(factor * SPEED), REFUSED)):
        assert Robot(ARM, velocity_factor=factor).joints(velocity=only(speed)) == verdict


@pytest.mark.parametrize("passed", [60 * MS, 200 * MS])
def test_a_joint_may_have_gone_as_far_as_its_fastest_permits(passed):
    far = 2.0 * SPEED * (passed * 1e-9 + SLACK)
    for position, verdict in ((far, READY), (beyond(far), REFUSED)):
        robot = Robot(ARM, position_margin=0.0)
        robot.joints()
        robot.tick(passed)
        assert robot.joints(position=only(position)) == verdict


@pytest.mark.parametrize("passed", [MS, 50 * MS])
def test_way_and_velocity_may_differ_by_what_the_limit_permits(passed):
    far = SPEED * (passed * 1e-9 + SLACK)
    for position, verdict in ((far, READY), (beyond(far), REFUSED)):
        robot = Robot(ARM)
        robot.joints()
        robot.tick(passed)
        assert robot.joints(position=only(position)) == verdict


def test_a_joint_told_twice_at_one_time_may_differ_by_the_slack_only():
    """No time has passed: how far it went is judged, a velocity says nothing about it and none is found."""
    for far, verdict in ((1.5 * SPEED * SLACK, TAKEN), (2.5 * SPEED * SLACK, REFUSED)):
        robot = Robot(ARM)
        robot.joints()
        assert part(robot, 1, position=far) == verdict
    robot = Robot(ARM)
    robot.run()
    assert robot.joints([NAMES[1]], [0.001], []) == TAKEN and robot.gate.velocity[1] == 0.0


@pytest.mark.parametrize("turned", [3.0, -3.0, 0.5])
@pytest.mark.parametrize("turns", [-2, -1, 0, 1])
def test_an_angle_without_limits_has_gone_the_short_way(turned, turns):
    robot = Robot(load_quietly(ONE_JOINT.format("continuous")), HALF, velocity_factor=0.0)
    robot.joints(["j"], [0.2], [])
    robot.tick()
    robot.joints(["j"], [0.2 + turned + 2.0 * math.pi * turns], [])
    assert robot.gate.v == pytest.approx([turned / 0.5], abs=1e-9)


def test_how_fast_a_joint_went_is_judged_by_the_stamps_under_any_clock():
    """Two states of a robot in motion that came in a heap, a tenth of a second apart by their stamps."""
    for is_simulated in (False, True):
        for far, verdict in ((SPEED * 0.1, READY), (2.5 * SPEED * 0.1, REFUSED)):
            robot = Robot(ARM, is_simulated=is_simulated, position_margin=0.0)
            robot.joints()
            robot.tick()
            stamp = robot.time + 99 * MS
            assert robot.joints(position=only(far), stamp=stamp) == verdict


# ---- parts of a state ----


def test_what_is_missing_is_counted():
    robot = Robot(ARM)
    assert part(robot, 0, 1, 2, 3) == TAKEN and robot.gate.missing == 3
    assert robot.gate.missing_names() == NAMES[4:]
    assert part(robot, 4, 5, 6) == READY and robot.gate.missing == 0


def test_parts_that_go_on_are_waited_for_when_another_stays_away():
    """Of three parts the last comes rarely: the first two make a state, never the first alone."""
    robot = Robot(ARM)
    robot.joints()
    verdicts = []
    for _ in range(3):
        robot.tick()
        verdicts += [part(robot, 0, 1, 2), part(robot, 3, 4)]
    assert verdicts == [TAKEN, TAKEN, TAKEN, READY, TAKEN, READY]


def test_a_whole_message_between_parts_makes_none_of_them_rare():
    robot = Robot(ARM)
    robot.joints()
    for _ in range(2):
        robot.tick()
        assert part(robot, 0, 1, 2) == TAKEN
        robot.tick()
        assert robot.joints() == READY
    robot.tick()
    assert [part(robot, 0, 1, 2), part(robot, 3, 4, 5, 6)] == [TAKEN, READY]


@pytest.mark.parametrize("old", [0, 1, 6])
@pytest.mark.parametrize("passed, verdict", [(1000 * MS, READY), (1000 * MS + 1, REFUSED)])
def test_the_oldest_joint_may_be_as_old_as_a_state(old, passed, verdict):
    robot = Robot(ARM, state_timeout=1.0)
    robot.joints()
    others = [j for j in range(7) if j != old]
    robot.tick(MS)
    assert part(robot, *others) == TAKEN
    robot.tick(passed - MS)
    # known by now to come rarely
    assert part(robot, *others) == verdict
    assert robot.gate.faults == (0 if verdict == READY else BIT["state"])


# ---- stamps ----


def told(robot, stamp, waited):
    """A message stamped so much later than the last that counted, after so much time [ns]."""
    robot.now = robot.gate.last_arrival + waited
    return robot.joints(stamp=robot.gate.last_stamp + stamp)


@pytest.mark.parametrize("waited", [0, MS, 3000 * MS])
def test_stamps_may_run_ahead_of_the_clock_by_the_jump(waited):
    for ahead, gates in ((0, 0), (1, BIT["clock"])):
        robot = Robot(ARM, clock_jump=1.0)
        robot.run()
        assert told(robot, 1000 * MS + waited + ahead, waited) == READY
        assert robot.gate.faults == gates


def test_a_stamp_may_be_late_by_the_jump_or_half_a_second():
    for back, waited, verdict in (
        (1000 * MS, 0, DROPPED),
        (1000 * MS + 1, 0, READY),
        (1, HALF, DROPPED),
        (1, HALF + 1, READY),
    ):
        robot = Robot(ARM, clock_jump=1.0)
        robot.run()
        assert told(robot, -back, waited) == verdict
        assert robot.gate.faults == (BIT["clock"] if verdict == READY else 0)


def test_late_messages_count_in_a_row_only():
    robot = Robot(ARM)
    robot.run()
    for _ in range(3):
        assert [told(robot, -1, 0) for _ in range(4)] == [DROPPED] * 4
        assert told(robot, MS, MS) == READY and robot.gate.faults == 0
    assert robot.gate.late == 12


def test_zeros_count_as_no_stamp_when_three_come_within_half_a_second_each():
    for pause, verdicts in (
        (HALF - 1, [READY, DROPPED, READY, READY]),
        (HALF, [READY, DROPPED, DROPPED, DROPPED]),
    ):
        robot = Robot(ARM, pause)
        assert [(robot.tick(), robot.joints(stamp=0))[1] for _ in range(4)] == verdicts
    robot, found = Robot(ARM), []
    for pause in (MS, HALF, MS, MS):
        robot.tick(pause)
        found.append(robot.joints(stamp=0))
        assert robot.gate.faults == 0  # from no stamp to a time of arrival is no jump
    assert found == [READY, DROPPED, DROPPED, READY]


def test_where_the_clock_was_set_a_joint_need_not_tell_what_it_never_told():
    robot, silent = Robot(ARM), [np.nan] * 7
    for stamp in (10_000, 10_001, 5, 6, 7):
        robot.tick()
        assert robot.joints(velocity=silent, stamp=stamp * MS) == READY


def test_where_the_clock_was_set_every_part_is_waited_for_again():
    robot = Robot(ARM)
    robot.joints(stamp=10_000 * MS)
    verdicts = []
    for stamp in (5, 6, 7):
        robot.tick()
        verdicts += [part(robot, 0, 1, 2, stamp=stamp * MS)]
        verdicts += [part(robot, 3, 4, 5, 6, stamp=stamp * MS)]
    assert verdicts == [TAKEN, READY] * 3


def test_the_period_is_a_mean_in_which_a_pause_counts_as_four():
    robot = Robot(ARM)
    robot.joints()
    assert robot.gate.period == 0.0
    for step, period in ((MS, 1e-3), (2 * MS, 1.05e-3), (100 * MS, 1.05e-3 * 1.15)):
        robot.tick(step)
        robot.joints()
        assert robot.gate.period == pytest.approx(period, rel=1e-9)
    told(robot, -5000 * MS, MS)  # a clock that is set is no period
    assert robot.gate.period == pytest.approx(1.05e-3 * 1.15, rel=1e-9)


def test_the_interval_is_the_mean_time_between_messages_whatever_they_say():
    robot = Robot(ARM)
    robot.joints()
    for step, interval in ((10 * MS, 10e-3), (30 * MS, 11e-3)):
        robot.tick(step)
        robot.joints(position=[np.nan] * 7)
        assert robot.gate.interval == pytest.approx(interval, rel=1e-9)


# ---- the base ----


def test_a_quaternion_within_the_tolerance_is_normalised_and_the_position_is_not():
    unit = np.array([0.1, -0.3, 0.5, -(0.65**0.5)])
    for norm in (0.991, 1.009):
        robot = Robot(HUMANOID)
        robot.odom([4.0, 5.0, 6.0, *(norm * unit)])
        assert robot.joints() == READY
        assert robot.gate.q[:7] == pytest.approx([4.0, 5.0, 6.0, *unit], abs=1e-12)
    for norm in (0.989, 1.011):
        robot = Robot(HUMANOID)
        robot.odom([4.0, 5.0, 6.0, *(norm * unit)])
        assert robot.joints() == REFUSED and robot.gate.faults == BIT["quaternion"]


@pytest.mark.parametrize("axis", [0, 5])
def test_a_base_may_be_as_fast_as_a_hundred_or_where_nothing_is_judged_as_the_largest_number(axis):
    for factor, speed, gates in (
        (0.5, 100.0, 0),
        (0.5, beyond(100.0), BIT["velocity"]),
        (0.0, LARGEST, 0),
        (0.0, beyond(LARGEST), BIT["finite"]),
    ):
        robot = Robot(HUMANOID, velocity_factor=factor)
        robot.odom(twist=[-speed if i == axis else 0.0 for i in range(6)])
        assert robot.joints() == (REFUSED if gates else READY) and robot.gate.faults == gates


@pytest.mark.parametrize("axis", [0, 2])
def test_a_base_may_be_as_far_as_the_largest_number(axis):
    for far, gates in ((LARGEST, 0), (beyond(LARGEST), BIT["finite"])):
        robot = Robot(HUMANOID)
        robot.odom([*(far if i == axis else 0.0 for i in range(3)), 0.0, 0.0, 0.0, 1.0])
        assert robot.joints() == (REFUSED if gates else READY) and robot.gate.faults == gates


def test_messages_without_stamps_are_paired_as_they_come():
    robot, verdicts = Robot(HUMANOID), []
    for _ in range(5):
        robot.tick()
        verdicts.append((robot.joints(stamp=0), robot.odom(stamp=0)))
        assert robot.check() == 0
    assert verdicts == [(TAKEN, READY), (DROPPED, TAKEN)] + [(TAKEN, READY)] * 3
    assert robot.gate.unpaired == 0 and robot.gate.odometry_age == 0.0


def test_odometry_of_its_own_time_is_used_after_ten_misses_in_a_row():
    robot, verdicts = Robot(HUMANOID), []
    for _ in range(15):
        robot.tick()
        verdicts.append(robot.joints())
    assert verdicts == [TAKEN] * 15  # there is none
    robot, verdicts = Robot(HUMANOID), []
    robot.odom()
    for _ in range(13):
        robot.tick()
        verdicts.append(robot.joints())
    assert verdicts == [TAKEN] * 10 + [READY] * 3 and robot.gate.unpaired == 10
    assert robot.odom() == TAKEN
    robot.tick()
    assert [robot.odom(), robot.joints()] == [TAKEN, READY] and robot.gate.unpaired_in_a_row == 0
    robot.tick()
    assert robot.joints() == TAKEN  # it is awaited again


def test_odometry_after_its_joint_states_completes_them_and_counts_as_a_miss():
    robot = Robot(HUMANOID)
    robot.tick()
    assert robot.joints() == TAKEN
    assert robot.odom(stamp=robot.time - 1) == TAKEN
    assert robot.odom(stamp=robot.time + 1) == READY
    gate = robot.gate
    assert (gate.unpaired, gate.unpaired_in_a_row, gate.stamp) == (1, 1, robot.time)


def test_where_the_clock_was_set_odometry_completes_no_part_of_a_state():
    robot = Robot(HUMANOID, is_simulated=True)
    robot.run()
    robot.tick()
    assert robot.joints() == TAKEN and robot.gate.is_waiting
    first = [HUMANOID.joint_names[0]]
    assert robot.joints(first, [0.0], [0.0], stamp=5 * MS) == TAKEN
    assert robot.odom(stamp=5 * MS) == TAKEN and not robot.gate.is_waiting
    assert robot.gate.missing == len(HUMANOID.joint_names) - 1


@pytest.mark.parametrize("sign", [1, -1])
def test_where_the_clock_was_set_odometry_is_used_if_it_is_within_the_jump(sign):
    for away, is_used in ((1000 * MS, True), (1000 * MS + 1, False)):
        robot = Robot(HUMANOID, is_simulated=True, clock_jump=1.0)
        robot.run()
        stamp = 10_000 * MS
        robot.odom(stamp=stamp + sign * away)
        assert robot.joints(stamp=stamp) == TAKEN
        assert robot.gate.give_up_odometry(robot.time) == (READY if is_used else REFUSED)


@pytest.mark.parametrize("late, gates", [(0, 0), (1, BIT["odom"])])
def test_odometry_may_be_older_than_joint_states_by_the_time_out(late, gates):
    robot = Robot(HUMANOID, odom_timeout=0.5)
    robot.message()
    robot.tick(HALF + late)
    robot.joints()
    assert robot.gate.give_up_odometry(robot.time) == READY
    assert robot.check() == gates


def test_a_state_is_of_its_stamp_and_of_when_it_came():
    robot = Robot(ARM, is_simulated=True)
    robot.tick()
    robot.now += 7
    assert robot.joints(stamp=START + 5) == READY
    gate = robot.gate
    assert (gate.stamp, gate.arrival, gate.seen) == (START + 5, robot.now, robot.time)
    assert gate.time == 0.0
    robot.tick()
    assert robot.joints(stamp=START + 5 + MS) == READY and gate.time == pytest.approx(1e-3)


# ---- time alone ----


def at(robot, steady):
    """The gates that are closed at a time."""
    robot.now = robot.time = steady
    return robot.check()


@pytest.mark.parametrize("is_simulated", [False, True])
def test_a_state_may_be_as_old_as_the_time_out(is_simulated):
    values = {"state_timeout": 0.5, "liveness_timeout": 0.0}
    robot = Robot(ARM, is_simulated=is_simulated, **values)
    robot.run(3)
    end = robot.now + HALF
    assert at(robot, end) == 0 and at(robot, end + 1) == BIT["state"]


def test_a_single_state_is_not_stale_for_a_fifth_of_a_second():
    robot = Robot(ARM)
    robot.message()
    end = robot.now + 200 * MS
    assert at(robot, end - 1) == 0 and at(robot, end + 1) == BIT["state"]


@pytest.mark.parametrize("liveness, state", [(0.5, 0.1), (0.1, 0.5)])
def test_silence_is_longer_than_both_times(liveness, state):
    values = {"state_timeout": state, "liveness_timeout": liveness}
    robot = Robot(ARM, is_simulated=True, **values)
    robot.run(3)
    end = robot.now + HALF
    for steady, gates in ((end, 0), (end + 1, BIT["state"])):
        assert robot.gate.check(robot.time, steady) == gates


def test_a_permission_lasts_for_its_time():
    robot = Robot(ARM, enable_timeout=0.5, state_timeout=60.0)
    robot.message()
    robot.gate.enable(True, robot.now)
    end = robot.now + HALF
    assert at(robot, end) == 0 and at(robot, end + 1) == BIT["enable"]


@pytest.mark.parametrize("gate, recovery, wait", [("finite", 0.5, HALF), ("error", 0.5, 1000 * MS)])
def test_a_gate_opens_after_its_time(gate, recovery, wait):
    robot = Robot(ARM, recovery_time=recovery, state_timeout=60.0)
    robot.message()
    robot.gate.fail(gate)
    assert robot.check() == BIT[gate]
    start = robot.now
    robot.joints(stamp=robot.time + 1)
    assert at(robot, start + wait - 1) == BIT[gate] and at(robot, start + wait) == 0


def test_a_reset_does_not_wait_for_the_time_of_recovery():
    robot = Robot(ARM, recovery_time=50.0)
    robot.run()
    for _ in range(3):
        robot.message(position=[np.nan] * 7)
    assert robot.message() == BIT["finite"] and robot.gate.closings.sum() == 1
    robot.gate.open_all()
    assert robot.gate.closed == 0 and robot.message() == 0


def test_a_reset_before_the_first_message_opens_nothing():
    robot = Robot(ARM)
    robot.check()
    robot.gate.open_all()
    assert robot.gate.closed == BIT["first"]


def test_a_fault_is_counted_for_its_gate_alone():
    robot = Robot(ARM)
    robot.joints(position=[np.nan] * 7)
    robot.gate.unreadable("size", robot.now)
    counts = dict(zip(BIT, robot.gate.fault_counts.tolist()))
    assert {name for name, count in counts.items() if count} == {"finite", "size"}
    assert counts["finite"] == counts["size"] == 1


def test_gravity_is_held_for_its_time_since_the_state_was_last_valid():
    robot = Robot(ARM, safe_command="gravity", gravity_time=0.5)
    robot.run()
    robot.gate.stop()
    robot.message()  # the stop takes no state away
    start = robot.now
    assert robot.message(position=[np.nan] * 7) == BIT["finite"] | BIT["stop"]
    assert robot.gate.permitted(start + HALF - 1) == "gravity"
    assert robot.gate.permitted(start + HALF) == "zero"


def test_a_tick_may_take_as_long_as_is_given():
    robot = Robot(ARM, overrun_time=0.5, overrun_count=1)
    robot.run()
    robot.gate.computed(HALF)
    assert robot.gate.overruns == 0 and robot.message() == 0
    robot.gate.computed(HALF + 1)
    assert robot.gate.overruns == 1 and robot.message() == BIT["overrun"]


def test_no_tick_is_too_long_while_no_period_is_known_or_overruns_are_not_judged():
    robot = Robot(ARM, overrun_count=1)
    robot.message()
    robot.gate.computed(10**9)
    assert robot.gate.overruns == 0 and robot.message() == 0
    robot = Robot(ARM, overrun_count=0)
    robot.run()
    for elapsed in (0, 10**9, 10**9):
        robot.gate.computed(elapsed)
        assert robot.message() == 0
    assert robot.gate.overruns == 2
