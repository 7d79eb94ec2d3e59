# SPDX-License-Identifier: Apache-2.0
"""Singular tasks: the torque stays bounded and continuous while an arm passes through its stretched pose.

The bound: along a direction whose response a (as a share of the typical response r) falls below e, half of the
least response that is typical of the task, the force is at most |a_wanted| / (e r) instead of growing like 1 / a.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers import segments
from helpers.closed_loop import ARM_START, STEP, Loop
from helpers.control_cases import Dense, TaskSpec, make_core, robot

from opspace_ctrl import forward_dynamics, frame_pose
from opspace_ctrl.parameter_file import node_parameters

DAMPING, CUT = 0.5, 0.005
CALM = 20.0  # [Nm/s] of an arm that pulls at a target out of reach; it is 1 to 5


def stretched(angle):
    """arm7 with a straight wrist: at angle 0 the tool cannot come nearer to the shoulder, nor go farther away."""
    return np.array([0.2, 0.6, 0.1, angle, 0.3, 0.0, 0.1])


def sweep(core, angles, asked):
    """Torques of the task at every elbow angle, for a constant wanted acceleration, the arm at rest."""
    torques, none = [], np.zeros(7)
    core.law.last_time = -np.inf  # every sweep has a time of its own
    for k, angle in enumerate(angles):
        q = stretched(angle)
        core.measure(q, none)
        here = np.zeros((3, 6))
        here[:, 0], here[:, 2] = core.law.pose[0, 9:], 0.5 * asked
        core.load_program(
            0, segments.row(k - 0.5, k + 0.5, here, (0, 0, 0, 1), np.zeros((3, 6)))[None]
        )
        core.law.task_damping[:] = core.law.task_stiffness[:] = 0.0
        core.tick(q, none, float(k))
        torques.append(core.law.level_torque[2].copy())
    return np.array(torques)


@pytest.fixture(scope="module")
def core():
    core = make_core(
        robot("arm7"),
        [TaskSpec("tip", "tool", "position")],
        singularity_damping=DAMPING,
        singularity_cut=CUT,
    )
    core.activate(stretched(0.5), np.zeros(7), 0.0)
    return core


def radial(angle=0.0):
    """Direction from the shoulder to the tool, which the stretched arm cannot go."""
    tool, shoulder = (
        frame_pose(robot("arm7"), stretched(angle), frame)[0] for frame in ("tool", "link2")
    )
    return (tool - shoulder) / np.linalg.norm(tool - shoulder)


def test_torque_stays_bounded_and_small_steps_of_the_pose_make_small_steps_of_it(core):
    angles = np.linspace(0.8, -0.1, 2001)
    asked = radial()
    torques = sweep(core, angles, asked)
    scale = core.law.space.scale[:3]
    J = Dense(robot("arm7"), stretched(0.0), np.zeros(7)).rows("tool")[:3]
    bound = (
        np.linalg.norm(J, 2)
        * np.linalg.norm(asked / scale)
        / (DAMPING * core.law.typical_response[2])
        / scale.min()
    )
    assert np.abs(torques).max() <= bound
    steps = np.abs(np.diff(torques, axis=0)).max(axis=1)
    assert steps.max() <= 0.05 * np.abs(torques).max()


def test_outside_the_damped_zone_the_law_is_exact(core):
    asked, q = radial(1.2), stretched(1.2)
    torque = sweep(core, [1.2], asked)[0]
    assert core.law.level_damped[2] == 0.0 and core.law.level_rank[2] == 3
    dense = Dense(robot("arm7"), q, np.zeros(7))
    J = dense.rows("tool")[:3]
    expected = J.T @ np.linalg.solve(J @ dense.Hi @ J.T, asked)
    np.testing.assert_allclose(torque, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def test_lost_directions_are_counted_and_given_to_the_posture(core):
    sweep(core, [0.0], radial())
    assert core.law.level_damped[2] == 1.0
    assert core.law.is_damped == 1.0


@pytest.mark.parametrize("stiffness", [100.0, 400.0])
def test_reaching_out_of_the_workspace_and_back_keeps_within_what_the_arm_can_do(stiffness):
    """In closed loop, without limits: the torque stays below the URDF's efforts, and its rate below 1000 Nm/s."""
    model, none, dt = robot("arm7"), np.zeros((3, 6)), 1e-3
    core = make_core(
        model,
        [TaskSpec("tip", "tool", "position")],
        singularity_damping=DAMPING,
        singularity_cut=CUT,
    )
    core.law.posture_stiffness[:], core.law.posture_damping[:] = 10.0, 6.0
    core.law.task_error_clip, core.law.task_error_clip_angle = 0.1, 0.1
    core.law.task_stiffness[:], core.law.task_damping[:] = stiffness, 2.0 * np.sqrt(stiffness)
    q, v, torques = np.array([0.0, 0.6, 0.0, 0.9, 0.0, 0.5, 0.0]), np.zeros(7), []
    core.activate(q, v, 0.0)
    here, zero = core.law.pose[0, 9:].copy(), np.zeros(3)
    far = here + 0.5 * here / np.linalg.norm(here)  # 0.36 m farther than the arm reaches
    ways = [
        segments.quintic(a, zero, zero, b, zero, zero, 1.0) for a, b in ((here, far), (far, here))
    ]
    core.load_program(
        0,
        np.array([segments.row(k, k + 1.0, way, (0, 0, 0, 1), none) for k, way in enumerate(ways)]),
    )
    for k in range(2600):
        torques.append(core.tick(q, v, k * dt).copy())
        v = v + dt * forward_dynamics(model, q, v, torques[-1])
        q = model.integrate(q, v, dt)
    assert (np.abs(torques) < model.effort_limits).all()
    assert np.abs(np.diff(torques, axis=0)).max() < 1000.0 * dt
    assert np.abs(core.law.error[0, :3]).max() < 1e-4


