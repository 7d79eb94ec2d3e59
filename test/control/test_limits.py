# SPDX-License-Identifier: Apache-2.0
"""Limits: effort, rate, joint positions and speeds, ramp and error; what was limited is reported."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import segments
from helpers.control_cases import TaskSpec, hold_another_pose, make_core, robot, state

from opspace_ctrl import forward_dynamics


def pulled(tasks=None, **options):
    """arm7 with torques of every level."""
    core = make_core(
        robot("arm7"),
        tasks or [TaskSpec("a", "tool", "position"), TaskSpec("b", "tool", "orientation", level=2)],
        **options,
    )
    q, v = state("arm7", 3)
    hold_another_pose(core, q, v, np.random.default_rng(5))
    core.law.posture_damping[:] = 30.0
    return core, q, v


def test_the_lowest_level_is_scaled_first_and_keeps_its_direction():
    core, q, v = pulled()
    core.tick(q, v, 0.1)
    free, levels = core.tau.copy(), core.law.level_torque.copy()
    upper = levels[:4].sum(axis=0)
    core.law.command_limits[:] = np.maximum(np.abs(free), np.abs(upper)) + 1.0
    worst = int(np.argmax(np.abs(levels[4])))
    core.law.command_limits[worst] = (
        max(abs(upper[worst]), abs(upper[worst] + 0.4 * levels[4, worst])) + 1e-6
    )
    tau = core.tick(q, v, 0.1)
    if abs(free[worst]) > core.law.command_limits[worst]:
        assert 0.3 < core.law.level_scale[4] < 1.0
    assert core.law.level_scale[:4].tolist() == [1.0, 1.0, 1.0, 1.0]
    np.testing.assert_allclose(tau - upper, core.law.level_scale[4] * levels[4], atol=1e-12)
    assert (np.abs(tau) <= core.law.command_limits).all()


@pytest.mark.parametrize("share", [0.9, 0.5, 0.2, 0.05])
def test_what_is_left_of_every_level_keeps_its_direction_within_the_limits(share):
    core, q, v = pulled()
    core.tick(q, v, 0.1)
    bias, largest = core.law.level_torque[0].copy(), np.abs(core.law.level_torque).max(axis=0)
    core.law.command_limits[:] = np.abs(bias) + share * largest
    tau = core.tick(q, v, 0.1)
    np.testing.assert_allclose(tau, core.law.level_scale @ core.law.level_torque, rtol=0, atol=1e-9)
    assert (np.abs(tau) <= core.law.command_limits * (1 + 1e-12)).all()
    assert core.law.level_scale[0] == 1.0 and (core.law.level_scale >= 0.0).all()
    active = core.law.level_scale[2:]
    cut = np.flatnonzero(active < 1.0)
    # below a shortened level nothing is left
    assert len(cut) == 0 or (active[cut[0] + 1 :] == 0.0).all()


def test_bias_that_saturates_alone_is_clipped_and_said_so():
    core, q, v = pulled()
    core.tick(q, v, 0.1)
    j = int(np.argmax(np.abs(core.law.level_torque[0])))
    core.law.command_limits[j] = 0.5 * abs(core.law.level_torque[0, j])
    tau = core.tick(q, v, 0.1)
    assert abs(tau[j]) == core.law.command_limits[j]
    assert (
        core.law.bias_saturated == 1.0 and core.law.saturated[j] == 1.0 and core.law.clipped >= 1.0
    )


def test_torques_change_no_faster_than_the_rate_and_all_joints_alike():
    core, q, v = pulled()
    core.law.command_rate = 100.0
    first = core.tick(q, v, 0.1).copy()
    core.law.task_stiffness[:] = 900.0
    second = core.tick(q, v, 0.101).copy()
    wanted = core.law.level_scale @ core.law.level_torque
    assert np.abs(second - first).max() == pytest.approx(0.1)
    share = core.law.rate_limited
    assert 0.0 < share < 1.0
    np.testing.assert_allclose(second - first, share * (wanted - first), atol=1e-12)
    np.testing.assert_array_equal(core.tick(q, v, 0.101), second)  # no time, no change


def test_on_activation_tasks_ramp_in_and_the_bias_does_not():
    core, q, v = pulled(ramp=0.5)
    tau = core.tick(q, v, 0.0).copy()
    np.testing.assert_allclose(tau, core.law.level_torque[0], atol=1e-12)
    middle = core.tick(q, v, 0.25).copy()
    np.testing.assert_allclose(
        middle, core.law.level_torque[0] + 0.5 * core.law.level_torque[1:].sum(axis=0), atol=1e-9
    )
    assert core.law.ramped == pytest.approx(0.5)
    np.testing.assert_allclose(core.tick(q, v, 0.5), core.law.level_torque.sum(axis=0), atol=1e-12)


def test_errors_are_shortened_not_bent():
    core, q, v = pulled([TaskSpec("a", "tool")])
    core.law.task_damping[:] = 0.0
    core.law.task_error_clip, core.law.task_error_clip_angle = 0.05, 0.1
    core.tick(q, v, 0.1)
    e = core.law.error[0]
    short = np.concatenate(
        [0.05 * e[:3] / np.linalg.norm(e[:3]), 0.1 * e[3:] / np.linalg.norm(e[3:])]
    )
    from helpers.control_cases import Dense

    dense = Dense(robot("arm7"), q, v)
    found = dense.rows("tool") @ dense.acceleration(core.tau) + dense.drift("tool")
    np.testing.assert_allclose(
        found,
        core.law.task_stiffness[0] * short + core.law.target_acceleration[0],
        rtol=0,
        atol=1e-8,
    )
    assert core.law.error_clipped == 1  # a task, though its position and orientation both


def test_tasks_with_shortened_errors_are_counted_once_each():
    core, q, v = pulled()
    core.law.task_error_clip[0] = core.law.task_error_clip_angle[0] = 0.01
    core.tick(q, v, 0.1)
    assert core.law.error_clipped == 1
    core.law.task_error_clip[1] = core.law.task_error_clip_angle[1] = 0.01
    core.tick(q, v, 0.1)
    assert core.law.error_clipped == 2


def run(core, q, v, seconds, dt=1e-3):
    """Integrate the arm under the core's torques; positions and speeds that were seen."""
    seen, fast = [], []
    for k in range(int(seconds / dt)):
        v = v + dt * forward_dynamics(core.model, q, v, core.tick(q, v, k * dt).copy())
        q = core.model.integrate(q, v, dt)
        seen.append(q)
        fast.append(v)
    return np.array(seen), np.array(fast)


