# SPDX-License-Identifier: Apache-2.0
"""The exact two-sweep forward dynamics of [Rodriguez1992] VII.D, variant (a): nothing is delayed, sweeps do more.

Three sweeps are needed because the filter, which runs inward, wants biases that depend on velocities, which run
outward. But biases are polynomials of the velocity V of the parent: a(k) is linear and b(k) quadratic in it. So the
filter carries its state z as a polynomial of second degree in y = (1, V), a (6, 7, 7) array a node instead of a
vector, "at the expense of greater algorithmic complexity" (about fifty times the operations of the filter); the
outward sweep finds V and puts it in. World axes, at the tree's origin, so that phi = 1.
"""

import numpy as np
from numpy.typing import ArrayLike

from ...errors import MethodError
from ...model import Model
from .smoother import FilterSmoother

# (V x) x is sum_ij CROSS[:, i, j] V_i x_j for motions, angular first; for forces V x* f is -(V x)^T f.
_SKEW = np.zeros((3, 3, 3))
for _i, _j, _k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
    _SKEW[_k, _i, _j], _SKEW[_k, _j, _i] = 1.0, -1.0
CROSS = np.zeros((6, 6, 6))
CROSS[:3, :3, :3] = CROSS[3:, :3, 3:] = CROSS[3:, 3:, :3] = _SKEW


def two_sweeps(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> np.ndarray:
    """dv/dt (nv,) by one sweep inward, which knows no velocity but those of the joints, and one outward.

    Raises:
        ConfigurationError: q, v or tau is unusable.
        MethodError: The model has mimic joints.
    """
    if model.is_mimic.any():
        raise MethodError(f"two exact sweeps cannot carry mimic joints ({model.name})")
    v, tau = model.check_velocity(v), model.check_velocity(tau, "tau")
    s = FilterSmoother(model, q)
    n, rate = len(s.D), v[s.coordinate]
    eta = _hinge_biases(s, s.H * rate[:, None])
    z, eps = np.zeros((n + 1, 6, 7, 7)), np.empty((n, 7, 7))
    for k in range(n - 1, -1, -1):
        shift = _shift(s.H[k] * rate[k])
        z[k] += _biases(s.M[k], model.gravity)
        # from the node's own velocity to its parent's
        z[k] = np.einsum("aij,ib,jc->abc", z[k], shift, shift)
        eps[k] = -np.einsum("a,aij->ij", s.H[k], z[k])
        eps[k, 0, 0] += tau[s.coordinate[k]]
        forced = s.P[k] @ eta[k]
        passed = z[k] + np.einsum("a,ij->aij", s.G[k], eps[k])
        passed[:, :, 0] += forced - np.outer(s.G[k], s.H[k] @ forced)
        z[s.parent[k]] += passed
    return _outward(s, rate, eps, eta)


def _hinge_biases(s: FilterSmoother, step: np.ndarray) -> np.ndarray:
    """a = V(before the joint) x (motion in the joint) as (n, 6, 7), linear in (1, V) of each node's parent.

    It is due once, at the last node of a joint, whose parent has moved by the nodes before it already.
    """
    eta = np.zeros((len(step), 6, 7))
    for last in s.nodes.last:
        own = np.flatnonzero(s.nodes.body == s.nodes.body[last])
        earlier, moved = step[own[:-1]].sum(axis=0), step[own].sum(axis=0)
        eta[last, :, 1:] = np.einsum("aij,j->ai", CROSS, moved)
        eta[last, :, 0] = -eta[last, :, 1:] @ earlier
    return eta


def _outward(s: FilterSmoother, rate: np.ndarray, eps: np.ndarray, eta: np.ndarray) -> np.ndarray:
    """Velocities, and accelerations from the filter's polynomials at them; base to tips."""
    n, out = len(s.D), np.empty(len(rate))
    V, alpha = np.zeros((n + 1, 6)), np.zeros((n + 1, 6))
    for k, p in enumerate(s.parent):
        y = np.append(1.0, V[p])
        bias = eta[k] @ y
        found = (y @ eps[k] @ y) / s.D[k] - s.G[k] @ (alpha[p] + bias)
        alpha[k] = alpha[p] + bias + s.H[k] * found
        V[k] = V[p] + s.H[k] * rate[k]
        out[s.coordinate[k]] = found
    return out


def _shift(step: np.ndarray) -> np.ndarray:
    """(7, 7): (1, V + step) from (1, V)."""
    shift = np.eye(7)
    shift[1:, 0] = step
    return shift


def _biases(M: np.ndarray, gravity: np.ndarray) -> np.ndarray:
    """xi = V x* M V - M g of a body as a polynomial (6, 7, 7) of (1, V)."""
    xi = np.zeros((6, 7, 7))
    xi[:, 1:, 1:] = -np.einsum("bia,bj->aij", CROSS, M)
    xi[:, 0, 0] = -M[:, 3:] @ gravity
    return xi
