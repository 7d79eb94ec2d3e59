# SPDX-License-Identifier: Apache-2.0
"""Paper 001: forward dynamics as filtering and smoothing, equation by equation and as an estimation problem."""

import numpy as np
import pytest
from helpers.recursion_cases import NAMES, Case, Dense, assert_near, model_of
from oracles.random_trees import random_model

from opspace_ctrl import OperationalSpace, dynamics
from opspace_ctrl.algebra.free_flyer.link_tree import moved
from opspace_ctrl.algebra.recursions.inverse_elements import acceleration_terms, inverse_mass_matrix
from opspace_ctrl.algebra.recursions.smoother import FilterSmoother
from opspace_ctrl.algebra.recursions.tip_force import tip_force_correction
from opspace_ctrl.errors import ConfigurationError, MethodError

everywhere = pytest.mark.parametrize("name", NAMES)


def armature_by_node(case):
    return case.model.armature[case.smoother.coordinate]


@everywhere
def test_001_3_1_3_4_kinetic_energy_is_half_V_M_V(name):
    """001 (3.1)-(3.4): spatial inertias and 1/2 V* M V, armature beside it."""
    case = Case(name)
    s = case.smoother
    twice = np.einsum("ni,nij,nj->", s.velocity, s.M, s.velocity) + case.model.armature @ case.v**2
    assert_near(0.5 * twice, dynamics.kinetic_energy(case.model, case.q, case.v), 1e-12)


def test_001_3_5_3_6_transitions_are_a_semigroup():
    """001 (3.5), (3.6): phi(i,i) = 1, phi(i,k) phi(k,j) = phi(i,j), inverse by going back."""
    rng = np.random.default_rng(0)
    r, s, one = rng.normal(size=3), rng.normal(size=3), np.eye(6)
    assert_near(moved(one, 0.0 * r), one, 1e-15)
    assert_near(moved(moved(one, r), s), moved(one, r + s), 1e-15)
    assert_near(moved(one, r) @ moved(one, -r), one, 1e-15)


@everywhere
def test_001_4_1_6_6_state_and_costate_solve_the_boundary_value_problem(name):
    """001 (4.1)-(4.4), (5.4)-(5.6), (6.1)-(6.6): forces inward with free tips, accelerations outward from rest."""
    case = Case(name)
    s, n = case.smoother, len(case.smoother.D)
    x, rate = s.smoothed_state, s.qdd[s.coordinate]
    arriving = np.zeros((n + 1, 6))
    for k in range(n - 1, -1, -1):
        arriving[s.parent[k]] += x[k]
    size = max(1.0, np.abs(s.P).max() * np.abs(s.costate).max())
    assert_near(
        x, arriving[:n] + np.einsum("nij,nj->ni", s.M, s.costate) + s.xi, case.tolerance, size
    )
    assert_near(
        np.einsum("ni,ni->n", s.H, x),
        case.tau[s.coordinate] - armature_by_node(case) * rate,
        case.tolerance,
        size,
    )
    assert_near(s.costate, s.costate_plus + s.eta + s.H * rate[:, None], case.tolerance)


@everywhere
def test_001_section_7_inverse_dynamics_goes_outward_then_inward(name):
    """001 section 7: with the accelerations given, the same two recursions return the joint forces."""
    case = Case(name)
    s, dense = case.smoother, Dense(case.smoother)
    rate = case.a[s.coordinate]
    motion = dense.phi.T @ (dense.H.T @ rate + s.eta.ravel())
    force = dense.H @ dense.phi @ (dense.M @ motion + s.xi.ravel()) + armature_by_node(case) * rate
    tau = dynamics.inverse_dynamics(case.model, case.q, case.v, case.a, case.external)
    assert_near(force, tau[s.coordinate], case.tolerance, max(1.0, np.abs(dense.M @ motion).max()))


