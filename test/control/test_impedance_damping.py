# SPDX-License-Identifier: Apache-2.0
"""The damping of the impedance law where none is given: every mode of what a task meets has the ratio asked for."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.closed_loop import ARM_START
from helpers.control_cases import Dense, hold_another_pose, make_core, robot, state
from scipy.linalg import eigh

from opspace_ctrl import (
    CenterOfMassTask,
    Contact,
    Controller,
    OrientationTask,
    PoseTask,
    PositionTask,
    Posture,
    Simulator,
    frame_jacobian,
)
from opspace_ctrl.control.options import Compensation, Limits
from opspace_ctrl.control.tasks import RowsTask

FREE = {"error_clip": 100.0, "error_clip_angle": 3.2, "law": "impedance"}
FEET = [Contact("left", frame="left_foot"), Contact("right", frame="right_foot")]
ARM = {
    "pose": [PoseTask("a", frame="tool", stiffness=[300.0, 20.0], **FREE)],
    "an axis each": [PoseTask("a", frame="tool", stiffness=[100, 900, 50, 30, 2, 8], **FREE)],
    "in its own axes": [
        PoseTask("a", frame="tool", axes="tool", stiffness=[100, 900, 50, 30, 2, 8], **FREE)
    ],
    "free axes": [PoseTask("a", frame="tool", stiffness=[300, 0, 100, 0, 0, 5], **FREE)],
    "no stiffness": [PositionTask("a", frame="tool", stiffness=0.0, **FREE)],
    "position": [PositionTask("a", frame="tool", stiffness=[400, 100, 50], **FREE)],
    "orientation": [OrientationTask("a", frame="link5", stiffness=30.0, **FREE)],
    "one row": [RowsTask("a", [[0.0, 0.6, 0.8, 0.0, 0.0, 0.0]], frame="tool", **FREE)],
    "ratio": [PoseTask("a", frame="tool", stiffness=[300.0, 20.0], damping_ratio=0.4, **FREE)],
    "two tasks": [
        PositionTask("a", frame="tool", stiffness=200.0, **FREE),
        OrientationTask("b", frame="tool", stiffness=[5.0, 9.0, 1.0], **FREE),
    ],
    "below another": [
        OrientationTask("a", frame="tool"),
        PositionTask("b", frame="tool", stiffness=200.0, level=2, **FREE),
    ],
    "a force axis": [
        PoseTask("a", frame="tool", stiffness=[300.0, 20.0], force_axes=["z"], **FREE)
    ],
}


def damping_of(response, K):
    """D by the generalised eigenvectors of K and Lambda: V^T Lambda V = 1, V^T K V = diag(w^2)."""
    Lambda = np.linalg.inv(response)
    squares, V = eigh(K, Lambda)
    return Lambda @ V @ np.diag(2.0 * np.sqrt(np.clip(squares, 0.0, None))) @ V.T @ Lambda


def projected(dense, tasks):
    """Response of the rows of the last level, those before it being held; and its rows."""
    level = max(task.level for task in tasks)
    above = [rows_of(dense, task) for task in tasks if task.level < level]
    J = np.vstack([rows_of(dense, task) for task in tasks if task.level == level])
    response = dense.Phi if not above else None
    if above:
        star = np.vstack(above) @ dense.B
        held = dense.Phi @ star.T @ np.linalg.inv(star @ dense.Phi @ star.T) @ star
        response = dense.Phi - held @ dense.Phi
    return J @ dense.B @ response @ dense.B.T @ J.T, J


def rows_of(dense, task):
    J = dense.rows(task.moved_frame)
    return J if not task.moved_frame else task.task().selection() @ J


def stiffness_of(core, dense, tasks):
    """K of the rows of the last level, block by block."""
    level, blocks = max(task.level for task in tasks), []
    for i, task in enumerate(tasks):
        if task.level == level:
            turn = np.eye(6)
            if task.axes:
                pose = core.law.pose[i, :9].reshape(3, 3)
                turn = np.kron(np.eye(2), pose)
            motion = np.array([axis not in task.force_axes for axis in "x y z rx ry rz".split()])
            rows = task.task().selection() @ turn
            blocks.append(rows @ np.diag(motion * np.array(task.kp)) @ rows.T)
    sizes = np.cumsum([0, *map(len, blocks)])
    K = np.zeros((sizes[-1], sizes[-1]))
    for first, block in zip(sizes, blocks):
        K[first : first + len(block), first : first + len(block)] = block
    return K


def found_damping(core, q, v, tasks):
    """D e_v as the tick has it: the force of the level less what it is without velocity errors in it."""
    law = core.law
    core.tick(q, v, 0.3)
    size = law.stack_rows
    start = law.stack_level_start[law.stack_levels - 1]
    with_damping = law.F[start:size].copy()
    law.task_damping_ratio = 0.0
    core.tick(q, v, 0.3)
    law.task_damping_ratio = [task.damping_ratio for task in tasks]
    return with_damping - law.F[start:size]


def check(name, tasks, contacts=()):
    core = make_core(robot(name), tasks, contacts)
    q, v = state(name, 11)
    hold_another_pose(core, q, v, np.random.default_rng(12))
    found = found_damping(core, q, v, tasks)
    dense = Dense(robot(name), q, v, contacts)
    response, J = projected(dense, tasks)
    slip = np.concatenate(
        [
            task.task().selection() @ (core.law.target_velocity[i] - core.law.velocity[i])
            for i, task in enumerate(tasks)
            if task.level == max(other.level for other in tasks)
        ]
    )
    K = stiffness_of(core, dense, tasks)
    expected = tasks[-1].damping_ratio * damping_of(response, K) @ slip
    scale = max(np.abs(expected).max(), 1e-3)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * scale)


@pytest.mark.parametrize("case", ARM)
def test_the_damping_is_that_of_the_generalised_eigenvectors(case):
    check("arm7", ARM[case])


@pytest.mark.parametrize(
    "tasks",
    [
        [PoseTask("hand", frame="left_hand", stiffness=[300.0, 20.0], **FREE)],
        [
            CenterOfMassTask("com", level=1),
            PositionTask("hand", frame="left_hand", stiffness=300.0, level=2, **FREE),
        ],
        [CenterOfMassTask("com", stiffness=[2000.0, 2000.0, 5000.0], **FREE)],
    ],
    ids=["hand", "hand below the centre of mass", "centre of mass"],
)
@pytest.mark.parametrize("contacts", [FEET, FEET[:1]], ids=["two feet", "a foot"])
def test_a_standing_robot_is_damped_by_the_inertia_that_its_contacts_leave(tasks, contacts):
    check("asimo", tasks, contacts)


def test_a_free_flyer_is_damped_by_the_inertia_of_its_reaction():
    check("free_flyer", [PoseTask("a", frame="left_tool", stiffness=[300.0, 20.0], **FREE)])


def test_the_given_damping_of_one_task_leaves_that_of_another_to_be_found():
    given = PositionTask("given", frame="link4", stiffness=50.0, damping=7.0, **FREE)
    found = PositionTask("found", frame="tool", stiffness=200.0, **FREE)
    core = make_core(robot("arm7"), [given, found])
    q, v = state("arm7", 11)
    hold_another_pose(core, q, v, np.random.default_rng(12))
    F = found_damping(core, q, v, [given, found])
    assert not F[:3].any()
    dense = Dense(robot("arm7"), q, v)
    J = frame_jacobian(robot("arm7"), q, "tool")[:3]
    slip = (core.law.target_velocity[1] - core.law.velocity[1])[:3]
    np.testing.assert_allclose(
        F[3:], damping_of(J @ dense.Hi @ J.T, 200.0 * np.eye(3)) @ slip, atol=1e-8
    )


def test_the_damping_is_continuous_and_bounded_through_a_singularity():
    """Straight through the stretched arm: forces change no more than the step does, and stay finite."""
    task = PositionTask("a", frame="tool", stiffness=300.0, **FREE)
    core = make_core(robot("arm7"), [task], singularity_damping=0.5, singularity_cut=0.005)
    v = np.array([0.1, 0.2, -0.1, 0.3, 0.1, -0.2, 0.1])

    def forces(step):
        found = []
        for x in np.arange(-0.02, 0.02, step):
            q = np.array([0.0, 0.3, 0.0, x, 0.0, x, 0.0])
            core.activate(q, v, 0.0)
            core.tick(q, 0.0 * v, 0.0)
            found.append(found_damping(core, q, v, [task]))
        return np.array(found)

    coarse, fine = forces(4e-4), forces(1e-4)
    assert np.isfinite(fine).all() and np.abs(fine).max() < 1e3
    assert np.abs(np.diff(fine, axis=0)).max() < 0.5 * np.abs(np.diff(coarse, axis=0)).max()


@pytest.mark.parametrize("name, stiffness", [("arm7", [400.0, 20.0]), ("arm7", [2000.0, 2.0])])
def test_a_step_response_neither_overshoots_nor_creeps(name, stiffness):
    """Each coordinate of the error, from rest: below zero by no more than what the coupling leaves, and soon there."""
    overshoot, left = {}, {}
    for damping in ((), [2.0 * k**0.5 for k in stiffness]):  # of 1 kg, as it was
        model = robot(name)
        quick = {"speed": 100.0, "acceleration": 1e4}  # the target is there in 5 ms
        task = PoseTask("tool", stiffness=stiffness, damping=damping, **FREE, **quick)
        sim = Simulator(
            model,
            initial_positions=ARM_START,
            joint_friction=False,
            joint_damping=False,
            velocity_limits=False,
        )
        controller = Controller(
            model,
            [task],
            Posture(stiffness=0.0, null_damping=20.0),
            limits=Limits(ramp=0.0, torque_rate=1e7),
            compensation=Compensation(),
        )
        controller.activate(sim.q, sim.v, 0.0)
        position, quaternion = controller.pose("tool")
        goal = position + [0.02, 0.02, 0.02]
        controller.target_pose("tool", goal, quaternion, 0.0)
        errors = []
        for _ in range(1500):
            sim.step(controller.tick(sim.q, sim.v, sim.time))
            errors.append(controller.error("tool")[:3].copy())
        errors = np.array(errors) / 0.02
        overshoot[len(damping)] = -errors.min()
        left[len(damping)] = np.abs(errors[800:]).max()
    assert overshoot[0] < 0.02 and left[0] < 0.05, (overshoot, left)
    assert overshoot[2] > 0.2, "the damping of 1 kg does as well: the test shows nothing"
