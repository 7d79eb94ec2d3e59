"""PV-OSIM: carry all task rows down the tree, Lambda^-1 += K Om K^T at every body, O(n + m^2 d) ([Sathya2024]).

Om = S D^-1 S^T has rank one for a node, so K Om K^T is the product of one column of Y_D and one of Y_d, and the sum
over the bodies that two tasks share is figure 10 of [Featherstone2010], on factors that no H was needed for.
"""

from __future__ import annotations

from ...compiled.jit import kernel, stage
from ...compiled.lanes import W
from ...compiled.workspace import count, scratch
from ...dynamics import aba
from ...dynamics.rows import add_rows, load_rows, row_sum, store_rows
from ..blocks import products, times_support
from ..build import TaskSpace
from ..fields import CENTER, FRAME, Space
from ..jacobian import moving_mass, task_rows
from ..method import Method
from ..propagate import carry_rows, pass_on


class PvOsim(Method):
    """Room for rows that start on several bodies."""

    name = "pv_osim"
    carries = ("relative", "center_of_mass")

    n = count("nodes of the tree")
    carried = scratch(
        "6 * (n + 1), 8",
        "by lane: rows that each node carries, for blocks whose support is no path",
    )

    @classmethod
    def for_space(cls, space: TaskSpace) -> PvOsim:
        """Room for the rows that each node carries."""
        return cls(n=space.tree.n)


@kernel
def _tree_rows(space, own, b):
    """Y_d and Y_D of block b, whose rows start on several bodies: they are summed where branches join."""
    tree, carried = space.tree, own.carried
    S, U, D_inv = tree.S, tree.U, tree.DA_inv
    support, parent = space.support, tree.parent
    Y_d, Y_D = space.Y_d, space.Y_D
    for r in range(6 * (tree.n + 1)):
        carried[r, 0:W] = 0.0
    _seed(space, own, b)
    first = space.block_first[b]
    for r in range(first + space.block_slots[b] - 1, first - 1, -1):
        i = support[r]
        x = load_rows(carried, i)
        y = row_sum(x, S, i)
        yd = y * D_inv[i]
        Y_d[r, 0:W] = y
        Y_D[r, 0:W] = yd
        add_rows(carried, parent[i], pass_on(x, yd, U, i))


@kernel
def _seed(space, own, b):
    """Start the rows of block b on the bodies they depend on; the centre of mass depends on all, by their mass."""
    tree, carried, K = space.tree, own.carried, space.K
    if space.block_kind[b] == CENTER:
        I, inverse = tree.I, 1.0 / moving_mass(tree)
        x, y, z = task_rows(space, b, 0)
        for i in range(tree.n):
            mx, my, mz = I[1, i] * inverse, I[2, i] * inverse, I[3, i] * inverse
            m = I[0, i] * inverse
            angular = (my * z - mz * y, mz * x - mx * z, mx * y - my * x)
            store_rows(carried, i, (*angular, m * x, m * y, m * z))
    first = space.block_leg[b]
    for k in range(first, first + space.block_legs[b]):
        store_rows(carried, space.leg_end[k], load_rows(K, k))


@kernel
def y_articulated(space, own):
    """Y_d and Y_D of all blocks. Needs K, and the articulated inertias' U and DA_inv."""
    for b in range(space.blocks):
        if space.block_on_path[b] == 1 and space.block_kind[b] == FRAME:
            carry_rows(space, b, own.carried, False)
        else:
            _tree_rows(space, own, b)


@stage(Space, PvOsim, fills="inertia_inv")
def inertia_inv(space, own):
    """Lambda^-1 = Y_D Y_d^T; J H^-1 x = Y_D eps into Jx, eps the innovations of x."""
    tree = space.tree
    aba.articulated_inertias(tree)
    y_articulated(space, own)
    products(space)
    aba.no_bias(tree)
    aba.innovations(tree, tree.x)
    times_support(space, space.Y_D, tree.eps, space.Jx)
