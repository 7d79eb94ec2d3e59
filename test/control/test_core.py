# SPDX-License-Identifier: Apache-2.0
"""The core as its owner sees it: refusals, orders, holding, and a tick that allocates nothing."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from helpers.control_cases import (
    NO_POSTURE,
    ContactSpec,
    TaskSpec,
    at,
    hold_another_pose,
    make_core,
    robot,
    state,
)

from opspace_ctrl import OpspaceError, bias_forces, load_urdf
from opspace_ctrl.control.contacts import Contact
from opspace_ctrl.control.core import Core
from opspace_ctrl.control.settings import ControllerSettings, controller_settings
from opspace_ctrl.control.tasks import RowsTask
from opspace_ctrl.dynamics import gravity_forces
from opspace_ctrl.errors import ConfigurationError
from opspace_ctrl.model.source import robot_text


def ticking(name="arm7", **options):
    tasks = [TaskSpec("tip", "tool")] if name == "arm7" else [TaskSpec("tip", "left_hand")]
    contacts = (
        [ContactSpec("left", "left_foot"), ContactSpec("right", "right_foot")]
        if name == "asimo"
        else []
    )
    core = make_core(robot(name), tasks, contacts, **options)
    q, v = state(name, 3)
    hold_another_pose(core, q, v, np.random.default_rng(1))
    return core, q, v


@pytest.mark.parametrize(
    "bases, words",
    [
        (
            ["floating", "floating"],
            "one floating base or none.*it has 2; valid are .* a controller for each robot",
        ),
        (
            ["fixed", "floating"],
            "not the first of the forest; valid are .*one floating robot with fixed ones after it",
        ),
    ],
)
def test_a_forest_with_several_floating_bases_or_one_behind_a_fixed_one_is_refused_with_what_is_valid(
    bases, words
):
    forest = load_urdf([robot_text("arm7")] * 2, bases, prefixes=["left_", "right_"])
    with pytest.raises(ConfigurationError, match=words):
        make_core(forest, [TaskSpec("tip", "left_tool")])


@pytest.mark.parametrize(
    "spoil",
    [
        lambda q, v: (q[:-1], v, 0.0),
        lambda q, v: (q, np.append(v, 0.0), 0.0),
        lambda q, v: (q * np.nan, v, 0.0),
        lambda q, v: (q, v + np.inf, 0.0),
        lambda q, v: (q, v, float("nan")),
        lambda q, v: (q, v, float("inf")),
        lambda q, v: (q, 1e90 * np.ones_like(v), 0.0),
        lambda q, v: ("q", v, 0.0),
    ],
)
def test_unusable_states_are_refused_and_change_nothing(spoil):
    core, q, v = ticking()
    before = core.tick(q, v, 0.1).copy()
    with pytest.raises(OpspaceError):
        core.tick(*spoil(q, v))
    np.testing.assert_array_equal(core.tau, before)
    np.testing.assert_array_equal(core.tick(q, v, 0.1), before)


def test_lists_and_other_types_of_numbers_are_taken():
    core, q, v = ticking()
    expected = core.tick(q, v, 0.1).copy()
    np.testing.assert_array_equal(core.tick(list(q), v.tolist(), 0.1), expected)


def test_command_is_in_the_order_of_the_joints_asked_for():
    model = robot("arm7")
    joints = tuple(model.joint_names[i] for i in (3, 0, 6, 2, 1, 5, 4))
    settings = ControllerSettings(joints=joints, method="sparse_ltdl", posture=NO_POSTURE)
    core = Core(model, settings)
    core.law.command_limits[:] = np.inf
    q, v = state("arm7", 2)
    core.activate(q, v, 0.0)
    h = bias_forces(model, q, v)
    np.testing.assert_allclose(
        core.tick(q, v, 0.0), [h[model.joint_names.index(name)] for name in joints], atol=1e-12
    )
    core.law.mode, core.law.ramp = at.RAW_MODE, 0.0
    core.law.command_rate, core.law.raw_tau0[:] = np.inf, np.arange(7.0)
    np.testing.assert_allclose(
        core.tick(q, v, 0.1) - [h[model.joint_names.index(name)] for name in joints],
        np.arange(7.0),
        atol=1e-10,
    )


def test_gravity_is_level_zero_and_leaves_the_control_state_alone():
    core, q, v = ticking()
    expected = core.tick(q, v, 0.1).copy()
    core.law.door.is_free = 1
    gravity = core.safe(at.GRAVITY, q, v).copy()
    np.testing.assert_allclose(gravity, gravity_forces(core.model, q), atol=1e-12)
    core.law.door.is_free = 1
    np.testing.assert_allclose(core.tick(q, v, 0.1), expected, atol=1e-9)


@pytest.mark.parametrize(
    "made, words",
    [
        (lambda: tasks(TaskSpec("a", "tool"), TaskSpec("a", "tool")), "'a'"),
        (lambda: tasks(TaskSpec("a", "nowhere")), "nowhere"),
        (lambda: tasks(TaskSpec("a", "tool", relative_to="nowhere")), "nowhere"),
        (lambda: tasks(TaskSpec("a", "tool", axes="nowhere")), "nowhere"),
        (lambda: tasks(TaskSpec("a", "tool", law="magic")), "a.law: .*inertia, impedance"),
        (lambda: tasks(TaskSpec("a", "tool", level=0)), "a.level: 0 .* 1 to 100"),
        (lambda: tasks(RowsTask("a", np.ones((7, 6)), frame="tool")), "a.selection has 7 rows"),
        (
            lambda: controller_settings({"tasks": ["a"], "a.rows": "com", "a.relative_to": "tool"}),
            "a.relative_to: .* whole robot's",
        ),
        (lambda: ControllerSettings(contacts=[Contact("c", rows="five")]), "c.rows: .*position"),
        (lambda: ControllerSettings(contacts=[Contact("nowhere")]), "nowhere"),
        (lambda: ControllerSettings(joints=("joint1",)), "joint7"),
    ],
)
def test_settings_that_cannot_be_are_refused_by_name(made, words):
    with pytest.raises(OpspaceError, match=words):
        Core(robot("arm7"), made())


def tasks(*given):
    return ControllerSettings(tasks=given, method="sparse_ltdl")


@pytest.mark.parametrize("name", ["arm7", "asimo"])
def test_a_tick_allocates_nothing(name):
    core, q, v = ticking(name)
    times = [0.001 * k for k in range(800)]
    for time in times[:400]:
        core.tick(q, v, time)
    tracemalloc.start()
    for time in times[400:600]:  # uncompiled, the numbers of the last tick are objects that live on
        core.tick(q, v, time)
    before = tracemalloc.get_traced_memory()[0]
    for time in times[600:]:
        core.tick(q, v, time)
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert after - before < 512


def test_activation_forgets_the_past():
    core, q, v = ticking()
    (
        core.law.task_force_axes[0, 0],
        core.law.measured_on[0],
        core.law.task_force_integral[0],
        core.law.task_force_limit[0],
    ) = (
        1.0,
        1.0,
        50.0,
        100.0,
    )
    core.law.wrench[0, 0], core.law.command_rate = 5.0, 50.0
    for k in range(100):
        core.tick(q, v, 0.01 * k)
    assert core.law.applied[0, 0] > 10.0
    core.activate(q, v, 7.0)
    assert not core.law.wrench.any() and not core.law.measured_on.any()  # nothing streamed counts
    core.law.wrench[0, 0], core.law.measured_on[0] = 5.0, 1.0
    core.tick(q, v, 7.0)
    assert core.law.applied[0, 0] == pytest.approx(5.0)
    # not rate limited against the past
    np.testing.assert_allclose(core.tau, core.law.level_scale @ core.law.level_torque, atol=1e-12)
    assert np.abs(core.law.error[0]).max() < 1e-12


def test_a_restart_forgets_every_state_that_is_declared():
    """The kernel names them one by one, for C has no `Workspace.reset`: one that is forgotten shows here."""
    core, q, v = ticking("asimo")
    states = [name for name, field in core.law.fields.items() if field.role == "state"]
    for name in states:
        setattr(core.law, name, 1)
    core.restart(q, v, 2.0)
    left = {name for name in states if np.any(getattr(core.law, name))}
    assert left == {"has_begun", "last_time"} and core.law.last_time == 2.0


def test_posture_alone_needs_no_task():
    core = make_core(robot("asimo"))
    q, v = state("asimo", 1)
    core.activate(q, v, 0.0)
    assert np.isfinite(core.tick(q, v, 0.0)).all()
    assert core.law.base_residual < 1e-9
