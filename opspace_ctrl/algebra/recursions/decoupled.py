"""Algorithm 6: base-invariant, decoupled forward dynamics of free flyers ([Jain1995]).

Two recursions of opposite directions give (P, z) and (S, z_s); then every link is solved by itself:
    alpha(k) = -(P(k) + S(k))^-1 (z(k) + z_s(k))                                                     lemma 3.2, (3.12)
    qdd(k) = D_s^-1 (eps_s + u^T alpha(k))                                                                      (3.13)
z here is z_p - P a_p of the paper: the residual force that belongs to the link's own acceleration.
"""

from __future__ import annotations

from ...compiled.jit import kernel
from ...compiled.lanes import W
from ...dynamics import aba, dual, rows
from ...dynamics.fields import LAST
from . import dual_residuals, kalman


@kernel
def link_acceleration(tree, i):
    """alpha of node i into FA, by one 6 x 6 solve."""
    P, S, x = tree.IA, tree.DUAL, tree.LINK
    z, z_s, FA = tree.pA, tree.DUAL_FORCE, tree.alpha
    for r in range(6):
        x[r, 0:W] = P[6 * i + r, 0:W] + S[6 * i + r, 0:W]
        x[r, 6] = -(z[i, r] + z_s[i, r])
    rows.solve(x, 0)
    for r in range(6):
        FA[i, r] = x[r, 6]


@kernel
def _base_accelerations(tree, last, qdd):
    """qdd of the six nodes of a base from its acceleration: their subspaces are orthonormal."""
    S, FA, coordinate = tree.S, tree.alpha, tree.coordinate
    for b in range(last - 5, last + 1):
        found = 0.0
        for k in range(6):
            found += S[k, b] * FA[last, k]
        qdd[coordinate[b]] = found


@kernel
def link_by_link(tree, qdd):
    """Joint accelerations from every link's own, in any order."""
    n = tree.n
    before = tree.before
    kind = tree.kind
    coordinate = tree.coordinate
    FA = tree.alpha
    U = tree.DUAL_U
    dinv = tree.DUAL_DINV
    eps = tree.DUAL_EPS
    for i in range(n):
        if before[i] < n:
            link_acceleration(tree, i)
            found = eps[i]
            for k in range(6):
                found += U[i, k] * FA[i, k]
            qdd[coordinate[i]] = dinv[i] * found
        elif kind[i] == LAST:
            link_acceleration(tree, i)
            _base_accelerations(tree, i, qdd)


@kernel
def decoupled(tree, tau, qdd):
    """Accelerations for the joint and base forces tau at the configuration and velocity in the workspace."""
    kalman.body_forces(tree)
    aba.articulated_inertias(tree)
    kalman.filter_forces(tree, tau)
    dual.dual_inertias(tree)
    dual_residuals.dual_residuals(tree, tau)
    link_by_link(tree, qdd)
