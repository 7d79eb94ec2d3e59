"""Extended force propagator algorithm, O(n + m d + m^2) ([Wensing2012]).

K_parent = K L                                   tips to base: the extended force propagator, transposed
V_i = Om_i K_i^T + L_i V_parent                  base to tips: response of body i to a force on the task
Lambda^-1_ab = K_{g,a} V_{g,b}                   g the nearest common ancestor of the two tasks
"""

from __future__ import annotations

from ...compiled.jit import kernel
from ...compiled.lanes import W, splat
from ...dynamics import aba
from ...dynamics.rows import load_rows, store_rows
from ..blocks import store_product, store_zero
from ..fields import METHOD
from ..method import Method
from ..pack import Supports
from ..propagate import carry_rows, project_articulated

CARRIED = METHOD  # by lane (6 registers, 8): K of each slot
RESPONSE = METHOD + 1  # by lane (6 registers, 8): V of each slot


@kernel
def responses(space):
    """V along every path: V_i = V_parent + S (K S - U^T V_parent) / D."""
    support = space.support
    S, U, dinv = space.tree.S, space.tree.U, space.tree.DA_inv
    Yd, V = space.Y_d, own.response
    for b in range(space.blocks):
        v = (splat(0.0), splat(0.0), splat(0.0), splat(0.0), splat(0.0), splat(0.0))
        for r in range(space.block_first[b], space.block_first[b] + space.block_slots[b]):
            i = support[r]
            moved = (
                U[i, 0] * v[0]
                + U[i, 1] * v[1]
                + U[i, 2] * v[2]
                + U[i, 3] * v[3]
                + U[i, 4] * v[4]
                + U[i, 5] * v[5]
            )
            step = (Yd[r, 0:W] - moved) * dinv[i]
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
def inertia_inv(space):
    """Lambda^-1 into LI, J H^-1 W into X."""
    aba.articulated_inertias(space.tree)
    for b in range(space.blocks):
        carry_rows(space, b, own.carried, True)
    responses(space)
    K, V, common = own.carried, own.response, space.common
    for a in range(space.blocks):
        for b in range(a, space.blocks):
            g = common[a, b] - 1
            if g < 0:
                store_zero(space, a, b)
            else:
                t = load_rows(V, space.block_first[b] + g)
                store_product(
                    space, a, b, K, space.block_first[a] + g, t[0], t[1], t[2], t[3], t[4], t[5]
                )
    project_articulated(space)
    return 0


def tables(work: Workspace, supports: Supports) -> None:
    """Room for K and V of every slot."""
    registers = int(supports.first[-1])
    work.zeros(CARRIED, 6 * registers, 8)
    work.zeros(RESPONSE, 6 * registers, 8)


method = Method("efpa", inertia_inv, tables=tables)
