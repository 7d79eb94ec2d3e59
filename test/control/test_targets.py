# SPDX-License-Identifier: Apache-2.0
"""References: no jump, limits kept, exact ends; derivatives by finite differences, paths against SciPy."""

from __future__ import annotations

import re

import numpy as np
import pytest
from helpers import segments
from hypothesis import given
from hypothesis import strategies as st
from scipy.interpolate import BPoly
from scipy.spatial.transform import Rotation, Slerp

from opspace_ctrl import Controller, PoseTask, Posture, load_robot, load_urdf
from opspace_ctrl.control.settings import controller_settings
from opspace_ctrl.control.targets.target import Target
from opspace_ctrl.errors import ConfigurationError, TargetError
from opspace_ctrl.model.source import robot_text

FIELDS = "position velocity acceleration rate rate_change".split()
UP = (0.0, 0.0, 0.0, 1.0)
FAST = {"speed": 100.0, "angular_speed": 100.0, "acceleration": 1e4, "angular_acceleration": 1e4}


def target(timeout=0.0, **own):
    values = {"tasks": ["hand"], **{f"hand.{name}": value for name, value in own.items()}}
    out = Target(controller_settings(values).tasks[0], timeout)
    out.hold(
        segments.at_rest([0.3, -0.2, 0.5], Rotation.from_rotvec([0.4, 0.2, -0.9]).as_quat()), 0.0
    )
    return out


def random_pose(rng):
    return rng.uniform(-1.0, 1.0, 3), Rotation.random(
        random_state=int(rng.integers(1 << 30))
    ).as_quat()


def difference(a, b):
    """Largest difference of two motions, orientation as an angle."""
    angle = (Rotation.from_quat(a.quaternion) * Rotation.from_quat(b.quaternion).inv()).magnitude()
    return max(angle, *(np.abs(getattr(a, name) - getattr(b, name)).max() for name in FIELDS))


def assert_consistent(reference, times, step=1e-5):
    """Velocity and acceleration are the derivatives of pose and velocity (central differences)."""
    for time in times:
        before, now, after = (reference(time + k * step) for k in (-1, 0, 1))
        turn = Rotation.from_quat(after.quaternion) * Rotation.from_quat(before.quaternion).inv()
        for value, change in (
            (now.velocity, after.position - before.position),
            (now.rate, turn.as_rotvec()),
            (now.acceleration, after.velocity - before.velocity),
            (now.rate_change, after.rate - before.rate),
        ):
            assert value == pytest.approx(
                change / (2.0 * step), abs=1e-4 * (1.0 + np.abs(value).max())
            )


def inner_times(program, count=7):
    """Instants inside every segment, away from their ends."""
    return np.concatenate(
        [np.linspace(r[0] + 1e-3, r[1] - 1e-3, count) for r in program if r[1] - r[0] > 4e-3]
    )


@pytest.mark.parametrize("seed", range(5))
def test_minimum_jerk_from_rest_is_the_known_polynomial_along_the_geodesic(seed):
    rng, one = np.random.default_rng(seed), target(speed=0.4, angular_speed=1.0)
    start, (position, quaternion) = one.reference(1.0), random_pose(rng)
    one.pose(position, quaternion, 1.0)
    end = one.program[-1, segments.END]
    slerp = Slerp([0.0, 1.0], Rotation.from_quat([start.quaternion, quaternion]))
    for x in np.linspace(0.0, 1.0, 11):
        share, now = 10 * x**3 - 15 * x**4 + 6 * x**5, one.reference(1.0 + x * (end - 1.0))
        assert now.position == pytest.approx(
            start.position + share * (position - start.position), abs=1e-12
        )
        assert (slerp(share) * Rotation.from_quat(now.quaternion).inv()).magnitude() < 1e-7
    assert_consistent(one.reference, inner_times(one.program))


@pytest.mark.parametrize(
    "limit, value",
    [
        ("speed", 0.2),
        ("acceleration", 0.5),
        ("angular_speed", 0.3),
        ("angular_acceleration", 0.7),
        ("time", 9.0),
    ],
)
def test_the_tightest_limit_is_reached_and_none_exceeded(limit, value):
    others = {
        "speed": 9.0,
        "acceleration": 90.0,
        "angular_speed": 9.0,
        "angular_acceleration": 90.0,
    }
    one = target(**{**others, limit: value})
    one.pose([1.3, 0.4, 0.2], Rotation.from_rotvec([1.0, 1.0, 0.4]).as_quat(), 0.0)
    end, limits = one.program[-1, segments.END], one.settings
    motions = [one.reference(t) for t in np.linspace(0.0, end, 2001)]
    peaks = {
        "speed": max(np.linalg.norm(m.velocity) for m in motions),
        "acceleration": max(np.linalg.norm(m.acceleration) for m in motions),
        "angular_speed": max(np.linalg.norm(m.rate) for m in motions),
        "angular_acceleration": max(np.linalg.norm(m.rate_change) for m in motions),
        "time": end,
    }
    assert peaks[limit] == pytest.approx(value, rel=2e-3)
    for name in peaks.keys() - {"time"}:
        assert peaks[name] <= getattr(limits, name) * 1.002


