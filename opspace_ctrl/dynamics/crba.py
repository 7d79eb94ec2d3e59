"""Composite-rigid-body algorithm: H_ij = S_i^T I_c S_j along the support of i only ([Featherstone2010] (2))."""

from __future__ import annotations

from ..jit import kernel
from ..lanes import WIDTH, load, splat, store
from . import layout as at
from .layout import clear, count, floats, ints, stage
from .spatial import add, get3, load3, load_inertia, momentum, set3, store3


@kernel
def composite_inertias(w):
    """I_c of every subtree, tip to base, and F = I_c S of every node."""
    n, IW, IC, S, FC = (
        count(w, at.NODES),
        floats(w, at.IW),
        floats(w, at.IC),
        floats(w, at.S),
        floats(w, at.FC),
    )
    for b in range(0, n + 1, WIDTH):
        store(IC, 0, b, load(IW, 0, b))
        store3(IC, 1, b, load3(IW, 1, b))
        store3(IC, 4, b, load3(IW, 4, b))
        store3(IC, 7, b, load3(IW, 7, b))
    _sum_inwards(n, ints(w, at.PARENT), IC)
    for b in range(0, n, WIDTH):
        m, mc, i = load_inertia(IC, b)
        couple, f = momentum(m, mc, i, load3(S, 0, b), load3(S, 3, b))
        store3(FC, 0, b, couple)
        store3(FC, 3, b, f)


@kernel
def _sum_inwards(n, parent, IC):
    """Add to every node's inertia those of its descendants; along a limb they stay in registers."""
    none = (0.0, 0.0, 0.0)
    m, mc, x, y = 0.0, none, none, none
    for b in range(n - 1, -1, -1):
        p = parent[b]
        m, mc, x, y = (
            m + IC[0, b],
            add(mc, get3(IC, 1, b)),
            add(x, get3(IC, 4, b)),
            add(y, get3(IC, 7, b)),
        )
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
            m, mc, x, y = 0.0, none, none, none


@kernel
def _set_inertia(IC, b, m, mc, x, y):
    IC[0, b] = m
    set3(IC, 1, b, mc)
    set3(IC, 4, b, x)
    set3(IC, 7, b, y)


@kernel
def subspaces_by_depth(w):
    """S along the path to every leaf, so that a row of H is a contiguous product.

    Limbs are numbered in one go, so a path is a few runs of neighbours; what overruns one is overwritten by the next.
    """
    S, SP, run = floats(w, at.S), floats(w, at.SP), ints(w, at.RUN)
    for r in range(count(w, at.RUNS)):
        leaf, depth, node = run[r, 0], run[r, 1], run[r, 2]
        for d in range(0, run[r, 3], WIDTH):
            store3(SP, 6 * leaf, depth + d, load3(S, 0, node + d))
            store3(SP, 6 * leaf + 3, depth + d, load3(S, 3, node + d))


@kernel
def merge_mimic(w):
    """H = G^T H_free G, entry by entry."""
    HN, H, merge, factor = (
        floats(w, at.HN),
        floats(w, at.H),
        ints(w, at.MERGE),
        floats(w, at.MERGE_FACTOR),
    )
    depth_e = ints(w, at.DEPTH_E)
    for i in range(count(w, at.NV)):
        # the scratch as well, or factorising again and again inflates it
        for d in range(0, depth_e[i] + 1, WIDTH):
            store(H, i, d, splat(0.0))
    for k in range(count(w, at.MERGES)):
        H[merge[k, 2], merge[k, 3]] += factor[k] * HN[merge[k, 0], merge[k, 1]]


@kernel
def _rows_of_limb(w, first, end):
    """Rows of H of neighbours on one path: F_b^T S_j for the nodes j on it, eight at a time, which all rows share."""
    FC, SP, H, s = floats(w, at.FC), floats(w, at.SP), floats(w, at.HN), 6 * ints(w, at.LEAF)[first]
    depth = ints(w, at.DEPTH)[first]
    for d in range(0, depth + end - first, WIDTH):
        omega, v = load3(SP, s, d), load3(SP, s + 3, d)
        for b in range(max(first, first + d - depth), end):
            row = FC[0, b] * omega[0] + FC[1, b] * omega[1] + FC[2, b] * omega[2]
            store(H, b, d, row + FC[3, b] * v[0] + FC[4, b] * v[1] + FC[5, b] * v[2])


@stage(at.MASS_MATRIX)
def mass_matrix(w):
    """H by depth, lower triangle. Entries right of the diagonal are scratch."""
    composite_inertias(w)
    subspaces_by_depth(w)
    leaf, b, n = ints(w, at.LEAF), 0, count(w, at.NODES)
    while b < n:
        end = b + 1
        while end < n and leaf[end] == leaf[b]:
            end += 1
        _rows_of_limb(w, b, end)
        b = end
    if count(w, at.MIMIC) > 0:
        merge_mimic(w)
    armature, depth_e, H = floats(w, at.ARMATURE), ints(w, at.DEPTH_E), floats(w, at.H)
    for i in range(count(w, at.NV)):
        H[i, depth_e[i]] += armature[i]


@kernel
def dense_mass_matrix(w):
    """H as a full symmetric matrix, into DENSE."""
    H, dense, path, depth = (
        floats(w, at.H),
        floats(w, at.DENSE),
        ints(w, at.PATH_E),
        ints(w, at.DEPTH_E),
    )
    nv = count(w, at.NV)
    clear(dense, nv, nv)
    for i in range(nv):
        for d in range(depth[i] + 1):
            dense[i, path[i, d]] = H[i, d]
            dense[path[i, d], i] = H[i, d]
