# SPDX-License-Identifier: Apache-2.0
"""Every erratum of the papers both ways: what is printed fails, what docs/theory.md has in its place holds."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.errata_cases import FAR, Arm, Flyer, error
from oracles.random_trees import random_model

from opspace_ctrl import bias_forces, dynamics, mass_matrix
from opspace_ctrl.algebra.counts import rjk_counted
from opspace_ctrl.algebra.counts.asimo import asimo_variant
from opspace_ctrl.algebra.counts.counted import count_components
from opspace_ctrl.algebra.counts.operations import Cost, count
from opspace_ctrl.algebra.counts.tables import PAPER_39
from opspace_ctrl.algebra.free_flyer import base_change, composite_mass_matrix, link_tree, reroot
from opspace_ctrl.algebra.free_flyer.link_tree import link_state, moved
from opspace_ctrl.algebra.free_flyer.two_filters import dual_upsilon, two_filters
from opspace_ctrl.algebra.operators import SpatialOperators
from opspace_ctrl.algebra.recursions.diagonal import residuals
from opspace_ctrl.osim import sparse

HOLDS = 1e-8


@pytest.fixture(scope="module")
def arm():
    return Arm()


@pytest.fixture(scope="module")
def flyer():
    return Flyer()


# ---- 000 ----


def test_000_I_B_the_innovations_factor_has_Phi_and_not_Psi(arm):
    printed, ours = (arm.I + arm.H @ X @ arm.G for X in (arm.Psi, arm.Phi))
    assert error(printed @ arm.D @ printed.T, arm.mass) > FAR
    assert error(ours @ arm.D @ ours.T, arm.mass) < HOLDS


def test_000_36_psi_is_that_of_39_and_no_transition_of_frozen_joints(arm):
    """After (36), "(30) below": with the transitions of (30)-(33) the recursion (35) gives r, not P."""
    for k in range(2, arm.model.nv + 1):
        inner = slice(6 * (k - 2), 6 * (k - 1))
        mine = slice(6 * (k - 1), 6 * k)
        H, G, _ = arm.link(k - 1)
        transitions = [arm.at("phi", k, k - 1), arm.at("phi", k, k - 1) @ (np.eye(6) - G @ H)]
        found = [t @ arm.P[inner, inner] @ t.T + arm.M[mine, mine] for t in transitions]
        assert error(found[0], arm.P[mine, mine]) > FAR
        assert error(found[1], arm.P[mine, mine]) < HOLDS


def test_000_IX_level_1_has_an_adjoint_and_D_inverse(arm):
    L = arm.I - arm.H @ arm.Psi @ arm.G
    expected = np.linalg.solve(arm.mass, arm.T)
    assert error(np.linalg.inv(L) @ L @ arm.T, expected) > FAR
    assert error(L.T @ arm.D_inv @ L @ arm.T, expected) < HOLDS


def test_000_X_B_K_stands_for_G(arm):
    printed, ours = (arm.I + arm.H @ arm.Phi @ X for X in (arm.K, arm.G))
    assert error(printed @ arm.D @ printed.T, arm.mass) > FAR
    assert error(ours @ arm.D @ ours.T, arm.mass) < HOLDS


def _algorithm_3(arm, start):
    """(63)-(65) from z(0) = start, then the smoother; zeta of (60) contains B f(0)."""
    zeta = arm.M @ arm.phi.T @ arm.a + arm.b + arm.B @ arm.f
    N, z, nu = arm.model.nv, None, np.empty(arm.model.nv)
    for k in range(1, N + 1):
        H, _, D = arm.link(k)
        if k == 1:
            z = arm.B[:6] @ start
        else:
            before, gain, _ = arm.link(k - 1)
            phi = arm.at("phi", k, k - 1)
            carried = z + arm.block(zeta, k - 1)
            z = phi @ (carried - gain[:, 0] * (before @ carried)) + phi @ gain[:, 0] * arm.T[k - 2]
        nu[k - 1] = (arm.T[k - 1] - (H @ z)[0] - (H @ arm.block(zeta, k))[0]) / D
    return arm.smooth(nu)


def test_000_63_the_filter_of_algorithm_3_starts_from_zero(arm):
    """With B f(0) in zeta, z(0) = f(0) counts it twice."""
    assert error(_algorithm_3(arm, arm.f), arm.qdd) > FAR
    assert error(_algorithm_3(arm, np.zeros(6)), arm.qdd) < HOLDS


def test_000_65_innovations_take_off_H_zeta(arm):
    """ "- H(k) - zeta(k)" adds a row to a column; (61), which it evaluates, has - H zeta."""
    H, _, _ = arm.link(1)
    zeta = arm.M @ arm.phi.T @ arm.a + arm.b + arm.B @ arm.f
    with pytest.raises(ValueError, match="broadcast"):
        np.zeros(1) - H[:, :5] - arm.block(zeta, 1)
    by_operators = arm.T - arm.H @ arm.Psi @ (arm.G @ arm.T + (arm.one - arm.G @ arm.H) @ zeta)
    eps = by_operators - arm.H @ zeta
    assert error(np.linalg.solve(arm.mass, arm.T - arm.H @ arm.phi @ zeta), arm.qdd) < HOLDS
    assert error(arm.smooth(arm.D_inv @ eps), arm.qdd) < HOLDS
    assert error(arm.smooth(arm.D_inv @ by_operators), arm.qdd) > FAR


def test_000_63_it_is_49_to_51_that_are_modified(arm):
    """ "(49)-(65)": without zeta, (63)-(65) are the filter (49)-(51) of algorithm 1."""
    bias = arm.H @ arm.phi @ (arm.M @ arm.phi.T @ arm.a + arm.b + arm.B @ arm.f)
    z = arm.Psi @ arm.G @ (arm.T - bias)
    eps = arm.T - bias - arm.H @ z
    assert error(arm.smooth(arm.D_inv @ eps), arm.qdd) < HOLDS


def test_000_66_velocities_of_all_links_have_no_B(arm):
    """V = B* phi* H* thetadot is the tip's velocity alone."""
    V = arm.phi.T @ arm.H.T @ arm.thetadot
    printed = arm.B.T @ V
    assert printed.shape == (6,) and V.shape == (6 * arm.model.nv,)
    for k, name in enumerate(reversed(arm.model.body_names)):
        velocity = dynamics.frame_velocity(arm.model, arm.q, arm.v, name)
        assert error(np.roll(V[6 * k : 6 * k + 6], 3), velocity) < HOLDS