@pytest.mark.parametrize("seed", range(8))
def test_no_message_makes_the_reference_jump(seed):
    rng, one, time = np.random.default_rng(seed), target(), 0.0
    for _ in range(12):
        before = one.reference(time)
        kind = rng.integers(3)
        if kind == 0:
            one.pose(*random_pose(rng), time)
        elif kind == 1:
            one.twist(rng.uniform(-1.0, 1.0, 6), time, rng.uniform(0.0, 1.0))
        else:
            n = rng.integers(1, 5)
            positions, quaternions = zip(*(random_pose(rng) for _ in range(n)))
            one.trajectory(np.cumsum(rng.uniform(0.3, 1.0, n)), positions, quaternions, time)
        assert difference(one.reference(time), before) < 1e-9
        for start in one.program[1:, segments.START]:
            assert difference(one.reference(start), one.reference(np.nextafter(start, 0.0))) < 1e-6
        assert_consistent(one.reference, inner_times(one.program, 3))
        time += rng.uniform(0.01, 1.5)


def test_limits_hold_for_targets_in_mid_motion():
    rng, one, time = np.random.default_rng(4), target(), 0.0
    limits = one.settings
    for _ in range(40):
        one.pose(*random_pose(rng), time)
        for ahead in np.linspace(0.0, one.program[-1, segments.END] - time, 50):
            now = one.reference(time + ahead)
            assert np.linalg.norm(now.velocity) < 1.25 * limits.speed
            assert np.linalg.norm(now.rate) < 1.25 * limits.angular_speed
        time += rng.uniform(0.05, 1.0)


def test_a_stream_of_targets_on_a_line_is_followed_with_a_bounded_lag():
    one, speed, time = target(), 0.2, 0.0
    start = one.reference(0.0).position
    for k in range(400):
        time = 0.01 * k
        one.pose(start + [speed * time, 0.0, 0.0], None, time)
    now = one.reference(time)
    assert now.velocity == pytest.approx([speed, 0.0, 0.0], abs=0.02)
    assert 0.0 <= start[0] + speed * time - now.position[0] < 0.1


def test_a_twist_is_reached_kept_and_ends_after_its_time():
    one = target()
    twist = np.array([0.1, 0.2, 0.0, 0.3, -0.2, 0.5])
    one.twist(twist, 2.0, 1.0)
    middle, end = one.reference(2.7), one.reference(2.0 + 5.0)
    assert np.concatenate([middle.velocity, middle.rate]) == pytest.approx(twist)
    assert not middle.acceleration.any() and not end.velocity.any() and not end.rate.any()
    assert not one.clipped
    one.twist(100.0 * twist, 8.0, 1.0)
    fast = one.reference(8.99)
    assert one.clipped and np.linalg.norm(fast.velocity) <= one.settings.speed + 1e-9
    assert np.linalg.norm(fast.rate) <= one.settings.angular_speed + 1e-9


def test_a_stale_pose_target_comes_to_rest_on_the_way():
    one, free = target(timeout=0.4), target()
    for each in (one, free):
        each.pose([3.0, 0.0, 0.0], None, 1.0)
    assert difference(one.reference(1.35), free.reference(1.35)) < 1e-12
    assert difference(one.reference(1.4), free.reference(1.4)) < 1e-9
    rest = one.reference(9.0)
    assert np.linalg.norm(rest.position - [3.0, 0.0, 0.0]) > 1.0 and not rest.velocity.any()
    assert one.is_stale(1.41) and not one.is_stale(1.39) and not free.is_stale(100.0)


def test_a_target_beyond_the_jump_limit_is_moved_nearer():
    one = target(jump=0.25, jump_angle=0.5)
    start = one.reference(0.0)
    one.pose(
        start.position + [3.0, 0.0, 4.0],
        (Rotation.from_rotvec([0.0, 2.0, 0.0]) * Rotation.from_quat(start.quaternion)).as_quat(),
        0.0,
    )
    end = one.reference(99.0)
    assert one.clipped and end.position - start.position == pytest.approx([0.15, 0.0, 0.2])
    turn = Rotation.from_quat(end.quaternion) * Rotation.from_quat(start.quaternion).inv()
    assert turn.as_rotvec() == pytest.approx([0.0, 0.5, 0.0], abs=1e-9)


