# SPDX-License-Identifier: Apache-2.0
"""Integral action: it grows by what the level has of the error, and stands still where it should."""

import numpy as np
import pytest
from helpers import segments
from helpers.control_cases import TaskSpec, at, hold_another_pose, make_core, robot, state
from helpers.shipped_loops import ShippedLoop

from opspace_ctrl import OpspaceError
from opspace_ctrl.model.rotations import to_quaternion

DT = 0.001
RATE = 3.0
ON = {
    "integral": RATE,
    "integral_clip": 1.0,
    "integral_clip_angle": 3.0,
    "integral_tolerance": 0.0,
    "integral_tolerance_angle": 0.0,
}
Z_AND_SLANT = ((0.0, 0.0, 1.0, 0.0, 0.0, 0.0), (0.0, 0.6, 0.0, 0.8, 0.0, 0.0))


def off_target(task, shift=(0.0, 0.0, 0.0), **options):
    """A core whose task is at rest, some millimetres and degrees from its target, after its first tick."""
    core = make_core(robot("arm7"), [task], **options)
    q, _ = state("arm7", 3)
    rest = np.zeros(7)
    core.activate(q, rest, 0.0)
    none, here = np.zeros((3, 6)), np.zeros((3, 6))
    core.measure(q, rest)
    here[:, 0] = core.law.pose[0, 9:] + [0.004, -0.003, 0.002] + np.asarray(shift)
    turned = none.copy()
    turned[:, 0] = 0.03, 0.02, -0.01
    rotation = core.law.pose[0, :9].reshape(3, 3)
    quaternion = to_quaternion(rotation) if rotation.any() else np.array([0.0, 0.0, 0.0, 1.0])
    core.load_program(0, segments.row(0.0, 0.0, here, quaternion, turned)[None])
    core.tick(q, rest, 0.0)
    return core, q, rest


@pytest.mark.parametrize("law", ["inertia", "impedance"])
@pytest.mark.parametrize("rows", ["pose", "position", "orientation", Z_AND_SLANT])
def test_it_grows_by_the_error_that_the_task_has(rows, law):
    core, q, rest = off_target(TaskSpec("a", "tool", rows, law=law, **ON))
    core.tick(q, rest, DT)
    selection = core.settings.tasks[0].task().selection()
    expected = np.linalg.pinv(selection) @ selection @ core.law.error[0]
    np.testing.assert_allclose(core.law.error_integral[0], DT * RATE * expected, atol=1e-15)
    assert np.abs(expected).max() > 1e-3


@pytest.mark.parametrize("law", ["inertia", "impedance"])
def test_it_counts_as_an_error(law):
    """Kp (e + y): a target that is further away by y asks for the same torque."""
    shift = np.array([0.002, 0.001, -0.003])
    task = TaskSpec("a", "tool", law=law, integral=1e-9)
    direct, q, rest = off_target(task)
    further, _, _ = off_target(task, shift)
    before = direct.tick(q, rest, DT).copy()
    direct.law.error_integral[0, :3] = shift
    after = direct.tick(q, rest, 2 * DT)
    np.testing.assert_allclose(after, further.tick(q, rest, 2 * DT), atol=1e-9)
    assert np.abs(after - before).max() > 1e-2


def test_of_a_task_in_axes_of_its_own_it_turns_with_them_and_force_axes_have_none():
    core, q, rest = off_target(TaskSpec("a", "tool", axes="tool", force_axes=("z",), **ON))
    core.tick(q, rest, DT)
    R = core.law.pose[0, :9].reshape(3, 3)
    e = core.law.error[0]
    expected = np.concatenate([R.T @ e[:3], R.T @ e[3:]])
    expected[2] = 0.0
    np.testing.assert_allclose(core.law.error_integral[0], DT * RATE * expected, atol=1e-15)


def test_relative_tasks_and_the_centre_of_mass_have_it_too():
    for task in (
        TaskSpec("a", "tool", relative_to="link1", **ON),
        TaskSpec("a", None, **ON),
    ):
        core, q, rest = off_target(task)
        core.tick(q, rest, DT)
        grown, n = core.law.error_integral[0], 3 if not task.moved_frame else 6
        np.testing.assert_allclose(grown[:n], DT * RATE * core.law.error[0, :n], atol=1e-15)
        assert np.abs(grown).max() > 1e-6