def test_000_67_has_no_term_with_D_inverse_H_P_a(arm):
    L, N = arm.I - arm.H @ arm.Psi @ arm.G, arm.one - arm.G @ arm.H
    ours = arm.D_inv @ (
        L @ arm.T - arm.H @ arm.Psi @ N @ arm.P @ arm.a - arm.H @ arm.psi @ (arm.b + arm.B @ arm.f)
    )
    printed = ours + arm.D_inv @ arm.H @ arm.P @ arm.a
    by_68 = [
        L.T @ nu - arm.G.T @ arm.Psi.T @ N.T @ arm.a - arm.G.T @ arm.a for nu in (printed, ours)
    ]
    assert error(by_68[0], arm.qdd) > FAR
    assert error(by_68[1], arm.qdd) < HOLDS


def test_000_13_004_sliding_joints_add_omega_cross_h_thetadot():
    """a(k) = [w' x w; w' x (v - v') + w' x h thetadot], w', v' of link k+1: without the last term C is wrong."""
    model = random_model(3, 6, types=("revolute", "prismatic"), shape="chain", armature=False)
    rng = np.random.default_rng(0)
    q, v = rng.uniform(-1.0, 1.0, model.nq), rng.normal(size=model.nv)
    o = SpatialOperators(model, q)
    a, b = o.bias(v, gravity=False)
    V = (o.phi.T @ (o.H.T @ v)).reshape(-1, 6)
    own = (o.H.T @ v).reshape(-1, 6)
    printed, ours = np.zeros((2, len(V), 6))
    for k, p in enumerate(model.parent):
        w, linear = (V[p, :3], V[p, 3:]) if p >= 0 else (np.zeros(3), np.zeros(3))
        printed[k] = np.append(np.cross(w, V[k, :3]), np.cross(w, V[k, 3:] - linear))
        ours[k] = printed[k] + np.append(np.zeros(3), np.cross(w, own[k, 3:]))
    torques = bias_forces(model, q, v) - dynamics.gravity_forces(model, q)
    bias = [o.H @ (o.phi @ (o.M @ (o.phi.T @ x.ravel()) + b)) for x in (printed, ours)]
    assert error(ours.ravel(), a) < HOLDS
    assert error(bias[0], torques) > FAR
    assert error(bias[1], torques) < HOLDS


