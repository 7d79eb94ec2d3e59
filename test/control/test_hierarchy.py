# SPDX-License-Identifier: Apache-2.0
"""Strictness: a lower level never accelerates a higher one, and every level does what it can."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.control_cases import (
    FEET,
    HANDS,
    ContactSpec,
    Dense,
    TaskSpec,
    hold_another_pose,
    make_core,
    robot,
    state,
    wanted,
)

from opspace_ctrl import load_robot

CASES = {
    "arm7": (
        [
            TaskSpec("a", "tool", "position"),
            TaskSpec("b", "tool", "orientation", level=2),
            TaskSpec("c", "link4", "position", level=3),
        ],
        [],
    ),
    "panda": (
        [
            TaskSpec("a", "panda_link7", "orientation"),
            TaskSpec("b", "panda_link7", "position", level=2),
        ],
        [],
    ),
    "free_flyer": (
        [
            TaskSpec("a", "left_tool"),
            TaskSpec("b", "right_tool", level=2),
            TaskSpec("c", "bus", "orientation", level=3),
        ],
        [],
    ),
    **{
        name: (
            [
                TaskSpec("a", None, "position"),
                TaskSpec("b", HANDS[name][0], level=2),
                TaskSpec("c", HANDS[name][1], "position", level=3),
            ],
            [ContactSpec("left", FEET[name][0]), ContactSpec("right", FEET[name][1])],
        )
        for name in ("asimo", "g1", "talos")
    },
}


def made(name, **options):
    tasks, contacts = CASES[name]
    core = make_core(robot(name), tasks, contacts, **options)
    q, v = state(name, 11)
    hold_another_pose(core, q, v, np.random.default_rng(12))
    return core, q, v, Dense(robot(name), q, v, contacts)


def selected(core, dense, i):
    task = core.settings.tasks[i]
    rows = task.task().selection()
    return dense.rows(None) if not task.moved_frame else rows @ dense.rows(task.moved_frame)


@pytest.mark.parametrize("name", CASES)
def test_lower_levels_and_the_posture_do_not_accelerate_higher_ones(name):
    core, q, v, dense = made(name)
    before = core.tick(q, v, 0.3).copy()
    for lowest in (1, 2):
        core.law.task_stiffness[lowest:], core.law.task_damping[lowest:] = 700.0 / lowest, 3.0
        core.law.posture_stiffness[:], core.law.posture_damping[:] = 90.0, 40.0 * lowest
        after = core.tick(q, v, 0.3).copy()
        change = dense.U.T @ (after - before)
        assert np.abs(change).max() > 1.0
        for i in range(lowest):
            J = selected(core, dense, i)
            size = np.abs(J @ dense.N_s @ dense.Hi).max(axis=1) * np.abs(change).max()
            leaked = J @ dense.N_s @ dense.Hi @ change
            assert (np.abs(leaked) <= 10 * dense.tolerance() * size).all()
        before = after


@pytest.mark.parametrize("name", CASES)
def test_every_level_that_is_free_to_accelerates_as_asked(name):
    core, q, v, dense = made(name)
    core.tick(q, v, 0.3)
    found = dense.acceleration(core.tau)
    # six levels of arm7's seven joints, and less of the others
    for i, task in enumerate(core.settings.tasks[:2]):
        rows = task.task().selection()
        drift = dense.drift(task.moved_frame)
        asked = wanted(core, i)[:3] if not task.moved_frame else rows @ wanted(core, i)
        size = np.abs(selected(core, dense, i)) @ np.abs(dense.Hi) @ np.abs(dense.U.T @ core.tau)
        error = (
            selected(core, dense, i) @ found
            + (drift if not task.moved_frame else rows @ drift)
            - asked
        )
        assert (np.abs(error) <= 10 * dense.tolerance() * size.max()).all()


def test_a_conflicting_task_gets_nothing_and_takes_nothing():
    core = make_core(robot("arm7"), [TaskSpec("a", "tool"), TaskSpec("b", "tool", level=2)])
    alone = make_core(robot("arm7"), [TaskSpec("a", "tool")])
    q, v = state("arm7", 3)
    for each in (core, alone):
        hold_another_pose(each, q, v, np.random.default_rng(4))
    tau, expected = core.tick(q, v, 0.1), alone.tick(q, v, 0.1)
    assert core.law.level_rank[2] == 6 and core.law.level_rank[3] == 0
    assert not core.law.level_torque[3].any()
    np.testing.assert_allclose(tau, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def test_tasks_of_two_laws_on_one_level_are_two_levels():
    tasks = [
        TaskSpec("a", "tool", "position", law="impedance"),
        TaskSpec("b", "tool", "orientation"),
    ]
    core = make_core(robot("arm7"), tasks)
    assert core.settings.levels() == [[1], [0]]
    q, v = state("arm7", 3)
    hold_another_pose(core, q, v, np.random.default_rng(4))
    core.tick(q, v, 0.1)
    dense = Dense(robot("arm7"), q, v)
    J = dense.rows("tool")[3:]
    found = J @ dense.acceleration(core.tau) + dense.drift("tool")[3:]
    np.testing.assert_allclose(found, wanted(core, 1)[3:], rtol=0, atol=1e-8)


def test_momentum_of_a_free_flyer_is_left_alone():
    model = load_robot("free_flyer", gravity=(0.0, 0.0, 0.0))
    core = make_core(model, [TaskSpec("a", "left_tool"), TaskSpec("b", "right_tool", level=2)])
    rng = np.random.default_rng(1)
    q, v = model.random_configuration(rng), 0.3 * rng.normal(size=model.nv)
    hold_another_pose(core, q, v, rng)
    core.law.posture_stiffness[:] = 20.0
    dense = Dense(model, q, v)
    dv = dense.acceleration(core.tick(q, v, 0.2))
    np.testing.assert_allclose(
        (dense.H @ dv + dense.h)[:6], 0.0, atol=1e-9 * np.abs(core.tau).max()
    )


def test_relative_task_moves_seen_from_the_other_frame():
    """Against finite differences of the relative pose along the motion that the torque makes."""
    model = robot("asimo")
    task = TaskSpec("grip", "left_hand", relative_to="right_hand")
    core = make_core(
        model, [task], [ContactSpec("left", "left_foot"), ContactSpec("right", "right_foot")]
    )
    q, v = state("asimo", 5)
    hold_another_pose(core, q, v, np.random.default_rng(6))
    dense = Dense(model, q, v, core.settings.contacts)
    dv, dt = dense.acceleration(core.tick(q, v, 0.1)), 1e-4
    asked, velocity = wanted(core, 0), core.law.velocity[0].copy()
    core.measure(model.integrate(q, v + 0.5 * dt * dv, dt), v + dt * dv)
    ahead = core.law.velocity[0].copy()
    core.measure(model.integrate(q, v - 0.5 * dt * dv, -dt), v - dt * dv)
    behind = core.law.velocity[0].copy()
    np.testing.assert_allclose((ahead + behind) / 2, velocity, atol=1e-5)
    np.testing.assert_allclose(
        (ahead - behind) / (2 * dt), asked, rtol=0, atol=1e-4 * np.abs(asked).max()
    )
