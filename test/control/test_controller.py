# SPDX-License-Identifier: Apache-2.0
"""The controller in closed loop and against dense formulas: arm7, free_flyer, targets, switching, limits, rubbish."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from helpers.closed_loop import ARM_START, Loop
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from opspace_ctrl import (
    OperationalSpace,
    bias_forces,
    frame_jacobian,
    frame_pose,
    load_robot,
    mass_matrix,
)
from opspace_ctrl.control.controller import Controller
from opspace_ctrl.control.settings import controller_settings
from opspace_ctrl.control.targets.streams import Streams
from opspace_ctrl.dynamics import frame_velocity, gravity_forces
from opspace_ctrl.errors import (
    ConfigurationError,
    MethodError,
    OpspaceError,
    SettingsError,
    TargetError,
    UnknownFrameError,
)

TOOL = {"tasks": ["tool"]}
DOWN = (0.0, 1.0, 0.0, 0.0)


@pytest.fixture(scope="module")
def arm():
    return load_robot("arm7")


@pytest.fixture(scope="module")
def flyer():
    return load_robot("free_flyer")


def start_of_flyer(model):
    q = model.neutral()
    q[7:] = [0.0, 0.9, 0.0, -1.6, 0.0, 0.7, 0.0, 0.0, -0.9, 0.0, 1.6, 0.0, -0.7, 0.0]
    return q


def angle_between(a, b):
    return (Rotation.from_quat(a) * Rotation.from_quat(b).inv()).magnitude()


# ---- holding and moving ----


def test_activation_compensates_gravity_at_once_and_holds_without_error(arm):
    loop = Loop(arm, ARM_START, **TOOL)
    loop.run(0.001)
    assert loop.torques[0] == pytest.approx(bias_forces(arm, ARM_START, np.zeros(7)), abs=1e-9)
    loop.run(1.0)
    assert np.abs(loop.q - ARM_START).max() < 1e-6


def test_a_target_pose_is_reached_and_the_path_is_followed(arm):
    loop = Loop(arm, ARM_START, ramp=0.0, **TOOL)
    position, quaternion = loop.controller.pose("tool")
    goal = position + [0.05, 0.15, -0.1]
    turned = (Rotation.from_rotvec([0.3, 0.2, -0.4]) * Rotation.from_quat(quaternion)).as_quat()
    loop.controller.target_pose("tool", goal, turned, loop.time)
    worst = 0.0
    for _ in range(150):
        loop.run(0.01)
        worst = max(worst, np.abs(loop.controller.error("tool")).max())
    assert worst < 2e-3
    reached, attitude = frame_pose(arm, loop.q, "tool")
    assert reached == pytest.approx(goal, abs=1e-4) and angle_between(attitude, turned) < 1e-3
    assert np.abs(loop.v).max() < 1e-2


def test_errors_decay_as_the_gains_say(arm):
    """Critically damped: e(t) = e0 (1 + w t) exp(-w t), exact inertia shaping."""
    loop = Loop(
        arm,
        ARM_START,
        ramp=0.0,
        torque_rate_limit=1e6,
        **{"tool.stiffness": [100.0], "limits.margin": 0.0, "limits.speed_margin": 0.0},
        **TOOL,
    )
    loop.q = loop.q + 0.01 * np.array([1.0, -1.0, 0.5, 1.0, 0.5, -1.0, 0.3])
    loop.run(0.001)
    first = loop.controller.error("tool").copy()
    loop.run(0.2)
    t = 0.2
    assert loop.controller.error("tool") == pytest.approx(
        first * (1.0 + 10.0 * t) * np.exp(-10.0 * t), abs=0.02 * np.abs(first).max()
    )


def test_a_twist_moves_the_frame_until_it_goes_stale(arm):
    loop = Loop(arm, ARM_START, ramp=0.0, stream_timeout=0.3, **TOOL)
    twist = np.array([0.05, 0.05, 0.0, 0.0, 0.0, 0.2])
    loop.controller.target_twist("tool", twist, 0.0)
    loop.run(0.28)
    assert frame_velocity(arm, loop.q, loop.v, "tool") == pytest.approx(twist, abs=5e-3)
    loop.run(1.5)
    assert np.abs(frame_velocity(arm, loop.q, loop.v, "tool")).max() < 1e-3


def test_a_trajectory_is_followed_through_its_way_points(arm):
    loop = Loop(arm, ARM_START, ramp=0.0, **{"tool.acceleration": 10.0}, **TOOL)
    position, quaternion = loop.controller.pose("tool")
    points = position + np.array([[0.05, 0.0, 0.0], [0.05, 0.1, 0.0], [0.0, 0.1, 0.05]])
    loop.controller.trajectory("tool", [0.4, 0.8, 1.2], points, np.tile(quaternion, (3, 1)), 0.0)
    for k, point in enumerate(points):
        loop.run(0.4)
        assert frame_pose(arm, loop.q, "tool")[0] == pytest.approx(point, abs=2e-3), k


def swivelled(model, q, amount):
    """Another configuration with the same pose of the tool: along the null space of J, corrected by Newton steps."""
    (position, quaternion), out = frame_pose(model, q, "tool"), q.copy()
    for _ in range(20):
        J = frame_jacobian(model, out, "tool")
        out = out + amount / 20.0 * np.linalg.svd(J)[2][-1] * np.sign(np.linalg.svd(J)[2][-1][0])
        for _ in range(3):
            here, attitude = frame_pose(model, out, "tool")
            turn = (Rotation.from_quat(quaternion) * Rotation.from_quat(attitude).inv()).as_rotvec()
            out = out + np.linalg.pinv(frame_jacobian(model, out, "tool")) @ np.concatenate(
                [position - here, turn]
            )
    return out


def test_the_posture_moves_in_the_null_space_alone(arm):
    loop, goal = Loop(arm, ARM_START, ramp=0.0, **TOOL), swivelled(arm, ARM_START, 0.4)
    before = frame_pose(arm, loop.q, "tool")[0]
    loop.controller.posture(arm.joint_names, goal, None, 0.0)
    worst = 0.0
    for _ in range(20):
        loop.run(0.2)
        worst = max(worst, np.abs(frame_pose(arm, loop.q, "tool")[0] - before).max())
    assert worst < 1e-4 and np.abs(goal - ARM_START).max() > 0.1
    assert loop.q == pytest.approx(goal, abs=1e-3)


def test_a_push_is_resisted_and_forgotten(arm):
    loop = Loop(arm, ARM_START, ramp=0.0, **TOOL)
    loop.run(0.3, push=np.array([2.0, 2.0, 1.0, 1.0, 0.0, 0.0, 0.0]))
    assert 1e-4 < np.abs(loop.controller.error("tool")).max() < 0.3
    loop.run(2.0)
    assert np.abs(loop.controller.error("tool")).max() < 1e-3


def test_hold_stops_where_the_robot_is(arm):
    loop = Loop(arm, ARM_START, ramp=0.0, **TOOL)
    loop.controller.target_pose(
        "tool", loop.controller.pose("tool")[0] + [0.0, 0.2, 0.0], None, 0.0
    )
    loop.run(0.4)
    moving = np.linalg.norm(frame_velocity(arm, loop.q, loop.v, "tool")[:3])
    here = frame_pose(arm, loop.q, "tool")[0]
    loop.controller.hold(loop.q, loop.v, loop.time)
    loop.run(1.5)
    assert moving > 0.1 and np.abs(loop.v).max() < 1e-2
    assert np.linalg.norm(frame_pose(arm, loop.q, "tool")[0] - here) < moving * 0.4


# ---- free flyer ----


def momentum(model, q, v):
    """Linear and angular momentum about the world's origin (6,), from the base rows of H v."""
    base, R = (mass_matrix(model, q) @ v)[:6], Rotation.from_quat(q[3:7])
    linear = R.apply(base[:3])
    return np.concatenate([linear, R.apply(base[3:]) + np.cross(q[:3], linear)])


