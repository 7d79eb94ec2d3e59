"""Extended force propagator algorithm, O(n + m d + m^2) ([Wensing2012]).

K_parent = K L                                   tips to base: the extended force propagator, transposed
V_i = Om_i K_i^T + L_i V_parent                  base to tips: response of body i to a force on the task
Lambda^-1_ab = K_{g,a} V_{g,b}                   g the nearest common ancestor of the two tasks
"""

from __future__ import annotations

from ...compiled.jit import kernel, stage
from ...compiled.lanes import W
from ...compiled.workspace import count, scratch
from ...dynamics import aba
from ...dynamics.rows import combination, load_rows, store_rows, subtract_outer, zero_rows
from ..blocks import store_product, store_zero
from ..build import TaskSpace
from ..fields import Space
from ..method import Method
from ..propagate import carry_rows, project_articulated


class Efpa(Method):
    """What the tasks carry and how bodies respond, slot by slot."""

    name = "efpa"

    registers = count("slots of all blocks")
    K = scratch("6 * registers, 8", "by lane: K of each slot")
    V = scratch("6 * registers, 8", "by lane: V of each slot")

    @classmethod
    def for_space(cls, space: TaskSpace) -> Efpa:
        """Room for K and V of every slot."""
        return cls(registers=space.registers)


@kernel
def responses(space, own):
    """V along every path: V_i = V_parent + S (K S - U^T V_parent) / D. Needs Y_d, S, U, DA_inv."""
    tree, support, Y_d = space.tree, space.support, space.Y_d
    S, U, D_inv = tree.S, tree.U, tree.DA_inv
    for b in range(space.blocks):
        v, first = zero_rows(), space.block_first[b]
        for r in range(first, first + space.block_slots[b]):
            i = support[r]
            step = (Y_d[r, 0:W] - combination(U, i, v)) * D_inv[i]
            v = subtract_outer(v, S, i, -step)
            store_rows(own.V, r, v)


@stage(Space, Efpa, fills="inertia_inv")
def inertia_inv(space, own):
    """Lambda^-1 by what two tasks carry to, and cause at, their common ancestor; J H^-1 x into Jx."""
    aba.articulated_inertias(space.tree)
    for b in range(space.blocks):
        carry_rows(space, b, own.K, True)
    responses(space, own)
    first, common = space.block_first, space.common
    for a in range(space.blocks):
        for b in range(a, space.blocks):
            g = common[a, b] - 1
            if g < 0:
                store_zero(space, a, b)
            else:
                store_product(space, a, b, own.K, first[a] + g, load_rows(own.V, first[b] + g))
    project_articulated(space)
