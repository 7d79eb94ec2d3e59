# SPDX-License-Identifier: Apache-2.0
"""The kernels that make programs of targets agree with the same in NumPy and SciPy, written literally."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import segments, waypoints
from helpers.control_cases import TaskSpec, make_core, robot
from scipy.spatial.transform import Rotation

from opspace_ctrl import PoseTask
from opspace_ctrl.control.fields import Law
from opspace_ctrl.control.targets.target import Target
from opspace_ctrl.model.rotations import (
    quaternion_conjugate,
    quaternion_log,
    quaternion_product,
)

STREAM = 0.7  # [s] that a twist counts


def agree(found: np.ndarray, expected: np.ndarray) -> None:
    """Are two programs the same motion, row by row?"""
    assert found.shape == expected.shape
    np.testing.assert_allclose(found[:, :2], expected[:, :2], rtol=1e-12, atol=1e-12)
    for k, row in enumerate(expected):
        for share in (0.0, 0.3, 0.7, 1.0):
            s = share * (row[segments.END] - row[segments.START])
            a, b = segments.sample(found[k], s), segments.sample(row, s)
            scale = 1.0 + max(np.abs(b.acceleration).max(), np.abs(b.rate_change).max())
            turn = Rotation.from_quat(a.quaternion) * Rotation.from_quat(b.quaternion).inv()
            assert turn.magnitude() < 1e-9
            for name in ("position", "velocity", "rate", "acceleration", "rate_change"):
                np.testing.assert_allclose(
                    getattr(a, name), getattr(b, name), rtol=1e-9, atol=1e-9 * scale
                )


@pytest.mark.parametrize("seed", range(6))
def test_programs_are_those_of_numpy(seed):
    rng = np.random.default_rng(seed)
    limits = PoseTask("hand", speed=0.6, acceleration=3.0, angular_speed=2.0)
    one, time = Target(limits), 0.0
    one.hold(segments.at_rest([0.3, -0.2, 0.5], Rotation.random(random_state=seed).as_quat()), 0.0)
    for _ in range(15):
        now, kind = one.reference(time), int(rng.integers(4))
        position = rng.uniform(-0.5, 0.5, 3)
        quaternion = Rotation.random(random_state=int(rng.integers(1 << 30))).as_quat()
        turn = quaternion_log(quaternion_product(quaternion, quaternion_conjugate(now.quaternion)))
        if kind == 0 and np.linalg.norm(turn) < 3.0:  # close to half a turn there are two ways
            one.pose(position, quaternion, time)
            agree(one.program, segments.minimum_jerk(now, position, turn, time, limits))
        elif kind == 1:
            twist = rng.uniform(-0.3, 0.3, 6)
            one.twist(twist, time, STREAM)
            agree(one.program, segments.twist(now, twist[:3], twist[3:], time, STREAM, limits))
        elif kind == 2:
            n = int(rng.integers(1, 9))
            times, positions = np.cumsum(rng.uniform(0.05, 0.9, n)), rng.uniform(-0.5, 0.5, (n, 3))
            quaternions = Rotation.random(n, random_state=int(rng.integers(1 << 30))).as_quat()
            twists = rng.uniform(-0.2, 0.2, (n, 6)) if rng.integers(2) else None
            one.trajectory(times, positions, quaternions, time, twists)
            given = (now, times, positions, quaternions, time, limits, twists)
            agree(one.program, waypoints.through(*given)[0])
        else:
            one.hold(now, time)
            agree(one.program, segments.hold(now, time, limits))
        time += rng.uniform(0.01, 1.0)


def test_a_restart_forgets_all_that_a_tick_leaves():
    core = make_core(robot("arm7"), [TaskSpec("a", "tool")])
    states = {name for name, field in Law.fields.items() if field.role == "state"}
    for name in states:
        setattr(core.law, name, 1)
    core.restart(np.zeros(7), np.zeros(7), 0.0)
    assert {name for name in states if np.any(getattr(core.law, name))} == {"has_begun"}
