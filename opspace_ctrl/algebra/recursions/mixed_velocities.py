# SPDX-License-Identifier: Apache-2.0
"""C(q, v) v_d in O(n), and the passivity-based law built on it ([Rodriguez1991] section 6).

C is a matrix with C v = h - gravity and dH/dt = C + C^T, so that dH/dt - 2 C is skew: what Lyapunov designs need. Its
product with another velocity v_d is one outward and one inward sweep with both velocities in them:

    A_d(k) = A_d(parent) + V(k) x S v_d,    f(k) = M A_d + B V_d,   B = 1/2 (V x* M - M V x + (M V) xbar*)
"""

import numpy as np
from numpy.typing import ArrayLike

from ...dynamics.functions import inverse_dynamics
from ...model import Model
from .polynomial_sweep import CROSS
from .smoother import FilterSmoother


def coriolis_product(model: Model, q: ArrayLike, v: ArrayLike, v_d: ArrayLike) -> np.ndarray:
    """C(q, v) v_d (nv,): C is that of `dynamics.coriolis_matrix`, which is never formed.

    Raises:
        ConfigurationError: q, v or v_d is unusable.
        MethodError: Mimic joints have other joints between them.
    """
    v_d = model.check_velocity(v_d, "v_d")
    s = FilterSmoother(model, q, v)
    n, moved = len(s.D), s.nodes.last[s.nodes.body]
    V_d, A_d, f = np.zeros((3, n + 1, 6))
    for k, p in enumerate(s.parent):
        step = s.H[k] * v_d[s.coordinate[k]]
        V_d[k] = V_d[p] + step
        A_d[k] = A_d[p] + _cross(s.velocity[moved[k]], step)
    for k in s.nodes.last:
        f[k] = s.M[k] @ A_d[k] + _body_coriolis(s.M[k], s.velocity[k], V_d[k])
    out = np.zeros(model.nv)
    for k in range(n - 1, -1, -1):
        out[s.coordinate[k]] += s.H[k] @ f[k]
        f[s.parent[k]] += f[k]
    return out


def passivity_torque(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    v_r: ArrayLike,
    a_r: ArrayLike,
    gain: ArrayLike,
) -> np.ndarray:
    """tau (nv,) = H a_r + C(q, v) v_r + gravity - gain (v - v_r), in O(n).

    With a reference velocity v_r = v_d - Lambda e and s = v - v_r the energy 1/2 s^T H s falls by s^T gain s: actual
    and reference velocities stand in one recursion, and nothing is cancelled that does no harm.

    Args:
        a_r: d v_r/dt (nv,).
        gain: (nv,) or a number [Nm s/rad], positive.
    """
    v, v_r = model.check_velocity(v), model.check_velocity(v_r, "v_r")
    rest = np.zeros(model.nv)
    tau = inverse_dynamics(model, q, rest, a_r) + coriolis_product(model, q, v, v_r)
    return np.asarray(tau - np.asarray(gain, float) * (v - v_r))


def _cross(V: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.asarray(np.einsum("aij,i,j->a", CROSS, V, x))


def _body_coriolis(M: np.ndarray, V: np.ndarray, x: np.ndarray) -> np.ndarray:
    """B x = 1/2 (V x* M x - M (V x x) + x x* (M V))."""
    return np.asarray(
        0.5
        * (
            -np.einsum("bia,i,b->a", CROSS, V, M @ x)
            - M @ _cross(V, x)
            - np.einsum("bia,i,b->a", CROSS, x, M @ V)
        )
    )
