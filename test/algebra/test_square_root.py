# SPDX-License-Identifier: Apache-2.0
"""Paper 001 section 12: the filter in square-root form."""

import numpy as np
import pytest
from helpers.recursion_cases import FLOATING, NAMES, Case, assert_near

from opspace_ctrl import OperationalSpace, dynamics, load_robot, mass_matrix
from opspace_ctrl.algebra.operators import SpatialOperators
from opspace_ctrl.algebra.recursions.square_root import SquareRootDual, SquareRootFilter
from opspace_ctrl.bench.accuracy import Reference, accuracy, with_light_links
from opspace_ctrl.errors import MethodError

everywhere = pytest.mark.parametrize("name", NAMES)


@everywhere
def test_001_section_12_square_root_filter_is_the_filter(name):
    """P, H^-1 tau and Lambda^-1 are those of the Riccati recursion and of dense algebra."""
    case = Case(name)
    root = SquareRootFilter(case.model, case.q)
    P = SpatialOperators(case.model, case.q).quantities.P
    assert_near(root.P, P, 1e-11, np.abs(P).max())
    assert (root.D > 0.0).all()
    expected = np.linalg.solve(case.H, case.tau)
    assert_near(root.solve(case.tau), expected, case.tolerance)
    ends = [case.model.body_names[0], case.model.body_names[-1]]
    Lambda_inv = OperationalSpace(case.model, ends, "dense").update(case.q).inertia_inv
    size = np.abs(Lambda_inv).max()
    assert_near(root.inertia_inv(*ends), Lambda_inv, case.tolerance, size)


@pytest.mark.parametrize("name", FLOATING)
def test_001_section_12_004_4_10_dual_inertias_as_squares(name):
    """Lambda^-1(k) = (A A^T + B B^T)^-1 of every link is J H^-1 J^T."""
    case = Case(name)
    dual = SquareRootDual(case.model, case.q)
    for k, link in enumerate(case.model.body_names):
        J = dynamics.frame_jacobian(case.model, case.q, link)
        expected = J @ np.linalg.solve(case.H, J.T)
        assert_near(dual.link_inertia_inv(k), expected, case.tolerance, np.abs(expected).max())


def test_001_section_12_square_roots_keep_the_digits_that_light_links_cost():
    """Against 50 digits: with links lighter by a million base_invariant loses digits that dense and roots keep."""
    model = with_light_links(load_robot("free_flyer"))
    found = accuracy(model, ["left_tool", "right_tool"], states=1)
    assert found.inertia_inv["dense"] > 11.0 and found.inertia_inv["square_root"] > 12.5
    assert found.inertia_inv["base_invariant"] < found.inertia_inv["dense"] - 3.0
    assert found.forward["decoupled"] < found.forward["aba"] - 3.0
    assert found.condition > 1e9
    q = model.random_configuration(np.random.default_rng(0))
    tip = len(model.body_names) - 1
    exact = Reference(model, q).inertia_inv([model.body_names[tip]])
    scale = np.sqrt(np.diag(exact).astype(float))
    root = SquareRootDual(model, q).link_inertia_inv(tip)
    error = np.abs(root.astype(object) - exact).astype(float) / np.outer(scale, scale)
    assert error.max() < 1e-10


def test_the_extended_reference_is_that_of_dense_algebra():
    model = load_robot("free_flyer")
    q = model.random_configuration(np.random.default_rng(1))
    exact = Reference(model, q)
    np.testing.assert_allclose(exact.H.astype(float), mass_matrix(model, q), rtol=1e-9, atol=1e-9)
    gravity = dynamics.gravity_forces(model, q)
    np.testing.assert_allclose(exact.gravity.astype(float), gravity, atol=1e-9 * abs(gravity).max())


def test_fixed_arms_have_no_dual_inertias():
    model = load_robot("arm7")
    with pytest.raises(MethodError, match="fixed base"):
        SquareRootDual(model, model.neutral())
