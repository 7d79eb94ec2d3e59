# SPDX-License-Identifier: Apache-2.0
"""The dual recursions of a free flyer: the robot seen from its tips ([Jain1995], algorithms 4 and 5, section 3.4).

S(k) and z_s(k) are the inertia and residual force of everything but the subtree of k, felt through the hinge of k:
    -f(k) = S(k) alpha(k) + z_s(k),     f(k) = P(k) alpha(k) + z(k)                                        (3.7), (3.11)
On a tree, with p the parent and j the brothers of k (gathered from both sides, never subtracted):
    S+ = M(p) + S(p) + sum P+(j),  u = S+ S_k,  D_s = S_k^T u + armature,  S = S+ - u D_s^-1 u^T
    z_s+ = xi(p) + z_s(p) + sum z+(j) - S+ a(k),  eps_s = T + S_k^T z_s+,  z_s = z_s+ - u D_s^-1 eps_s
from S(base) = 0, z_s(base) = -T(base), so that a force on the base is no special case. If k is in a cluster
(`clusters`), its brothers are the clusters on p, and the other members i are seen from k as well, C_i = B_k - B_i:
    u = S+ B_k + sum Q_i C_i,  D_s = B_k^T S+ B_k + sum C_i^T Q_i C_i + armature,  S = S+ + sum Q_i - u D_s^-1 u^T
Here are the inertias; the residual forces, which no method of `osim/` needs: `algebra.recursions.dual_residuals`.
"""

from collections.abc import Iterable

import numpy as np

from ..compiled.jit import kernel
from ..compiled.lanes import W
from ..model import JointType, Model
from . import aba
from .clusters import gathered_inertia
from .fields import Dual, Tree
from .rows import add_rows, load_rows, row_sum, store_rows, subtract_square


def dual_of(tree: Tree, wanted: Iterable[int] | None = None) -> Dual:
    """The memory of the dual recursions for S of some nodes (default: all): they visit no more than it takes."""
    n, parent = tree.n, np.asarray(tree.parent_A)
    first = np.full(tree.nv, n)
    np.minimum.at(first, tree.coordinate, np.arange(n))
    leader = first[np.asarray(tree.coordinate)]
    below: set[int] = set()
    for node in range(n) if wanted is None else wanted:
        while node < n and leader[node] not in below:
            below.add(int(leader[node]))
            node = int(parent[node])
    hung = np.bincount(parent[leader == np.arange(n)], minlength=n + 1)
    places = {int(parent[i]) for i in below}
    visit = [i for i in range(n) if leader[i] == i and int(parent[i]) in places]
    return Dual(
        n=n,
        visits=len(visit),
        visit=visit,
        is_branching=hung > 1,
    )


@kernel
def through_hinge(tree, dual, k, leader):
    """S(k) from S+(k), which stands in its place: u and D_s as above, then S = S+ - u D_s^-1 u^T.

    The loop adds the other members i of k's cluster, if mimic joints make one: `leader` is the first of them. Row k of
    U_s is also the way from lanes to numbers. Needs IA, S_A and armature. Writes U_s (u), D_s_inv and S of k.
    """
    B, U, C = tree.S_A, dual.U_s, dual.C
    d, x = tree.armature[tree.coordinate[k]], load_rows(dual.S, k)
    u = row_sum(x, B, k)
    U[k, 0:W] = u
    for c in range(6):
        d += B[c, k] * U[k, c]
    i = leader
    while i < tree.n:
        if i != k:
            for c in range(6):
                C[c, 0] = B[c, k] - B[c, i]
            q = load_rows(tree.IA, i)
            moved = row_sum(q, C, 0)
            U[k, 0:W] = moved
            for c in range(6):
                d += C[c, 0] * U[k, c]
            u = u + moved
            x = (x[0] + q[0], x[1] + q[1], x[2] + q[2], x[3] + q[3], x[4] + q[4], x[5] + q[5])
        i = tree.next_member[i]
    U[k, 0:W] = u
    dual.D_s_inv[k] = 1.0 / d
    store_rows(dual.S, k, subtract_square(x, u, U, k, 1.0 / d))


@kernel
def updated_inertia(tree, j):
    """P+ of the cluster that node j leads, as six rows."""
    return subtract_square(gathered_inertia(tree, j), tree.U[j, 0:W], tree.U, j, tree.DA_inv[j])


@kernel
def dual_inertias(tree, dual):
    """S of every visited node, base to tips.

    S+ holds P+ of all brothers, summed without the node itself: to subtract that again would lose digits. So on the
    way in a node takes the sum over the brothers numbered after it; on the way out it adds those before, M(p) and S(p).
    Needs I, S_A, IA, U, DA_inv. Writes S, U_s and D_s_inv of `dual`.
    """
    parent, S, gathered, visit = tree.parent_A, dual.S, dual.S_gathered, dual.visit
    is_branching = dual.is_branching
    for v in range(dual.visits):
        if is_branching[parent[visit[v]]] == 1:
            for r in range(6 * parent[visit[v]], 6 * parent[visit[v]] + 6):
                gathered[r, 0:W] = 0.0
    for v in range(dual.visits - 1, -1, -1):
        i = visit[v]
        if is_branching[parent[i]] == 1:
            store_rows(S, i, load_rows(gathered, parent[i]))
            add_rows(gathered, parent[i], updated_inertia(tree, i))
    for v in range(dual.visits):
        i = visit[v]
        p = parent[i]
        if tree.before[i] == tree.n:
            for r in range(6 * i, 6 * i + 6):
                S[r, 0:W] = 0.0
        elif is_branching[p] == 1:
            add_rows(S, i, load_rows(gathered, p))
            add_rows(gathered, p, updated_inertia(tree, i))
        else:
            aba.inertia_to_lanes(tree.I, p, S, i)
            add_rows(S, i, load_rows(S, p))
        _through_members(tree, dual, i, tree.before[i] == tree.n)


@kernel
def _through_members(tree, dual, leader, is_base):
    """S of all members from S+ in the block of the first, and M + S of each gathered for what hangs on it."""
    S, gathered = dual.S, dual.S_gathered
    m = tree.next_member[leader]
    while m < tree.n:
        store_rows(S, m, load_rows(S, leader))
        m = tree.next_member[m]
    m = leader
    while m < tree.n:
        if not is_base:
            through_hinge(tree, dual, m, leader)
        if dual.is_branching[m] == 1:
            aba.inertia_to_lanes(tree.I, m, gathered, m)
            add_rows(gathered, m, load_rows(S, m))
        m = tree.next_member[m]


def held_bases(model: Model) -> list[str]:
    """What keeps the base of some tree from floating freely, in words; nothing for free flyers."""
    roots = np.flatnonzero(model.parent < 0)
    if (model.joint_type[roots] != JointType.FLOATING).any():
        return ["a fixed base"]
    held = any(model.armature[v : v + 6].any() for v in model.v_index[roots])
    return ["a floating base with armature"] if held else []
