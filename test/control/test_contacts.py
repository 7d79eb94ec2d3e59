# SPDX-License-Identifier: Apache-2.0
"""Contacts: what the soles carry, how it is shared, how near they are to slipping, and how they come and go."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import shipped_robots
from helpers.control_cases import ContactSpec, Dense, TaskSpec, at, make_core, robot, set_sole

FEET = [ContactSpec("left", "left_foot"), ContactSpec("right", "right_foot")]
TASKS = [TaskSpec("com", None, "position"), TaskSpec("left_hand", "left_hand", level=2)]


def standing(tasks=TASKS, contacts=FEET, **options):
    core = make_core(robot("asimo"), tasks, contacts, **options)
    set_sole(core.law, 0.1, 0.05)
    q, v = shipped_robots.home("asimo"), np.zeros(robot("asimo").nv)
    core.activate(q, v, 0.0)
    return core, q, v


@pytest.mark.parametrize("internal", [at.ZERO, at.BALANCED])
def test_feet_carry_the_weight(internal):
    core, q, v = standing(internal_forces=internal)
    core.tick(q, v, 0.0)
    weight = -robot("asimo").mass.sum() * robot("asimo").gravity
    np.testing.assert_allclose(core.law.contact_wrench[:, :3].sum(axis=0), weight, atol=1e-8)
    assert (core.law.contact_margin > 0.0).all()
    assert core.law.worst_margin == core.law.contact_margin[:, 1:].min()


def test_sharing_moves_nothing_and_balanced_keeps_further_from_the_edges():
    dense_margin = {}
    for internal in (at.ZERO, at.BALANCED):
        core, q, v = standing(internal_forces=internal)
        v = 0.1 * np.random.default_rng(0).normal(size=len(v))
        core.tick(q, v, 0.0)
        dense = Dense(robot("asimo"), q, v, FEET)
        dense_margin[internal] = core.law.worst_margin, dense.acceleration(core.tau)
        expected = dense.contact_forces(core.tau)
        np.testing.assert_allclose(
            core.law.contact_wrench.ravel(), expected, rtol=0, atol=1e-8 * np.abs(expected).max()
        )
    np.testing.assert_allclose(
        dense_margin[at.ZERO][1], dense_margin[at.BALANCED][1], rtol=0, atol=1e-7
    )
    assert dense_margin[at.BALANCED][0] >= dense_margin[at.ZERO][0]


def test_margins_are_those_of_the_wrench():
    core, q, v = standing()
    core.law.contact_friction[:], core.law.contact_minimum_force[:] = 0.4, 5.0
    set_sole(core.law, 0.08, 0.03, centre=0.01)
    core.tick(q, v, 0.0)
    # the soles are level
    for (fx, fy, fz, mx, my, mz), margin in zip(core.law.contact_wrench, core.law.contact_margin):
        x, y = -my / fz, mx / fz
        assert margin[at.UNILATERAL] == pytest.approx(fz - 5.0)
        assert margin[at.CONE] == pytest.approx(1 - np.hypot(fx, fy) / (0.4 * fz))
        assert margin[at.CENTRE] == pytest.approx(1 - max(abs(x - 0.01) / 0.08, abs(y) / 0.03))
        assert margin[at.TORSION] == pytest.approx(
            1 - abs(mz - (x * fy - y * fx)) / (0.4 * fz * 0.055)
        )


def test_a_pulled_contact_is_reported():
    tasks = [TaskSpec("com", None, "position")]
    core, q, v = standing(tasks)
    core.law.task_stiffness[0, 2] = 0.0
    from helpers import segments

    down = np.zeros((3, 6))
    down[:, 0], down[2, 2] = core.law.pose[0, 9:], -10.0  # falls at 20 m/s^2
    core.load_program(0, segments.row(0.0, 1.0, down, (0, 0, 0, 1), np.zeros((3, 6)))[None])
    core.tick(q, v, 0.0)
    assert (core.law.contact_margin[:, at.UNILATERAL] < 0.0).all()
    assert core.law.worst_margin == -1.0


def test_a_contact_fades_out_without_a_step_and_ends_as_if_it_had_never_been():
    core, q, v = standing()
    core.law.fade = 0.3
    alone, _, _ = standing(contacts=FEET[:1])
    start = core.tick(q, v, 0.0).copy()
    core.law.contact_enabled[1] = 0.0
    torques = [core.tick(q, v, t).copy() for t in np.arange(1, 501) * 1e-3]
    steps = np.abs(np.diff([start, *torques], axis=0)).max(axis=1)
    total = np.abs(torques[-1] - start).max()
    assert total > 10.0
    # the steepest part of a minimum-jerk blend
    assert steps.max() <= 1.01 * total * 1.875 * 1e-3 / 0.3
    np.testing.assert_allclose(
        torques[-1], alone.tick(q, v, 0.0), rtol=0, atol=1e-9 * np.abs(torques[-1]).max()
    )
    assert core.law.contact_weight.tolist() == [1.0, 0.0]
    assert not core.law.contact_wrench[1].any()


def test_a_change_during_a_fade_waits_for_its_end():
    core, q, v = standing()
    core.law.fade = 0.1
    last = core.tick(q, v, 0.0).copy()
    core.law.task_enabled[1] = 0.0
    for k, t in enumerate(np.arange(1, 301) * 1e-3):
        if k == 40:
            core.law.task_enabled[1], core.law.contact_enabled[1] = 1.0, 0.0
        tau = core.tick(q, v, t).copy()
        assert np.abs(tau - last).max() < 5.0
        last = tau
    assert core.law.task_weight.tolist() == [1.0, 1.0] and core.law.contact_weight.tolist() == [
        1.0,
        0.0,
    ]


def test_four_points_of_a_sole_are_a_sole():
    points = [
        ContactSpec(corner, f"left_foot_{corner}", 3, "world")
        for corner in ("front_left", "front_right", "rear_right", "rear_left")
    ]
    core, q, v = standing(contacts=points)
    sole, _, _ = standing(contacts=FEET[:1])
    np.testing.assert_allclose(
        core.tick(q, v, 0.0), sole.tick(q, v, 0.0), rtol=0, atol=1e-7 * np.abs(sole.tau).max()
    )
    np.testing.assert_allclose(
        core.law.contact_wrench[:, :3].sum(axis=0), sole.law.contact_wrench[0, :3], atol=1e-6
    )
    assert core.law.level_rank[0] == 6
