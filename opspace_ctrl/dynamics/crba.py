"""Composite-rigid-body algorithm: H_ij = S_i^T I_c S_j along the support of i only ([Featherstone2010] (2))."""

from __future__ import annotations

from ..compiled.jit import kernel, stage
from ..compiled.lanes import W
from .fields import Tree
from .rows import clear
from .spatial import add, get3, load3, load_inertia, momentum, set3, store3


@kernel
def composite_inertias(tree):
    """I_c of every subtree, tip to base, and F = I_c S of every node."""
    n = tree.n
    IW = tree.I
    IC = tree.Ic
    S = tree.S
    FC = tree.F
    for b in range(0, n + 1, W):
        IC[0, b : b + W] = IW[0, b : b + W]
        store3(IC, 1, b, load3(IW, 1, b))
        store3(IC, 4, b, load3(IW, 4, b))
        store3(IC, 7, b, load3(IW, 7, b))
    _sum_inwards(n, tree.parent, IC)
    for b in range(0, n, W):
        m, mc, i = load_inertia(IC, b)
        couple, f = momentum(m, mc, i, load3(S, 0, b), load3(S, 3, b))
        store3(FC, 0, b, couple)
        store3(FC, 3, b, f)


@kernel
def _sum_inwards(n, parent, IC):
    """Add to every node's inertia those of its descendants; along a limb they stay in registers."""
    none = (0.0, 0.0, 0.0)
    m = 0.0
    mc = none
    x = none
    y = none
    for b in range(n - 1, -1, -1):
        p = parent[b]
        m = m + IC[0, b]
        mc = add(mc, get3(IC, 1, b))
        x = add(x, get3(IC, 4, b))
        y = add(y, get3(IC, 7, b))
        _set_inertia(IC, b, m, mc, x, y)
        if p != b - 1:
            _set_inertia(
                IC,
                p,
                m + IC[0, p],
                add(mc, get3(IC, 1, p)),
                add(x, get3(IC, 4, p)),
                add(y, get3(IC, 7, p)),
            )
            m = 0.0
            mc = none
            x = none
            y = none


@kernel
def _set_inertia(IC, b, m, mc, x, y):
    IC[0, b] = m
    set3(IC, 1, b, mc)
    set3(IC, 4, b, x)
    set3(IC, 7, b, y)


@kernel
def subspaces_by_depth(tree):
    """S along the path to every leaf, so that a row of H is a contiguous product.

    Limbs are numbered in one go, so a path is a few runs of neighbours; what overruns one is overwritten by the next.
    """
    S, SP, run = tree.S, tree.S_path, tree.run
    for r in range(tree.runs):
        leaf, depth, node = run[r, 0], run[r, 1], run[r, 2]
        for d in range(0, run[r, 3], W):
            store3(SP, 6 * leaf, depth + d, load3(S, 0, node + d))
            store3(SP, 6 * leaf + 3, depth + d, load3(S, 3, node + d))


@kernel
def merge_mimic(tree):
    """H = G^T H_free G, entry by entry."""
    HN = tree.H_nodes
    H = tree.H
    merge = tree.merge
    factor = tree.merge_factor
    depth_e = tree.depth_e
    for i in range(tree.nv):
        # the scratch as well, or factorising again and again inflates it
        for d in range(0, depth_e[i] + 1, W):
            H[i, d : d + W] = 0.0
    for k in range(tree.merges):
        H[merge[k, 2], merge[k, 3]] += factor[k] * HN[merge[k, 0], merge[k, 1]]


@kernel
def _rows_of_limb(tree, first, end):
    """Rows of H of neighbours on one path: F_b^T S_j for the nodes j on it, eight at a time, which all rows share."""
    FC = tree.F
    SP = tree.S_path
    H = tree.H_nodes
    s = 6 * tree.leaf[first]
    depth = tree.depth[first]
    for d in range(0, depth + end - first, W):
        omega, v = load3(SP, s, d), load3(SP, s + 3, d)
        for b in range(max(first, first + d - depth), end):
            row = FC[0, b] * omega[0] + FC[1, b] * omega[1] + FC[2, b] * omega[2]
            H[b, d : d + W] = row + FC[3, b] * v[0] + FC[4, b] * v[1] + FC[5, b] * v[2]


@stage(Tree)
def mass_matrix(tree):
    """H by depth, lower triangle. Entries right of the diagonal are scratch."""
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
    """H as a full symmetric matrix, into DENSE."""
    H = tree.H
    dense = tree.dense
    path = tree.path_e
    depth = tree.depth_e
    nv = tree.nv
    clear(dense, nv, nv)
    for i in range(nv):
        for d in range(depth[i] + 1):
            dense[i, path[i, d]] = H[i, d]
            dense[path[i, d], i] = H[i, d]
