"""Extended force propagator algorithm, O(n + m d + m^2) ([Wensing2012]).

K_parent = K L                                   tips to base: the extended force propagator, transposed
V_i = Om_i K_i^T + L_i V_parent                  base to tips: response of body i to a force on the task
Lambda^-1_ab = K_{g,a} V_{g,b}                   g the nearest common ancestor of the two tasks
"""

from __future__ import annotations

from ...dynamics import aba
from ...dynamics import layout as dyn
from ...dynamics.layout import Workspace, count, floats, ints
from ...dynamics.rows import load_rows, store_rows
from ...jit import kernel
from ...lanes import load, splat
from .. import layout as at
from ..blocks import store_product, store_zero
from ..method import Method
from ..pack import Supports
from ..propagate import carry_rows, project_articulated

CARRIED = at.METHOD  # by lane (6 registers, 8): K of each slot
RESPONSE = at.METHOD + 1  # by lane (6 registers, 8): V of each slot


@kernel
def responses(w):
    """V along every path: V_i = V_parent + S (K S - U^T V_parent) / D."""
    block, support = ints(w, at.BLOCK), ints(w, at.SUPPORT)
    S, U, dinv = floats(w, dyn.S), floats(w, dyn.U), floats(w, dyn.DA)
    Yd, V = floats(w, at.YD_LOWER), floats(w, RESPONSE)
    for b in range(count(w, at.BLOCKS)):
        v = (splat(0.0), splat(0.0), splat(0.0), splat(0.0), splat(0.0), splat(0.0))
        for r in range(block[b, at.B_FIRST], block[b, at.B_FIRST] + block[b, at.B_SLOTS]):
            i = support[r]
            moved = (
                U[i, 0] * v[0]
                + U[i, 1] * v[1]
                + U[i, 2] * v[2]
                + U[i, 3] * v[3]
                + U[i, 4] * v[4]
                + U[i, 5] * v[5]
            )
            step = (load(Yd, r, 0) - moved) * dinv[i]
            v = (
                v[0] + S[0, i] * step,
                v[1] + S[1, i] * step,
                v[2] + S[2, i] * step,
                v[3] + S[3, i] * step,
                v[4] + S[4, i] * step,
                v[5] + S[5, i] * step,
            )
            store_rows(V, r, v)


@kernel
def inertia_inv(w):
    """Lambda^-1 into LI, J H^-1 W into X."""
    aba.articulated_inertias(w)
    for b in range(count(w, at.BLOCKS)):
        carry_rows(w, b, floats(w, CARRIED), True)
    responses(w)
    K, V, block, common = (
        floats(w, CARRIED),
        floats(w, RESPONSE),
        ints(w, at.BLOCK),
        ints(w, at.COMMON),
    )
    for a in range(count(w, at.BLOCKS)):
        for b in range(a, count(w, at.BLOCKS)):
            g = common[a, b] - 1
            if g < 0:
                store_zero(w, a, b)
            else:
                t = load_rows(V, block[b, at.B_FIRST] + g)
                store_product(
                    w, a, b, K, block[a, at.B_FIRST] + g, t[0], t[1], t[2], t[3], t[4], t[5]
                )
    project_articulated(w)
    return 0


def tables(work: Workspace, supports: Supports) -> None:
    """Room for K and V of every slot."""
    registers = int(supports.first[-1])
    work.zeros(CARRIED, 6 * registers, 8)
    work.zeros(RESPONSE, 6 * registers, 8)


method = Method("efpa", inertia_inv, tables=tables)
