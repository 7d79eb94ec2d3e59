# SPDX-License-Identifier: Apache-2.0
"""The residual forces z_s of a free flyer, after its dual inertias ([Jain1995], algorithm 5; see `dynamics.dual`)."""

from ...compiled.jit import kernel
from ...compiled.lanes import W, total
from ...dynamics import aba
from ...dynamics.fields import LAST
from ...dynamics.rows import load_rows, row_sum
from . import kalman


@kernel
def hinge_residual(tree, dual, k, leader):
    """z_s of node k from z_s+ + S+ a in its row, with S+ a = S a + u D_s^-1 u^T a.

    Other members i of its cluster add z_i + P_i a_i to z_s+, and act on the coordinate by what they move less than k.
    Needs tau, S_A, S_lanes, hinge, pA, and S, U_s, D_s_inv of `dual`. Writes its eps_s and z_s.
    """
    a, z, D_inv = tree.hinge, dual.z_s, dual.D_s_inv[k]
    u, along_u = dual.U_s[k, 0:W], 0.0
    for c in range(6):
        along_u += dual.U_s[k, c] * a[c, k]
    found = z[k, 0:W] - (row_sum(load_rows(dual.S, k), a, k) + (D_inv * along_u) * u)
    eps, i = tree.tau[tree.coordinate[k]], leader
    while i < tree.n:
        if i != k:
            P = load_rows(tree.IA, i)
            own = tree.pA[i, 0:W] + row_sum(P, a, i)
            eps -= total(tree.S_lanes[i, 0:W] * (own - row_sum(P, a, k)))
            found = found + own
        i = tree.next_member[i]
    z[k, 0:W] = found
    eps += aba.along(tree.S_A, k, z)
    dual.eps_s[k] = eps
    z[k, 0:W] = found - (D_inv * eps) * u


@kernel
def dual_residuals(tree, dual):
    """z_s of every node, base to tips, as `dynamics.dual.dual_inertias` has the inertias.

    Needs tau, force, hinge, the filter's pA and eps, and S, U_s, D_s_inv of `dual`. Writes its z_s and eps_s.
    """
    n, parent, z, gathered = tree.n, tree.parent_A, dual.z_s, dual.z_gathered
    for i in range(n + 1):
        gathered[i, 0:W] = 0.0
    for v in range(dual.visits - 1, -1, -1):
        i = dual.visit[v]
        z[i, 0:W] = gathered[parent[i], 0:W]
        gathered[parent[i], 0:W] = gathered[parent[i], 0:W] + kalman.updated_state(tree, i)
    for v in range(dual.visits):
        i = dual.visit[v]
        if tree.before[i] == n:
            if tree.kind[i] == LAST:
                base_residual(tree, dual, i)
            _gather_members(tree, dual, i)
            continue
        z[i, 0:W] = z[i, 0:W] + gathered[parent[i], 0:W]
        gathered[parent[i], 0:W] = gathered[parent[i], 0:W] + kalman.updated_state(tree, i)
        m = tree.next_member[i]
        while m < n:
            z[m, 0:W] = z[i, 0:W]
            m = tree.next_member[m]
        m = i
        while m < n:
            hinge_residual(tree, dual, m, i)
            m = tree.next_member[m]
        _gather_members(tree, dual, i)


@kernel
def _gather_members(tree, dual, leader):
    """xi + z_s of every member, for what hangs on it."""
    m = leader
    while m < tree.n:
        for k in range(6):
            dual.z_gathered[m, k] = tree.force[k, m] + dual.z_s[m, k]
        m = tree.next_member[m]


@kernel
def base_residual(tree, dual, last):
    """z_s(base) = -T(base), of the base whose last node is `last`. Needs tau and S. Writes z_s of `dual`.

    The base is its tree's origin, so the subspaces of its six nodes are orthonormal.
    """
    z = dual.z_s
    z[last, 0:W] = 0.0
    for b in range(last - 5, last + 1):
        for k in range(6):
            z[last, k] -= tree.S[k, b] * tree.tau[tree.coordinate[b]]
