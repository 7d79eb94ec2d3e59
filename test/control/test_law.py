# SPDX-License-Identifier: Apache-2.0
"""The control law against the same law written with dense matrices, for every kind of base and contact."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.control_cases import (
    FEET,
    HANDS,
    ContactSpec,
    Dense,
    TaskSpec,
    at,
    hold_another_pose,
    make_core,
    robot,
    size,
    state,
    wanted,
)

from opspace_ctrl.osim import methods


def contacts_of(name, kind):
    if kind == "none":
        return []
    left, right = FEET[name]
    foot = ContactSpec("left", left, 6)
    return {
        "point": [ContactSpec("left", left, 3)],
        "foot": [foot],
        "two feet": [foot, ContactSpec("right", right, 6)],
        "foot and point": [foot, ContactSpec("support", HANDS[name][0], 3, "world")],
        "two points": [ContactSpec("left", left, 3), ContactSpec("right", right, 3)],
    }[kind]


def tasks_of(name, kind):
    if name in ("arm7", "panda"):
        tip = robot(name).frame_names[-1]
        return [TaskSpec("tip", tip, "position"), TaskSpec("turn", tip, "orientation", level=2)]
    if name == "free_flyer":
        return [TaskSpec("left", "left_tool"), TaskSpec("right", "right_tool", "position", level=2)]
    hand = HANDS[name][1]
    return [TaskSpec("com", None, "position", level=1), TaskSpec("hand", hand, level=2)]


CASES = (
    [("arm7", "none"), ("panda", "none"), ("free_flyer", "none"), ("asimo", "none"), ("g1", "none")]
    + [(name, kind) for name in ("asimo", "g1", "talos") for kind in ("foot", "two feet")]
    + [("asimo", kind) for kind in ("point", "two points", "foot and point")]
)


@pytest.fixture(params=CASES, ids=lambda case: " ".join(case))
def case(request):
    name, kind = request.param
    if kind == "none" and name in FEET:
        tasks = [TaskSpec("hand", HANDS[name][1])]
    else:
        tasks = tasks_of(name, kind)
    contacts = contacts_of(name, kind)
    core = make_core(robot(name), tasks, contacts)
    q, v = state(name, seed=3)
    hold_another_pose(core, q, v, np.random.default_rng(5))
    core.law.posture_stiffness[:], core.law.posture_damping[:] = 30.0, 5.0
    core.tick(q, v, 0.4)
    dense = Dense(robot(name), q, v, contacts)
    return core, dense, q, v, kind


def levels_of(core, dense):
    levels = []
    for i, task in enumerate(core.settings.tasks):
        rows = task.task().selection()
        J, drift = dense.rows(task.moved_frame), dense.drift(task.moved_frame)
        if not task.moved_frame:
            levels.append((J, wanted(core, i)[:3], drift))
        else:
            levels.append((rows @ J, rows @ wanted(core, i), rows @ drift))
    return levels


def posture_of(core, v):
    return -core.law.posture_damping * v[-len(core.tau) :]  # the posture held is the present one


def test_torques_are_those_of_the_dense_law(case):
    core, dense, _, v, kind = case
    levels = levels_of(core, dense)
    tau, parts = dense.law(levels, posture_of(core, v))
    allowed = dense.tolerance() * sum(np.abs(part).max() for part in parts)
    found = core.tau
    if kind in ("two feet", "two points", "foot and point"):
        # torques differ by internal forces, which move nothing; and the posture cannot be had as it is asked for
        found, tau = (
            dense.Phi @ core.law.level_torque[:-1].sum(axis=0),
            dense.Phi @ (tau - parts[-1]),
        )
        allowed *= np.abs(dense.Phi).max()
    np.testing.assert_allclose(found, tau, rtol=0, atol=100 * allowed)


def test_first_level_accelerates_as_asked(case):
    core, dense, _, v, _ = case
    J, asked, drift = levels_of(core, dense)[0]
    found = J @ dense.acceleration(core.tau) + drift
    size = np.abs(J) @ np.abs(dense.Hi) @ np.abs(dense.U.T @ core.tau)
    np.testing.assert_allclose(found, asked, rtol=0, atol=10 * dense.tolerance() * size.max())


def test_contact_wrenches_are_those_of_the_dynamics(case):
    core, dense, _, v, kind = case
    if kind == "none":
        assert not core.law.contact_wrench.any()
        return
    forces = np.concatenate(
        [w[: size(c)] for w, c in zip(core.law.contact_wrench, core.settings.contacts)]
    )
    expected = dense.contact_forces(core.tau)
    np.testing.assert_allclose(
        forces, expected, rtol=0, atol=1e3 * dense.tolerance() * np.abs(expected).max()
    )


def test_base_gets_no_force_that_nobody_supplies(case):
    core, dense, _, _, _ = case
    assert core.law.base_residual <= 10 * dense.tolerance() * np.abs(dense.h).max()


def test_levels_sum_up_to_the_command(case):
    core, _, _, _, _ = case
    np.testing.assert_allclose(
        core.law.level_scale @ core.law.level_torque, core.tau, rtol=1e-13, atol=1e-13
    )


@pytest.mark.parametrize("name", ["arm7", "asimo", "free_flyer"])
def test_every_method_gives_the_same_torques(name):
    kind = "two feet" if name == "asimo" else "none"
    tasks = [t for t in tasks_of(name, kind) if t.moved_frame]
    core = make_core(robot(name), tasks, contacts_of(name, kind))
    q, v = state(name, seed=1)
    hold_another_pose(core, q, v, np.random.default_rng(2))
    expected = core.tick(q, v, 0.2).copy()
    for method in methods(robot(name)):
        core.method = method
        np.testing.assert_allclose(
            core.tick(q, v, 0.2), expected, rtol=0, atol=1e-9 * np.abs(expected).max()
        )


def test_without_compensation_the_bias_enters_the_force():
    model = robot("arm7")
    core = make_core(model, [TaskSpec("tip", "tool")], bias_in_law=1.0)
    q, v = state("arm7", 4)
    hold_another_pose(core, q, v, np.random.default_rng(1))
    core.law.posture_damping[:] = 0.0
    core.tick(q, v, 0.1)
    dense = Dense(model, q, v)
    J, Lambda = (
        dense.rows("tool"),
        np.linalg.inv(dense.rows("tool") @ dense.Hi @ dense.rows("tool").T),
    )
    beta = dense.drift("tool") - J @ dense.Hi @ dense.h
    np.testing.assert_allclose(core.tau, J.T @ Lambda @ (wanted(core, 0) - beta), rtol=0, atol=1e-9)


def test_gravity_and_coriolis_are_compensated_apart():
    from opspace_ctrl.dynamics import gravity_forces

    model = robot("arm7")
    core = make_core(model, mode=at.GRAVITY_MODE)
    q, v = state("arm7", 6, speed=2.0)
    core.activate(q, v, 0.0)
    h, g = Dense(model, q, v).h, gravity_forces(model, q)
    for gravity, coriolis in ((1, 1), (1, 0), (0, 1), (0, 0)):
        core.law.gravity_share, core.law.coriolis_share = gravity, coriolis
        expected = gravity * g + coriolis * (h - g)
        np.testing.assert_allclose(
            core.tick(q, v, 0.0), expected, rtol=0, atol=1e-12 * np.abs(h).max()
        )
    core.law.compensation_friction, core.law.viscous[:], core.law.coulomb[:] = 1.0, 0.3, 0.2
    np.testing.assert_allclose(core.tick(q, v, 0.0), 0.3 * v + 0.2 * np.tanh(v / 0.01), rtol=1e-12)


def test_impedance_is_a_spring_and_a_damper():
    model = robot("arm7")
    core = make_core(model, [TaskSpec("tip", "tool", law="impedance")])
    q, v = state("arm7", 2)
    hold_another_pose(core, q, v, np.random.default_rng(3))
    core.law.posture_damping[:] = 0.0
    core.tick(q, v, 0.2)
    dense = Dense(model, q, v)
    force = core.law.task_stiffness[0] * core.law.error[0] + core.law.task_damping[0] * (
        core.law.target_velocity[0] - core.law.velocity[0]
    )
    np.testing.assert_allclose(core.tau, dense.h + dense.rows("tool").T @ force, rtol=0, atol=1e-11)


@pytest.mark.parametrize("name", ["arm7", "asimo", "free_flyer"])
def test_raw_mode_is_the_published_law_made_realisable(name):
    """tau = J*^T F + N*^T tau0 + what level 0 needs."""
    rng = np.random.default_rng(8)
    contacts = contacts_of(name, "foot") if name == "asimo" else []
    model, tasks = robot(name), [t for t in tasks_of(name, "foot") if t.moved_frame]
    core = make_core(model, tasks, contacts, mode=at.RAW_MODE)
    q, v = state(name, 7)
    core.activate(q, v, 0.0)
    core.law.raw_force[:], core.law.raw_tau0[:] = (
        rng.normal(size=core.law.raw_force.shape),
        rng.normal(size=core.law.raw_tau0.shape),
    )
    core.tick(q, v, 0.0)
    dense = Dense(model, q, v, contacts)
    J = np.vstack([t.task().selection() @ dense.rows(t.frame) for t in tasks]) @ dense.B
    Jbar = dense.Phi @ J.T @ np.linalg.inv(J @ dense.Phi @ J.T)
    expected = (
        dense.B.T @ dense.h
        + J.T @ core.law.raw_force
        + core.law.raw_tau0
        - J.T @ (Jbar.T @ core.law.raw_tau0)
    )
    np.testing.assert_allclose(
        core.tau, expected, rtol=0, atol=100 * dense.tolerance() * np.abs(expected).max()
    )
