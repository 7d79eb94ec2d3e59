"""PV-OSIM: carry all task rows down the tree, Lambda^-1 += K Om K^T at every body, O(n + m^2 d) ([Sathya2024]).

Om = S D^-1 S^T has rank one for a node, so K Om K^T is the product of one column of Y_D and one of Y_d, and the sum
over the bodies that two tasks share is figure 10 of [Featherstone2010], on factors that no H was needed for.
"""

from __future__ import annotations

from ...compiled.jit import kernel
from ...compiled.lanes import W
from ...dynamics import aba
from ...dynamics.rows import load_rows, row_sum, store_rows
from ..blocks import products, times_support
from ..fields import CENTER, FRAME, METHOD
from ..jacobian import moving_mass, task_rows
from ..method import Method
from ..pack import Supports
from ..propagate import carry_rows, pass_on

# by lane (6 (n + 1), 8): rows carried by each node, for blocks whose support is no path
CARRIED = METHOD


@kernel
def _tree_rows(space, b):
    """`carry_rows` for rows that start on several bodies: they are summed where branches join."""
    S, U, dinv = space.tree.S, space.tree.U, space.tree.DA_inv
    support = space.support
    Yd = space.Y_d
    YD = space.Y_D
    carried = own.carried
    n, parent = space.tree.n, space.tree.parent
    for i in range(n + 1):
        for c in range(6):
            carried[6 * i + c, 0:W] = 0.0
    _seed(space, b)
    first = space.block_first[b]
    for r in range(first + space.block_slots[b] - 1, first - 1, -1):
        i = support[r]
        x = load_rows(carried, i)
        y = row_sum(x, S, i)
        yd = y * dinv[i]
        Yd[r, 0:W] = y
        YD[r, 0:W] = yd
        x, p = pass_on(x, yd, U, i), parent[i]
        z = load_rows(carried, p)
        store_rows(
            carried,
            p,
            (z[0] + x[0], z[1] + x[1], z[2] + x[2], z[3] + x[3], z[4] + x[4], z[5] + x[5]),
        )


@kernel
def _seed(space, b):
    """Start the rows of block b on the bodies they depend on; the centre of mass depends on all, by their mass."""
    K, carried = space.K, own.carried
    if space.block_kind[b] == CENTER:
        IW, inverse = space.tree.I, 1.0 / moving_mass(space)
        x, y, z = task_rows(space, b, 0)
        for i in range(space.tree.n):
            mx, my, mz = IW[1, i] * inverse, IW[2, i] * inverse, IW[3, i] * inverse
            m = IW[0, i] * inverse
            store_rows(
                carried, i, (my * z - mz * y, mz * x - mx * z, mx * y - my * x, m * x, m * y, m * z)
            )
    for k in range(space.block_leg[b], space.block_leg[b] + space.block_legs[b]):
        store_rows(carried, space.leg_end[k], load_rows(K, k))


@kernel
def inertia_inv(space):
    """Lambda^-1 into LI, J H^-1 W = Y_D eps into X, eps the innovations of W."""
    aba.articulated_inertias(space.tree)
    for b in range(space.blocks):
        if space.block_on_path[b] == 1 and space.block_kind[b] == FRAME:
            carry_rows(space, b, own.carried, False)
        else:
            _tree_rows(space, b)
    products(space)
    aba.no_bias(space.tree)
    aba.innovations(space.tree, space.tree.x)
    times_support(space, space.Y_D, space.tree.eps, space.Jx)
    return 0


def tables(work: Workspace, supports: Supports) -> None:
    """Room for the rows that each node carries."""
    work.zeros(CARRIED, 6 * (supports.nodes.n + 1), 8)


method = Method("pv_osim", inertia_inv, carries=("relative", "center_of_mass"), tables=tables)