# ---- 001 ----


def test_001_3_5_L_points_from_joint_k_to_joint_m(arm):
    """phi(k, m) takes a force at m to k by the moment L x f: L from k to m, not "from joint m to joint k"."""
    p = arm.operators.quantities.p[::-1]  # papers' order
    force, k, m = np.array([0.3, -1.0, 2.0]), 3, 1
    moment = np.cross(p[m - 1] - p[k - 1], force)  # about joint k
    moved = arm.at("phi", k, m) @ np.append(np.zeros(3), force)
    assert error(moved[:3], moment) < HOLDS
    assert error(moved[:3], -moment) > FAR


def test_001_section_8_D_is_the_articulated_and_not_the_composite_inertia(arm):
    """D_k: the inertia about joint k of links 1 to k whose joints are free, not of the composite body."""
    composite = np.diag(arm.H @ arm.operators.tip_to_base(arm.operators.r).dense() @ arm.H.T)
    D = np.diag(arm.D)
    assert error(composite, np.diag(arm.mass)) < HOLDS
    assert (composite[1:] > D[1:] * (1.0 + FAR)).all()
    # a unit acceleration of joint k with the base held and joints 1 to k - 1 free asks for D_k
    for k in range(2, arm.model.nv + 1):
        outer = arm.mass[:k, :k]
        schur = outer[-1, -1] - outer[-1, :-1] @ np.linalg.solve(outer[:-1, :-1], outer[:-1, -1])
        assert schur == pytest.approx(D[k - 1], rel=1e-8)


def test_001_10_27_the_inner_sum_runs_to_N():
    """sum_{i=k+1}^N sum_{j=1}^{i-1} = sum_{j=1}^{N-1} sum_{i=max(k+1, j+1)}^N."""
    N, k = 7, 2
    x = np.random.default_rng(0).normal(size=(N + 1, N + 1))
    expected = sum(x[i, j] for i in range(k + 1, N + 1) for j in range(1, i))
    for last, holds in ((N - 1, False), (N, True)):
        found = sum(x[i, j] for j in range(1, N) for i in range(max(k + 1, j + 1), last + 1))
        assert (abs(found - expected) < 1e-12) == holds


# ---- 002 ----


def _factored():
    robot = asimo_variant()
    n, rng = robot.n, np.random.default_rng(1)
    pattern = np.eye(n)
    for i, parent in enumerate(robot.lambda_e):
        if parent >= 0:
            pattern[i] += pattern[parent]
    L = pattern * rng.uniform(0.5, 1.5, (n, n))
    J = pattern[robot.b_e] * rng.normal(size=(robot.m, n))
    H = L.T @ L
    return robot, J, H


def test_002_22_ends_with_Y_D_Y_d_transposed():
    """Also in the organisation paragraph of section 1."""
    robot, J, H = _factored()
    L = sparse.ltdl(np.tril(H), robot.lambda_e)
    Y_d, Y_D = sparse.y_ltdl(J, L, robot.lambda_e, robot.b_e)
    expected = J @ np.linalg.solve(H, J.T)
    assert error(Y_D @ Y_D.T, expected) > FAR
    assert error(Y_D @ Y_d.T, expected) < HOLDS


def test_002_24_29_L_d_is_the_innovations_factor(arm):
    """(24)-(29): for joints of one freedom L_d = (1 + H phi K)^T, Y_d = B^T psi^T H^T; in the order base to tips."""
    model, o = arm.model, arm.operators
    L = sparse.ltdl(np.tril(mass_matrix(model, arm.q)), np.asarray(model.parent_expanded))
    K = o.K.dense()
    ours = np.eye(model.nv) + (o.H @ o.phi).dense() @ K
    assert error(ours.T, np.tril(L, -1) + np.eye(model.nv)) < HOLDS
    assert error(np.diag(o.D.dense()), np.diag(L)) < HOLDS
    J = o.J.dense()
    Y_d = J @ np.linalg.inv(np.tril(L, -1) + np.eye(model.nv))
    assert error((o.B.T @ o.psi.T @ o.H.T).dense(), Y_d) < HOLDS