def test_a_free_flyer_moves_its_hand_while_momentum_stays_zero(flyer):
    q = start_of_flyer(flyer)
    loop = Loop(
        flyer, q, ramp=0.0, tasks=["left_tool", "right_tool"], **{"posture.stiffness": [10.0]}
    )
    position, quaternion = loop.controller.pose("left_tool")
    loop.controller.target_pose("left_tool", position + [0.05, 0.05, 0.05], quaternion, 0.0)
    for _ in range(10):
        loop.run(0.2)
        # Euler steps of 1 ms
        assert np.abs(momentum(flyer, loop.q, loop.v)).max() < 1e-4 * flyer.total_mass
    assert frame_pose(flyer, loop.q, "left_tool")[0] == pytest.approx(position + 0.05, abs=1e-3)
    assert np.linalg.norm(loop.q[:3]) > 1e-5  # the base has reacted


# ---- limits ----


def test_torques_keep_their_limits_and_rate_whatever_is_asked(arm):
    loop = Loop(
        arm,
        ARM_START,
        **{
            "tool.stiffness": [1e5],
            "tool.speed": 50.0,
            "tool.acceleration": 5e3,
            "tool.error_clip": 10.0,
            "torque_rate_limit": 500.0,
        },
        **TOOL,
    )
    loop.controller.target_pose("tool", [0.2, -0.5, 0.6], None, 0.0)
    loop.run(0.6)
    torques = np.array(loop.torques)
    assert np.isfinite(torques).all() and (np.abs(torques) <= arm.effort_limits + 1e-9).all()
    assert loop.torque_rates.max() <= 500.0 * (1.0 + 1e-6)


