"""Lambda^-1 = Y Y^T from the LTL factorisation of H ([Featherstone2010] (20), (21), figures 8 and 10)."""

from __future__ import annotations

from ...compiled.jit import kernel, stage
from ...compiled.lanes import W
from ...dynamics import crba, ltl
from ..blocks import products, times_support
from ..fields import Space
from ..method import EVERYTHING, LTL, Method


class SparseLtl(Method):
    """Y Y^T."""

    name = "sparse_ltl"
    leaves = LTL
    carries = EVERYTHING


@kernel
def y_ltl(space):
    """Y = J L^-1 (figure 8), a whole block of rows at a time; chasing parents when the support is no path."""
    J, Y, L = space.J, space.Y_D, space.tree.H
    support, parent = space.support, space.slot_parent
    D_inv, depth = space.tree.D_inv, space.tree.depth_e
    for b in range(space.blocks):
        first = space.block_first[b]
        for r in range(first, first + space.block_slots[b]):
            Y[r, 0:W] = J[r, 0:W]
        for r in range(first + space.block_slots[b] - 1, first - 1, -1):
            i = support[r]
            y = Y[r, 0:W] * D_inv[i]
            Y[r, 0:W] = y
            j, e = parent[r], depth[i] - 1
            while j >= 0:
                Y[j, 0:W] = Y[j, 0:W] - L[i, e] * y
                j, e = parent[j], e - 1


@stage(Space, SparseLtl, fills="inertia_inv")
def inertia_inv(space, own):
    """Lambda^-1 = Y Y^T; J H^-1 x = Y L^-T x into Jx."""
    tree, Y, other = space.tree, space.Y_D, space.Y_d
    crba.mass_matrix(tree)
    ltl.ltl(tree)
    y_ltl(space)
    for r in range(space.registers):
        other[r, 0:W] = Y[r, 0:W]
    products(space)
    times_support(space, Y, tree.x, space.Jx)
