# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics by the algorithms of papers 000, 001, 003 and 004, equation by equation."""

import numpy as np
import pytest
from helpers.recursion_cases import FLOATING, NAMES, Case, Dense, assert_near, model_of
from helpers.urdf_text import joint, link, robot
from oracles.random_trees import random_model

from opspace_ctrl import dynamics, load_urdf
from opspace_ctrl.algebra.recursions.smoother import FilterSmoother
from opspace_ctrl.errors import MethodError

_METHODS = ("aba", "algorithm2", "algorithm3", "algorithm4", "two_sweep", "kalman", "decoupled")
GIVING_LINKS = [
    (name, method) for method in _METHODS for name in (FLOATING if method == "decoupled" else NAMES)
]
everywhere = pytest.mark.parametrize("name", NAMES)


def run(case, method):
    """Accelerations, and the innovations and co-states (n, 6) the algorithm left behind."""
    found = dynamics.forward_dynamics(case.model, case.q, case.v, case.tau, case.external, method)
    tree = dynamics.tree_of(case.model)
    return found, tree.eps.copy(), tree.alpha[: tree.n, :6].copy()


def bias(case, dense):
    """zeta = M phi* a + b + B f(0) with gravity as an acceleration of the base, and that motion phi* a."""
    s, g = case.smoother, np.append(np.zeros(3), case.model.gravity)
    motion = dense.phi.T @ s.eta.ravel() - np.tile(g, len(s.D))
    weightless = s.xi.ravel() + dense.M @ np.tile(g, len(s.D))
    return dense.M @ motion + weightless, motion


@everywhere
@pytest.mark.parametrize("method", dynamics.forward_methods())
def test_000_79_every_algorithm_solves_the_equations_of_motion(name, method):
    """000 (79): qdd = H^-1 (T - C - J* f(0)), with gravity, external wrenches and armature."""
    case = Case(name)
    if method not in dynamics.forward_methods(case.model):
        with pytest.raises(MethodError, match=method):
            dynamics.forward_dynamics(case.model, case.q, case.v, case.tau, method=method)
        return
    assert_near(run(case, method)[0], case.a, case.tolerance)


@everywhere
def test_000_algorithm_1_exposes_innovations_residuals_and_costates(name):
    """000 (26), (27), (47)-(54): T' is bias-free, eps = (1 - H Psi G) T', lambda = phi* H* qdd."""
    case = Case(name)
    dense = Dense(case.smoother)
    qdd, eps, costate = run(case, "algorithm1")
    free = dense.by_node(case.tau - case.h)
    assert_near(eps, dense.whiten @ free, case.tolerance)
    assert_near(dense.by_node(qdd), dense.whiten.T @ (eps / case.smoother.D), case.tolerance)
    assert_near(costate.ravel(), dense.phi.T @ dense.H.T @ dense.by_node(qdd), case.tolerance)


@everywhere
def test_003_14_15_algorithm_FD_is_algorithm_1_with_K_for_phi_G(name):
    """003 (14), (15): (1 - H psi K)* D^-1 (1 - H psi K) T' with K = E_phi G is 000 (48)."""
    case = Case(name)
    dense = Dense(case.smoother)
    whiten = np.eye(len(dense.H)) - dense.H @ dense.psi @ (dense.E_phi @ dense.G)
    assert_near(whiten, dense.whiten, 1e-12)
    qdd = whiten.T @ (whiten @ dense.by_node(case.tau - case.h) / case.smoother.D)
    assert_near(qdd, dense.by_node(run(case, "algorithm1")[0]), case.tolerance)


@pytest.mark.parametrize(("name", "method"), GIVING_LINKS)
def test_000_55_59_link_and_tip_accelerations_come_with_the_algorithm(name, method):
    """000 (55)-(59) algorithm 2, VII.C for algorithm 3, (72) algorithm 4; 001 (8.13); 004 (3.12)."""
    case = Case(name)
    found = dynamics.link_accelerations(case.model, case.q, case.v, case.tau, case.external, method)
    assert_near(found, case.links, case.tolerance)
    tips = [case.model.frame_names[-1], case.model.frame_names[0]]
    found = dynamics.link_accelerations(
        case.model, case.q, case.v, case.tau, case.external, method, tips
    )
    expected = [
        dynamics.frame_acceleration(case.model, case.q, case.v, case.a, tip) for tip in tips
    ]
    assert_near(found, expected, case.tolerance)


def test_000_8_001_5_4_link_accelerations_are_the_rate_of_change_of_link_velocities():
    """000 (6)-(9), 001 (5.1)-(5.6): inertial derivatives, by finite differences along the motion."""
    case, h = Case("floating tree"), 1e-6
    model, found = (
        case.model,
        dynamics.link_accelerations(case.model, case.q, case.v, case.tau, case.external),
    )
    ends = [(model.integrate(case.q, case.v, dt), case.v + dt * case.a) for dt in (-h, h)]
    for row, frame in zip(found, model.body_names):
        before, after = (dynamics.frame_velocity(model, q, v, frame) for q, v in ends)
        np.testing.assert_allclose(
            (after - before) / (2.0 * h), row, rtol=1e-5, atol=1e-5 * np.abs(found).max()
        )


@everywhere
def test_000_60_65_algorithm_3_filters_dalembert_and_bias_forces(name):
    """000 (60)-(65): eps = T - H Psi [G T + (1 - G H) zeta] - H zeta."""
    case = Case(name)
    dense = Dense(case.smoother)
    zeta, _ = bias(case, dense)
    T = dense.by_node(case.tau)
    expected = T - dense.H @ dense.Psi @ (dense.G @ T + dense.L @ zeta) - dense.H @ zeta
    assert_near(run(case, "algorithm3")[1], expected, case.tolerance, np.abs(zeta).max())


