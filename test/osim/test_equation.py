# SPDX-License-Identifier: Apache-2.0
"""Paper 002 section 4: the terms of the operational-space equation by themselves, and the velocity law."""

import numpy as np
import pytest

from opspace_ctrl import (
    CenterOfMass,
    OperationalSpace,
    bias_forces,
    dynamics,
    forward_dynamics,
    load_robot,
    mass_matrix,
)
from opspace_ctrl.errors import ConfigurationError

CASES = {
    "arm7": ["link7"],
    "asimo": ["left_hand", ("right_foot", "position"), CenterOfMass()],
    "free_flyer": ["left_tool", ("right_tool", "position")],
}
everywhere = pytest.mark.parametrize("name", CASES)


def state_of(name, seed=0):
    model = load_robot(name)
    rng = np.random.default_rng(seed)
    q = model.integrate(model.neutral(), rng.uniform(-1.0, 1.0, model.nv), 1.0)
    v, tau = rng.normal(size=(2, model.nv))
    return model, q, v, tau


@everywhere
def test_002_3_8_beta_is_the_acceleration_of_the_tasks_while_no_force_acts(name):
    """(3), (8): xdd = beta + Lambda^-1 F for tau = J^T F, by forward dynamics."""
    model, q, v, _ = state_of(name)
    ospace = OperationalSpace(model, CASES[name]).update(q, v)
    F = np.random.default_rng(1).normal(size=ospace.m)
    a = forward_dynamics(model, q, v, ospace.jacobian.T @ F)
    xdd = ospace.jacobian @ a + ospace.bias_acceleration
    np.testing.assert_allclose(ospace.beta + ospace.inertia_inv @ F, xdd, rtol=1e-8, atol=1e-8)


@everywhere
def test_002_3_8_mu_and_rho_by_themselves(name):
    """(4), (8): Lambda xdd + mu + rho = F; rho is what stays at rest, mu is quadratic in v; both by dense algebra."""
    model, q, v, tau = state_of(name)
    ospace = OperationalSpace(model, CASES[name]).update(q, v)
    H, h, g = mass_matrix(model, q), bias_forces(model, q, v), dynamics.gravity_forces(model, q)
    J, Jdot_v, Lambda = (
        x.copy() for x in (ospace.jacobian, ospace.bias_acceleration, ospace.inertia)
    )
    size = np.abs(Lambda).max() * max(1.0, np.abs(h).max())
    rho, mu = ospace.rho, ospace.mu
    np.testing.assert_allclose(rho, Lambda @ J @ np.linalg.solve(H, g), atol=1e-9 * size)
    expected = Lambda @ (J @ np.linalg.solve(H, h - g) - Jdot_v)
    np.testing.assert_allclose(mu, expected, atol=1e-9 * size)
    np.testing.assert_allclose(mu + rho, -Lambda @ ospace.beta, atol=1e-9 * size)
    ospace.update(q, 2.0 * v)
    np.testing.assert_allclose(ospace.mu, 4.0 * mu, atol=1e-8 * size)
    np.testing.assert_allclose(ospace.rho, rho, atol=1e-9 * size)
    # a task force drives the tasks alone where nothing else acts: F of (4) for the motion under tau
    a = forward_dynamics(model, q, v, tau)
    force = Lambda @ (J @ a + Jdot_v) + mu + rho
    np.testing.assert_allclose(force, ospace.update(q, v).jbar.T @ tau, atol=1e-9 * size)


@everywhere
def test_002_section_4_velocity_law_reaches_the_task_with_the_least_energy(name):
    """v = Jbar xdot + N v0: J v = xdot, and any other such v is further from v0 in kinetic energy."""
    model, q, v, _ = state_of(name)
    ospace = OperationalSpace(model, CASES[name]).update(q, v)
    rng = np.random.default_rng(2)
    wanted, H = rng.normal(size=ospace.m), mass_matrix(model, q)
    found = ospace.velocity(wanted, v)
    np.testing.assert_allclose(ospace.jacobian @ found, wanted, atol=1e-9)
    np.testing.assert_allclose(found, ospace.jbar @ wanted + ospace.null_space @ v, atol=1e-9)
    other = found + ospace.null_space @ rng.normal(size=model.nv)
    np.testing.assert_allclose(ospace.jacobian @ other, wanted, atol=1e-9)
    energy = [(x - v) @ H @ (x - v) for x in (found, other)]
    assert energy[0] < energy[1]
    np.testing.assert_allclose(ospace.velocity(), 0.0)


def test_terms_need_a_state_and_right_sizes():
    model = load_robot("arm7")
    ospace = OperationalSpace(model, "link7")
    for name in ("beta", "mu", "rho"):
        with pytest.raises(ConfigurationError, match="no state"):
            getattr(ospace, name)
    ospace.update(model.neutral())
    with pytest.raises(ConfigurationError, match="task velocity"):
        ospace.velocity(np.zeros(5))
    with pytest.raises(ConfigurationError, match="v0"):
        ospace.velocity(np.zeros(6), [np.nan] * 7)


def test_terms_are_the_readers_own():
    model, q, v, _ = state_of("arm7")
    ospace = OperationalSpace(model, "link7").update(q, v)
    kept = ospace.beta
    before = kept.copy()
    ospace.update(model.neutral(), -v)
    assert (kept == before).all()
    assert abs(ospace.beta - before).max() > 1e-3