@everywhere
def test_001_7_1_7_11_the_inertia_matrix_is_a_covariance(name):
    """001 (7.1)-(7.11): r(k,k) = sum of r + M inward, H(k,i) = H_k r(k,k) phi* H_i*."""
    case = Case(name)
    s, n = case.smoother, len(case.smoother.D)
    r = np.concatenate([s.M, np.zeros((1, 6, 6))])
    for k in range(n - 1, -1, -1):
        r[s.parent[k]] += r[k]
    found = np.diag(case.model.armature.copy())
    for k in range(n):
        i = k
        while i >= 0:
            row, column = s.coordinate[k], s.coordinate[i]
            value = s.H[k] @ r[k] @ s.H[i]
            found[row, column] = value + (found[row, row] if i == k else 0.0)
            found[column, row] = found[row, column]
            i = s.parent[i]
    assert_near(found, case.H, 1e-12)


@everywhere
def test_001_result_8_1_filters_and_smooths(name):
    """001 (8.1)-(8.13): prediction, gain, innovations, update, residuals, smoothing; x = z + P lambda."""
    case = Case(name)
    s, n = case.smoother, len(case.smoother.D)
    z, P = np.zeros((n + 1, 6)), np.zeros((n + 1, 6, 6))
    for k in range(n - 1, -1, -1):
        z[k] += s.xi[k]
        P[k] += s.M[k]
        D = s.H[k] @ P[k] @ s.H[k] + armature_by_node(case)[k]
        G = P[k] @ s.H[k] / D
        e = case.tau[s.coordinate[k]] - s.H[k] @ z[k]
        P_plus = P[k] - np.outer(G, G) * D
        assert_near(s.P[k], P[k], 1e-12)
        assert_near(s.D[k], D, 1e-12, D + np.abs(P[k]).max())
        assert_near(
            (s.innovations[k], s.residuals[k] * D),
            (e, e),
            case.tolerance,
            max(1.0, np.abs(z[k]).max()),
        )
        P[s.parent[k]] += P_plus
        z[s.parent[k]] += z[k] + G * e + P_plus @ s.eta[k]
    rate = s.residuals - np.einsum("ni,ni->n", s.G, s.costate_plus + s.eta)
    assert_near(s.qdd[s.coordinate], rate, case.tolerance)
    assert_near(s.qdd, case.a, case.tolerance)
    left = np.einsum("nij,nj->ni", np.swapaxes(s.transition, 1, 2), s.costate_plus + s.eta)
    assert_near(s.costate, left + s.H * s.residuals[:, None], case.tolerance)


@everywhere
def test_001_8_23_covariances_stay_symmetric_and_positive_and_the_updates_agree(name):
    """000 (34)-(37), 001 after (8.23): P+ = (1 - G H) P = (1 - G H) P (1 - G H)^T + G B G^T, D > 0, P >= 0."""
    case = Case(name)
    s, B = case.smoother, armature_by_node(case)
    assert (s.D > 0.0).all()
    for k in range(len(s.D)):
        size, L = np.abs(s.P[k]).max(), s.transition[k]
        assert_near(s.P[k], s.P[k].T, 1e-12, size)
        assert np.linalg.eigvalsh(s.P[k])[0] >= -1e-12 * size
        # 1 - G H can be far larger than 1 (a light link on a long arm), which is what the symmetric form loses
        room = size * max(1.0, np.abs(L).max()) ** 2
        assert_near(L @ s.P[k], s.P_plus[k], 1e-12, room)
        assert_near(L @ s.P[k] @ L.T + B[k] * np.outer(s.G[k], s.G[k]), s.P_plus[k], 1e-12, room)


