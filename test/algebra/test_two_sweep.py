# SPDX-License-Identifier: Apache-2.0
"""The two-sweep forward dynamics of paper 000 VII.D, with and without its delay."""

import numpy as np
import pytest
from helpers.recursion_cases import NAMES, Case, Dense, assert_near
from oracles.random_trees import random_model

from opspace_ctrl import forward_dynamics
from opspace_ctrl.algebra.recursions.delayed import TwoSweep
from opspace_ctrl.errors import ConfigurationError, MethodError

everywhere = pytest.mark.parametrize("name", NAMES)


def gyroscopic(velocity, M):
    """b = V x* M V (n, 6) for velocities and inertias by node."""
    momentum = np.einsum("nij,nj->ni", M, velocity)
    omega, v = velocity[:, :3], velocity[:, 3:]
    angular = np.cross(omega, momentum[:, :3]) + np.cross(v, momentum[:, 3:])
    return np.hstack([angular, np.cross(omega, momentum[:, 3:])])


def hinge(s, velocity):
    """a (n, 6): the velocity before the joint crossed with that behind it, at the last node of every joint."""
    before = np.vstack([velocity, np.zeros(6)])[s.nodes.before]
    angular = np.cross(before[:, :3], velocity[:, :3])
    linear = np.cross(before[:, :3], velocity[:, 3:]) + np.cross(before[:, 3:], velocity[:, :3])
    is_last = np.isin(np.arange(len(velocity)), s.nodes.last)
    return np.where(is_last[:, None], np.hstack([angular, linear]), 0.0)


def weightless_push(s):
    """What of xi is neither gyroscopic nor weight: the external wrenches on the bodies, taken off (n, 6)."""
    weight = np.einsum("nij,j->ni", s.M, np.append(np.zeros(3), s.model.gravity))
    return s.xi + weight - gyroscopic(s.velocity, s.M)


@everywhere
def test_000_VII_D_first_step_has_no_delay(name):
    case = Case(name)
    found = TwoSweep(case.model).step(case.q, case.v, case.tau, case.external)
    assert_near(found, case.a, case.tolerance)


@everywhere
def test_000_VII_D_filter_uses_the_velocities_of_the_call_before(name):
    """000 (67), (68) with a, b of the delayed V: D nu = (1 - H Psi G) T - H Psi (1 - G H) P a - H psi (b + B f(0))."""
    case, earlier = Case(name), Case(name, seed=1)
    dynamics = TwoSweep(case.model)
    dynamics.step(earlier.q, earlier.v, earlier.tau)
    found = dynamics.step(case.q, case.v, case.tau, case.external)
    s, dense, V = case.smoother, Dense(case.smoother), earlier.smoother.velocity
    a = hinge(s, V).ravel()
    b = (gyroscopic(V, s.M) + weightless_push(s)).ravel()
    # of the base, and so of every link
    up = np.tile(np.append(np.zeros(3), -case.model.gravity), len(s.D))
    filtered = dense.whiten @ dense.by_node(case.tau) - dense.H @ dense.Psi @ dense.L @ dense.P @ a
    nu = (filtered - dense.H @ dense.psi @ b) / s.D
    resting = dense.psi.T @ (dense.H.T @ nu + dense.L.T @ a)
    expected = nu - dense.G.T @ (dense.E_phi.T @ resting + a)
    gravity = np.linalg.solve(
        dense.H @ dense.phi @ dense.M @ dense.phi.T @ dense.H.T
        + np.diag(case.model.armature[s.coordinate]),
        dense.H @ dense.phi @ dense.M @ up,
    )
    size = max(1.0, np.abs(found).max(), np.abs(expected).max())
    assert_near(dense.by_node(found), expected - gravity, case.tolerance, size)


@pytest.mark.parametrize("name", ["chain", "floating tree", "ur5 with armature"])
def test_000_VII_D_error_of_the_delay_is_of_first_order_in_the_step(name):
    """The same instant approached with ever shorter steps: a tenth of the step, a tenth of the error."""
    case, errors = Case(name), []
    for step in (1e-2, 1e-3, 1e-4):
        dynamics = TwoSweep(case.model)
        before = case.model.integrate(case.q, -step * case.v, 1.0), case.v - step * case.a
        dynamics.step(*before, case.tau)
        found = dynamics.step(case.q, case.v, case.tau, case.external)
        errors.append(np.abs(found - case.a).max())
    np.testing.assert_allclose(np.log10(errors[0] / errors[1]), 1.0, atol=0.2)
    np.testing.assert_allclose(np.log10(errors[1] / errors[2]), 1.0, atol=0.1)


def test_000_VII_D_restart_forgets_and_a_refused_step_changes_nothing():
    case, earlier = Case("floating tree"), Case("floating tree", seed=1)
    one, other = TwoSweep(case.model), TwoSweep(case.model)
    for dynamics in (one, other):
        dynamics.step(earlier.q, earlier.v, earlier.tau)
    with pytest.raises(ConfigurationError):
        one.step(case.q, np.full(case.model.nv, np.nan), case.tau)
    with pytest.raises(ConfigurationError, match="1e70"):
        one.step(case.q, np.full(case.model.nv, 1e80), case.tau)
    assert np.array_equal(one.step(case.q, case.v, case.tau), other.step(case.q, case.v, case.tau))
    one.restart()
    exact = forward_dynamics(case.model, case.q, case.v, case.tau, method="two_sweep")
    assert_near(one.step(case.q, case.v, case.tau), exact, 1e-12)


def test_000_VII_D_mimic_joints_with_others_between_are_refused_by_name():
    mimic = random_model(3, 8, mimic=0.5, types=("revolute",))
    with pytest.raises(
        MethodError, match="'two_sweep' cannot carry mimic joints with other joints between"
    ):
        TwoSweep(mimic)
