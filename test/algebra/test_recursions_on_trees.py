# SPDX-License-Identifier: Apache-2.0
"""The recursions of papers 000, 001, 003 and 004 on random trees, forests, chains and stars of every joint type."""

import numpy as np
from helpers.recursion_cases import assert_near
from hypothesis import assume, given, settings
from oracles.random_trees import random_motion, seeds, trees
from oracles.reference import derived_tolerance

from opspace_ctrl import dynamics, osim
from opspace_ctrl.algebra.closure import ClosedChain, Closure
from opspace_ctrl.algebra.free_flyer import link_state, link_tree, two_filters
from opspace_ctrl.algebra.recursions import diagonal
from opspace_ctrl.algebra.recursions.inverse_elements import acceleration_terms, inverse_mass_matrix
from opspace_ctrl.algebra.recursions.smoother import FilterSmoother

some = settings(max_examples=25)
narrow = trees(max_bodies=14, near=True)
flyers = trees(max_bodies=14, mimic=0.0, base="floating", forest=1)


def dense(model, q, v, tau):
    """Dense accelerations and the tolerance for what is derived from H."""
    H = dynamics.mass_matrix(model, q)
    return np.linalg.solve(H, tau - dynamics.bias_forces(model, q, v)), H, derived_tolerance(H)


@some
@given(narrow, seeds())
def test_001_inverse_inertia_and_three_terms_of_any_tree(model, seed):
    """001 section 10 beyond chains: branches meet at their common ancestor."""
    q, v, tau = random_motion(model, seed)
    a, H, tolerance = dense(model, q, v, tau)
    smoother, inverse = FilterSmoother(model, q, v, tau), np.linalg.inv(H)
    assert_near(inverse_mass_matrix(smoother), inverse, tolerance, np.abs(inverse).max(initial=1.0))
    terms = acceleration_terms(smoother)
    size = np.abs([terms.moments, terms.forces, terms.accelerations, a]).max(initial=1.0)
    assert_near(terms.moments + terms.forces + terms.accelerations, a, tolerance, size)


@some
@given(narrow, seeds())
def test_000_link_accelerations_of_any_tree_by_every_algorithm(model, seed):
    """000 (56), (59), (72); 001 (8.13); 004 (3.12)."""
    q, v, tau = random_motion(model, seed)
    a, _, tolerance = dense(model, q, v, tau)
    expected = np.array(
        [dynamics.frame_acceleration(model, q, v, a, name) for name in model.body_names]
    )
    for method in set(dynamics.forward_methods(model)) - {"crba_ltdl", "algorithm1"}:
        found = dynamics.link_accelerations(model, q, v, tau, method=method)
        assert_near(found, expected.reshape(found.shape), tolerance)


@some
@given(narrow, seeds())
def test_003_energy_of_any_tree_is_half_a_sum_of_squares(model, seed):
    """003 section 6, and the whitened force does the work: d/dt of 1/2 nu^T nu = tau^T v - gravity's share."""
    q, v, tau = random_motion(model, seed)
    _, _, tolerance = dense(model, q, v, tau)
    nu = diagonal.residuals(model, q, v)
    energy = dynamics.kinetic_energy(model, q, v)
    assert_near(0.5 * nu @ nu, energy, tolerance, max(energy, 1e-9))
    power = nu @ (diagonal.innovations(model, q, tau) - diagonal.residual_bias(model, q, v))
    force = tau - dynamics.gravity_forces(model, q)
    size = np.abs(force).max(initial=1.0) * np.abs(v).sum() + np.abs(nu).max(initial=1.0) ** 3
    assert_near(power, force @ v, tolerance, max(size, 1.0))


@some
@given(flyers, seeds())
def test_004_section_3_4_lemmas_3_2_and_4_1_on_any_free_tree(model, seed):
    """004 section 3.4: two opposite recursions a branch, with hinges of one, three and six freedoms."""
    q, v, tau = random_motion(model, seed)
    a, _, tolerance = dense(model, q, v, tau)
    tree = link_tree(model, link_state(model, q, v), tau)
    found = two_filters(tree)
    size = max(1.0, np.abs(a).max(), np.abs(found.alpha).max())
    for k, beta in enumerate(found.hinge_accelerations(tree)):
        if tree.parent[k] >= 0:
            assert_near(beta, a[tree.coordinates[k]], tolerance, size)
    for k, inertia in enumerate(osim.link_inertias(model, q)):
        J = dynamics.frame_jacobian(model, q, model.body_names[k])
        expected = np.linalg.inv(J @ np.linalg.solve(dynamics.mass_matrix(model, q), J.T))
        assert_near(inertia, expected, tolerance, np.abs(expected).max())


@some
@given(trees(max_bodies=20, near=True), seeds())
def test_003_any_two_bodies_can_be_held_together(model, seed):
    """003 5.3 on trees and forests: positions held, wherever their inverse inertia is well conditioned."""
    assume(len(model.body_names) > 1)
    q, v, tau = random_motion(model, seed)
    first, second = np.random.default_rng(seed).choice(model.body_names, 2, replace=False).tolist()
    J = (dynamics.frame_jacobian(model, q, first) - dynamics.frame_jacobian(model, q, second))[:3]
    a, H, tolerance = dense(model, q, v, tau)
    omega = J @ np.linalg.solve(H, J.T)
    condition = np.linalg.cond(omega) if omega.any() else np.inf
    assume(condition < 1e6)
    rest = np.zeros(model.nv)
    bias = (
        dynamics.frame_acceleration(model, q, v, rest, first)
        - dynamics.frame_acceleration(model, q, v, rest, second)
    )[:3]
    f = np.linalg.solve(omega, -bias - J @ a)
    chain = ClosedChain(model, [Closure(first, second, "position")])
    expected = a + np.linalg.solve(H, J.T @ f)
    size = max(1.0, np.abs(expected).max(), np.abs(a).max())
    assert_near(chain.forward(q, v, tau), expected, tolerance * max(1.0, 1e-2 * condition), size)
