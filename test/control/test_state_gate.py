# SPDX-License-Identifier: Apache-2.0
"""Joint states and odometry into one state: names, order, parts, missing velocities, stamps, pairing, rubbish."""

import numpy as np
import pytest
from helpers.gate_cases import MS, ONE_JOINT, START, Robot
from helpers.support import load_quietly
from hypothesis import given
from hypothesis import strategies as st

from opspace_ctrl import load_robot
from opspace_ctrl.control.safety.fields import BIT, DROPPED, READY, REFUSED, TAKEN
from opspace_ctrl.control.safety.state_gate import StateGate
from opspace_ctrl.control.settings import controller_settings
from opspace_ctrl.errors import ConfigurationError

POSE, TWIST = (0.1, 0.2, 0.3, 0.0, 0.0, 0.6, 0.8), (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)


@pytest.fixture(scope="module")
def arm():
    return load_robot("arm7")


@pytest.fixture(scope="module")
def humanoid():
    return load_robot("asimo")


@given(st.data())
def test_any_order_with_other_joints_between_gives_the_same_state(arm, data):
    names = data.draw(st.permutations([*arm.joint_names, "finger", "wheel"]))
    number = {name: 0.1 * at for at, name in enumerate(names)}
    robot = Robot(arm)
    assert robot.joints(names, list(number.values()), list(number.values())) == READY
    assert robot.gate.q.tolist() == [number[name] for name in arm.joint_names]
    assert robot.gate.v.tolist() == [number[name] for name in arm.joint_names]


def test_parts_of_a_state_are_merged_and_the_state_is_ready_when_the_last_part_came(arm):
    first, second = arm.joint_names[:4], arm.joint_names[4:]
    robot = Robot(arm)
    for step in range(1, 4):
        robot.tick()
        before = robot.gate.q.copy()
        assert robot.joints(first, [1e-3 * step] * 4, [1.0] * 4) == TAKEN
        assert (robot.gate.q == before).all()
        assert robot.joints(second, [-1e-3 * step] * 3, [-1.0] * 3) == READY
        assert robot.gate.q == pytest.approx([1e-3 * step] * 4 + [-1e-3 * step] * 3)


def test_joints_that_come_more_rarely_are_not_waited_for_but_must_not_be_stale(arm):
    first, second = list(arm.joint_names[:6]), list(arm.joint_names[6:])
    robot = Robot(arm)
    robot.joints(first, [0.0] * 6, [0.0] * 6)
    robot.joints(second, [0.7], [0.0])
    verdicts = []
    for _ in range(22):
        robot.tick()
        verdicts.append(robot.joints(first, [0.0] * 6, [0.0] * 6))
    # one state passes until it is known that they come more rarely
    assert verdicts[:20] == [TAKEN] + [READY] * 19 and verdicts[20:] == [REFUSED] * 2
    assert robot.check() == BIT["state"] and robot.gate.q[6] == 0.7


def test_missing_velocities_are_differentiated(arm):
    robot, rate = Robot(arm, 2 * MS), np.linspace(-1.0, 1.0, 7)
    for step in range(5):
        robot.tick()
        assert robot.joints(position=rate * step * 2e-3, velocity=[]) == READY
        assert robot.gate.v == pytest.approx(rate if step else np.zeros(7), abs=1e-12)


def test_differentiated_velocities_are_smoothed_by_a_first_order_filter(arm):
    robot = Robot(arm, velocity_time=0.004)
    robot.joints(velocity=[])
    for step in range(1, 6):  # a ramp of 1 rad/s: each step of 1 ms closes a fifth of what is left
        robot.tick()
        robot.joints(position=np.full(7, step * 1e-3), velocity=[])
        assert robot.gate.v == pytest.approx(np.full(7, 1.0 - 0.8**step), abs=1e-9)


def test_velocities_that_are_always_nan_are_differentiated_and_nan_after_numbers_is_a_fault(arm):
    robot, velocity = Robot(arm), [0.5] * 6 + [np.nan]
    for step in (1, 2):
        robot.tick()
        assert robot.joints(position=[step * 1e-3] * 7, velocity=velocity) == READY
    assert robot.gate.v == pytest.approx([0.5] * 6 + [1.0])
    before = robot.gate.q.copy()
    robot.tick()
    assert robot.joints(position=[3e-3] * 7, velocity=[np.nan] * 7) == REFUSED
    assert robot.check() == BIT["finite"] and (robot.gate.q == before).all()


