# SPDX-License-Identifier: Apache-2.0
"""Lambda^-1 = Y_D Y_d^T from the LTDL factorisation of H ([Featherstone2010] (22), (23), figures 9 and 10)."""

from ...compiled.jit import kernel, stage
from ...compiled.lanes import W
from ...dynamics import crba, ltl
from ..blocks import products, times_support
from ..fields import Space
from ..method import EVERYTHING, LTDL, Method


class SparseLtdl(Method):
    """Lambda^-1 = Y_D Y_d^T by the LTDL factors of H."""

    name = "sparse_ltdl"
    leaves = LTDL
    carries = EVERYTHING


@kernel
def y_ltdl(space):
    """Y_d = J L_d^-1 and Y_D = Y_d D^-1 (figure 9), a whole block of rows at a time.

    Needs J, and H factored by `ltl.ltdl`. Writes Y_d and Y_D.
    """
    for b in range(space.blocks):
        if space.block_on_path[b] == 1:
            _along_path(space, space.block_first[b], space.block_slots[b])
        else:
            _along_support(space, space.block_first[b], space.block_slots[b])


@kernel
def _along_path(space, first, slots):
    """Figure 9 for the rows of one block at once (they are lanes), where the support is a path: slot s has depth s.

    The block has `slots` registers from `first` on. From the last slot to the first, i being its coordinate:
    Y_D[s] = Y_d[s] / D_i, and Y_d[e] -= L_ie Y_d[s] for the slots e before. Row i of L_d is stored by depth, so L_ie
    stands in column e. Four slots are finished together, so that those before are read and written a quarter as often:
    a, b, c, d are their Y_d, i, j, k, l their coordinates. Y is J in the first round, which saves copying it.
    """
    Y_d, Y_D, L, support = space.Y_d, space.Y_D, space.tree.H, space.support
    D_inv, Y = space.tree.D_inv, space.J
    last = slots - 1
    while last >= 3:
        r = first + last
        i = support[r]
        j = support[r - 1]
        k = support[r - 2]
        l = support[r - 3]
        a = Y[r, 0:W]
        b = Y[r - 1, 0:W] - L[i, last - 1] * a
        c = Y[r - 2, 0:W] - L[i, last - 2] * a - L[j, last - 2] * b
        d = Y[r - 3, 0:W] - L[i, last - 3] * a - L[j, last - 3] * b - L[k, last - 3] * c
        _store_column(Y_d, Y_D, r, a, D_inv[i])
        _store_column(Y_d, Y_D, r - 1, b, D_inv[j])
        _store_column(Y_d, Y_D, r - 2, c, D_inv[k])
        _store_column(Y_d, Y_D, r - 3, d, D_inv[l])
        for e in range(last - 4, -1, -1):  # what is needed first comes first
            y = Y[first + e, 0:W] - L[i, e] * a - L[j, e] * b
            Y_d[first + e, 0:W] = y - L[k, e] * c - L[l, e] * d
        Y, last = Y_d, last - 4
    for s in range(last, -1, -1):
        i, a = support[first + s], Y[first + s, 0:W]
        _store_column(Y_d, Y_D, first + s, a, D_inv[i])
        for e in range(s - 1, -1, -1):
            Y_d[first + e, 0:W] = Y[first + e, 0:W] - L[i, e] * a
        Y = Y_d


@kernel
def _store_column(Y_d, Y_D, r, y, D_inv):
    """Write register r of Y_d, and y / D of Y_D."""
    Y_d[r, 0:W] = y
    Y_D[r, 0:W] = y * D_inv


@kernel
def _along_support(space, first, slots):
    """Figure 9 where the support is no path: from slot to parent's slot, as the figure does.

    Registers are those of `_along_path`; j goes through those of the ancestors of i, and e is the depth of each, the
    column of L_d.
    """
    Y_d, L, parent = space.Y_d, space.tree.H, space.slot_parent
    D_inv, depth = space.tree.D_inv, space.tree.depth_e
    for r in range(first, first + slots):
        Y_d[r, 0:W] = space.J[r, 0:W]
    for r in range(first + slots - 1, first - 1, -1):
        i, y = space.support[r], Y_d[r, 0:W]
        space.Y_D[r, 0:W] = y * D_inv[i]
        j, e = parent[r], depth[i] - 1
        while j >= 0:
            Y_d[j, 0:W] = Y_d[j, 0:W] - L[i, e] * y
            j, e = parent[j], e - 1


@stage(Space, SparseLtdl, fills="inertia_inv")
def inertia_inv(space, own):
    """Lambda^-1 = Y_D Y_d^T; J H^-1 x = Y_D L_d^-T x into Jx."""
    tree = space.tree
    crba.mass_matrix(tree)
    ltl.ltdl(tree)
    y_ltdl(space)
    products(space)
    times_support(space, space.Y_D, tree.x, space.Jx)