def test_002_section_7_K_is_not_block_diagonal(arm):
    """K = E_phi G has its blocks beside the diagonal; a block diagonal one does not factor the mass matrix."""
    blocks = arm.K.reshape(arm.model.nv, 6, arm.model.nv)
    assert not any(blocks[k, :, k].any() for k in range(arm.model.nv))
    assert all(blocks[k + 1, :, k].any() for k in range(arm.model.nv - 1))
    printed, ours = (arm.I + arm.H @ arm.phi @ X for X in (arm.G, arm.K))
    assert error(printed @ arm.D @ printed.T, arm.mass) > FAR
    assert error(ours @ arm.D @ ours.T, arm.mass) < HOLDS


def _five_rows(X, tau):
    """taubar^T X taubar of a symmetric X from five rows of X taubar."""
    others, Z = rjk_counted.OTHERS, rjk_counted.Z
    product = X.copy()
    for p in others:
        product[p, Z] = product[Z, p] = np.dot(X[p, others], tau[list(others)])
    product[Z, Z] = np.dot(tau[list(others)], product[list(others), Z])
    return product


def test_002_table_4_five_rows_suffice():
    """Row taubar^T (..) taubar: 30m + 24a give the same matrix as the printed 35m + 28a."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 6))
    X, tau = X + X.T, rng.normal(size=6)
    tau[rjk_counted.Z] = 0.0
    assert error(_five_rows(X, tau), rjk_counted.taubart_x_taubar(X, tau)) < 1e-12
    assert count(_five_rows, X, tau)[0] == Cost(m=30, a=24)
    assert count_components()["taubar_i^T (..) taubar_i", 0] == Cost(m=35, a=28)


def test_002_39_counts_one_division_for_a_matrix_of_six_rows():
    """35 divisions for 35 bodies, although D_1 of the torso is 6 x 6 and its inverse takes more than one."""
    robot = asimo_variant()
    assert PAPER_39.d == len(robot.parent) and robot.dof[0] == 6
    chain = np.arange(-1, 5)
    assert count(sparse.ltdl, np.tril(np.ones((6, 6)) + 6.0 * np.eye(6)), chain)[0].d > 1


# ---- 003 ----


def _algorithm_fd(arm, start, shifted=False):
    """The recursion below (15) from zhat(0) = start; `shifted` takes lambda(k) where lambda(k+1) is meant."""
    bias = arm.H @ arm.phi @ (arm.M @ arm.phi.T @ arm.a + arm.b + arm.B @ arm.f)
    T, N, nu = arm.T - bias, arm.model.nv, np.empty(arm.model.nv)
    z = arm.B[:6] @ start
    for k in range(1, N + 1):
        H, _, D = arm.link(k)
        if k > 1:
            before, gain, _ = arm.link(k - 1)
            phi = arm.at("phi", k, k - 1)
            z = phi @ (z - gain[:, 0] * (before @ z)) + phi @ gain[:, 0] * T[k - 2]
        nu[k - 1] = (T[k - 1] - (H @ z)[0]) / D
    if not shifted:
        return arm.smooth(nu)
    out, lam = np.empty(N), np.zeros(6)
    for k in range(N, 0, -1):
        H, G, _ = arm.link(k)
        across = arm.at("phi", k + 1, k).T @ lam if k < N else lam
        lam = across - H[0] * (G.T @ across)[0] + H[0] * nu[k - 1]
        out[k - 1] = nu[k - 1] - (G.T @ lam)[0]
    return out


def test_003_15_the_filter_of_algorithm_FD_starts_from_zero(arm):
    """zhat(0) has no value in the print; f(0), which belongs to 5.1, would count the tip force twice."""
    assert error(_algorithm_fd(arm, arm.f), arm.qdd) > FAR
    assert error(_algorithm_fd(arm, np.zeros(6)), arm.qdd) < HOLDS


def test_003_15_the_smoother_of_algorithm_FD_uses_lambda_of_the_next_link(arm):
    """ "lambda(k+1, k)" has one index too many: K*(k+1, k) lambda(k+1)."""
    assert error(_algorithm_fd(arm, np.zeros(6), shifted=True), arm.qdd) > FAR
    assert error(_algorithm_fd(arm, np.zeros(6)), arm.qdd) < HOLDS


def _tip_correction(arm, start):
    """The recursion below (18) with zhat(1) = start."""
    z, nu = start, np.empty(arm.model.nv)
    for k in range(1, arm.model.nv + 1):
        H, _, D = arm.link(k)
        if k > 1:
            z = arm.at("psi", k, k - 1) @ z
        nu[k - 1] = -(H @ z)[0] / D
    return arm.smooth(nu)


def test_003_18_the_tip_recursion_starts_from_f_0_moved_by_phi(arm):
    """zhat(0) = f(0) and psi(1, 0) = phi(1, 0): there is no joint at the tip whose G(0) H(0) could be taken off."""
    expected = -np.linalg.solve(arm.mass, arm.J.T @ arm.f)
    H, G, _ = arm.link(1)
    moved = arm.B[:6] @ arm.f
    assert error(_tip_correction(arm, moved - G[:, 0] * (H @ moved)), expected) > FAR
    assert (
        error(_tip_correction(arm, np.zeros(6)), expected) > FAR
    )  # the loop from k = 1 without zhat(0)
    assert error(_tip_correction(arm, moved), expected) < HOLDS


def test_003_25_the_free_acceleration_of_the_tip_has_Jdot_thetadot(arm):
    """alpha_1f(0) = J qdd_f + Jdot thetadot: the correction (Delta thetadot in the print) has no velocity."""
    tip = arm.model.body_names[-1]
    free = dynamics.forward_dynamics(arm.model, arm.q, arm.v, arm.tau)
    expected = dynamics.link_accelerations(arm.model, arm.q, arm.v, arm.tau, frames=[tip])[0]
    J = dynamics.frame_jacobian(arm.model, arm.q, tip)
    Jdot_v = dynamics.frame_acceleration(arm.model, arm.q, arm.v, np.zeros(arm.model.nv), tip)
    assert error(J @ free, expected) > FAR  # a change of acceleration leaves velocities as they are
    assert error(J @ free + Jdot_v, expected) < HOLDS


def test_003_section_6_residuals_have_phi_and_not_psi(arm):
    """nu = D^1/2 (I + H phi K)* thetadot, whose squares are twice the kinetic energy."""
    energy = dynamics.kinetic_energy(arm.model, arm.q, arm.v)
    printed, ours = (
        np.sqrt(arm.D) @ (arm.I + arm.H @ X @ arm.K).T @ arm.thetadot for X in (arm.psi, arm.phi)
    )
    assert abs(0.5 * printed @ printed / energy - 1.0) > FAR
    assert 0.5 * ours @ ours == pytest.approx(energy, rel=1e-10)
    assert error(ours[::-1], residuals(arm.model, arm.q, arm.v)) < HOLDS


def test_003_appendix_two_forms_of_the_riccati_equation(arm):
    """M = P - E_psi P E_psi* = P - E_phi P E_phi* + K D K*; the print runs the two into one product."""
    first = arm.P - arm.E_psi @ arm.P @ arm.E_psi.T
    second = arm.P - arm.E_phi @ arm.P @ arm.E_phi.T + arm.K @ arm.D @ arm.K.T
    printed = (
        arm.P
        - arm.E_psi @ arm.P @ arm.E_psi.T @ arm.P
        - arm.E_phi @ arm.P @ arm.E_phi.T
        + arm.K @ arm.D @ arm.K.T
    )
    assert error(printed, arm.M) > FAR
    assert error(first, arm.M) < HOLDS and error(second, arm.M) < HOLDS


def test_003_section_7_the_conclusions_mean_11(arm):
    """ "eq. (9)" is psi; the innovations factorization is (11)."""
    L = arm.I + arm.H @ arm.phi @ arm.K
    assert error(arm.E_psi, arm.E_phi - arm.K @ arm.H) < HOLDS  # what (9), (10) say
    assert error(L @ arm.D @ L.T, arm.mass) < HOLDS  # what the conclusions speak of


# ---- 004 ----


def test_004_2_8_the_riccati_equation_with_P_plus(arm):
    P_plus = (arm.one - arm.G @ arm.H) @ arm.P
    assert error(arm.one - arm.E_phi @ arm.P @ arm.E_phi.T, arm.M) > FAR
    assert error(arm.P - arm.E_phi @ P_plus @ arm.E_phi.T, arm.M) < HOLDS
    assert error(arm.P - arm.E_psi @ arm.P @ arm.E_psi.T, arm.M) < HOLDS


def test_004_2_11_the_last_term_is_K_psi_a(arm):
    """K* psi* H* a does not fit: H* takes joints to links, a is of links."""
    L = arm.I - arm.H @ arm.psi @ arm.K
    with pytest.raises(ValueError, match="mismatch"):
        arm.K.T @ arm.psi.T @ arm.H.T @ arm.a
    b = arm.b + arm.B @ arm.f
    ours = (
        L.T @ arm.D_inv @ (arm.T - arm.H @ arm.psi @ (arm.K @ arm.T + arm.P @ arm.a + b))
        - arm.K.T @ arm.psi.T @ arm.a
    )
    assert error(ours, arm.qdd) < HOLDS


def test_004_3_8_H_nu_has_a_plus(flyer):
    """alpha = alpha+ + H* nu - (1 - taubar)* alpha+ + a."""
    tree, f = flyer.tree, flyer.filters
    for k, p in enumerate(tree.parent):
        if p < 0:
            continue
        kept = f.alpha_plus[k] - tree.H[k] @ (f.G[k].T @ f.alpha_plus[k]) + tree.a[k]
        assert error(kept - tree.H[k] @ f.nu[k], f.alpha[k]) > FAR
        assert error(kept + tree.H[k] @ f.nu[k], f.alpha[k]) < 1e-6


def test_004_algorithm_3_starts_from_z_plus_of_0(flyer):
    """z(1) = phi z+(0) + b + P a: it is z+(0) that the loop reads, and it is zero; z(0) is never read."""
    tree, f = flyer.tree, flyer.filters
    tip = len(tree.parent) - 1
    assert error(tree.b[tip] + f.P[tip] @ tree.a[tip], f.z[tip]) < HOLDS


def test_004_3_5_innovations_of_the_dual_filter_have_z_s_plus(flyer):
    """eps_s = T + H z_s+: with z_s, which it is needed for, hinge accelerations are wrong."""
    tree, f = flyer.tree, flyer.filters
    for k, p in enumerate(tree.parent):
        if p < 0:
            continue
        H = tree.H[k]
        D_s = H.T @ f.S_plus[k] @ H
        found = [
            np.linalg.solve(D_s, tree.T[k] + H.T @ z) - f.G_s[k].T @ f.alpha[k]
            for z in (f.z_s[k], f.z_s_plus[k])
        ]
        expected = flyer.qdd[tree.coordinates[k]]
        assert abs(found[0] - expected).max() > FAR * abs(flyer.qdd).max()
        assert abs(found[1] - expected).max() < 1e-6 * abs(flyer.qdd).max()


def test_004_3_6_a_s_is_minus_a_of_the_same_hinge(flyer):
    """a_s(k) = -a_p(k) at O_k; -phi* a_p(k+1) belongs to the next hinge."""
    tree, f = flyer.tree, flyer.filters
    for k, p in enumerate(tree.parent):
        if p <= 0:
            continue
        relation = [
            f.alpha[k] - tree.H[k] @ flyer.qdd[tree.coordinates[k]] + x
            for x in (-tree.a[p], -tree.a[k])
        ]
        assert error(relation[0], f.alpha[p]) > FAR
        assert error(relation[1], f.alpha[p]) < 1e-6


def test_004_3_5_a_force_on_the_base_starts_the_dual_filter(flyer):
    """z_s(n) = -T(n), zero only where nothing pushes the base; and alpha(1) is found first, not alpha(0) = 0."""
    tree, f = flyer.tree, flyer.filters
    assert np.abs(tree.T[0]).max() > 0.1
    printed = -np.linalg.solve(f.P[0] + f.S[0], f.z[0] - f.P[0] @ tree.a[0])
    ours = -np.linalg.solve(f.P[0] + f.S[0], f.z[0] + f.z_s[0] - f.P[0] @ tree.a[0])
    base = flyer.qdd[:6]
    assert error(f.z_s[0], -tree.T[0]) < 1e-12
    assert error(printed, f.alpha[0]) > FAR and error(ours, f.alpha[0]) < 1e-6
    assert np.abs(f.alpha[-1]).max() > FAR and base.shape == (6,)


def test_004_algorithm_6_P_runs_from_the_tip_and_S_from_the_base(flyer):
    """Step 2 has the directions the other way round: P of a link knows what is outboard of it, S the rest."""
    tree, f = flyer.tree, flyer.filters
    heavier = tree.M.copy()
    heavier[0] *= 2.0
    other = two_filters(replace(tree, M=heavier))
    assert error(other.P[-1], f.P[-1]) < 1e-15 and error(other.S[-1], f.S[-1]) > FAR
    heavier = tree.M.copy()
    heavier[-1] *= 2.0
    other = two_filters(replace(tree, M=heavier))
    assert error(other.S[1], f.S[1]) < 1e-15 and error(other.P[1], f.P[1]) > FAR


def test_004_4_6_has_psi_less_the_identity(arm):
    o = arm.operators
    Omega, Y, psi = (getattr(o, name).dense() for name in ("Omega", "Upsilon", "psi"))
    assert error(Y + psi.T @ Y + Y @ psi, Omega) > FAR
    tilde = psi - arm.one
    assert error(Y + tilde.T @ Y + Y @ tilde, Omega) < HOLDS


def test_004_4_9_has_taubar_s(flyer):
    """With taubar of the other filter the dual recursion leaves Upsilon."""
    tree, f = flyer.tree, flyer.filters
    found = dual_upsilon(tree, f, len(tree.parent) - 1)
    for k in range(1, len(tree.parent)):
        H, p = tree.H[k], tree.parent[k]
        expected = np.linalg.inv(f.P[p] + f.S[p])
        added = H @ np.linalg.solve(H.T @ f.S_plus[k] @ H, H.T)
        taubar_p = np.eye(6) - f.G[k] @ H.T
        printed = taubar_p.T @ found[k] @ taubar_p + added
        assert error(printed, expected) > FAR
        assert error(found[p], expected) < 1e-6


def test_004_A_10_hinges_from_k_on_reverse_their_sign(flyer):
    """H_k with the signs of the old base gives another matrix than T* M T."""
    tree, model = flyer.tree, flyer.model
    link = len(tree.parent) // 2
    T = base_change(model, flyer.q, model.body_names[link])
    expected = T.T @ mass_matrix(model, flyer.q) @ T
    turn = np.eye(model.nv)
    turn[:6, :6] = np.roll(moved(np.eye(6), tree.offset[link]), 3, axis=1)
    ours = composite_mass_matrix(reroot(tree, link))
    sign = np.ones(model.nv)
    for k in range(1, link + 1):  # the hinges on the way to the old base, as they were
        sign[tree.coordinates[k]] = -1.0
    printed = ours * np.outer(sign, sign)
    assert error(turn.T @ ours @ turn, expected) < HOLDS
    assert error(turn.T @ printed @ turn, expected) > FAR


def test_004_A_3_identity_blocks_have_the_size_of_the_hinge_coordinates(flyer):
    """I_{N-6}, not I_{n-1}, which is the same only for hinges of one freedom; P permutes coordinates and 6-blocks."""
    free = random_model(8, 5, shape="chain", base="floating", types=("planar",))
    hinges = free.nv - 6
    assert hinges != len(free.parent) - 1
    q = free.integrate(free.neutral(), np.full(free.nv, 0.3), 1.0)
    T = base_change(free, q, free.body_names[-1])
    assert error(T[6:, 6:], np.eye(hinges)) < 1e-15
    tree = link_tree(free, link_state(free, q, np.zeros(free.nv)), np.zeros(free.nv))
    turned = reroot(tree, len(tree.parent) - 1)
    assert sorted(s.start for s in turned.coordinates) == sorted(s.start for s in tree.coordinates)
    assert len(turned.M) == len(tree.M) == len(free.parent)