@everywhere
def test_000_66_73_algorithm_4_needs_no_dalembert_forces_and_its_costate_is_the_acceleration(name):
    """000 (66)-(73), (67) as corrected: D nu = (1 - H Psi G) T - H Psi (1 - G H) P a - H psi (b + B f(0))."""
    case = Case(name)
    dense, s = Dense(case.smoother), case.smoother
    T, a = dense.by_node(case.tau), s.eta.ravel()
    b = s.xi.ravel() + dense.M @ np.tile(np.append(np.zeros(3), case.model.gravity), len(s.D))
    qdd, eps, costate = run(case, "algorithm4")
    expected = (
        dense.whiten @ T - dense.H @ dense.Psi @ dense.L @ dense.P @ a - dense.H @ dense.psi @ b
    )
    assert_near(eps, expected, case.tolerance, max(1.0, np.abs(dense.psi @ b).max()))
    nodes = dense.by_node(qdd)
    _, motion = bias(case, dense)
    assert_near(
        costate.ravel(),
        dense.phi.T @ dense.H.T @ nodes + motion,
        case.tolerance,
        np.abs(costate).max(),
    )


@pytest.mark.parametrize("name", FLOATING)
def test_000_74_79_004_3_1_3_2_a_mobile_base_is_one_more_joint_with_H_the_identity(name):
    """000 (74)-(79), 004 (3.1), (3.2): orthonormal base axes, D(n) = P(n), nothing left beyond the base."""
    case = Case(name)
    s, nodes = case.smoother, case.smoother.nodes
    for root in np.flatnonzero(case.model.parent < 0):
        base = slice(nodes.first[root], nodes.last[root] + 1)
        assert_near(s.H[base] @ s.H[base].T, np.eye(6), 1e-14)
        size = np.abs(s.P[nodes.last[root]]).max()
        assert_near(s.P_plus[nodes.first[root]], np.zeros((6, 6)), 1e-12, size)
        alone = np.linalg.solve(s.P[nodes.last[root]], np.eye(6))
        inner = case.model.v_index[root] + np.arange(6)
        by_node = s.H[base].T @ np.linalg.inv(case.H)[np.ix_(inner, inner)] @ s.H[base]
        assert_near(by_node, alone, case.tolerance)


def test_000_VIII_a_base_with_fewer_freedoms_is_another_choice_of_H():
    """000 end of VIII: a base that slides and turns in a plane, H(N + 1) of three rows, and nothing else changes."""
    wheels = joint("wheels", "ground", "trunk", "planar", axis="0 0 1")
    arms = [
        joint(f"j{i}", "trunk" if i % 2 else f"l{i - 1}", f"l{i}", axis="0.6 0.8 0")
        for i in range(1, 5)
    ]
    model = load_urdf(
        robot(link("ground"), link("trunk"), *[link(f"l{i}") for i in range(1, 5)], wheels, *arms)
    )
    rng = np.random.default_rng(0)
    q, (v, tau) = model.random_configuration(rng), rng.normal(size=(2, model.nv))
    expected = np.linalg.solve(
        dynamics.mass_matrix(model, q), tau - dynamics.bias_forces(model, q, v)
    )
    for method in dynamics.forward_methods(model):
        assert_near(dynamics.forward_dynamics(model, q, v, tau, method=method), expected, 1e-11)
    s = FilterSmoother(model, q, v, tau)
    H, P = s.H[:3], s.P[2]  # the base's three nodes; P before any of them has been eliminated
    free = np.linalg.inv(dynamics.mass_matrix(model, q))[:3, :3]
    # D(N + 1) is what the rest makes of the base
    assert_near(np.linalg.inv(H @ P @ H.T), free, 1e-11)


@pytest.mark.parametrize("name", FLOATING)
def test_004_algorithm_6_carries_a_force_on_the_base(name):
    """004 algorithm 6: z_s(n) = -T(n)."""
    case = Case(name)
    case.tau[:6] += 20.0
    case.__dict__.pop("a", None)
    assert_near(run(case, "decoupled")[0], case.a, case.tolerance)


def test_methods_that_cannot_carry_a_robot_say_so_by_name():
    fixed, mimic = model_of("fixed tree"), random_model(3, 8, mimic=0.5, types=("revolute",))
    assert "decoupled" not in dynamics.forward_methods(fixed)
    assert dynamics.forward_methods(mimic) == ("crba_ltdl",)
    rest = np.zeros(fixed.nv)
    with pytest.raises(MethodError, match="'decoupled' cannot carry a fixed base"):
        dynamics.forward_dynamics(fixed, fixed.neutral(), rest, rest, method="decoupled")
    with pytest.raises(MethodError, match="'algorithm1' finds no link accelerations.*kalman"):
        dynamics.link_accelerations(fixed, fixed.neutral(), rest, rest, method="algorithm1")
    rest = np.zeros(mimic.nv)
    for method in (
        "algorithm1",
        "algorithm2",
        "algorithm3",
        "algorithm4",
        "two_sweep",
        "kalman",
        "decoupled",
    ):
        with pytest.raises(MethodError, match=f"'{method}' cannot carry mimic joints"):
            dynamics.forward_dynamics(mimic, mimic.neutral(), rest, rest, method=method)
