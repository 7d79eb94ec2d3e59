# SPDX-License-Identifier: Apache-2.0
"""Closed loops with a minimal integrator: what the law promises is what the robot does."""

from __future__ import annotations

import numpy as np
from helpers import segments, shipped_robots
from helpers.control_cases import ContactSpec, Dense, TaskSpec, at, make_core, robot, set_sole
from scipy.spatial.transform import Rotation

from opspace_ctrl import forward_dynamics, frame_pose, load_robot


def move(core, i, shift, turn, duration):
    """A minimum-jerk motion of task i from its present pose."""
    here = core.law.pose[i, 9:]
    zero = np.zeros(3)
    position = segments.quintic(here, zero, zero, here + shift, zero, zero, duration)
    rotation = segments.quintic(zero, zero, zero, np.asarray(turn, float), zero, zero, duration)
    quaternion = (0, 0, 0, 1)
    if core.settings.tasks[i].moved_frame:
        quaternion = Rotation.from_matrix(core.law.pose[i, :9].reshape(3, 3)).as_quat()
    core.load_program(i, segments.row(0.0, duration, position, quaternion, rotation)[None])


def test_arm_follows_a_moving_pose_with_no_more_error_than_the_integrator_makes():
    core = make_core(robot("arm7"), [TaskSpec("tip", "tool")])
    core.law.task_stiffness[:], core.law.task_damping[:] = 400.0, 40.0
    core.law.posture_stiffness[:], core.law.posture_damping[:] = 20.0, 9.0
    q, v, dt = shipped_robots.home("arm7").copy(), np.zeros(7), 1e-3
    core.activate(q, v, 0.0)
    move(core, 0, (0.1, 0.15, -0.1), (0.2, 0.3, -0.4), 0.8)
    worst = 0.0
    for k in range(1000):
        v = v + dt * forward_dynamics(core.model, q, v, core.tick(q, v, k * dt).copy())
        q = core.model.integrate(q, v, dt)
        worst = max(worst, np.abs(core.law.error[0]).max())
    assert worst < 2e-3
    assert np.abs(core.law.error[0]).max() < 1e-5


def test_humanoid_stands_on_two_feet_shifts_its_weight_and_moves_a_hand():
    model = robot("asimo")
    contacts = [ContactSpec("left", "left_foot"), ContactSpec("right", "right_foot")]
    core = make_core(
        model,
        [TaskSpec("com", None, "position"), TaskSpec("hand", "left_hand", level=2)],
        contacts,
        internal_forces=at.BALANCED,
    )
    set_sole(core.law, 0.1, 0.05)
    core.law.posture_stiffness[:], core.law.posture_damping[:] = 25.0, 10.0
    q, v, dt = shipped_robots.home("asimo"), np.zeros(model.nv), 2e-3
    core.activate(q, v, 0.0)
    feet = [frame_pose(model, q, c.frame)[0] for c in contacts]
    move(core, 0, (0.0, 0.03, 0.0), (0, 0, 0), 0.8)
    move(core, 1, (0.05, 0.02, 0.08), (0.0, -0.2, 0.1), 0.8)
    for k in range(450):
        dense = Dense(model, q, v, contacts)
        v = v + dt * dense.acceleration(core.tick(q, v, k * dt))
        q = model.integrate(q, v, dt)
        assert (
            core.law.contact_margin[:, at.UNILATERAL] > 0.0
        ).all() and core.law.worst_margin > 0.0
    assert np.abs(core.law.error[0, :3]).max() < 1e-3 and np.abs(core.law.error[1]).max() < 1e-3
    for contact, start in zip(contacts, feet):
        np.testing.assert_allclose(frame_pose(model, q, contact.frame)[0], start, atol=2e-3)


def test_free_flyer_reaches_while_its_base_reacts():
    model = load_robot("free_flyer", gravity=(0.0, 0.0, 0.0))
    core = make_core(model, [TaskSpec("left", "left_tool")])
    q, v, dt = shipped_robots.home("free_flyer"), np.zeros(model.nv), 1e-3
    core.activate(q, v, 0.0)
    core.law.posture_damping[:] = 5.0
    move(core, 0, (0.05, 0.1, 0.05), (0.1, 0.0, 0.2), 0.5)
    base, exchanged = np.zeros(6), 0.0
    for k in range(700):
        tau = np.concatenate([base, core.tick(q, v, k * dt)])
        v = v + dt * forward_dynamics(model, q, v, tau)
        q = model.integrate(q, v, dt)
        if k % 50 == 0:
            exchanged = max(exchanged, np.abs(Dense(model, q, v).H[:6, 6:] @ v[6:]).max())
    assert np.abs(core.law.error[0]).max() < 1e-3
    # nothing holds the base
    assert np.abs(q[:3] - shipped_robots.home("free_flyer")[:3]).max() > 1e-3
    momentum = (Dense(model, q, v).H @ v)[:6]
    assert np.abs(momentum).max() < 1e-3 * exchanged
