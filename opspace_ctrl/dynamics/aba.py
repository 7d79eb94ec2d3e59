# SPDX-License-Identifier: Apache-2.0
"""Articulated-body inertias and the O(n) solve of H x = tau ([Featherstone2008] 7.3; [Rodriguez1992] (34)-(54)).

    U = IA S,  D = S^T U + armature,  IA_parent += IA - U D^-1 U^T                                tips to base
    eps = tau - S^T p,  p_parent += p + U D^-1 eps                                                tips to base
    qdd = D^-1 (eps - U^T a_parent),  a = a_parent + S qdd                                        base to tips
Node by node, so that a joint of several nodes needs no small inverse: its D is eliminated one pivot at a time. What
mimic joints tie together is one step of these recursions: `clusters`.
"""

from ..compiled.jit import kernel, stage
from ..compiled.lanes import W
from .clusters import cluster_inertia, cluster_subspaces
from .fields import Tree


@kernel
def inertia_to_lanes(I, b, out, place):
    """The inertia of node b, its column of I, as the 6 x 6 rows [I, mc x; -mc x, m] of the place-th block of `out`."""
    r, m = 6 * place, I[0, b]
    x, y, z = I[1, b], I[2, b], I[3, b]
    out[r, 0], out[r, 1], out[r, 2] = I[4, b], I[5, b], I[6, b]
    out[r + 1, 0], out[r + 1, 1], out[r + 1, 2] = I[5, b], I[7, b], I[8, b]
    out[r + 2, 0], out[r + 2, 1], out[r + 2, 2] = I[6, b], I[8, b], I[9, b]
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
    """IA, U and 1/D of every node, tips to base. Needs S, I and armature. Writes S_A, S_lanes, IA, U, DA_inv."""
    n, parent, coordinate = tree.n, tree.parent_A, tree.coordinate
    S, S_lanes = tree.S_A, tree.S_lanes
    I, IA, members = tree.I, tree.IA, tree.members
    U, D_inv, armature = tree.U, tree.DA_inv, tree.armature
    if tree.merges > 0:
        cluster_subspaces(tree)
    for b in range(n):
        inertia_to_lanes(I, b, IA, b)
        for k in range(6):
            S_lanes[b, k] = S[k, b]
    for b in range(n - 1, -1, -1):
        if members[b] != 1:
            if members[b] > 1:
                cluster_inertia(tree, b)
            continue
        r = 6 * b
        i0, i1, i2 = IA[r, 0:W], IA[r + 1, 0:W], IA[r + 2, 0:W]
        i3, i4, i5 = IA[r + 3, 0:W], IA[r + 4, 0:W], IA[r + 5, 0:W]
        u = S[0, b] * i0 + S[1, b] * i1 + S[2, b] * i2 + S[3, b] * i3 + S[4, b] * i4 + S[5, b] * i5
        U[b, 0:W] = u
        inverse = 1.0 / (along(S, b, U) + armature[coordinate[b]])
        D_inv[b] = inverse
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
    """eps = (1 - H Psi G)(tau - S^T p): what of each joint force is left for its own joint, tips to base.

    Needs S, U, DA_inv, and the bodies' bias forces in pA, which become the articulated ones. Writes eps.
    """
    n, parent, coordinate = tree.n, tree.parent_A, tree.coordinate
    S, U, D_inv = tree.S_A, tree.U, tree.DA_inv
    pA, eps, members = tree.pA, tree.eps, tree.members
    for b in range(n - 1, -1, -1):
        if members[b] != 1:
            if members[b] > 1:
                cluster_innovation(tree, tau, b)
            continue
        eps[b] = tau[coordinate[b]] - along(S, b, pA)
        p = parent[b]
        pA[p, 0:W] = pA[p, 0:W] + (pA[b, 0:W] + (eps[b] * D_inv[b]) * U[b, 0:W])


@kernel
def cluster_innovation(tree, tau, b):
    """eps of the cluster that b leads, for every member, and what is left of their bias forces onto where it hangs."""
    n, g, following = tree.n, tree.parent_A[b], tree.next_member
    pA, eps = tree.pA, tree.eps
    left, m = tau[tree.coordinate[b]], b
    while m < n:
        left -= along(tree.S_A, m, pA)
        pA[g, 0:W] = pA[g, 0:W] + pA[m, 0:W]
        m = following[m]
    pA[g, 0:W] = pA[g, 0:W] + (left * tree.DA_inv[b]) * tree.U[b, 0:W]
    m = b
    while m < n:
        eps[m] = left
        m = following[m]


@kernel
def accelerations(tree, qdd):
    """Joint and body accelerations from the innovations, base to tips.

    alpha is what the joints' accelerations add to the motion with qdd = 0; the world's, in row n, is zero.
    Needs S_lanes, U, DA_inv and eps. Writes qdd and alpha.
    """
    n, parent, coordinate = tree.n, tree.parent_A, tree.coordinate
    S_lanes, U, D_inv = tree.S_lanes, tree.U, tree.DA_inv
    eps, alpha = tree.eps, tree.alpha
    for b in range(n):
        p = parent[b]
        found = eps[b] - (
            U[b, 0] * alpha[p, 0]
            + U[b, 1] * alpha[p, 1]
            + U[b, 2] * alpha[p, 2]
            + U[b, 3] * alpha[p, 3]
            + U[b, 4] * alpha[p, 4]
            + U[b, 5] * alpha[p, 5]
        )
        found *= D_inv[b]
        qdd[coordinate[b]] = found
        alpha[b, 0:W] = alpha[p, 0:W] + found * S_lanes[b, 0:W]


@kernel
def no_bias(tree):
    """Start the innovations from bodies at rest and free of force. Writes pA."""
    pA = tree.pA
    for b in range(tree.n + 1):
        pA[b, 0:W] = 0.0


@kernel
def body_bias(tree):
    """Start the innovations from body forces such as those of the motion with qdd = 0. Needs force. Writes pA."""
    force, pA = tree.force, tree.pA
    no_bias(tree)
    for b in range(tree.n):
        for k in range(6):
            pA[b, k] = force[k, b]


@kernel
def aba(tree, tau, qdd):
    """Accelerations for the joint forces tau and the body forces of the motion with qdd = 0.

    Needs S, I and force. Writes qdd, and what the stages on the way write.
    """
    body_bias(tree)
    articulated_inertias(tree)
    innovations(tree, tau)
    accelerations(tree, qdd)