def test_effort_scale_lowers_the_limits(arm):
    loop = Loop(arm, ARM_START, effort_scale=0.5, **{"tool.stiffness": [1e4]}, **TOOL)
    loop.controller.target_pose("tool", [0.2, -0.5, 0.6], None, 0.0)
    loop.run(0.3)
    assert (np.abs(loop.torques) <= 0.5 * arm.effort_limits + 1e-9).all()


def test_a_target_out_of_reach_leaves_the_arm_stretched_and_calm(arm):
    loop = Loop(arm, ARM_START, ramp=0.0, **{"tool.rows": "position", "tool.speed": 1.0}, **TOOL)
    loop.controller.target_pose("tool", [3.0, 0.0, 0.4], None, 0.0)
    loop.run(6.0)
    assert np.isfinite(loop.torques).all()
    assert (np.abs(loop.torques) <= arm.effort_limits + 1e-9).all()
    assert loop.torque_rates.max() <= 1000.0 * (1.0 + 1e-6)
    assert (
        np.linalg.norm(frame_pose(arm, loop.q, "tool")[0] - frame_pose(arm, ARM_START, "tool")[0])
        > 0.1
    )


# ---- settings ----


def test_live_settings_take_effect_and_a_bad_set_changes_nothing(arm):
    values = {"method": "sparse_ltdl", **TOOL}
    controller = Controller.from_settings(arm, controller_settings(values))
    controller.activate(ARM_START, np.zeros(7), 0.0)
    before = controller.tick(ARM_START, np.zeros(7), 0.0).copy()
    for change, error in (
        ({"mode": "gravity"}, SettingsError),
        ({"payload.frame": "nowhere"}, SettingsError),
        ({"payload.frame": "base_link", "payload.mass": 1.0}, SettingsError),
        ({"posture.positions": [1.0]}, SettingsError),
    ):
        with pytest.raises(error, match="|".join(change)) as caught:
            controller.apply(controller_settings({**values, "ramp": 9.0, **change}))
        assert controller.settings.limits.ramp == 1.0, caught
    controller.apply(
        controller_settings({**values, "payload.mass": 2.0, "payload.centre": [0.0, 0.0, 0.1]})
    )
    for _ in range(300):
        loaded = controller.tick(ARM_START, np.zeros(7), 1.0 + 0.001 * _).copy()
    assert np.abs(loaded - before).max() > 1.0


def test_a_posture_set_live_is_approached_at_once(arm):
    values = {"posture.speed": 1.0, "posture.stiffness": [100.0]}
    loop, goal = Loop(arm, ARM_START, ramp=0.0, **values), ARM_START + 0.1
    loop.run(0.05)
    loop.controller.apply(
        controller_settings({**loop.controller.settings.values, "posture.positions": goal.tolist()})
    )
    loop.run(2.0)
    np.testing.assert_allclose(loop.q, goal, atol=1e-3)


