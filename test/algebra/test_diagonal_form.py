# SPDX-License-Identifier: Apache-2.0
"""003 section 6: the equations of motion in residuals, whose inertia is the identity."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.recursion_cases import NAMES, Case, Dense, assert_near

from opspace_ctrl import dynamics
from opspace_ctrl.algebra.recursions import diagonal

everywhere = pytest.mark.parametrize("name", NAMES)


@everywhere
def test_003_section_6_kinetic_energy_is_half_the_sum_of_squared_residuals(name):
    """003 section 6, as corrected: nu = D^1/2 (1 + H phi K)* v and back."""
    case = Case(name)
    nu, dense = diagonal.residuals(case.model, case.q, case.v), Dense(case.smoother)
    forward = np.eye(len(dense.D)) + dense.H @ dense.phi @ dense.E_phi @ dense.G
    expected = np.sqrt(dense.D) @ forward.T @ case.v[case.smoother.coordinate]
    assert_near(nu[case.smoother.coordinate], expected, case.tolerance)
    assert_near(0.5 * nu @ nu, dynamics.kinetic_energy(case.model, case.q, case.v), case.tolerance)
    assert_near(diagonal.velocity_from_residuals(case.model, case.q, nu), case.v, case.tolerance)


@everywhere
def test_003_section_6_residuals_obey_the_diagonal_equations_of_motion(name):
    """003 section 6: d nu/dt + mu = eps, by finite differences along the motion."""
    case, h = Case(name), 1e-5
    model = case.model
    a = dynamics.forward_dynamics(model, case.q, case.v, case.tau)
    before, after = (
        diagonal.residuals(model, model.integrate(case.q, case.v, dt), case.v + dt * a)
        for dt in (-h, h)
    )
    eps, mu = (
        diagonal.innovations(model, case.q, case.tau),
        diagonal.residual_bias(model, case.q, case.v),
    )
    size = max(np.abs(eps).max(), np.abs(mu).max())
    np.testing.assert_allclose((after - before) / (2.0 * h), eps - mu, rtol=0.0, atol=3e-7 * size)


def test_003_section_6_integrating_the_residuals_is_integrating_the_motion():
    """The same Runge-Kutta steps in (q, nu) and in (q, v) meet, and without forces 1/2 nu^T nu is kept."""
    case = Case("chain")
    model = replace(case.model, gravity=np.zeros(3))
    tau, dt, steps = np.zeros(model.nv), 2e-3, 25

    def in_residuals(q, nu):
        v = diagonal.velocity_from_residuals(model, q, nu)
        return v, diagonal.innovations(model, q, tau) - diagonal.residual_bias(model, q, v)

    def in_velocities(q, v):
        return v, dynamics.forward_dynamics(model, q, v, tau)

    v0 = 0.3 * case.v
    nu0 = diagonal.residuals(model, case.q, v0)
    q, nu = _runge_kutta(in_residuals, case.q, nu0, dt, steps)
    other, v = _runge_kutta(in_velocities, case.q, v0, dt, steps)
    np.testing.assert_allclose(q, other, atol=1e-7)
    np.testing.assert_allclose(diagonal.velocity_from_residuals(model, q, nu), v, atol=1e-6)
    assert abs(nu @ nu / (nu0 @ nu0) - 1.0) < 1e-7


def _runge_kutta(rates, q, x, dt, steps):
    """The classical fourth-order step for a fixed base, where q is a vector."""
    for _ in range(steps):
        k = [rates(q, x)]
        for part in (0.5, 0.5, 1.0):
            k.append(rates(q + part * dt * k[-1][0], x + part * dt * k[-1][1]))
        q, x = (
            y + dt / 6.0 * (k[0][i] + 2.0 * k[1][i] + 2.0 * k[2][i] + k[3][i])
            for i, y in enumerate((q, x))
        )
    return q, x
