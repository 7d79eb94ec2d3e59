"""PV-OSIM: carry all task rows down the tree, Lambda^-1 += K Om K^T at every body, O(n + m^2 d) ([Sathya2024]).

Om = S D^-1 S^T has rank one for a node, so K Om K^T is the product of one column of Y_D and one of Y_d, and the sum
over the bodies that two tasks share is figure 10 of [Featherstone2010], on factors that no H was needed for.
"""

from __future__ import annotations

from ...dynamics import aba
from ...dynamics import layout as dyn
from ...dynamics.layout import Workspace, count, floats, ints
from ...dynamics.rows import load_rows, row_sum, store_rows
from ...jit import kernel
from ...lanes import splat, store
from .. import layout as at
from ..blocks import products, times_support
from ..jacobian import moving_mass, task_rows
from ..method import Method
from ..pack import Supports
from ..propagate import carry_rows, pass_on

# by lane (6 (n + 1), 8): rows carried by each node, for blocks whose support is no path
CARRIED = at.METHOD


@kernel
def _tree_rows(w, b):
    """`carry_rows` for rows that start on several bodies: they are summed where branches join."""
    block, S, U, dinv = ints(w, at.BLOCK), floats(w, dyn.S), floats(w, dyn.U), floats(w, dyn.DA)
    support, Yd, YD, carried = (
        ints(w, at.SUPPORT),
        floats(w, at.YD_LOWER),
        floats(w, at.YD),
        floats(w, CARRIED),
    )
    n, parent = count(w, dyn.NODES), ints(w, dyn.PARENT)
    for i in range(n + 1):
        for c in range(6):
            store(carried, 6 * i + c, 0, splat(0.0))
    _seed(w, b)
    first = block[b, at.B_FIRST]
    for r in range(first + block[b, at.B_SLOTS] - 1, first - 1, -1):
        i = support[r]
        x = load_rows(carried, i)
        y = row_sum(x, S, i)
        yd = y * dinv[i]
        store(Yd, r, 0, y)
        store(YD, r, 0, yd)
        x, p = pass_on(x, yd, U, i), parent[i]
        z = load_rows(carried, p)
        store_rows(
            carried,
            p,
            (z[0] + x[0], z[1] + x[1], z[2] + x[2], z[3] + x[3], z[4] + x[4], z[5] + x[5]),
        )


@kernel
def _seed(w, b):
    """Start the rows of block b on the bodies they depend on; the centre of mass depends on all, by their mass."""
    block, leg, K, carried = ints(w, at.BLOCK), ints(w, at.LEG), floats(w, at.K), floats(w, CARRIED)
    if block[b, at.B_KIND] == at.CENTER:
        IW, inverse = floats(w, dyn.IW), 1.0 / moving_mass(w)
        x, y, z = task_rows(w, b, 0)
        for i in range(count(w, dyn.NODES)):
            mx, my, mz = IW[1, i] * inverse, IW[2, i] * inverse, IW[3, i] * inverse
            m = IW[0, i] * inverse
            store_rows(
                carried, i, (my * z - mz * y, mz * x - mx * z, mx * y - my * x, m * x, m * y, m * z)
            )
    for k in range(block[b, at.B_LEG], block[b, at.B_LEG] + block[b, at.B_LEGS]):
        store_rows(carried, leg[k, at.L_NODE], load_rows(K, k))


@kernel
def inertia_inv(w):
    """Lambda^-1 into LI, J H^-1 W = Y_D eps into X, eps the innovations of W."""
    aba.articulated_inertias(w)
    block = ints(w, at.BLOCK)
    for b in range(count(w, at.BLOCKS)):
        if block[b, at.B_PATH] == 1 and block[b, at.B_KIND] == at.FRAME:
            carry_rows(w, b, floats(w, CARRIED), False)
        else:
            _tree_rows(w, b)
    products(w)
    aba.no_bias(w)
    aba.innovations(w, floats(w, dyn.W))
    times_support(w, floats(w, at.YD), floats(w, dyn.EPS), floats(w, at.X))
    return 0


def tables(work: Workspace, supports: Supports) -> None:
    """Room for the rows that each node carries."""
    work.zeros(CARRIED, 6 * (supports.nodes.n + 1), 8)


method = Method("pv_osim", inertia_inv, carries=("relative", "center_of_mass"), tables=tables)