def arm_values(name):
    """Start and parameters: arm7 as it is shipped, or with default gains, and Panda; the loop has no friction."""
    if name == "arm7":
        values = node_parameters(
            Path(__file__).parents[2] / "config" / "arm7.yaml", "opspace_controller"
        )
        del values["robot"]
        return ARM_START, {**values, "method": "sparse_ltdl", "compensation.friction": False}
    if name == "default gains":
        return ARM_START, {"tasks": ["tool"], "tool.speed": 1.0}
    q = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785, 0.0])
    return q, {
        "tasks": ["tool"],
        "tool.frame": "panda_hand_tcp",
        "tool.rows": "pose",
        "tool.stiffness": [400.0, 1600.0],
        "tool.error_clip": 0.05,
        "tool.error_clip_angle": 0.2,
    }


@pytest.mark.parametrize(
    ("name", "out", "back", "delay"),
    [
        ("arm7", 3.0, 6.0, 0),
        ("arm7", 3.0, 6.0, 2),
        ("panda", 4.0, 6.0, 0),
        ("panda", 4.0, 6.0, 2),
        ("default gains", 3.0, 6.0, 2),
    ],
)
def test_an_arm_sent_to_a_pose_out_of_reach_and_called_back_keeps_its_velocity_limits(
    name, out, back, delay
):
    """All six rows, behind the rate limit, also with commands that come one or two steps late."""
    (q, values), model = arm_values(name), robot("panda" if name == "panda" else "arm7")
    loop = Loop(model, q, delay=delay, **values)
    controller, speeds = loop.controller, []
    loop.run(STEP)
    home = controller.pose("tool")[0].copy()
    assert controller._core.law.level_damped[2] == 0.0  # a pose to work in is no singular one
    for position, seconds in (([3.0, 0.0, 0.4], out), (home, back)):
        controller.target_pose("tool", position, None, loop.time)
        for _ in range(round(seconds / STEP)):
            speeds.append(np.abs(loop.run(STEP).v) / model.velocity_limits)
    assert np.max(speeds) < 1.0
    assert (np.abs(loop.torques) < model.effort_limits).all()
    # the rate limit is no part of how it moves
    assert np.mean(loop.torque_rates.max(axis=1) > 999.0) < 0.05
    assert np.abs(controller.error("tool")).max() < 1e-3


@pytest.mark.parametrize("delay", [0, 2])
def test_an_arm_stretched_straight_up_is_calm(delay):
    """Straight above, a position limit and the singular pose take rows from the task at once."""
    q, values = arm_values("arm7")
    loop = Loop(robot("arm7"), q, delay=delay, **values)
    loop.run(STEP).controller.target_pose("tool", [0.0, 0.0, 3.0], None, loop.time)
    loop.run(7.0)
    rates = loop.torque_rates.max(axis=1)
    assert np.mean(rates > 999.0) < 0.05 and rates[-1000:].max() < CALM
    assert (np.abs(loop.v) < 0.5 * loop.model.velocity_limits).all()


def test_entering_and_leaving_are_alike(core):
    angles = np.linspace(0.3, 0.0, 301)
    inward = sweep(core, angles, radial())
    outward = sweep(core, angles[::-1], radial())
    np.testing.assert_allclose(inward, outward[::-1], rtol=0, atol=1e-9 * np.abs(inward).max())


def test_more_rows_than_joints_are_no_trouble():
    tasks = [
        TaskSpec("a", "tool"),
        TaskSpec("b", "link5", "position"),
        TaskSpec("c", "link4", "position", level=2),
    ]
    core = make_core(robot("arm7"), tasks, singularity_damping=DAMPING, singularity_cut=CUT)
    q, v = stretched(0.7), np.full(7, 0.2)
    core.activate(q, v, 0.0)
    assert np.isfinite(core.tick(q, v, 0.0)).all()
    assert core.law.level_rank[2] + core.law.level_rank[3] <= 7
