# SPDX-License-Identifier: Apache-2.0
"""Paper 003 section 2: J J*, J* J and inverse kinematics by recursions; 002 section 4: rows over several bodies."""

import numpy as np
import pytest
from helpers.support import load_quietly, urdf_path

from opspace_ctrl import (
    Controller,
    OperationalSpace,
    PoseTask,
    bias_forces,
    frame_jacobian,
    frame_pose,
    load_robot,
    mass_matrix,
)
from opspace_ctrl.algebra.general_task import GeneralTask
from opspace_ctrl.algebra.recursions.jacobian_products import (
    inverse_kinematics,
    jj_star,
    jtj_inverse,
)
from opspace_ctrl.control.options import Limits
from opspace_ctrl.errors import ConfigurationError, IllPosedError, OpspaceError


def ur5():
    model = load_quietly(urdf_path("ur5_robot"), "fixed")
    return model, model.body_names[-1], np.array([0.3, -1.1, 1.3, 0.4, 0.9, -0.2])


@pytest.mark.parametrize("name", ["arm7", "asimo", "free_flyer"])
def test_003_section_2_jj_star_is_that_of_the_jacobian(name):
    model = load_robot(name)
    q = model.random_configuration(np.random.default_rng(0))
    for frame in (model.body_names[-1], model.frame_names[-1]):
        J = frame_jacobian(model, q, frame)
        np.testing.assert_allclose(jj_star(model, q, frame), J @ J.T, atol=1e-12)


def test_003_section_2_inverse_of_j_star_j_of_a_non_redundant_arm():
    model, tip, q = ur5()
    J = frame_jacobian(model, q, tip)
    x = np.random.default_rng(1).normal(size=6)
    np.testing.assert_allclose(
        jtj_inverse(model, q, tip, x), np.linalg.solve(J.T @ J, x), rtol=1e-7
    )


def test_003_section_2_a_singular_arm_is_refused_by_name():
    model, tip, _ = ur5()
    with pytest.raises(IllPosedError, match=tip):
        jtj_inverse(model, np.zeros(6), tip, np.ones(6))


@pytest.mark.parametrize("seed", range(4))
def test_003_section_2_recursive_inverse_kinematics_reaches_the_pose(seed):
    model = load_robot("arm7")
    rng = np.random.default_rng(seed)
    there = model.neutral() + rng.uniform(-1.0, 1.0, model.nv)
    position, quaternion = frame_pose(model, there, "link7")
    start = there + rng.uniform(-0.4, 0.4, model.nv)
    q = inverse_kinematics(model, "link7", position, quaternion, start)
    found = frame_pose(model, q, "link7")
    np.testing.assert_allclose(found[0], position, atol=1e-9)
    assert abs(abs(found[1] @ quaternion) - 1.0) < 1e-12


def test_003_section_2_a_pose_out_of_reach_is_refused_with_what_is_left():
    model = load_robot("arm7")
    with pytest.raises(IllPosedError, match="away"):
        inverse_kinematics(model, "link7", [9.0, 0, 0], [0, 0, 0, 1.0], model.neutral(), steps=20)
    with pytest.raises(ConfigurationError, match="quaternion"):
        inverse_kinematics(model, "link7", [0.1, 0, 0.5], np.zeros(4), model.neutral())


@pytest.mark.parametrize("method", ["sparse_ltdl", "pv_osim", "rjk"])
def test_002_12_19_a_matrix_of_the_users_over_several_bodies_is_a_task(method):
    """R over hands and feet: J = R S, Lambda^-1 = R Omega R^T, Jbar, torque; all by dense algebra."""
    model = load_robot("asimo")
    rng = np.random.default_rng(3)
    q, v = model.random_configuration(rng), rng.normal(size=model.nv)
    rows = {name: rng.normal(size=(4, 6)) for name in ("left_hand", "right_hand", "left_foot")}
    task = GeneralTask(model, rows, method).update(q, v)
    J = sum(R @ frame_jacobian(model, q, name) for name, R in rows.items())
    H = mass_matrix(model, q)
    inverse = J @ np.linalg.solve(H, J.T)
    Jbar = np.linalg.solve(H, J.T) @ np.linalg.inv(inverse)
    np.testing.assert_allclose(task.jacobian, J, atol=1e-12)
    np.testing.assert_allclose(task.inertia_inv, inverse, atol=1e-9 * abs(inverse).max())
    np.testing.assert_allclose(task.jbar, Jbar, atol=1e-7 * abs(Jbar).max())
    F, tau0 = rng.normal(size=4), rng.normal(size=model.nv)
    expected = J.T @ F + tau0 - J.T @ Jbar.T @ tau0
    np.testing.assert_allclose(task.torque(F, tau0), expected, atol=1e-8 * abs(expected).max())
    inner = OperationalSpace(model, list(rows)).update(q, v)
    np.testing.assert_allclose(
        task.bias_acceleration, np.hstack(list(rows.values())) @ inner.bias_acceleration
    )


def test_002_12_19_malformed_rows_are_refused_by_name():
    model = load_robot("arm7")
    for rows in (
        {},
        {"link7": np.ones((2, 5))},
        {"link7": np.ones((2, 6)), "link3": np.ones((3, 6))},
    ):
        with pytest.raises(ConfigurationError, match="arm7"):
            GeneralTask(model, rows)


def test_002_12_19_a_controller_exerts_a_force_along_rows_over_several_bodies():
    """Mode raw with a pose task on every frame: J^T F of the rows, by dense algebra, and gravity."""
    model = load_robot("asimo", base="fixed")
    rows = {"left_hand": [[0, 0, 1, 0, 0, 0]], "right_hand": [[0, 0, -1, 0, 0, 0]]}
    task, q, v = GeneralTask(model, rows), model.neutral(), np.zeros(model.nv)
    tasks = [PoseTask(name) for name in task.frames]
    limits = Limits(ramp=0.0, torque_rate=1e7, margin=0.0)
    controller = Controller(model, tasks, mode="raw", method="sparse_ltdl", limits=limits)
    controller.activate(q, v, 0.0)
    controller.force(task.frame_forces([5.0]), 0.0)
    J = sum(np.array(R) @ frame_jacobian(model, q, name) for name, R in rows.items())
    expected = bias_forces(model, q, v) + 5.0 * J[0]
    np.testing.assert_allclose(controller.tick(q, v, 0.0), expected, rtol=0, atol=1e-9)


def test_002_12_19_where_rows_over_bodies_are_no_task_it_is_said_where_they_are():
    model = load_robot("arm7")
    task = GeneralTask(model, {"tool": np.eye(6)[:1], "link4": np.eye(6)[:1]})
    for refused in (lambda: OperationalSpace(model, [task]), lambda: Controller(model, [task])):
        with pytest.raises(OpspaceError, match="GeneralTask .*mode raw: F = frame_forces"):
            refused()
