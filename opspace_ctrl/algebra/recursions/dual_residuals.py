"""The residual forces z_s of a free flyer, after its dual inertias ([Jain1995], algorithm 5; see `dynamics.dual`)."""

from __future__ import annotations

from ...compiled.jit import kernel
from ...compiled.lanes import W
from ...dynamics import aba
from ...dynamics.fields import LAST
from ...dynamics.rows import load_rows, row_sum
from . import kalman


@kernel
def hinge_residual(tree, i, tau):
    """z_s of node i from z_s+ + S+ a in its row, with S+ a = S a + u D_s^-1 u^T a."""
    z = tree.DUAL_FORCE
    U = tree.DUAL_U
    dinv = tree.DUAL_DINV
    S = tree.S
    a = tree.hinge
    u = U[i, 0:W]
    coriolis = row_sum(load_rows(tree.DUAL, i), a, i) + (dinv[i] * kalman.gain_times(U, i, a)) * u
    z[i, 0:W] = z[i, 0:W] - coriolis
    eps = tau[tree.coordinate[i]] + aba.along(S, i, z)
    tree.DUAL_EPS[i] = eps
    z[i, 0:W] = z[i, 0:W] - (dinv[i] * eps) * u


@kernel
def dual_residuals(tree, tau):
    """z_s of every node, base to tips, after the filter's z and the dual inertias."""
    n = tree.n
    parent = tree.parent
    before = tree.before
    kind = tree.kind
    z, gathered, force = tree.DUAL_FORCE, tree.SUM_FORCE, tree.force
    for i in range(n + 1):
        gathered[i, 0:W] = 0.0
    for i in range(n - 1, -1, -1):
        z[i, 0:W] = gathered[parent[i], 0:W]
        gathered[parent[i], 0:W] = gathered[parent[i], 0:W] + kalman.updated_state(tree, i)
    for i in range(n):
        if before[i] == n:
            if kind[i] == LAST:
                base_residual(tree, i, tau)
        else:
            z[i, 0:W] = z[i, 0:W] + gathered[parent[i], 0:W]
            gathered[parent[i], 0:W] = gathered[parent[i], 0:W] + kalman.updated_state(tree, i)
            hinge_residual(tree, i, tau)
        for k in range(6):
            gathered[i, k] = force[k, i] + z[i, k]


@kernel
def base_residual(tree, last, tau):
    """z_s(base) = -T(base): the base is its tree's origin, so the subspaces of its six nodes are orthonormal."""
    z, S, coordinate = tree.DUAL_FORCE, tree.S, tree.coordinate
    z[last, 0:W] = 0.0
    for b in range(last - 5, last + 1):
        for k in range(6):
            z[last, k] -= S[k, b] * tau[coordinate[b]]
