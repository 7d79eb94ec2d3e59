# SPDX-License-Identifier: Apache-2.0
"""The counted RJK of `algebra.counts` against dense 6 x 6 algebra, on random trees and on the shipped robots."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.rjk_cases import (
    counted_inputs,
    counted_lambda_inverse,
    in_link_axes,
    skew,
    spatial_inertia,
)

from opspace_ctrl import load_robot
from opspace_ctrl.algebra.counts import rjk_counted
from opspace_ctrl.algebra.counts.asimo import asimo_variant
from opspace_ctrl.algebra.counts.screws import Link, Screw, omega_phi, phi_p_phit, phit_omega_phi
from opspace_ctrl.dynamics import frame_jacobian, mass_matrix
from opspace_ctrl.model.connectivity import ancestor, support
from opspace_ctrl.osim.need import need_table

Z_AXIS = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])


def force_transform(R, p):
    """phi (6, 6) of a frame with rotation R and origin p in its parent, angular first."""
    return np.block([[R, skew(p) @ R], [np.zeros((3, 3)), R]])


def random_link(screws, rng):
    return Link(tuple(Screw(axis, *rng.uniform(-2.0, 2.0, 2)) for axis in (2, 0, 2)[:screws]))


def random_inertia(rng):
    half = rng.normal(size=(3, 3))
    return spatial_inertia(
        rng.uniform(0.5, 3.0), rng.uniform(-0.3, 0.3, 3), half @ half.T + np.eye(3)
    )


def dense_lambda_inverse(parent, links, M, task_bodies, floating):
    """J H^-1 J^T from Jacobians in link coordinates, all matrices full."""
    N = len(parent)
    first = 6 if floating else 1  # the root's freedoms
    J = np.zeros((N, 6, N - 1 + first))
    for i in range(N):
        if parent[i] >= 0:
            J[i] = force_transform(*links[i].pose).T @ J[parent[i]]
            J[i, :, i - 1 + first] = Z_AXIS
        else:
            J[i, :, :first] = np.eye(6) if floating else Z_AXIS[:, None]
    H = sum(J[i].T @ M[i] @ J[i] for i in range(N))
    stacked = np.vstack([J[i] for i in task_bodies])
    return stacked @ np.linalg.solve(H, stacked.T)


@pytest.mark.parametrize("screws", [2, 3])
def test_screw_transforms_equal_dense_products(screws):
    rng = np.random.default_rng(screws)
    link = random_link(screws, rng)
    phi = force_transform(*link.pose)
    X, half = rng.normal(size=(6, 6)), rng.normal(size=(6, 6))
    S = half @ half.T
    zero_row = S.copy()
    zero_row[2], zero_row[:, 2] = 0.0, 0.0
    np.testing.assert_allclose(phi_p_phit(zero_row, link), phi @ zero_row @ phi.T, atol=1e-12)
    np.testing.assert_allclose(phit_omega_phi(S, link), phi.T @ S @ phi, atol=1e-12)
    np.testing.assert_allclose(omega_phi(X, link), X @ phi, atol=1e-12)


def test_taubar_products_equal_dense_products():
    rng = np.random.default_rng(0)
    half, X = rng.normal(size=(6, 6)), rng.normal(size=(6, 6))
    P, H = half @ half.T, Z_AXIS[None, :]
    D_inv = np.linalg.inv(H @ P @ H.T)
    full = np.eye(6) - P @ H.T @ D_inv @ H
    tau = rjk_counted.taubar(P, D_inv[0, 0])
    np.testing.assert_allclose(rjk_counted.taubar_p(P, tau), full @ P, atol=1e-12)
    np.testing.assert_allclose(rjk_counted.x_taubar(X, tau), X @ full, atol=1e-12)
    np.testing.assert_allclose(rjk_counted.taubart_x_taubar(P, tau), full.T @ P @ full, atol=1e-12)
    np.testing.assert_allclose(
        rjk_counted.add_d_inv(P, D_inv[0, 0]), P + H.T @ D_inv @ H, atol=1e-12
    )
    np.testing.assert_allclose(rjk_counted.add_symmetric(P, P), 2.0 * P, atol=1e-12)


@pytest.mark.parametrize("seed", range(12))
def test_002_figure_14_rjk_equals_dense_algebra_on_random_trees(seed):
    """One tree a seed; odd seeds float, task bodies include ancestors of each other."""
    rng = np.random.default_rng(seed)
    N, floating = int(rng.integers(1, 20)), bool(seed % 2)
    parent = np.array([-1, *(rng.integers(max(0, i - 4), i) for i in range(1, N))])
    links = [random_link(int(rng.integers(2, 4)), rng) for _ in range(N)]
    M = np.array([random_inertia(rng) for _ in range(N)])
    tasks = sorted(rng.choice(N, size=min(N, 5), replace=False).tolist())
    ours = counted_lambda_inverse(parent, links, M, tasks, floating)
    expected = dense_lambda_inverse(parent, links, M, tasks, floating)
    np.testing.assert_allclose(ours, expected, atol=1e-10 * np.abs(expected).max())


def test_two_robots_have_a_zero_block_between_them():
    rng = np.random.default_rng(0)
    links = [random_link(2, rng) for _ in range(4)]
    M = np.array([random_inertia(rng) for _ in range(4)])
    Lambda_inv = counted_lambda_inverse(np.array([-1, -1, 0, 1]), links, M, [2, 3])
    assert not Lambda_inv[:6, 6:].any() and Lambda_inv[:6, :6].any() and Lambda_inv[6:, 6:].any()


@pytest.mark.parametrize(
    "name, base", [("arm7", "fixed"), ("asimo", "floating"), ("free_flyer", "floating")]
)
def test_rjk_equals_j_hinv_jt_of_the_shipped_robots(name, base):
    """The same inputs as the package's own dynamics, every tip a task, link axes instead of world axes."""
    model = load_robot(name, base=base)
    q = model.random_configuration(np.random.default_rng(5))
    poses, links, M, tips = counted_inputs(model, q)
    J = np.vstack(
        [in_link_axes(frame_jacobian(model, q, model.body_names[i]), poses[i][0]) for i in tips]
    )
    expected = J @ np.linalg.solve(mass_matrix(model, q), J.T)
    ours = counted_lambda_inverse(model.parent, links, M, tips, floating=base == "floating")
    np.testing.assert_allclose(ours, expected, atol=1e-9 * np.abs(expected).max())