def test_along_directions_that_are_damped_or_lost_it_grows_as_far_as_the_level_has_them():
    """Against eigenvalues of the scaled response, by NumPy."""
    core, q, rest = off_target(TaskSpec("a", "tool", **ON))
    core.tick(q, rest, DT)
    law = core.law
    scale = np.array(law.space.scale[:6])
    values, vectors = np.linalg.eigh(core.osim / np.outer(scale, scale))
    least = float(law.typical_response[2])
    # the least direction is lost, the next one half given up
    law.singularity_cut = 0.5 * (values[0] + values[1]) / least
    law.singularity_damping = (2.0 * values[1] - law.singularity_cut * least) / least
    law.error_integral[:] = 0.0
    core.tick(q, rest, 2 * DT)
    assert law.level_damped[2] == 1.0 and law.level_rank[2] == 5.0
    cut, full = law.singularity_cut * least, law.singularity_damping * least
    x = np.clip((values - cut) / (full - cut), 0.0, 1.0)
    kept = x * x * (3.0 - 2.0 * x)
    assert kept[0] == 0.0 and 0.0 < kept[1] < 1.0
    acts = (scale[:, None] * vectors * kept) @ (vectors.T / scale)
    expected = DT * RATE * acts @ law.error[0]
    np.testing.assert_allclose(law.error_integral[0], expected, rtol=1e-6, atol=1e-12)
    # nothing along the lost direction
    assert abs(vectors[:, 0] @ (law.error_integral[0] / scale)) < 1e-9


STILL = {
    "the ramp runs": {"ramp": 10.0},
    "a torque is cut": {"command_limits": 0.5},
    "a torque may not follow": {"command_rate": 1e-3, "gravity_share": 0.0},
    "the error is too large": {"task_integral_clip": 1e-3, "task_integral_clip_angle": 1e-2},
    "the error is small": {"task_integral_tolerance": 0.1, "task_integral_tolerance_angle": 0.1},
    "it is off": {"task_integral": 0.0},
    "the mode is another": {"mode": at.GRAVITY_MODE},
}


@pytest.mark.parametrize("why", STILL)
def test_it_stands_still_while(why):
    core, q, rest = off_target(TaskSpec("a", "tool", **ON))
    core.tick(q, rest, DT)
    assert core.law.error_integral.any()
    core.law.error_integral[:] = 0.0
    for name, value in STILL[why].items():
        setattr(core.law, name, value)
    for k in range(2, 5):
        core.tick(q, rest, k * DT)
    assert not core.law.error_integral.any()


def test_it_stands_still_while_a_task_or_contact_fades_and_is_forgotten_when_the_task_is_out():
    tasks = [TaskSpec("a", "tool", **ON), TaskSpec("b", "link4", "position", level=2)]
    core = make_core(robot("arm7"), tasks, fade=0.1)
    q, v = state("arm7", 3)
    hold_another_pose(core, q, v, np.random.default_rng(1))
    core.tick(q, 0 * v, 0.0)
    core.tick(q, 0 * v, DT)
    grown = core.law.error_integral[0].copy()
    core.law.task_enabled[1] = 0.0
    core.tick(q, 0 * v, 2 * DT)
    core.tick(q, 0 * v, 3 * DT)
    assert core.law.faded < 1.0 and (core.law.error_integral[0] == grown).all() and grown.any()
    core.tick(q, 0 * v, 0.3)
    core.tick(q, 0 * v, 0.3 + DT)
    assert core.law.faded == 1.0 and (core.law.error_integral[0] != grown).any()
    core.law.task_enabled[0] = 0.0
    for k in range(20):
        core.tick(q, 0 * v, 0.4 + 0.1 * k)
    assert not core.law.error_integral[0].any()


def test_it_is_bounded():
    core, q, rest = off_target(
        TaskSpec("a", "tool", **ON | {"integral_clip": 0.006, "integral_clip_angle": 0.05})
    )
    for k in range(1, 3000):
        core.tick(q, rest, k * DT)
    y = core.law.error_integral[0]
    assert np.linalg.norm(y[:3]) == pytest.approx(0.006) and np.linalg.norm(y[3:]) == pytest.approx(
        0.05
    )