def test_an_angle_without_limits_may_wrap():
    robot = Robot(load_quietly(ONE_JOINT.format("continuous")))
    robot.joints(["j"], [np.pi - 0.001], [])
    robot.tick()
    assert robot.joints(["j"], [-np.pi + 0.001], []) == READY
    assert robot.gate.v == pytest.approx([2.0], abs=1e-6)


@pytest.mark.parametrize(
    "fault, change",
    [
        ("size", {"position": np.zeros(6)}),
        ("size", {"position": np.zeros(0)}),
        ("size", {"velocity": np.zeros(8)}),
        ("finite", {"position": [0.0] * 6 + [np.inf]}),
        ("finite", {"position": [1e13] + [0.0] * 6}),
        ("finite", {"velocity": [0.0] * 6 + [-np.inf]}),
        ("finite", {"velocity": [0.0] * 6 + [1e13]}),
        ("velocity", {"velocity": [0.0] * 6 + [100.0]}),
        ("names", {"names": "twice"}),
        ("", {"names": ["x"] * 7}),
        ("", {"names": []}),
    ],
)
@pytest.mark.parametrize("is_first", [True, False])
def test_a_message_that_is_wrong_changes_nothing_and_says_what_it_is(arm, fault, change, is_first):
    robot = Robot(arm)
    if not is_first:
        robot.run()
    gate = robot.gate
    robot.tick()
    if change.get("names") == "twice":
        change = {"names": [arm.joint_names[0]] * 7}
    believed = ("q", "v", "position", "velocity", "told_stamp", "tells_velocity", "is_told")
    numbers = ("stamp", "arrival", "last_stamp", "last_arrival", "has_state", "missing", "period")
    before = {name: np.copy(getattr(gate, name)) for name in (*believed, *numbers)}
    verdict = robot.joints(**{"position": [0.01] * 7, "velocity": [0.01] * 7, **change})
    assert verdict == (REFUSED if fault else DROPPED)
    assert gate.faults == (BIT[fault] if fault else 0)
    for name, value in before.items():
        np.testing.assert_array_equal(getattr(gate, name), value, err_msg=name)


def test_ever_new_names_do_not_fill_the_memory(arm):
    robot = Robot(arm)
    for step in range(1, 300):
        assert robot.joints([f"joint_{step}"], [0.0], []) == DROPPED
    assert len(robot.gate._names._known) <= 32 and robot.gate.foreign == 299


# ---- velocities ----


def test_a_velocity_beyond_the_limit_times_the_factor_is_refused(arm):
    limit = arm.velocity_limits[1]
    for speed, verdict in ((1.99 * limit, READY), (2.01 * limit, REFUSED)):
        assert Robot(arm).joints(velocity=[0, -speed, 0, 0, 0, 0, 0]) == verdict
    assert Robot(arm, velocity_factor=0.0).joints(velocity=[0, 1e6, 0, 0, 0, 0, 0]) == READY


def test_a_joint_cannot_have_gone_further_than_its_speed_permits(arm):
    limit, far = arm.velocity_limits[1], 1.5
    robot = Robot(arm)
    robot.run()
    enough = far / (2.0 * limit) - 0.01
    there = [0, far, 0, 0, 0, 0, 0]
    opened = []
    for _ in range(int(1000 * enough) + 5):
        robot.tick()
        opened.append(robot.joints(position=there, velocity=[0.0] * 7) == READY)
    first = opened.index(True)  # it stays there: then it has had the time
    assert all(opened[first:]) and abs((first + 1) * 1e-3 - enough) < 2e-3
    assert robot.gate.q[1] == far


def test_a_velocity_must_fit_the_way_that_was_made(arm):
    """At rest, a velocity within the limit is believed at 1 kHz (it may just have begun), but not over 50 ms."""
    speed = [0, 1.5 * arm.velocity_limits[1], 0, 0, 0, 0, 0]
    for step, verdict in ((MS, READY), (50 * MS, REFUSED), (51 * MS, READY)):
        robot = Robot(arm, step)
        robot.run()
        robot.tick()
        assert robot.joints(velocity=speed) == verdict


def test_a_joint_without_a_limit_is_judged_by_the_way_alone():
    robot = Robot(load_quietly(ONE_JOINT.format("continuous")))
    robot.run()
    robot.tick()
    assert robot.joints(velocity=[1000.0]) == REFUSED and robot.check() == BIT["velocity"]
    speed, angle = 300.0, 0.0  # a wheel that is as fast, and turns
    wheel = Robot(load_quietly(ONE_JOINT.format("continuous")))
    for _ in range(20):
        wheel.tick()
        angle += speed * 1e-3
        assert wheel.joints(["j"], [(angle + np.pi) % (2.0 * np.pi) - np.pi], [speed]) == READY