def test_002_figure_15_need_as_printed_lacks_blocks_on_uneven_limbs_and_corrected_lacks_none():
    """Erratum of figure 15: with fingers and feet as tasks, figure 14 reads blocks not computed."""
    robot = asimo_variant("FTF", fingers=4, finger_joints=3)
    assert missing_sources(robot, corrected=False) and not missing_sources(robot, corrected=True)
    assert not missing_sources(asimo_variant("HF"), corrected=False)


def missing_sources(robot, corrected):
    """Blocks that figure 14 reads and the need table does not compute."""
    need = need_table(robot.parent, robot.task_bodies, corrected)
    known = need | need.T
    read = set()
    for i, j in zip(*np.nonzero(need)):
        common = ancestor(robot.parent, i, j)
        read.add(
            (i, robot.parent[j]) if i != j and common == i else (robot.parent[i], robot.parent[j])
        )
    return {block for block in read if min(block) >= 0 and not known[block]}


def test_corrected_need_involves_exactly_the_bodies_that_support_a_task():
    robot = asimo_variant("FTF", fingers=4, finger_joints=3)
    carrying = {i for body in robot.task_bodies for i in support(robot.parent, body)}
    needed = np.argwhere(need_table(robot.parent, robot.task_bodies))
    assert set(needed.ravel().tolist()) == carrying


def test_figure_14_with_the_printed_need_table_stops_at_the_missing_block():
    rng = np.random.default_rng(0)
    parent = np.array([-1, 0, 1, 2, 0])  # the lower-numbered branch is the deeper one
    links = [random_link(2, rng) for _ in parent]
    d_inv, tau, P = rjk_counted.articulated(
        parent, links, np.array([random_inertia(rng) for _ in parent])
    )
    with pytest.raises(KeyError):
        rjk_counted.omega(parent, links, need_table(parent, [3, 4], corrected=False), P, d_inv, tau)
