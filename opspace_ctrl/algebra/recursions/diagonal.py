# SPDX-License-Identifier: Apache-2.0
"""Equations of motion with a unit inertia: the diagonalised innovations form ([Rodriguez1991] section 6).

    nu = D^1/2 (1 + H phi K)* v,     kinetic energy = 1/2 nu^T nu
    dnu/dt + mu(q, nu) = eps,        eps = D^-1/2 (1 - H psi K) tau
With L = (1 + H phi K) D^1/2, H = L L^T: nu = L^T v and mu = L^-1 h - (dL/dt)^T v, gravity included in h. By node,
nu_k = D^-1/2 (D rate + U^T V_parent), so its rate of change needs only those of the articulated inertias.
"""

import numpy as np
from numpy.typing import ArrayLike

from ...dynamics.functions import bias_forces
from ...model import Model
from .smoother import FilterSmoother


def residuals(model: Model, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    """nu (nv,) = D^1/2 (1 + H phi K)* v, one entry a coordinate [J^1/2]."""
    s = FilterSmoother(model, q, v)
    out = np.empty(model.nv)
    out[s.coordinate] = np.sqrt(s.D) * _whitened_rates(s, np.asarray(v, dtype=float))
    return out


def velocity_from_residuals(model: Model, q: ArrayLike, nu: ArrayLike) -> np.ndarray:
    """v (nv,) = (1 - H psi K)* D^-1/2 nu: base to tips."""
    s = FilterSmoother(model, q)
    out, V = np.empty(model.nv), np.zeros((len(s.D) + 1, 6))
    white = np.asarray(nu, dtype=float)[s.coordinate] / np.sqrt(s.D)
    for k, p in enumerate(s.parent):
        rate = white[k] - s.G[k] @ V[p]
        V[k] = V[p] + s.H[k] * rate
        out[s.coordinate[k]] = rate
    return out


def innovations(model: Model, q: ArrayLike, tau: ArrayLike) -> np.ndarray:
    """eps (nv,) = D^-1/2 (1 - H psi K) tau: tips to base."""
    return _whitened_forces(FilterSmoother(model, q), np.asarray(tau, dtype=float))


def residual_bias(model: Model, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    """mu (nv,) = L^-1 h - (dL/dt)^T v."""
    s = FilterSmoother(model, q, v)
    v, V, acc = model.check_velocity(v), _with_world(s.velocity), np.zeros((len(s.D) + 1, 6))
    dH = _subspace_rates(s)
    dU, dD = _inertia_rates(s, dH)
    out = _whitened_forces(s, bias_forces(model, q, v))
    white = _whitened_rates(s, v)
    for k, p in enumerate(s.parent):
        acc[k] = acc[p] + dH[k] * v[s.coordinate[k]]
    for k in (own[0] for own in s.clusters):
        p, rate = s.parent[k], v[s.coordinate[k]]
        change = dD[k] * rate + dU[k] @ V[p] + s.D[k] * s.G[k] @ acc[p] - 0.5 * dD[k] * white[k]
        out[s.coordinate[k]] -= change / np.sqrt(s.D[k])
    return out


def _subspace_rates(s: FilterSmoother) -> np.ndarray:
    """dH/dt (n, 6): what a joint adds to H is fixed in the body it moves; through a cluster joints add up."""
    dH = np.zeros_like(s.H)
    for k, (p, last) in enumerate(zip(s.nodes.parent, s.nodes.last[s.nodes.body])):
        is_inner = p >= 0 and p != s.parent[k]
        before, rate = (s.H[p], dH[p]) if is_inner else (0.0, 0.0)
        dH[k] = rate + _cross(s.velocity[last], s.H[k] - before)
    return dH


def _with_world(x: np.ndarray) -> np.ndarray:
    """Rows of nodes with the world's zeros last, where parent -1 finds them."""
    return np.vstack([x, np.zeros(6)])


def _whitened_rates(s: FilterSmoother, v: np.ndarray) -> np.ndarray:
    """(1 + H phi K)* v (n,) by node: rate + G^T V_parent."""
    return v[s.coordinate] + np.einsum("ni,ni->n", s.G, _with_world(s.velocity)[s.parent])


def _whitened_forces(s: FilterSmoother, tau: np.ndarray) -> np.ndarray:
    """D^-1/2 (1 - H psi K) tau (nv,)."""
    z, out = np.zeros((len(s.D) + 1, 6)), np.empty(len(tau))
    for own in reversed(s.clusters):
        k = own[0]
        eps = tau[s.coordinate[k]] - np.sum(s.H[own] * z[own])
        z[s.parent[k]] += z[own].sum(axis=0) + s.G[k] * eps
        out[s.coordinate[k]] = eps / np.sqrt(s.D[k])
    return out


def _cross(V: np.ndarray, x: np.ndarray) -> np.ndarray:
    """V x x of two motions, angular first."""
    return np.concatenate([np.cross(V[:3], x[:3]), np.cross(V[:3], x[3:]) + np.cross(V[3:], x[:3])])


def _inertia_rates(s: FilterSmoother, dH: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """dU/dt (n, 6) and dD/dt (n,) for U = P H^T: the Riccati recursion differentiated, tips to base.

    Those of a cluster stand at its first node.
    """
    n, V = len(s.D), s.velocity
    dP, dU, dD = np.zeros((n + 1, 6, 6)), np.zeros((n, 6)), np.zeros(n)
    for own in reversed(s.clusters):
        k = own[0]
        for i in own:
            X = np.column_stack([_cross(V[i], e) for e in np.eye(6)])
            dP[i] -= X.T @ s.M[i] + s.M[i] @ X
            dU[k] += dP[i] @ s.H[i] + s.P[i] @ dH[i]
            dD[k] += 2.0 * dH[i] @ s.P[i] @ s.H[i] + s.H[i] @ dP[i] @ s.H[i]
        dP[s.parent[k]] += (
            dP[own].sum(axis=0)
            - np.outer(dU[k], s.G[k])
            - np.outer(s.G[k], dU[k])
            + dD[k] * np.outer(s.G[k], s.G[k])
        )
    return dU, dD