def test_inputs_that_go_stale_while_others_come_are_taken_back_and_disturb_no_tick(arm):
    """One thread puts wrenches while another ticks, where they expire at once; threads are switched all the time."""
    core = Controller.from_settings(
        arm, controller_settings({"method": "sparse_ltdl", **TOOL, "tool.force_axes": ["z"]})
    )._core
    q, v = np.zeros(7), np.zeros(7)
    streams, usual, time = Streams(core.law), sys.getswitchinterval(), 0.0
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(1) as other:
            sent = [
                other.submit(streams.put, name, 0, np.ones(6), 0.5)
                for name in ("wrench", "measured") * 1000
            ]
            while not all(one.done() for one in sent):
                time += 1.0
                core.tick(q, v, time)
        assert [one.result() for one in sent] == [None] * 2000
    finally:
        sys.setswitchinterval(usual)
    core.tick(q, v, time + 1.0)
    assert not core.law.wrench.any() and not core.law.measured_on.any()
    assert (core.law.wrench_end == np.inf).all() and (core.law.measured_end == np.inf).all()


def test_a_payload_that_nothing_carries_is_refused(arm):
    with pytest.raises(SettingsError, match="payload.frame is empty"):
        Controller.from_settings(
            arm,
            controller_settings({"method": "sparse_ltdl", "mode": "gravity", "payload.mass": 1.0}),
        )


def test_a_payload_is_carried_as_a_mass_at_its_place(arm):
    """tau of a point mass m at p is J_p^T (0, 0, m g)."""
    values = {
        "method": "sparse_ltdl",
        "payload.mass": 3.0,
        "payload.centre": [0.02, -0.01, 0.1],
        "mode": "gravity",
        "payload.frame": "tool",
    }
    controller, v = Controller.from_settings(arm, controller_settings(values)), np.zeros(7)
    controller.activate(ARM_START, v, 0.0)
    tau = controller.tick(ARM_START, v, 0.0)

    def height(q):
        position, quaternion = frame_pose(arm, q, "tool")
        return (position + Rotation.from_quat(quaternion).apply([0.02, -0.01, 0.1]))[2]

    h = 1e-6
    slope = [(height(ARM_START + h * e) - height(ARM_START - h * e)) / (2.0 * h) for e in np.eye(7)]
    assert tau == pytest.approx(
        gravity_forces(arm, ARM_START) + 3.0 * 9.81 * np.array(slope), abs=1e-6
    )


def test_the_command_is_in_the_order_of_joints(arm):
    order = list(reversed(arm.joint_names))
    plain = Controller.from_settings(
        arm, controller_settings({"mode": "gravity", "method": "sparse_ltdl"})
    )
    other = Controller.from_settings(
        arm, controller_settings({"mode": "gravity", "method": "sparse_ltdl", "joints": order})
    )
    for controller in (plain, other):
        controller.activate(ARM_START, np.zeros(7), 0.0)
    a, b = (controller.tick(ARM_START, np.zeros(7), 0.0) for controller in (plain, other))
    assert a == pytest.approx(b[::-1], abs=1e-12) and other.joints == tuple(order)
    for kind in ("gravity", "damping", "zero"):
        v = np.linspace(-1.0, 1.0, 7)
        assert plain.safe_command(kind, ARM_START, v) == pytest.approx(
            other.safe_command(kind, ARM_START, v)[::-1], abs=1e-12
        )


def test_unknown_frames_joints_and_methods_are_refused_by_name(arm):
    for values, error, words in (
        ({"tasks": ["hand"]}, UnknownFrameError, "hand"),
        ({"joints": ["a"]}, ConfigurationError, "joint1"),
        ({"posture.joints": ["elbow"], "posture.positions": [0.0]}, SettingsError, "elbow"),
    ):
        with pytest.raises(error, match=words):
            Controller.from_settings(arm, controller_settings({"method": "sparse_ltdl", **values}))


# ---- methods ----


def test_switching_methods_changes_no_torque(arm):
    loop = Loop(arm, ARM_START, ramp=0.0, **TOOL)
    loop.controller.prepare()
    loop.controller.target_pose(
        "tool", loop.controller.pose("tool")[0] + [0.0, 0.1, 0.1], None, 0.0
    )
    for name in loop.controller.methods():
        loop.controller.method = name
        loop.run(0.05)
        assert loop.controller.method == name and loop.controller.method_residual < 1e-9
    with pytest.raises(MethodError, match="magic.*sparse_ltdl"):
        loop.controller.method = "magic"
    loop.controller.method = "auto"
    loop.run(0.01)
    assert loop.controller.method in loop.controller.methods()