def test_where_the_clock_was_set_the_way_counts_by_the_steady_clock(arm):
    there = [0, 1.5, 0, 0, 0, 0, 0]
    robot = Robot(arm)
    robot.run()
    robot.tick()
    assert robot.joints(position=there, stamp=5 * MS) == REFUSED  # a robot is not elsewhere at once
    simulated = Robot(arm, is_simulated=True)
    simulated.run()
    simulated.tick()
    assert simulated.joints(position=there, stamp=5 * MS) == READY  # a world that was reset may be


# ---- stamps ----


def test_repeated_and_late_stamps_are_dropped(arm):
    robot, verdicts = Robot(arm), []
    for at, stamp in enumerate((5, 5, 4, 6, 5, 7)):
        robot.now = START + at
        verdicts.append(robot.joints(stamp=stamp * MS))
    assert verdicts == [READY, DROPPED, DROPPED, READY, DROPPED, READY]
    assert (robot.gate.repeated, robot.gate.late, robot.gate.stamp) == (1, 2, 7 * MS)


def test_a_clock_that_is_set_closes_the_gate_and_the_state_starts_afresh(arm):
    robot = Robot(arm, clock_jump=1.0)

    def told(stamp, arrival):
        robot.now = robot.time = START + arrival * MS
        verdict = robot.joints(stamp=stamp * MS, velocity=[])
        return verdict == READY, bool(robot.gate.faults & BIT["clock"])

    assert told(10_000, 0) == (True, False)
    assert told(10_001, 1) == (True, False)
    assert told(5, 2) == (True, True)  # far back
    assert robot.gate.time == 0.0 and not robot.gate.v.any()
    assert told(6, 3) == (True, False)
    assert told(5_000, 4) == (True, True)  # ahead
    assert told(7_000, 2_004) == (True, False)  # a pause by both clocks
    late = [told(6_900 + step, 2_005) for step in range(5)]
    # a little back, again and again
    assert late == [(False, False)] * 4 + [(True, True)]
    # a little back after a pause
    assert told(6_800, 4_000) == (True, True)


def test_zero_is_a_time_once_and_no_stamp_when_it_goes_on(arm):
    robot = Robot(arm)
    for stamp in (0, 1, 2):
        robot.now += 1
        assert robot.joints(stamp=stamp * MS) == READY
    robot, verdicts = Robot(arm), []
    for _ in range(6):
        robot.tick()
        verdicts.append(robot.joints(stamp=0))
    assert verdicts == [READY, DROPPED] + [READY] * 4
    assert robot.gate.period == pytest.approx(1e-3) and robot.check() == 0


@pytest.mark.parametrize("between", [0, 1])
def test_messages_without_a_stamp_do_not_get_past_the_gates(arm, between):
    """Three are a publisher that does not stamp: no clock says when its robot was elsewhere, but arrivals do."""
    robot, epoch = Robot(arm), 1_700_000_000_000 * MS
    for _ in range(100):
        robot.tick()
        assert robot.joints(stamp=epoch + robot.time) == READY
    for _ in range(5):
        robot.tick()
        assert robot.joints(position=[2.0] + [0.0] * 6, stamp=0) == REFUSED
        assert robot.check() == BIT["velocity"]
        for _ in range(between):
            robot.tick()
            assert robot.joints(stamp=epoch + robot.time) == READY
    assert not robot.gate.q.any() and 0.0 < robot.gate.time < 1.0


def test_a_publisher_that_ceases_to_stamp_is_a_clock_that_was_set_and_time_begins_anew(arm):
    robot, found = Robot(arm), []
    robot.run()
    for _ in range(5):
        robot.tick()
        found.append((robot.joints(stamp=0), robot.check()))
    assert found == [(READY, BIT["clock"]), (DROPPED, BIT["clock"])] + [(READY, 0)] * 3
    assert robot.gate.time == pytest.approx(2e-3)


def test_a_stamp_that_a_bad_message_tells_does_not_count(arm):
    """Else one forged message would make all that follow look late."""
    robot = Robot(arm)
    robot.run()
    bad = {"position": [np.nan] * 7}
    assert robot.joints(stamp=robot.time + 500 * MS, **bad) == REFUSED
    robot.tick()
    assert robot.joints() == READY