def test_both_signs_of_a_quaternion_mean_the_same_and_its_length_is_normalised():
    one, other = target(), target()
    quaternion = Rotation.from_rotvec([0.3, -2.0, 0.1]).as_quat()
    one.pose(None, quaternion, 0.0)
    other.pose(None, -1.05 * quaternion, 0.0)
    for time in np.linspace(0.0, 4.0, 9):
        assert difference(one.reference(time), other.reference(time)) < 1e-9
        assert np.linalg.norm(other.reference(time).quaternion) == pytest.approx(1.0, abs=1e-12)


def test_near_half_a_turn_the_way_round_is_kept():
    one = target()
    start = Rotation.from_quat(one.reference(0.0).quaternion)
    one.pose(None, (Rotation.from_rotvec([0.0, 0.0, np.pi - 0.02]) * start).as_quat(), 0.0)
    rate = one.reference(0.3).rate
    one.pose(None, (Rotation.from_rotvec([0.0, 0.0, np.pi + 0.05]) * start).as_quat(), 0.02)
    assert one.reference(0.5).rate @ rate > 0.0


# ---- trajectories ----


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("has_twists", [False, True])
def test_a_trajectory_passes_its_way_points_smoothly(seed, has_twists):
    rng, one = np.random.default_rng(seed), target(**FAST)
    one.pose(*random_pose(rng), 0.0)
    n, start = int(rng.integers(1, 7)), 0.4
    times = np.cumsum(rng.uniform(0.3, 1.5, n))
    positions, quaternions = map(np.array, zip(*(random_pose(rng) for _ in range(n))))
    twists = rng.uniform(-0.3, 0.3, (n, 6)) if has_twists else None
    before = one.reference(start)
    one.trajectory(times, positions, quaternions, start, twists)
    assert difference(one.reference(start), before) < 1e-9
    for k, time in enumerate(times):
        now = one.reference(start + time)
        assert now.position == pytest.approx(positions[k], abs=1e-9)
        assert (
            Rotation.from_quat(now.quaternion) * Rotation.from_quat(quaternions[k]).inv()
        ).magnitude() < 1e-7
        if has_twists and k < n - 1:
            assert np.concatenate([now.velocity, now.rate]) == pytest.approx(twists[k], abs=1e-9)
        if k < n - 1:
            assert difference(now, one.reference(np.nextafter(start + time, 0.0))) < 1e-6
    assert_consistent(one.reference, inner_times(one.program, 4))
    assert not now.velocity.any() and not one.reference(99.0).rate.any()


def excess(one, count=1500):
    """How many times the reference exceeds the limits of its task, from many samples."""
    limits, start, end = (
        one.settings,
        one.program[0, segments.START],
        one.program[-1, segments.END],
    )
    most = 0.0
    for time in np.linspace(start, end, count):
        now = one.reference(time)
        most = max(
            most,
            *(
                np.linalg.norm(value) / limit
                for value, limit in (
                    (now.velocity, limits.speed),
                    (now.acceleration, limits.acceleration),
                    (now.rate, limits.angular_speed),
                    (now.rate_change, limits.angular_acceleration),
                )
            ),
        )
    return most


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("has_twists", [False, True])
def test_a_trajectory_that_is_too_fast_is_followed_slower_on_the_same_way(seed, has_twists):
    rng, one, free = np.random.default_rng(seed), target(), target(**FAST)
    n = 4
    times = np.cumsum(rng.uniform(0.2, 0.6, n))
    positions, quaternions = map(np.array, zip(*(random_pose(rng) for _ in range(n))))
    twists = rng.uniform(-0.3, 0.3, (n, 6)) if has_twists else None
    for each in (one, free):
        each.trajectory(times, positions, quaternions, 1.0, twists)
    stretch = (one.program[-1, segments.END] - 1.0) / times[-1]
    assert one.clipped and not free.clipped and stretch > 1.0
    # as fast as the limits allow, within what samples miss of the peaks
    assert 0.9 < excess(one) < 1.02
    for time in np.linspace(0.0, times[-1], 50):
        slow, fast = one.reference(1.0 + stretch * time), free.reference(1.0 + time)
        assert slow.position == pytest.approx(fast.position, abs=1e-9)
        assert (
            Rotation.from_quat(slow.quaternion) * Rotation.from_quat(fast.quaternion).inv()
        ).magnitude() < 1e-7


