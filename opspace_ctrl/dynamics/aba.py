"""Articulated-body inertias and the O(n) solve of H x = tau ([Featherstone2008] 7.3; [Rodriguez1992] (34)-(54)).

    U = IA S,  D = S^T U + armature,  IA_parent += IA - U D^-1 U^T                                tips to base
    eps = tau - S^T p,  p_parent += p + U D^-1 eps                                                tips to base
    qdd = D^-1 (eps - U^T a_parent),  a = a_parent + S qdd                                        base to tips
Node by node, so that a joint of several nodes needs no small inverse: its D is eliminated one pivot at a time.
"""

from __future__ import annotations

from ..compiled.jit import kernel, stage
from ..compiled.lanes import W
from .fields import Tree


@kernel
def inertia_to_lanes(IW, b, out, place):
    """The inertia of node b as the 6 x 6 rows [I, mc x; -mc x, m] of the place-th block of `out`."""
    r = 6 * place
    m = IW[0, b]
    x = IW[1, b]
    y = IW[2, b]
    z = IW[3, b]
    out[r, 0], out[r, 1], out[r, 2] = IW[4, b], IW[5, b], IW[6, b]
    out[r + 1, 0], out[r + 1, 1], out[r + 1, 2] = IW[5, b], IW[7, b], IW[8, b]
    out[r + 2, 0], out[r + 2, 1], out[r + 2, 2] = IW[6, b], IW[8, b], IW[9, b]
    out[r, 3], out[r, 4], out[r, 5] = 0.0, -z, y
    out[r + 1, 3], out[r + 1, 4], out[r + 1, 5] = z, 0.0, -x
    out[r + 2, 3], out[r + 2, 4], out[r + 2, 5] = -y, x, 0.0
    out[r + 3, 0], out[r + 3, 1], out[r + 3, 2] = 0.0, z, -y
    out[r + 4, 0], out[r + 4, 1], out[r + 4, 2] = -z, 0.0, x
    out[r + 5, 0], out[r + 5, 1], out[r + 5, 2] = y, -x, 0.0
    out[r + 3, 3], out[r + 3, 4], out[r + 3, 5] = m, 0.0, 0.0
    out[r + 4, 3], out[r + 4, 4], out[r + 4, 5] = 0.0, m, 0.0
    out[r + 5, 3], out[r + 5, 4], out[r + 5, 5] = 0.0, 0.0, m


@stage(Tree)
def articulated_inertias(tree):
    """IA, U and 1/D of every node, tips to base."""
    n, parent, coordinate = tree.n, tree.parent, tree.coordinate
    S = tree.S
    SL = tree.S_lanes
    IA = tree.IA
    IW = tree.I
    U, dinv, armature = tree.U, tree.DA_inv, tree.armature
    for b in range(n):
        inertia_to_lanes(IW, b, IA, b)
        for k in range(6):
            SL[b, k] = S[k, b]
    for b in range(n - 1, -1, -1):
        r = 6 * b
        i0, i1, i2 = IA[r, 0:W], IA[r + 1, 0:W], IA[r + 2, 0:W]
        i3, i4, i5 = IA[r + 3, 0:W], IA[r + 4, 0:W], IA[r + 5, 0:W]
        u = S[0, b] * i0 + S[1, b] * i1 + S[2, b] * i2 + S[3, b] * i3 + S[4, b] * i4 + S[5, b] * i5
        U[b, 0:W] = u
        inverse = 1.0 / (along(S, b, U) + armature[coordinate[b]])
        dinv[b] = inverse
        if parent[b] < n:
            p, u = 6 * parent[b], u * inverse
            IA[p, 0:W] = IA[p, 0:W] + (i0 - U[b, 0] * u)
            IA[p + 1, 0:W] = IA[p + 1, 0:W] + (i1 - U[b, 1] * u)
            IA[p + 2, 0:W] = IA[p + 2, 0:W] + (i2 - U[b, 2] * u)
            IA[p + 3, 0:W] = IA[p + 3, 0:W] + (i3 - U[b, 3] * u)
            IA[p + 4, 0:W] = IA[p + 4, 0:W] + (i4 - U[b, 4] * u)
            IA[p + 5, 0:W] = IA[p + 5, 0:W] + (i5 - U[b, 5] * u)


@kernel
def along(S, b, rows):
    """S^T x for node b, x in the lanes of row b of `rows`."""
    return (
        S[0, b] * rows[b, 0]
        + S[1, b] * rows[b, 1]
        + S[2, b] * rows[b, 2]
        + S[3, b] * rows[b, 3]
        + S[4, b] * rows[b, 4]
        + S[5, b] * rows[b, 5]
    )


@kernel
def innovations(tree, tau):
    """eps = (1 - H Psi G)(tau - S^T p): what of each joint force is left for its own joint, tips to base."""
    n, parent, coordinate = tree.n, tree.parent, tree.coordinate
    S = tree.S
    U = tree.U
    dinv = tree.DA_inv
    PA = tree.pA
    eps = tree.eps
    for b in range(n - 1, -1, -1):
        eps[b] = tau[coordinate[b]] - along(S, b, PA)
        p = parent[b]
        PA[p, 0:W] = PA[p, 0:W] + (PA[b, 0:W] + (eps[b] * dinv[b]) * U[b, 0:W])


@kernel
def accelerations(tree, qdd):
    """Joint and body accelerations from the innovations, base to tips."""
    n, parent, coordinate = tree.n, tree.parent, tree.coordinate
    U = tree.U
    dinv = tree.DA_inv
    FA = tree.alpha
    SL = tree.S_lanes
    eps = tree.eps
    for b in range(n):
        p = parent[b]
        found = eps[b] - (
            U[b, 0] * FA[p, 0]
            + U[b, 1] * FA[p, 1]
            + U[b, 2] * FA[p, 2]
            + U[b, 3] * FA[p, 3]
            + U[b, 4] * FA[p, 4]
            + U[b, 5] * FA[p, 5]
        )
        found *= dinv[b]
        qdd[coordinate[b]] = found
        FA[b, 0:W] = FA[p, 0:W] + found * SL[b, 0:W]


@kernel
def no_bias(tree):
    """Start the innovations from bodies at rest and free of force."""
    PA = tree.pA
    for b in range(tree.n + 1):
        PA[b, 0:W] = 0.0


@kernel
def body_bias(tree):
    """Start the innovations from the forces of the motion with qdd = 0: gravity, velocity and external wrenches."""
    force, PA = tree.force, tree.pA
    no_bias(tree)
    for b in range(tree.n):
        for k in range(6):
            PA[b, k] = force[k, b]


@kernel
def aba(tree, tau, qdd):
    """Accelerations for the joint forces tau and the body forces of the motion with qdd = 0."""
    body_bias(tree)
    articulated_inertias(tree)
    innovations(tree, tau)
    accelerations(tree, qdd)