def test_a_task_does_not_pull_a_joint_through_its_limit():
    model = robot("arm7")
    core = make_core(
        model, [TaskSpec("a", "tool", "position")], singularity_damping=0.5, singularity_cut=0.005
    )
    q, v = np.array([0.0, 0.4, 0.0, 1.2, 0.0, 0.6, 0.0]), np.zeros(7)
    core.activate(q, v, 0.0)
    core.law.position_lower[3], core.law.position_upper[3] = 0.9, 1.3
    core.law.position_margin[:] = 0.1
    core.law.posture_damping[:] = 10.0
    away = np.zeros((3, 6))
    away[:, 0] = core.law.pose[0, 9:] + (0.25, 0.0, 0.15)  # farther than the elbow may open
    core.load_program(0, segments.row(0.0, 0.0, away, (0, 0, 0, 1), np.zeros((3, 6)))[None])
    seen, _ = run(core, q, v, 1.5)
    assert seen[:, 3].min() > 0.9 - 1e-6 and seen[:, 3].max() < 1.3 + 1e-6
    assert core.law.activation[3] > 0.0 and core.law.joints_limited >= 1.0
    free, _ = run(_without_margin(core, q, v), q, v, 1.5)
    assert free[:, 3].min() < 0.9  # the task would have gone through


def _without_margin(core, q, v):
    core.law.position_margin[:] = 0.0
    program = core.law.references.program(0).copy()
    core.activate(q, v, 0.0)
    core.load_program(0, program)
    return core


def test_joints_keep_their_speed_limit():
    core = make_core(
        robot("arm7"),
        [TaskSpec("a", "tool", "position")],
        singularity_damping=0.5,
        singularity_cut=0.005,
    )
    q, v = np.array([0.0, 0.4, 0.0, 1.2, 0.0, 0.6, 0.0]), np.zeros(7)
    core.activate(q, v, 0.0)
    core.law.velocity_limits[:], core.law.velocity_margin[:] = 0.5, 0.1
    core.law.task_error_clip[0] = 0.02  # accelerates with 2 m/s^2 at most
    far = np.zeros((3, 6))
    far[:, 0] = core.law.pose[0, 9:] + (0.0, 0.4, 0.0)
    core.load_program(0, segments.row(0.0, 0.0, far, (0, 0, 0, 1), np.zeros((3, 6)))[None])
    _, fast = run(core, q, v, 0.6)
    assert 0.35 < np.abs(fast).max() < 0.5


def test_limits_do_not_disturb_contacts():
    from helpers.control_cases import ContactSpec, Dense

    contacts = [ContactSpec("left", "left_foot"), ContactSpec("right", "right_foot")]
    core = make_core(robot("asimo"), [TaskSpec("hand", "left_hand", "position")], contacts)
    q, v = state("asimo", 2)
    core.activate(q, v, 0.0)
    core.law.position_margin[:] = 10.0
    core.law.position_lower, core.law.position_upper = q[7:] - 4.0, q[7:] + 9.0
    core.tick(q, v, 0.0)
    assert core.law.joints_limited > 1.0
    dense = Dense(robot("asimo"), q, v, contacts)
    expected = dense.contact_forces(core.tau)
    np.testing.assert_allclose(
        core.law.contact_wrench.ravel(), expected, rtol=0, atol=1e-6 * np.abs(expected).max()
    )