@pytest.mark.parametrize("seed", range(4))
def test_a_trajectory_that_is_too_fast_keeps_the_limits_from_a_reference_in_motion(seed):
    rng, one = np.random.default_rng(seed), target()
    one.pose(*random_pose(rng), 0.0)
    positions, quaternions = map(np.array, zip(*(random_pose(rng) for _ in range(3))))
    before = one.reference(0.5)
    one.trajectory([0.2, 0.3, 0.5], positions, quaternions, 0.5)
    assert one.clipped and difference(one.reference(0.5), before) < 1e-9
    assert excess(one) < 1.02 * segments.TOLERATED
    assert_consistent(one.reference, inner_times(one.program, 3))
    assert one.reference(1e3).position == pytest.approx(positions[-1], abs=1e-9)


def test_a_trajectory_within_the_limits_keeps_its_times():
    one = target()
    start = one.reference(0.0)
    one.trajectory([1.0, 2.0], [start.position + [0.1, 0.0, 0.0], start.position], None, 0.0)
    assert not one.clipped and one.program[-1, segments.END] == 2.0


def test_two_way_points_at_rest_are_scipys_quintic_and_slerp():
    one = target(**FAST)
    start, goal = one.reference(0.0), np.array([0.0, 0.4, 0.9])
    quaternion = Rotation.from_rotvec([1.0, 0.4, -2.0]).as_quat()
    one.trajectory([2.0], [goal], [quaternion], 5.0)
    path = BPoly.from_derivatives(
        [5.0, 7.0], [[start.position, np.zeros(3), np.zeros(3)], [goal, np.zeros(3), np.zeros(3)]]
    )
    share = BPoly.from_derivatives([5.0, 7.0], [[0, 0, 0], [1, 0, 0]])
    slerp = Slerp([0.0, 1.0], Rotation.from_quat([start.quaternion, quaternion]))
    for time in np.linspace(5.0, 7.0, 9)[:-1]:
        now = one.reference(time)
        assert now.position == pytest.approx(path(time), abs=1e-12)
        assert now.acceleration == pytest.approx(path(time, nu=2), abs=1e-11)
        assert (slerp(share(time)) * Rotation.from_quat(now.quaternion).inv()).magnitude() < 1e-7


def test_a_way_point_at_the_start_must_be_where_the_reference_is():
    one = target()
    start = one.reference(0.0)
    one.trajectory([0.0, 1.0], [start.position, [0.0, 0.0, 0.0]], [start.quaternion, UP], 0.0)
    with pytest.raises(TargetError, match=r"hand: the way point at time 0 is"):
        one.trajectory([0.0, 1.0], [[9.0, 0.0, 0.0], [0.0, 0.0, 0.0]], [UP, UP], 0.0)


NAN = float("nan")


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda one: one.pose([0.0, NAN, 0.0], UP, 0.0), "hand: target position is not finite"),
        (lambda one: one.pose([0.0, 0.0], UP, 0.0), "hand: target position: 3 numbers"),
        (lambda one: one.pose("abc", UP, 0.0), "not an array of numbers"),
        (lambda one: one.pose([0.0, 1e9, 0.0], UP, 0.0), "too large"),
        (lambda one: one.pose([0.0, 0.0, 0.0], (0.0,) * 4, 0.0), "norm 0 is not"),
        (lambda one: one.pose([0.0, 0.0, 0.0], (0.0, 0.0, 0.0, 2.0), 0.0), "norm 2 is not"),
        (lambda one: one.pose([0.0, 0.0, 0.0], (1.0, 0.0, 0.0), 0.0), "orientation: 4 numbers"),
        (lambda one: one.twist([0.0] * 5, 0.0, 1.0), "6 numbers"),
        (lambda one: one.twist([NAN] * 6, 0.0, 1.0), "not finite"),
        (lambda one: one.trajectory([], np.zeros((0, 3)), np.zeros((0, 4)), 0.0), "0 way points"),
        (
            lambda one: one.trajectory([1.0, 1.0], np.zeros((2, 3)), [UP, UP], 0.0),
            "way point 1 comes at 1 s after",
        ),
        (
            lambda one: one.trajectory([2.0, 1.0], np.zeros((2, 3)), [UP, UP], 0.0),
            "times must rise",
        ),
        (lambda one: one.trajectory([-1.0], np.zeros((1, 3)), [UP], 0.0), "before the start"),
        (
            lambda one: one.trajectory([NAN], np.zeros((1, 3)), [UP], 0.0),
            "times of the trajectory is not finite",
        ),
        (
            lambda one: one.trajectory([1.0], np.zeros((2, 3)), [UP], 0.0),
            "positions of the trajectory: 1 x 3",
        ),
        (lambda one: one.trajectory([1.0], np.zeros((1, 3)), [(0.0,) * 4], 0.0), "norm 0"),
        (
            lambda one: one.trajectory([1.0], np.zeros((1, 3)), [UP], 0.0, [[0.0]]),
            "twists of the trajectory: 1 x 6",
        ),
    ],
)
def test_rubbish_is_refused_by_name_and_changes_nothing(call, words):
    one = target()
    before = one.program.copy()
    with pytest.raises(TargetError, match=words):
        call(one)
    assert (one.program == before).all() and one.stamp is None