# ---- safe commands ----


def test_safe_commands_are_what_they_say(arm):
    values = {"method": "sparse_ltdl", "safe_damping": 4.0, "compensation.friction": True}
    controller = Controller.from_settings(arm, controller_settings({**values, **TOOL}))
    v = np.linspace(-0.5, 0.5, 7)

    def asked(kind, *state):
        controller.begin()
        return controller.safe_command(kind, *state).copy()

    controller.activate(ARM_START, v, 0.0)
    controller.tick(ARM_START, v, 0.0)
    assert not asked("zero").any()
    gravity = asked("gravity", ARM_START, v)
    # of the configuration alone: no Coriolis force and no friction of the velocity
    assert gravity == pytest.approx(bias_forces(arm, ARM_START, 0.0 * v), abs=1e-9)
    damping = asked("damping", ARM_START, v)
    assert damping == pytest.approx(gravity - 4.0 * mass_matrix(arm, ARM_START) @ v, abs=1e-9)
    with pytest.raises(ConfigurationError, match="zero, gravity, damping"):
        controller.safe_command("brake", ARM_START, v)
    with pytest.raises(ConfigurationError):
        controller.safe_command("gravity", None, None)


def test_damping_brings_a_moving_arm_to_rest(arm):
    loop = Loop(arm, ARM_START, **TOOL)
    q, v = ARM_START.copy(), np.array([0.5, -0.4, 0.3, 0.6, -0.5, 0.4, 0.8])
    from opspace_ctrl import forward_dynamics

    for step in range(1500):
        tau = loop.controller.safe_command("damping", q, v, 1e-3 * step)
        v = v + 1e-3 * forward_dynamics(arm, q, v, tau)
        q = arm.integrate(q, v, 1e-3)
    assert np.abs(v).max() < 2e-3


# ---- raw mode ----


def test_raw_mode_is_equation_eleven_until_the_input_goes_stale(arm):
    controller = Controller.from_settings(
        arm,
        controller_settings(
            {
                "mode": "raw",
                "method": "sparse_ltdl",
                "stream_timeout": 0.1,
                "torque_rate_limit": 1e7,
                "ramp": 0.0,
                **TOOL,
            }
        ),
    )
    q, v, rng = ARM_START, np.linspace(-0.1, 0.1, 7), np.random.default_rng(0)
    F, tau0 = rng.normal(size=6), rng.normal(size=7)
    controller.activate(q, v, 0.0)
    controller.tick(q, v, 0.0)
    controller.force(F, 0.0)
    controller.tau0(tau0, 0.0)
    space = OperationalSpace(arm, "tool", "dense")
    assert controller.tick(q, v, 0.05) == pytest.approx(space.control(q, v, F, tau0), abs=1e-8)
    assert controller.tick(q, v, 0.11) == pytest.approx(bias_forces(arm, q, v), abs=1e-9)
    for call, words in (
        (lambda: controller.force(F[:5], 0.0), "6 numbers"),
        (lambda: controller.tau0([1.0], 0.0), "7"),
        (lambda: controller.force([np.nan] * 6, 0.0), "not finite"),
    ):
        with pytest.raises(TargetError, match=words):
            call()


def test_raw_inputs_and_wrenches_are_refused_where_they_do_nothing(arm):
    controller = Controller.from_settings(
        arm, controller_settings({"method": "sparse_ltdl", **TOOL})
    )
    for call, words in (
        (lambda: controller.force(np.zeros(6), 0.0), "mode raw"),
        (lambda: controller.tau0(np.zeros(7), 0.0), "mode raw"),
        (lambda: controller.target_wrench("tool", np.zeros(6), 0.0), "force_axes"),
        (lambda: controller.target_pose("hand", None, None, 0.0), "'hand'.*tool"),
    ):
        with pytest.raises(TargetError, match=words):
            call()


# ---- force ----


