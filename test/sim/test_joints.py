# SPDX-License-Identifier: Apache-2.0
"""Joints by themselves: friction that sticks, stops, saturation, and brakes that hold."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.shipped_robots import HOME
from helpers.sim_cases import pendulum, standing

from opspace_ctrl import (
    OpspaceError,
    bias_forces,
    frame_pose,
    load_mjcf,
    load_robot,
    load_urdf,
)
from opspace_ctrl.sim.simulator import Simulator

INERTIA = 1.0 / 3.0
both_kinds = pytest.mark.parametrize("integrator", ["semi_implicit", "rkmk4"])


def hinge(integrator="semi_implicit", gravity=0.0, step=1e-3, **joint):
    model = load_urdf(pendulum(**joint), gravity=(0.0, 0.0, -gravity))
    return Simulator(model, integrator=integrator, step=step)


def run(sim, steps, tau):
    for _ in range(steps):
        sim.step(np.array([tau]))
    return sim


@both_kinds
def test_a_joint_sticks_below_its_friction_and_slides_above(integrator):
    sim = run(hinge(integrator, friction=0.5), 10000, 0.499)
    assert abs(sim.q[0]) < 1e-6 and abs(sim.v[0]) <= 1.0001e-8
    sim = run(hinge(integrator, friction=0.5), 1000, 0.6)
    np.testing.assert_allclose(sim.v[0], 0.1 / INERTIA, rtol=1e-9)


@both_kinds
def test_friction_brings_a_joint_to_rest_where_it_must_and_keeps_it_there(integrator):
    sim = hinge(integrator, friction=0.5)
    sim.reset(v=[1.0])
    run(sim, 1000, 0.0)
    assert abs(sim.v[0]) < 1e-8
    np.testing.assert_allclose(sim.q[0], 0.5 * INERTIA / 0.5, atol=1e-3)  # v^2 / (2 a)
    before = sim.q[0]
    run(sim, 5000, 0.0)
    assert sim.q[0] == pytest.approx(before, abs=1e-9)


def test_friction_never_drives_and_takes_what_it_should():
    sim = hinge(friction=0.3, damping=0.1, gravity=9.81)
    sim.reset([0.4], [2.0])
    before, tau = sim.energy(), np.zeros(1)
    for _ in range(4000):
        sim.step(tau)
        after = sim.energy()
        assert after < before + 1e-6  # the scheme's own error, which is of the first order
        before = after


def test_friction_of_a_chain_meets_the_complementarity_conditions():
    """Whatever pieces the step has gone through: sliding joints feel f_c against v, sticking ones less, others none."""
    model = load_robot("arm7")
    sim, rng = Simulator(model, velocity_limits=False), np.random.default_rng(0)
    sim.reset([0.0, 0.35, 0.0, 1.55, 0.0, 1.2, 0.0])
    stuck = slid = 0
    for k in range(1500):
        q, v = sim.q.copy(), sim.v.copy()
        tau = (
            bias_forces(model, q, v)
            + 0.25 * np.sin(0.02 * k + np.arange(7))
            + 0.02 * rng.normal(size=7)
        )
        sim.step(tau)
        a = (sim.v - v) / sim.settings.step
        from opspace_ctrl import inverse_dynamics

        friction = inverse_dynamics(model, q, v, a) + model.damping * sim.v - tau
        if np.any(sim.q < model.position_limits[:, 0] + 1e-2) or np.any(
            sim.q > model.position_limits[:, 1] - 1e-2
        ):
            break
        moving = np.abs(sim.v) > 1.1e-8
        np.testing.assert_allclose(
            friction[moving], -(model.friction * np.sign(sim.v))[moving], atol=1e-9
        )
        assert np.all(np.abs(friction) <= model.friction + 1e-9)
        stuck, slid = stuck + np.sum(~moving), slid + np.sum(moving)
    assert stuck > 100 and slid > 100


@both_kinds
def test_a_joint_stops_at_its_limit_and_leaves_it_freely(integrator):
    sim = run(hinge(integrator, upper=0.2), 1000, 1.0)
    assert sim.q[0] == pytest.approx(0.2, abs=5e-6) and abs(sim.v[0]) < 1e-6
    run(sim, 100, -1.0)
    np.testing.assert_allclose(sim.v[0], -0.1 / INERTIA, rtol=1e-6)
    sim = hinge(integrator, lower=-0.2)
    sim.reset(v=[-3.0])
    run(sim, 200, 0.0)
    assert sim.q[0] == pytest.approx(-0.2, abs=1e-9) and abs(sim.v[0]) < 1e-9  # no rebound


def test_limits_hold_in_a_chain():
    model = load_robot("arm7")
    sim, rng = Simulator(model), np.random.default_rng(2)
    worst = 0.0
    for k in range(4000):
        if k % 500 == 0:
            tau = rng.uniform(-1, 1, 7) * model.effort_limits
        sim.step(tau)
        worst = max(
            worst,
            (model.position_limits[:, 0] - sim.q).max(),
            (sim.q - model.position_limits[:, 1]).max(),
        )
    assert worst < 1e-7


def test_what_is_beyond_a_limit_comes_back_without_speed():
    sim = hinge(upper=0.2)
    sim.reset([0.25])
    run(sim, 50, 0.0)
    assert sim.q[0] == pytest.approx(0.2, abs=1e-5) and abs(sim.v[0]) < 1e-12


def test_efforts_are_cut_off_at_their_limits():
    sim = hinge(effort=2.0)
    sim.step(np.array([50.0]))
    assert sim.tau[0] == 2.0
    np.testing.assert_allclose(sim.v[0], 2.0 / INERTIA * 1e-3)
    free = Simulator(load_urdf(pendulum(effort=2.0)), effort_limits=False)
    free.step(np.array([50.0]))
    assert free.tau[0] == 50.0


def test_implicit_damping_is_stable_where_explicit_damping_is_not():
    sim = hinge(damping=1e3)
    sim.reset(v=[1.0])
    run(sim, 10, 0.0)
    np.testing.assert_allclose(sim.v[0], (1.0 + 1e-3 * 1e3 / INERTIA) ** -10, rtol=1e-9)
    model = load_urdf(pendulum(damping=1e3), gravity=(0, 0, 0))
    explicit = Simulator(model, integrator="explicit", velocity_limits=False)
    explicit.reset(v=[1.0])
    run(explicit, 10, 0.0)
    np.testing.assert_allclose(explicit.v[0], (1.0 - 1e-3 * 1e3 / INERTIA) ** 10, rtol=1e-9)


@pytest.mark.parametrize("integrator", ["semi_implicit", "explicit", "rkmk4"])
def test_hold_keeps_the_arm_where_it_is(integrator):
    model = load_robot("arm7")
    sim = Simulator(
        model,
        initial_positions=HOME["arm7"],
        integrator=integrator,
        joint_friction=False,
    )
    start = sim.q.copy()
    for _ in range(2000):
        sim.step(sim.hold())
    np.testing.assert_allclose(sim.q, start, atol=1e-5)
    np.testing.assert_allclose(sim.tau, bias_forces(model, start, np.zeros(7)), atol=1e-2)


def test_hold_keeps_a_robot_standing_and_stops_a_moving_one():
    sim = standing()
    start = sim.q.copy()
    for _ in range(500):
        sim.step(sim.hold())
    np.testing.assert_allclose(sim.q, start, atol=1e-6)
    arm = Simulator("arm7", initial_positions=HOME["arm7"])
    arm.reset(arm.q, [0.3, -0.2, 0.3, 0.2, -0.3, 0.2, 0.1])
    for _ in range(500):
        tau = arm.hold()
        assert np.all(np.abs(tau) <= arm.model.effort_limits)
        arm.step(tau)
    assert np.abs(arm.v).max() < 1e-6


@pytest.mark.parametrize("method", ["crba_ltdl", "aba"])
@pytest.mark.parametrize("integrator", ["semi_implicit", "explicit", "rkmk4"])
def test_joints_go_no_faster_than_their_velocity_limits_and_are_let_go(integrator, method):
    model = load_robot("arm7")
    sim = Simulator(model, integrator=integrator, forward_method=method, joint_limits=False)
    fastest, limit = 0.0, model.velocity_limits
    for k in range(1500):
        sim.step(0.3 * model.effort_limits * np.sin(0.005 * k + np.arange(7)))
        fastest = np.maximum(fastest, np.abs(sim.v) / limit)
        assert (np.abs(sim.v) < limit * (1.0 + 1e-5)).all()
    assert (fastest > 0.999).sum() >= 4  # they got there
    held = hinge()
    held.reset(v=[150.0])  # faster than its 100 rad/s
    held.step([0.0])
    np.testing.assert_allclose(held.v, [100.0], rtol=1e-6)
    held.step([-INERTIA * 1000.0])  # braking is not resisted
    np.testing.assert_allclose(held.v, [99.0], rtol=1e-6)


def test_a_limit_of_zero_is_none_and_limits_can_be_switched_off():
    model = load_urdf(pendulum().replace('velocity="100"', 'velocity="0"'), gravity=(0, 0, 0))
    for sim in (Simulator(model), Simulator(load_urdf(pendulum()), velocity_limits=False)):
        sim.reset(v=[150.0])
        sim.step([0.0])
        np.testing.assert_allclose(sim.v, [150.0], rtol=1e-3)


BALL = """<mujoco><worldbody><body name="a"><joint name="ball" type="ball"/>
<inertial pos="0 0 -0.5" mass="1" diaginertia=".1 .2 .3"/><body name="b" pos="0 0 -1">
<joint name="hinge" type="hinge" axis="0 1 0" limited="true" range="-60 60"/>
<inertial pos="0.1 0 -0.5" mass="1" diaginertia=".1 .1 .2"/></body></body></worldbody></mujoco>"""


def test_a_ball_joint_starts_where_its_quaternion_says():
    model = load_mjcf(BALL)
    for start in ([0.0, 0.0, 1.2, 1.6, 0.3], {"ball": [0.0, 0.0, 0.6, 0.8], "hinge": 0.3}):
        sim = Simulator(model, initial_positions=start)
        np.testing.assert_allclose(sim.q, [0.0, 0.0, 0.6, 0.8, 0.3], atol=1e-15)
        _, turned = frame_pose(model, sim.q, "a")
        np.testing.assert_allclose(turned, [0.0, 0.0, 0.6, 0.8], atol=1e-15)
        energy = sim.energy()
        for _ in range(10):
            sim.step(np.zeros(4))
        assert abs(sim.energy() - energy) < 1e-2 and not np.array_equal(sim.q[:4], turned)
    np.testing.assert_allclose(
        Simulator(model, initial_positions={"hinge": 0.2}).q, [0, 0, 0, 1, 0.2], atol=1e-15
    )


@pytest.mark.parametrize(
    "start, words",
    [
        ({"ball": [0.0] * 4}, "ball has a zero quaternion"),
        ({"ball": 0.3}, r"ball has the shape \(1,\), not \(4,\)"),
        ({"knee": 0.3}, "no joint 'knee'; there are ball, hinge"),
        ([0.0, 0.0, 0.0, 0.0], "has 4 numbers; the joints of .* have 5 coordinates"),
        ({"hinge": 2.0}, "hinge = 2 is beyond its limits -1.047"),
        ({"hinge": None}, "hinge is not a vector of 1 real numbers"),
    ],
)
def test_a_start_that_is_none_is_refused_by_name(start, words):
    with pytest.raises(OpspaceError, match=words):
        Simulator(load_mjcf(BALL), initial_positions=start)