numbers = st.floats(allow_nan=True, allow_infinity=True, width=64) | st.floats(-2.0, 2.0)


@given(
    st.lists(numbers, min_size=3, max_size=3),
    st.lists(numbers, min_size=4, max_size=4),
    st.lists(numbers, min_size=6, max_size=6),
    st.floats(0.0, 1e9),
)
def test_any_numbers_give_a_finite_program_or_a_named_error(position, quaternion, twist, time):
    one = target(timeout=0.5)
    for call in (
        lambda: one.pose(position, quaternion, time),
        lambda: one.twist(twist, time, 0.5),
        lambda: one.trajectory([1.0, 2.0], [position, [0.0] * 3], [quaternion, UP], time),
    ):
        try:
            call()
        except TargetError:
            pass
        assert np.isfinite(one.program).all()
        assert (np.diff(one.program[:, segments.START]) >= 0.0).all()


# ---- the posture ----


def test_a_posture_of_joints_whose_velocity_limit_is_zero_is_approached_at_the_speed_of_the_settings():
    """Many URDFs say velocity="0" where nobody has looked it up."""
    model = load_urdf(re.sub('velocity="[^"]*"', 'velocity="0"', robot_text("arm7")))
    assert not model.velocity_limits.any()
    of_zero, of_arm7 = (
        Controller(each, posture=Posture(speed=0.1), method="sparse_ltdl")._posture
        for each in (model, load_robot("arm7"))
    )
    for posture in (of_zero, of_arm7):
        posture.hold(np.zeros(7), 0.0)
        posture.move(model.joint_names, np.linspace(0.0, 0.6, 7), None, 1.0)
    np.testing.assert_array_equal(of_zero.program, of_arm7.program)
    assert np.isfinite(of_zero.program).all()


@pytest.mark.parametrize("seed", range(4))
def test_a_posture_given_in_mid_motion_keeps_its_speed(seed):
    rng, model = np.random.default_rng(seed), load_robot("arm7")
    controller, time = Controller(model, method="sparse_ltdl"), 0.0
    posture, settings = controller._posture, controller.settings.posture
    posture.hold(np.zeros(7), 0.0)
    for _ in range(10):
        posture.move(model.joint_names, rng.uniform(-1.0, 1.0, 7), None, time)
        for start, end, *coefficients in posture.program:
            for s in np.linspace(0.0, end - start, 100):
                speed = segments.evaluate(np.reshape(coefficients, (7, 6)), s)[1]
                assert np.abs(speed).max() < segments.TOLERATED * settings.speed
        time += rng.uniform(0.05, 2.0)


@pytest.mark.parametrize("time", [np.nan, np.inf, None, "now", 1.79e18])
def test_a_time_that_is_none_is_refused_and_nothing_changes(time):
    model = load_robot("arm7")
    controller = Controller(model, [PoseTask("tool")], method="sparse_ltdl")
    q, v = np.array([0.0, 0.5, 0.0, 1.2, 0.0, 0.8, 0.0]), np.zeros(7)
    with pytest.raises(ConfigurationError, match="time"):
        controller.activate(q, v, time)
    controller.activate(q, v, 0.0)
    before = controller.tick(q, v, 0.001).copy()
    position, quaternion = controller.pose("tool")
    for ask in (
        lambda: controller.target_pose("tool", position + 0.1, quaternion, time),
        lambda: controller.target_twist("tool", np.ones(6), time),
        lambda: controller.trajectory("tool", [1.0], [position], None, time),
        lambda: controller.posture(["joint1"], [0.1], None, time),
    ):
        with pytest.raises(TargetError, match="time"):
            ask()
    with pytest.raises(ConfigurationError, match="time"):
        controller.hold(q, v, time)
    np.testing.assert_array_equal(controller.tick(q, v, 0.001), before)


def test_a_controller_wants_a_model():
    with pytest.raises(ConfigurationError, match="'arm7' is no Model: load_robot"):
        Controller("arm7", [PoseTask("tool")])