def test_a_wrench_is_exerted_along_the_force_axes_and_goes_stale(arm):
    values = {
        "method": "sparse_ltdl",
        "tool.force_axes": ["z"],
        "ramp": 0.0,
        "torque_rate_limit": 1e7,
        "stream_timeout": 0.1,
        "posture.enabled": False,
        "null_damping": 0.0,
        **TOOL,
    }
    controller, v = Controller.from_settings(arm, controller_settings(values)), np.zeros(7)
    controller.activate(ARM_START, v, 0.0)
    rest = controller.tick(ARM_START, v, 0.0).copy()
    controller.target_wrench("tool", [0.0, 0.0, -20.0, 0.0, 0.0, 0.0], 0.0)
    pushed = controller.tick(ARM_START, v, 0.05).copy()
    J = OperationalSpace(arm, "tool", "dense").update(ARM_START).jacobian
    assert pushed - rest == pytest.approx(J.T @ [0.0, 0.0, -20.0, 0.0, 0.0, 0.0], abs=1e-6)
    assert controller.tick(ARM_START, v, 0.2) == pytest.approx(rest, abs=1e-9)


# ---- robustness ----


def test_a_bad_state_raises_and_leaves_the_controller_as_it_was(arm):
    controller, v = (
        Controller.from_settings(arm, controller_settings({"method": "sparse_ltdl", **TOOL})),
        np.zeros(7),
    )
    controller.activate(ARM_START, v, 0.0)
    before = controller.tick(ARM_START, v, 0.0).copy()
    for q, speed in (
        (ARM_START * np.nan, v),
        (ARM_START[:6], v),
        (ARM_START, np.full(7, np.inf)),
        (None, v),
    ):
        with pytest.raises(OpspaceError):
            controller.tick(q, speed, 0.001)
    assert controller.tick(ARM_START, v, 0.001) == pytest.approx(before, abs=1e-9)


def test_a_controller_that_was_never_activated_sends_nothing(arm):
    controller = Controller.from_settings(
        arm, controller_settings({"method": "sparse_ltdl", **TOOL})
    )
    with pytest.raises(ConfigurationError, match="activate"):
        controller.tick(ARM_START, np.zeros(7), 0.0)


def test_ticks_leave_no_memory_behind(arm):
    loop = Loop(arm, ARM_START, **TOOL)
    controller, v = loop.controller, np.zeros(7)
    for k in range(200):
        controller.tick(ARM_START, v, 0.001 * k)
    before = sys.getallocatedblocks()
    for k in range(200, 5000):
        controller.tick(ARM_START, v, 0.001 * k)
    assert sys.getallocatedblocks() - before < 20


number = st.floats() | st.floats(-3.0, 3.0) | st.sampled_from([0.0, 1e300, -1e300, 5e-324])
names = st.sampled_from(["tool", "", "hand", "joint1", "joint3"])


def array(low, high):
    return st.lists(number, min_size=low, max_size=high) | st.none()


@pytest.fixture(scope="module")
def fuzzed(arm):
    values = {"tool.force_axes": ["z"], "tool.force_gain": 1.0, "tool.force_integral": 5.0}
    return Loop(arm, ARM_START, **values, **TOOL)


@settings(max_examples=150)
@given(data=st.data())
def test_no_target_makes_a_torque_that_is_not_finite_or_beyond_its_limit(fuzzed, data):
    c, time = fuzzed.controller, fuzzed.time
    calls = {
        "pose": lambda: c.target_pose(
            data.draw(names), data.draw(array(2, 4)), data.draw(array(3, 5)), time
        ),
        "twist": lambda: c.target_twist(data.draw(names), data.draw(array(5, 7)), time),
        "wrench": lambda: c.target_wrench(data.draw(names), data.draw(array(6, 6)), time),
        "measured": lambda: c.measured_wrench(data.draw(names), data.draw(array(6, 6)), time),
        "posture": lambda: c.posture(
            data.draw(st.lists(names, max_size=3)),
            data.draw(array(0, 3)),
            data.draw(array(0, 3)),
            time,
        ),
        "trajectory": lambda: c.trajectory(
            data.draw(names),
            data.draw(array(0, 3)),
            data.draw(st.lists(array(3, 3), max_size=3)),
            data.draw(st.lists(array(4, 4), max_size=3)),
            time,
        ),
    }
    for _ in range(data.draw(st.integers(1, 3))):
        try:
            calls[data.draw(st.sampled_from(sorted(calls)))]()
        except TargetError:
            pass
    for _ in range(5):
        fuzzed.time += 0.02
        tau = c.tick(ARM_START, np.zeros(7), fuzzed.time)
        assert np.isfinite(tau).all() and (np.abs(tau) <= fuzzed.model.effort_limits + 1e-9).all()
