"""Algorithm 6: base-invariant, decoupled forward dynamics of free flyers ([Jain1995]).

Two recursions of opposite directions give (P, z) and (S, z_s); then every link is solved by itself:
    alpha(k) = -(P(k) + S(k))^-1 (z(k) + z_s(k))                                                     lemma 3.2, (3.12)
    qdd(k) = D_s^-1 (eps_s + u^T alpha(k))                                                                      (3.13)
z here is z_p - P a_p of the paper: the residual force that belongs to the link's own acceleration.
"""

from __future__ import annotations

from ...dynamics import aba, dual, rows
from ...dynamics import layout as at
from ...dynamics.layout import LAST, count, floats, ints
from ...jit import kernel
from ...lanes import load, store
from . import dual_residuals, kalman


@kernel
def link_acceleration(w, i):
    """alpha of node i into FA, by one 6 x 6 solve."""
    P, S, x = floats(w, at.IA), floats(w, at.DUAL), floats(w, at.LINK)
    z, z_s, FA = floats(w, at.PA), floats(w, at.DUAL_FORCE), floats(w, at.FA)
    for r in range(6):
        store(x, r, 0, load(P, 6 * i + r, 0) + load(S, 6 * i + r, 0))
        x[r, 6] = -(z[i, r] + z_s[i, r])
    rows.solve(x, 0)
    for r in range(6):
        FA[i, r] = x[r, 6]


@kernel
def _base_accelerations(w, last, qdd):
    """qdd of the six nodes of a base from its acceleration: their subspaces are orthonormal."""
    S, FA, coordinate = floats(w, at.S), floats(w, at.FA), ints(w, at.COORDINATE)
    for b in range(last - 5, last + 1):
        found = 0.0
        for k in range(6):
            found += S[k, b] * FA[last, k]
        qdd[coordinate[b]] = found


@kernel
def link_by_link(w, qdd):
    """Joint accelerations from every link's own, in any order."""
    n, before, kind, coordinate = (
        count(w, at.NODES),
        ints(w, at.BEFORE),
        ints(w, at.KIND),
        ints(w, at.COORDINATE),
    )
    FA, U, dinv, eps = (
        floats(w, at.FA),
        floats(w, at.DUAL_U),
        floats(w, at.DUAL_DINV),
        floats(w, at.DUAL_EPS),
    )
    for i in range(n):
        if before[i] < n:
            link_acceleration(w, i)
            found = eps[i]
            for k in range(6):
                found += U[i, k] * FA[i, k]
            qdd[coordinate[i]] = dinv[i] * found
        elif kind[i] == LAST:
            link_acceleration(w, i)
            _base_accelerations(w, i, qdd)


@kernel
def decoupled(w, tau, qdd):
    """Accelerations for the joint and base forces tau at the configuration and velocity in the workspace."""
    kalman.body_forces(w)
    aba.articulated_inertias(w)
    kalman.filter_forces(w, tau)
    dual.dual_inertias(w)
    dual_residuals.dual_residuals(w, tau)
    link_by_link(w, qdd)
