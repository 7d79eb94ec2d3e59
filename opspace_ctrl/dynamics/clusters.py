# SPDX-License-Identifier: Apache-2.0
"""Clusters: what mimic joints tie together is one generalised joint for the articulated-body recursions.

A cluster is the nodes that share a coordinate z; all of them hang, directly or through each other, on one node g that
is not among them. With phi = 1 every member may hang on g itself: its motion from there is B_i z, where
    B_g = 0,  B_i = B_parent(i) + multiplier_i S_i                                                       base to tips
and with Q_i the articulated inertia of member i, what hangs on it included,
    U = sum Q_i B_i,   D = sum B_i^T Q_i B_i + armature,   P+ = sum Q_i - U D^-1 U^T                     onto g
One member, B = S: the recursions of the papers. So `parent_A` is g, `S_A` is B, and U, 1/D and the innovation are the
same for all members: whatever runs outward or along one path needs no more; what is gathered inward is summed over the
members, when the first of them is reached: by then all that hangs on them is done.

Mimic joints that leave other joints between them (a leader on the left arm, a follower on the right one) make clusters
of several coordinates, which the recursions refuse by name; H and its factors carry them.
"""

import numpy as np

from ..compiled.jit import kernel
from ..compiled.lanes import W, splat
from ..errors import listed
from ..model import Model
from .rows import add_rows, load_rows, row_sum, subtract_square


def hangs_on(parent: np.ndarray, coordinate: np.ndarray) -> np.ndarray:
    """The nearest node below each that another coordinate moves, -1 for the world."""
    found = np.array(parent)
    for i, p in enumerate(parent):
        if p >= 0 and coordinate[p] == coordinate[i]:
            found[i] = found[p]
    return found


def wide_clusters(model: Model) -> list[str]:
    """What the recursions cannot carry, in words: mimic joints with other joints between them and their leader."""
    base, names, wide = hangs_on(model.parent, model.v_index), model.body_joint_names, []
    for i in np.flatnonzero(model.is_mimic):
        tied = model.v_index == model.v_index[i]
        if len(set(base[tied])) > 1:
            wide.append(names[i])
    return [f"mimic joints with other joints between them ({listed(wide)})"] if wide else []


def cluster_tables(parent: np.ndarray, coordinate: np.ndarray) -> dict[str, list[int]]:
    """`parent_A`, `members` and `next_member` of the nodes of a tree; n stands for the world and for none."""
    n = len(parent)
    members, next_member = [0] * n, [n] * n
    last: dict[int, tuple[int, int]] = {}  # first and last node of each coordinate so far
    for i, c in enumerate(map(int, coordinate)):
        if c in last:
            next_member[last[c][1]] = i
        first = last[c][0] if c in last else i
        last[c] = first, i
        members[first] += 1
    base = hangs_on(parent, coordinate)
    return {
        "parent_A": [int(g) if g >= 0 else n for g in base],
        "members": members,
        "next_member": next_member,
    }


@kernel
def cluster_subspaces(tree):
    """S_A: motion of every node from where its cluster hangs, for a unit of its coordinate. Needs S. Writes S_A."""
    B, multiplier = tree.S_A, tree.multiplier
    for b in range(tree.n):
        is_inner = tree.parent[b] != tree.parent_A[b]
        for k in range(6):
            B[k, b] = multiplier[b] * tree.S[k, b] + (B[k, tree.parent[b]] if is_inner else 0.0)


@kernel
def gathered_inertia(tree, b):
    """The sum of Q_i over the cluster that b leads, as six rows. Needs IA."""
    m = tree.next_member[b]
    x = load_rows(tree.IA, b)
    while m < tree.n:
        y = load_rows(tree.IA, m)
        x = (x[0] + y[0], x[1] + y[1], x[2] + y[2], x[3] + y[3], x[4] + y[4], x[5] + y[5])
        m = tree.next_member[m]
    return x


@kernel
def cluster_inertia(tree, b):
    """U and 1/D of the cluster that b leads, for every member, and P+ added to where it hangs. Needs IA, S_A."""
    n, S, U, following = tree.n, tree.S_A, tree.U, tree.next_member
    u, d, m = splat(0.0), tree.armature[tree.coordinate[b]], b
    while m < n:
        own = row_sum(load_rows(tree.IA, m), S, m)
        U[m, 0:W] = own
        for k in range(6):
            d += S[k, m] * U[m, k]
        u = u + own
        m = following[m]
    m = b
    while m < n:
        U[m, 0:W] = u
        tree.DA_inv[m] = 1.0 / d
        m = following[m]
    if tree.parent_A[b] < n:
        x = subtract_square(gathered_inertia(tree, b), u, U, b, 1.0 / d)
        add_rows(tree.IA, tree.parent_A[b], x)
