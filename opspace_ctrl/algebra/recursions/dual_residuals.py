"""The residual forces z_s of a free flyer, after its dual inertias ([Jain1995], algorithm 5; see `dynamics.dual`)."""

from __future__ import annotations

from ...compiled.jit import kernel
from ...compiled.lanes import W
from ...dynamics import aba
from ...dynamics.fields import LAST
from ...dynamics.rows import load_rows, row_sum
from . import kalman


@kernel
def hinge_residual(tree, dual, i):
    """z_s of node i from z_s+ + S+ a in its row, with S+ a = S a + u D_s^-1 u^T a.

    Needs tau, S, hinge, and S, U_s, D_s_inv of `dual`. Writes its eps_s and z_s.
    """
    tau, S, a = tree.tau, tree.S, tree.hinge
    z, U, D_inv = dual.z_s, dual.U_s, dual.D_s_inv
    eps, u = dual.eps_s, U[i, 0:W]
    coriolis = row_sum(load_rows(dual.S, i), a, i) + (D_inv[i] * kalman.gain_times(U, i, a)) * u
    z[i, 0:W] = z[i, 0:W] - coriolis
    found = tau[tree.coordinate[i]] + aba.along(S, i, z)
    eps[i] = found
    z[i, 0:W] = z[i, 0:W] - (D_inv[i] * found) * u


@kernel
def dual_residuals(tree, dual):
    """z_s of every node, base to tips.

    Needs tau, force, hinge, the filter's pA and eps, and S, U_s, D_s_inv of `dual`. Writes its z_s and eps_s.
    """
    n, parent, before = tree.n, tree.parent, tree.before
    kind, force = tree.kind, tree.force
    z, gathered = dual.z_s, dual.z_gathered
    for i in range(n + 1):
        gathered[i, 0:W] = 0.0
    for i in range(n - 1, -1, -1):
        z[i, 0:W] = gathered[parent[i], 0:W]
        gathered[parent[i], 0:W] = gathered[parent[i], 0:W] + kalman.updated_state(tree, i)
    for i in range(n):
        if before[i] == n:
            if kind[i] == LAST:
                base_residual(tree, dual, i)
        else:
            z[i, 0:W] = z[i, 0:W] + gathered[parent[i], 0:W]
            gathered[parent[i], 0:W] = gathered[parent[i], 0:W] + kalman.updated_state(tree, i)
            hinge_residual(tree, dual, i)
        for k in range(6):
            gathered[i, k] = force[k, i] + z[i, k]


@kernel
def base_residual(tree, dual, last):
    """z_s(base) = -T(base), of the base whose last node is `last`. Needs tau and S. Writes z_s of `dual`.

    The base is its tree's origin, so the subspaces of its six nodes are orthonormal.
    """
    tau, S, coordinate = tree.tau, tree.S, tree.coordinate
    z = dual.z_s
    z[last, 0:W] = 0.0
    for b in range(last - 5, last + 1):
        for k in range(6):
            z[last, k] -= S[k, b] * tau[coordinate[b]]
