# SPDX-License-Identifier: Apache-2.0
"""What a tick must not leave to the next: numbers that are not finite, activations, rows of a larger stack."""

from __future__ import annotations

import numpy as np
from helpers.control_cases import TaskSpec, at, hold_another_pose, make_core, robot, state

X_AND_Y = ((1.0, 0.0, 0.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0, 0.0, 0.0))


def pulled(*tasks, **options):
    core = make_core(robot("arm7"), tasks or [TaskSpec("a", "tool")], **options)
    q, v = state("arm7", 3)
    hold_another_pose(core, q, v, np.random.default_rng(5))
    return core, q, np.zeros_like(v)


def test_a_bias_that_was_not_finite_is_forgotten():
    core, q, rest = pulled(bias_in_law=1, compensation_friction=1.0)
    core.law.coulomb = np.inf
    core.tick(q, rest, 0.1)
    assert core.law.not_finite == 1
    core.law.bias_in_law, core.law.compensation_friction = 0, 0.0
    core.tick(q, rest, 0.2)
    assert core.law.not_finite == 0 and np.isfinite(core.tau).all()


def test_no_joint_is_held_in_gravity_mode():
    core, q, rest = pulled()
    core.law.position_margin = 0.1
    core.law.position_lower[3], core.law.position_upper[3] = q[3] - 1.0, q[3] + 0.02
    core.tick(q, rest, 0.1)
    assert core.law.activation[3] > 0.0 and core.law.joints_limited == 1
    core.law.mode = at.GRAVITY_MODE
    core.tick(q - 0.5 * np.eye(7)[3], rest, 0.2)
    assert not core.law.activation.any() and core.law.joints_limited == 0


def test_what_a_larger_stack_has_left_is_not_read():
    """Eight rows fill a register: beyond them nothing is written, whatever stands there."""
    core, q, rest = pulled(TaskSpec("a", "tool"), TaskSpec("b", "tool", X_AND_Y, level=2))
    expected = core.tick(q, rest, 0.1).copy()
    assert core.law.stack_rows == 8
    core.law.coupling[:, 8:16] = np.nan
    np.testing.assert_array_equal(core.tick(q, rest, 0.1), expected)
    assert core.law.not_finite == 0


def test_settings_that_another_thread_writes_while_gravity_is_asked_for_are_kept():
    """A safe command computes in gravity mode, with the bias added, but writes no setting."""
    core, q, rest = pulled(bias_in_law=1)
    core.law.command_rate = np.inf
    held = core.safe(at.GRAVITY, q, rest, 0.2).copy()
    assert core.law.present_mode == at.GRAVITY_MODE and core.law.mode == at.TASKS_MODE
    assert core.law.present_bias_in_law == 0 and core.law.bias_in_law == 1
    core.law.bias_in_law = 0
    np.testing.assert_array_equal(core.safe(at.GRAVITY, q, rest, 0.3), held)
