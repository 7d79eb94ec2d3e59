# SPDX-License-Identifier: Apache-2.0
"""r(k) of paper 000 by ten parameters a composite body."""

import numpy as np
import pytest
from helpers.operator_cases import CASES, mass_matrix_of, model_of, operators_of
from oracles.random_trees import random_motion
from oracles.reference import assert_close

from opspace_ctrl.algebra.recursions.composite import composite_bodies, spatial_inertias

everywhere = pytest.mark.parametrize("case", CASES)


@everywhere
def test_000_31_ten_parameters_are_the_matrices_of_the_recursion(case):
    """000 (28)-(31): the same r(k), about O_k, as phi r phi* + M with 6 x 6 matrices."""
    expected = operators_of(case).quantities.r
    ten = composite_bodies(model_of(case), random_motion(model_of(case), 11)[0])
    assert ten.shape == (len(expected), 10)
    assert_close(spatial_inertias(ten), expected, np.abs(expected).max())


@everywhere
def test_000_31_ten_parameters_are_mass_centre_and_rotational_inertia_of_what_the_joint_carries(
    case,
):
    model, operators = model_of(case), operators_of(case)
    ten = composite_bodies(model, random_motion(model, 11)[0])
    R, p = operators.quantities.R, operators.quantities.p
    centre = p + np.einsum("nij,nj->ni", R, model.com)
    for k in range(len(ten)):
        carried = [b for b in range(len(ten)) if k in _path(model.parent, b)]
        mass, arms = model.mass[carried], centre[carried] - p[k]
        inertia = sum(
            R[b] @ model.inertia[b] @ R[b].T + m * (c @ c * np.eye(3) - np.outer(c, c))
            for b, m, c in zip(carried, mass, arms)
        )
        assert_close(ten[k, 0], mass.sum(), max(mass.sum(), 1.0))
        assert_close(ten[k, 1:4], mass @ arms, max(np.abs(ten).max(), 1.0))
        assert_close(ten[k, 4:], inertia[np.triu_indices(3)], max(np.abs(ten).max(), 1.0))


@everywhere
def test_000_32_33_mass_matrix_is_made_from_the_ten_parameters(case):
    """000 (30)-(33): x(k) = r(k) H*(k), moved from joint to joint towards the base, m(i, k) = H(i) x(i)."""
    model, operators = model_of(case), operators_of(case)
    numbers, r = (
        operators.quantities,
        spatial_inertias(composite_bodies(model, random_motion(model, 11)[0])),
    )
    found = np.diag(np.array(model.armature))
    for k in range(len(r)):
        x, i = r[k] @ numbers.axes[k], k
        while i >= 0:
            rows, columns = numbers.rows[i, : numbers.dofs[i]], numbers.rows[k, : numbers.dofs[k]]
            element = (numbers.axes[i].T @ x)[: numbers.dofs[i], : numbers.dofs[k]]
            found[np.ix_(rows, columns)] += element
            if i != k:
                found[np.ix_(columns, rows)] += element.T
            x, i = numbers.phi[i] @ x, model.parent[i]
    assert_close(found, mass_matrix_of(case), np.abs(found).max())


def _path(parent, b):
    path = []
    while b >= 0:
        path.append(b)
        b = parent[b]
    return path