@everywhere
def test_001_9_1_9_21_articulated_inertias_are_the_covariances_of_a_kalman_filter(name):
    """001 (9.1)-(9.12): with process noise M and measurement noise B, P is the covariance given the outer links.

    And (9.13)-(9.21): P - P Lambda P is the covariance given all of them. By conditioning the joint normal density.
    """
    case = Case(name)
    s, dense, n = case.smoother, Dense(case.smoother), len(case.smoother.D)
    prior = dense.phi @ dense.M @ dense.phi.T
    noise = np.diag(armature_by_node(case))
    depth = Dense(s).phi[::6, ::6] > 0.5  # [k, i]: is i in the subtree of k?
    all_of_them = dense.H @ prior @ dense.H.T + noise
    smoothed = s.smoothed_covariance
    for k in range(0, n, max(1, n // 8)):
        mine = slice(6 * k, 6 * k + 6)
        outer = np.flatnonzero(depth[k] & (np.arange(n) != k))
        size = np.abs(prior[mine, mine]).max()
        for seen, found in ((outer, s.P[k]), (np.arange(n), smoothed[k])):
            cross = prior[mine] @ dense.H[seen].T
            expected = prior[mine, mine] - cross @ np.linalg.solve(
                all_of_them[np.ix_(seen, seen)], cross.T
            )
            assert_near(found, expected, case.tolerance, size)


@everywhere
def test_001_9_13_9_16_the_smoothed_state_is_the_conditional_mean(name):
    """001 (9.13)-(9.16): without biases, z + P lambda is the mean of x given the measurements tau."""
    case = Case(name)
    at_rest = FilterSmoother(_weightless(case.model), case.q, None, case.tau)
    dense = Dense(at_rest)
    prior = dense.phi @ dense.M @ dense.phi.T
    mean = prior @ dense.H.T @ np.linalg.solve(case.H, case.tau)[at_rest.coordinate]
    assert_near(at_rest.smoothed_state.ravel(), mean, case.tolerance, max(1.0, np.abs(mean).max()))


def _weightless(model):
    from dataclasses import replace

    return replace(model, gravity=np.zeros(3))


@everywhere
def test_001_10_29_10_30_costate_covariance_is_a_sum_over_the_links_below(name):
    """001 (9.20), (9.21), (10.29), (10.30): Lambda- = psi^T H^T D^-1 H psi, block by block."""
    case = Case(name)
    s, dense = case.smoother, Dense(case.smoother)
    omega = dense.psi.T @ dense.H.T @ np.linalg.solve(dense.D, dense.H @ dense.psi)
    minus, plus = s.costate_covariance
    for k in range(len(s.D)):
        size = max(1.0, np.abs(omega[6 * k : 6 * k + 6, 6 * k : 6 * k + 6]).max())
        assert_near(minus[k], omega[6 * k : 6 * k + 6, 6 * k : 6 * k + 6], case.tolerance, size)
        assert_near(plus[k], minus[s.parent[k]] if s.parent[k] >= 0 else np.zeros((6, 6)), 1e-15)


@everywhere
def test_001_10_2_inverse_inertia_matrix_element_by_element(name):
    """001 (10.2), (10.3) as corrected, (10.4)-(10.22) the weighting kernels."""
    case = Case(name)
    inverse = np.linalg.inv(case.H)
    assert_near(inverse_mass_matrix(case.smoother), inverse, case.tolerance, np.abs(inverse).max())


@everywhere
def test_001_10_1_10_3_accelerations_fall_into_three_terms(name):
    """001 (10.1)-(10.3): joint forces, bias forces and bias accelerations, each as its dense product."""
    case = Case(name)
    s, dense, terms = case.smoother, Dense(case.smoother), acceleration_terms(case.smoother)
    effects = {
        "moments": case.tau[s.coordinate],
        "forces": -dense.H @ dense.phi @ s.xi.ravel(),
        "accelerations": -dense.H @ dense.phi @ dense.M @ dense.phi.T @ s.eta.ravel(),
    }
    total = np.zeros(case.model.nv)
    for name_of, force in effects.items():
        by_coordinate = np.empty(case.model.nv)
        by_coordinate[s.coordinate] = force
        expected = np.linalg.solve(case.H, by_coordinate)
        assert_near(getattr(terms, name_of), expected, case.tolerance)
        total += getattr(terms, name_of)
    assert_near(total, case.a, case.tolerance)


@everywhere
def test_001_section_11_gravity_and_external_forces_enter_as_bias_forces(name):
    """001 section 11: xi at rest is minus weight and wrenches, with no inverse dynamics before."""
    case = Case(name)
    at_rest = FilterSmoother(case.model, case.q, external=case.external)
    dense = Dense(at_rest)
    h = dynamics.inverse_dynamics(case.model, case.q, *np.zeros((2, case.model.nv)), case.external)
    size = max(1.0, np.abs(dense.phi @ at_rest.xi.ravel()).max())
    assert_near(dense.H @ dense.phi @ at_rest.xi.ravel(), h[at_rest.coordinate], 1e-12, size)


@everywhere
def test_003_17_18_tip_forces_add_a_correction_to_the_free_accelerations(name):
    """003 5.1 (17), (18): -(1 - H psi K)* D^-1 H psi B f(0) = H^-1 J^T times the wrench on the robot."""
    case = Case(name)
    effect = sum(
        dynamics.frame_jacobian(case.model, case.q, f).T @ wrench
        for f, wrench in case.external.items()
    )
    found = tip_force_correction(case.model, case.q, case.external)
    assert_near(found, np.linalg.solve(case.H, effect), case.tolerance)
    free = dynamics.forward_dynamics(case.model, case.q, case.v, case.tau)
    assert_near(free + found, case.a, case.tolerance)


@everywhere
@pytest.mark.parametrize("method", ["rjk", "efpa", "pv_osim", "pv_osimr"])
def test_003_section_5_2_operational_space_dynamics_by_recursions_alone(name, method):
    """003 5.2: Lambda xdd + mu + p = F, all by O(n) recursions, mu + p from the motion that tau = 0 leaves."""
    case = Case(name)
    tip = case.model.body_names[-1]
    ospace = OperationalSpace(case.model, (tip, "position"), method=method).update(case.q, case.v)
    rest, F = np.zeros(case.model.nv), np.array([3.0, -2.0, 1.0])
    free, pushed = (
        dynamics.link_accelerations(case.model, case.q, case.v, rest, push, "algorithm4", [tip])[
            0, :3
        ]
        for push in (None, {tip: np.append(F, np.zeros(3))})
    )
    assert_near(
        pushed, free + ospace.inertia_inv @ F, case.tolerance, max(1.0, np.abs(pushed).max())
    )
    assert_near(ospace.torque(F, rest), ospace.jacobian.T @ F, case.tolerance)


@everywhere
def test_003_19_20_operational_space_inertia_of_the_tip_by_a_recursion_from_the_base(name):
    """003 5.2 (19), (20): Omega(0) = phi* Omega(1) phi with Omega the co-state covariance, = J H^-1 J^T."""
    case = Case(name)
    s, tip = case.smoother, case.model.body_names[-1]
    node = s.nodes.last[-1]
    J = dynamics.frame_jacobian(case.model, case.q, tip)
    root = node
    while s.parent[root] >= 0:
        root = s.parent[root]
    base = case.model.body_names[s.nodes.body[root]]
    r = (
        dynamics.frame_pose(case.model, case.q, tip)[0]
        - dynamics.frame_pose(case.model, case.q, base)[0]
    )
    shift = moved(np.eye(6), -r)  # motion at the tip from motion at the tree's origin
    omega = shift @ s.costate_covariance[0][node] @ shift.T
    expected = np.roll(np.roll(J @ np.linalg.solve(case.H, J.T), 3, axis=0), 3, axis=1)
    assert_near(omega, expected, case.tolerance)


def test_what_the_smoother_cannot_use_is_refused_by_name():
    model = model_of("chain")
    with pytest.raises(ConfigurationError, match="tau"):
        FilterSmoother(model, model.neutral(), tau=np.ones(3))
    with pytest.raises(MethodError, match="mimic joints with other joints between them"):
        FilterSmoother(random_model(3, 8, mimic=0.5, types=("revolute",)), np.zeros(1))