def test_switched_off_it_fades_and_a_restart_begins_without():
    core, q, rest = off_target(TaskSpec("a", "tool", **ON), fade=0.05)
    core.tick(q, rest, 0.01)
    before = core.law.error_integral[0].copy()
    core.law.task_integral[0] = 0.0
    core.tick(q, rest, 0.02)
    np.testing.assert_allclose(core.law.error_integral[0], 0.8 * before)
    core.restart(q, rest, 0.03)
    assert not core.law.error_integral.any() and not core.law.turns.any()


def test_an_input_that_is_refused_changes_nothing():
    core, q, rest = off_target(TaskSpec("a", "tool", **ON))
    core.tick(q, rest, DT)
    before = core.law.error_integral.copy()
    with pytest.raises(OpspaceError):
        core.tick(q * np.nan, rest, 2 * DT)
    assert (core.law.error_integral == before).all()
    core.tick(q, rest, DT)  # no time has passed
    assert (core.law.error_integral == before).all()


def shaken(core, q, shift, start, seconds, period=0.02):
    """Let time pass; every half period the robot is on the other side of q, by `shift`. Returns the end."""
    rest = np.zeros_like(q)
    for k in range(round(seconds / DT)):
        side = 1.0 if round(k * DT / period * 2.0) % 2 else -1.0
        core.tick(q + side * np.asarray(shift), rest, start + k * DT)
    return start + seconds


def two_levels(tolerance):
    """A tool's position above its orientation, both at rest on their targets; of the position, this tolerance [m]."""
    above = TaskSpec("a", "tool", "position", **ON | {"integral_tolerance": tolerance})
    below = TaskSpec("b", "tool", "orientation", level=2, **ON | {"integral_tolerance_angle": 1e-9})
    core = make_core(robot("arm7"), [above, below])
    q, _ = state("arm7", 3)
    core.activate(q, np.zeros(7), 0.0)
    return core, q


def test_turns_count_only_while_the_levels_above_are_at_rest():
    for tolerance, is_alone in ((1.0, True), (0.0, False)):
        core, q = two_levels(tolerance)
        shaken(core, q, np.full(7, 1e-3), 0.0, 2.0)
        assert bool(core.law.turns[1, 1] > 20.0) is is_alone
        assert bool(core.law.turns[0, 0] > 20.0) is not is_alone


def test_turns_are_forgotten_when_something_moves_the_robot_after_a_rest():
    """While it rests they are kept: the tolerance that they made is what it rests in."""
    core, q = two_levels(1.0)
    turns, little, far = core.law.turns, np.full(7, 1e-3), np.full(7, 0.02)
    time = shaken(core, q, little, 0.0, 1.5)
    counted = turns[1, 1]
    time = shaken(core, q, 0.0 * q, time, 0.3)
    core.tick(q + far, 0.0 * q, time)
    assert turns[1, 1] >= counted > 20.0
    time = shaken(core, q, 0.0 * q, time + DT, 1.5)
    assert turns[1, 1] >= counted
    core.tick(q + 2.0 * far, 0.0 * q, time)
    assert not turns.any()


def test_an_integral_at_its_clip_is_at_rest():
    """A load that it cannot carry holds a task back for good; levels below count their turns all the same."""
    above = TaskSpec("a", "tool", "position", **ON | {"integral_clip": 0.006})
    core = make_core(robot("arm7"), [above])
    q, _ = state("arm7", 3)
    core.activate(q, np.zeros(7), 0.0)
    for k in range(5000):
        core.tick(q + 1e-3, 0.0 * q, k * DT)
    assert np.linalg.norm(core.law.error_integral[0]) == pytest.approx(0.006)
    assert core.law.integral_rest[1] > 1.0


def test_hold_keeps_what_carries_a_load():
    loop = ShippedLoop("arm7")
    loop.robot.push("tool", [0.0, 0.0, -8.0, 0.0, 0.0, 0.0], np.inf)
    loop.run(3.0)
    carried = loop.law.error_integral[0].copy()
    assert np.linalg.norm(carried[:3]) > 5e-4
    loop.controller.hold(loop.robot.q, loop.robot.v, loop.robot.time)
    loop.run(0.5)
    assert np.linalg.norm(loop.law.error_integral[0] - carried) < 0.5 * np.linalg.norm(carried)
    assert loop.errors("tool")[0] < 0.2
