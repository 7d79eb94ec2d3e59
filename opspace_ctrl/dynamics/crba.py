# SPDX-License-Identifier: Apache-2.0
"""Composite-rigid-body algorithm: H_ij = S_i^T I_c S_j along the support of i only ([Featherstone2010] (2))."""

from ..compiled.jit import kernel, stage
from ..compiled.lanes import W
from .fields import Tree
from .rows import clear
from .spatial import add, get3, load3, load_inertia, momentum, set3, store3


@kernel
def composite_inertias(tree):
    """I_c of every subtree, tip to base, and F = I_c S of every node. Needs I and S. Writes Ic and F.

    An inertia is a column of ten numbers, see `fields`. Column n, the world's, gets the sum of all.
    """
    n, S = tree.n, tree.S
    I, Ic, F = tree.I, tree.Ic, tree.F
    for b in range(0, n + 1, W):
        Ic[0, b : b + W] = I[0, b : b + W]
        store3(Ic, 1, b, load3(I, 1, b))
        store3(Ic, 4, b, load3(I, 4, b))
        store3(Ic, 7, b, load3(I, 7, b))
    _sum_inwards(n, tree.parent, Ic)
    for b in range(0, n, W):
        m, mc, i = load_inertia(Ic, b)
        couple, f = momentum(m, mc, i, load3(S, 0, b), load3(S, 3, b))
        store3(F, 0, b, couple)
        store3(F, 3, b, f)


@kernel
def _sum_inwards(n, parent, Ic):
    """Add to every node's inertia those of its descendants, and to the world's, n, those of all; in place in Ic.

    Along a limb, where the parent is the node before, the sum stays in m, mc, x and y and is not loaded again.
    """
    none = (0.0, 0.0, 0.0)
    m = 0.0
    mc = none
    x = none
    y = none
    for b in range(n - 1, -1, -1):
        p = parent[b]
        m = m + Ic[0, b]
        mc = add(mc, get3(Ic, 1, b))
        x = add(x, get3(Ic, 4, b))
        y = add(y, get3(Ic, 7, b))
        _set_inertia(Ic, b, m, mc, x, y)
        if p != b - 1:
            _set_inertia(
                Ic,
                p,
                m + Ic[0, p],
                add(mc, get3(Ic, 1, p)),
                add(x, get3(Ic, 4, p)),
                add(y, get3(Ic, 7, p)),
            )
            m = 0.0
            mc = none
            x = none
            y = none


@kernel
def _set_inertia(Ic, b, m, mc, x, y):
    """Write the ten numbers of node b: mass, mass times centre, and the six moments as x (3) and y (3)."""
    Ic[0, b] = m
    set3(Ic, 1, b, mc)
    set3(Ic, 4, b, x)
    set3(Ic, 7, b, y)


@kernel
def subspaces_by_depth(tree):
    """S along the path to every leaf, so that a row of H is a contiguous product. Needs S. Writes S_path.

    Limbs are numbered in one go, so a path is a few runs of neighbours; what overruns one is overwritten by the next.
    """
    S, S_path, run = tree.S, tree.S_path, tree.run
    for r in range(tree.runs):
        leaf, depth, node = run[r, 0], run[r, 1], run[r, 2]
        for d in range(0, run[r, 3], W):
            store3(S_path, 6 * leaf, depth + d, load3(S, 0, node + d))
            store3(S_path, 6 * leaf + 3, depth + d, load3(S, 3, node + d))


@kernel
def merge_mimic(tree):
    """H = G^T H_free G, entry by entry. Needs H_nodes. Writes H."""
    H_nodes, H, depth_e = tree.H_nodes, tree.H, tree.depth_e
    merge, factor = tree.merge, tree.merge_factor
    for i in range(tree.nv):
        # the scratch as well, or factorising again and again inflates it
        for d in range(0, depth_e[i] + 1, W):
            H[i, d : d + W] = 0.0
    for k in range(tree.merges):
        H[merge[k, 2], merge[k, 3]] += factor[k] * H_nodes[merge[k, 0], merge[k, 1]]


@kernel
def _rows_of_limb(tree, first, end):
    """Rows first to end - 1 of H, nodes on one path: H[b, d] = F_b^T S_j, j the node at depth d of that path.

    Eight depths at a time: their S is loaded once, for all rows that reach so far. Row b ends at its own depth, which
    is `depth` + b - first, so the registers from d on belong to the rows from first + d - depth on.
    Needs F and S_path. Writes these rows of H_nodes; right of the diagonal they are scratch.
    """
    F, S_path, H = tree.F, tree.S_path, tree.H_nodes
    s, depth = 6 * tree.leaf[first], tree.depth[first]
    for d in range(0, depth + end - first, W):
        omega, v = load3(S_path, s, d), load3(S_path, s + 3, d)
        for b in range(max(first, first + d - depth), end):
            row = F[0, b] * omega[0] + F[1, b] * omega[1] + F[2, b] * omega[2]
            H[b, d : d + W] = row + F[3, b] * v[0] + F[4, b] * v[1] + F[5, b] * v[2]


@stage(Tree)
def mass_matrix(tree):
    """H by depth: H[i, d] = H_ij, j the ancestor of coordinate i that has the depth d. Needs S, I and armature.

    Writes H, and Ic, F, S_path and H_nodes on the way; entries right of the diagonal (depth_e[i]) are scratch.
    H_ij = F_i^T S_j (2) for the ancestors j of i, which are the beginning of the path to any leaf that i supports:
    S_path has S along it, contiguous. It goes limb by limb: a limb is neighbouring nodes with the same `leaf`, which
    share that path. These are rows of H_nodes, without mimic joints another name of H; with them `merge_mimic` sums
    them up.
    """
    composite_inertias(tree)
    subspaces_by_depth(tree)
    leaf, b, n = tree.leaf, 0, tree.n
    while b < n:
        end = b + 1
        while end < n and leaf[end] == leaf[b]:
            end += 1
        _rows_of_limb(tree, b, end)
        b = end
    if tree.merges > 0:
        merge_mimic(tree)
    armature, depth_e, H = tree.armature, tree.depth_e, tree.H
    for i in range(tree.nv):
        H[i, depth_e[i]] += armature[i]


@kernel
def dense_mass_matrix(tree):
    """H as a full symmetric matrix. Needs H. Writes dense."""
    nv, H, dense = tree.nv, tree.H, tree.dense
    path, depth = tree.path_e, tree.depth_e
    clear(dense, nv, nv)
    for i in range(nv):
        for d in range(depth[i] + 1):
            dense[i, path[i, d]] = H[i, d]
            dense[path[i, d], i] = H[i, d]
