# SPDX-License-Identifier: Apache-2.0
"""Lambda^-1 = Y Y^T from the LTL factorisation of H ([Featherstone2010] (20), (21), figures 8 and 10)."""

from ...compiled.jit import kernel, stage
from ...compiled.lanes import W
from ...dynamics import crba, ltl
from ..blocks import products, times_support
from ..fields import Space
from ..method import EVERYTHING, LTL, Method


class SparseLtl(Method):
    """Lambda^-1 = Y Y^T by the LTL factor of H."""

    name = "sparse_ltl"
    leaves = LTL
    carries = EVERYTHING


@kernel
def y_ltl(space):
    """Y = J L^-1 (figure 8) for all rows of a block at once, which are lanes.

    Needs J, and H factored by `ltl.ltl`: L, and 1 / L_ii in D_inv. Writes Y into Y_D, where the other kernels look for
    what L^-T x and Lambda are multiplied with.
    From the last slot of a block to the first, i being its coordinate, j goes through the registers of i's ancestors,
    and e is the depth of each, the column of L.
    """
    Y, L, parent = space.Y_D, space.tree.H, space.slot_parent
    D_inv, depth = space.tree.D_inv, space.tree.depth_e
    for b in range(space.blocks):
        first = space.block_first[b]
        for r in range(first, first + space.block_slots[b]):
            Y[r, 0:W] = space.J[r, 0:W]
        for r in range(first + space.block_slots[b] - 1, first - 1, -1):
            i = space.support[r]
            y = Y[r, 0:W] * D_inv[i]
            Y[r, 0:W] = y
            j, e = parent[r], depth[i] - 1
            while j >= 0:
                Y[j, 0:W] = Y[j, 0:W] - L[i, e] * y
                j, e = parent[j], e - 1


@stage(Space, SparseLtl, fills="inertia_inv")
def inertia_inv(space, own):
    """Lambda^-1 = Y Y^T; J H^-1 x = Y L^-T x into Jx."""
    tree, Y = space.tree, space.Y_D
    crba.mass_matrix(tree)
    ltl.ltl(tree)
    y_ltl(space)
    for r in range(space.registers):
        space.Y_d[r, 0:W] = Y[r, 0:W]
    products(space)
    times_support(space, Y, tree.x, space.Jx)
