# SPDX-License-Identifier: Apache-2.0
"""Friction is compensated for the velocity that the targets ask of the joints."""

import numpy as np
import pytest
from helpers.control_cases import TaskSpec, hold_another_pose, make_core, robot, state
from helpers.shipped_loops import ShippedLoop

from opspace_ctrl import frame_jacobian, mass_matrix

VISCOUS, DRY, SLOW = 0.3, 0.2, 0.05
FRAMES = {"arm7": ["tool"], "free_flyer": ["left_tool", "right_tool"]}


@pytest.mark.parametrize(
    "method", ["sparse_ltdl", "sparse_ltl", "dense", "rjk", "pv_osimr", "efpa"]
)
@pytest.mark.parametrize("name", FRAMES)
def test_it_is_that_of_the_dynamically_consistent_joint_velocity(name, method):
    """v = H^-1 C^T (C H^-1 C^T)^-1 r, dense; C has the rows of the momentum, too, where the base floats."""
    model = robot(name)
    tasks = [TaskSpec(frame, frame) for frame in FRAMES[name]]
    core = make_core(model, tasks, method=method)
    core.law.viscous, core.law.coulomb = VISCOUS, DRY
    core.law.compensation_friction_speed = SLOW
    core.law.velocity_limits = np.inf
    q, v = state(name, 4)
    hold_another_pose(core, q, v, np.random.default_rng(2))
    without = core.tick(q, v, 0.2).copy()
    core.law.compensation_friction = 1.0
    added = core.tick(q, v, 0.2) - without
    H = mass_matrix(model, q)
    rows = [frame_jacobian(model, q, frame) for frame in FRAMES[name]]
    asked = core.law.target_velocity.ravel()
    if model.nv > core.law.k:
        rows, asked = [H[:6], *rows], np.concatenate([np.zeros(6), asked])
    C = np.vstack(rows)
    Hi = np.linalg.inv(H)
    wanted = (Hi @ C.T @ np.linalg.solve(C @ Hi @ C.T, asked))[-core.law.k :]
    np.testing.assert_allclose(
        added, VISCOUS * wanted + DRY * np.tanh(wanted / SLOW), rtol=1e-7, atol=1e-9
    )
    assert np.abs(wanted).max() > 0.1


def test_a_joint_is_asked_for_no_more_than_its_velocity_limit():
    core = make_core(robot("arm7"), [TaskSpec("tool", "tool")])
    core.law.viscous, core.law.coulomb, core.law.velocity_limits = VISCOUS, 0.0, 1e-3
    q, v = state("arm7", 4)
    hold_another_pose(core, q, v, np.random.default_rng(2))
    without = core.tick(q, v, 0.2).copy()
    core.law.compensation_friction = 1.0
    assert np.abs(core.tick(q, v, 0.2) - without).max() <= VISCOUS * 1e-3 + 1e-12


def test_at_rest_there_is_none_however_the_robot_moves():
    core = make_core(robot("arm7"), [TaskSpec("tool", "tool")])
    core.law.viscous, core.law.coulomb = VISCOUS, DRY
    q, v = state("arm7", 4)
    core.activate(q, v, 0.0)
    without = core.tick(q, v, 100.0).copy()  # the reference has come to rest
    core.law.compensation_friction = 1.0
    assert (core.tick(q, v, 100.0) == without).all()


def test_free_flyer_on_a_figure_of_eight_neither_chatters_nor_meets_the_rate_limit():
    loop = ShippedLoop("free_flyer")
    tasks, turns = ("left_tool", "right_tool"), np.linspace(0.0, 4.0 * np.pi, 81)[1:]
    for task in tasks:
        position, quaternion = loop.controller.pose(task)
        path = np.c_[0.0 * turns, 0.08 * np.sin(turns), 0.05 * np.sin(2.0 * turns)]
        times = 0.15 * np.arange(1, 81)
        loop.controller.trajectory(
            task, times, position + path, np.tile(quaternion, (80, 1)), loop.robot.time
        )
    torques, limited, worst = [], 0, 0.0
    for _ in range(12000):
        loop.run(0.001)
        torques.append(loop.controller.command.copy())
        limited += loop.law.rate_limited < 1.0
        worst = max(worst, loop.errors(*tasks)[0])
    change = np.diff(torques, axis=0)
    turned = (
        (change[1:] * change[:-1] < 0) & (np.abs(change[1:]) > 0.01) & (np.abs(change[:-1]) > 0.01)
    )
    assert limited == 0 and not turned.any()
    assert worst < 2.0