@pytest.mark.parametrize("wrong", [{"position": [1e100]}, {"velocity": [1000.0]}])
def test_parts_that_are_stamped_ahead_do_not_get_past_the_gates(arm, wrong):
    """Two partial messages 0.1 s ahead: their joints are new, all others are stale."""
    robot = Robot(arm)
    robot.run(100)
    gate = robot.gate
    before = gate.q.copy(), gate.v.copy()
    for _ in range(2):
        robot.tick()
        part = {"position": [0.0], "velocity": [0.0], **wrong}
        ahead = robot.time + 100 * MS
        assert robot.joints([arm.joint_names[1]], stamp=ahead, **part) == REFUSED
        assert robot.check() & (BIT["finite"] | BIT["velocity"])
        assert (gate.q == before[0]).all() and (gate.v == before[1]).all()
    assert robot.message() == 0


def test_good_parts_that_are_stamped_ahead_make_the_others_stale(arm):
    robot = Robot(arm)
    robot.run(100)
    for verdict in (TAKEN, REFUSED):
        robot.tick()
        assert robot.joints([arm.joint_names[1]], [0.0], [0.0], robot.time + 100 * MS) == verdict
    assert robot.check() == BIT["state"]
    assert robot.run(10) == 0  # the clock was set back: after five messages that is known


# ---- the base ----


def told_pair(robot, odom_first, twist):
    of_base, of_joints = (lambda: robot.odom(POSE, twist)), robot.joints
    return [take() for take in ((of_base, of_joints) if odom_first else (of_joints, of_base))]


@pytest.mark.parametrize("odom_first", [True, False])
def test_the_base_comes_from_the_odometry_of_the_same_stamp(humanoid, odom_first):
    robot = Robot(humanoid)
    for step in range(1, 5):
        robot.tick()
        robot.q[7:] = 1e-3 * step
        assert told_pair(robot, odom_first, (step, 0, 0, 0, 0, 0)) == [TAKEN, READY]
        gate = robot.gate
        assert gate.v[0] == step and gate.q[7] == 1e-3 * step and gate.odometry_age == 0.0
        assert gate.q[:7] == pytest.approx(POSE)


def test_odometry_with_stamps_of_its_own_counts_as_it_is_after_some_misses(humanoid):
    robot, ready = Robot(humanoid), []
    for step in range(1, 41):
        robot.tick()
        if step % 5 == 1:
            robot.odom(stamp=robot.time - 500_000)
        ready.append(robot.joints() == READY)
    assert not any(ready[:8]) and all(ready[15:])
    assert robot.gate.odometry_age == pytest.approx(4.5e-3)


def test_joint_states_wait_for_odometry_and_may_give_up(humanoid):
    robot = Robot(humanoid)
    gate = robot.gate
    assert robot.joints() == TAKEN and gate.is_waiting
    assert gate.give_up_odometry(robot.time) == REFUSED
    assert not gate.is_waiting and gate.odometry_age == np.inf and not gate.has_state
    assert robot.odom(POSE) == TAKEN
    robot.tick()
    assert robot.joints() == TAKEN and gate.is_waiting
    assert gate.give_up_odometry(robot.time) == READY
    assert not gate.is_waiting and gate.odometry_age == pytest.approx(1e-3)
    assert gate.q[:3] == pytest.approx(POSE[:3])


@pytest.mark.parametrize(
    "fault, options",
    [
        ("finite", {"pose": (0, 0, np.nan, 0, 0, 0, 1)}),
        ("finite", {"twist": (0, 0, 0, 0, np.inf, 0)}),
        ("quaternion", {"pose": (0, 0, 0, 0, 0, 0, 0)}),
        ("quaternion", {"pose": (0, 0, 0, 0, 0, 0, 1.1)}),
        ("finite", {"pose": (1e308, 1e308, 0, 0, 0, 0, 1)}),
        ("velocity", {"twist": (0, 0, 0, 0, 0, 101.0)}),
        ("names", {"child": "left_hand"}),
    ],
)
def test_odometry_that_is_wrong_changes_nothing_and_says_what_it_is(humanoid, fault, options):
    robot = Robot(humanoid)
    gate = robot.gate
    robot.tick()
    assert robot.odom(**options) == DROPPED
    for _ in range(2):
        assert robot.joints() == REFUSED and not gate.is_waiting
        assert gate.faults == BIT[fault]
        robot.tick()
    assert robot.odom() == TAKEN and robot.joints() == READY and gate.faults == 0
    robot.tick()
    before = gate.base_stamp
    assert robot.joints() == TAKEN and gate.is_waiting
    assert robot.odom(**options) == REFUSED and not gate.is_waiting
    assert gate.base_stamp == before and gate.faults == BIT[fault]


def test_a_joint_with_several_coordinates_is_refused_by_name():
    with pytest.raises(ConfigurationError, match="'j' has several coordinates"):
        StateGate(load_quietly(ONE_JOINT.format("planar")), controller_settings({}).safety)
