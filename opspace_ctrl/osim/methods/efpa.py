# SPDX-License-Identifier: Apache-2.0
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
from ..blocks import product, store_product, store_zero
from ..build import TaskSpace
from ..fields import BY_ROWS, Space
from ..method import ARTICULATED, BY_RECURSION, Method
from ..propagate import carry_rows, gather_rows, project_innovations
from ..tasks import FRAME


class Efpa(Method):
    """The memory of EFPA: at every node on the way of a block, the rows K it carries and how V the body responds."""

    name = "efpa"
    leaves = ARTICULATED
    carries = BY_RECURSION

    way_nodes = count("nodes of all ways")
    K = scratch("6 * way_nodes, 8", "by lane: K at each place of a way")
    V = scratch("6 * way_nodes, 8", "by lane: V at each place of a way")

    @classmethod
    def for_space(cls, space: TaskSpace) -> Efpa:
        """Room for K and V of every node of a way."""
        return cls(way_nodes=space.way_nodes)


@kernel
def responses(space, own, b):
    """V along the way of block b: V_i = V_parent + S (K S - U^T V_parent) / D, base to tip.

    K S is Y_d, which `carry_rows` left. Needs Y_d, S_A, U, DA_inv. Writes own.V, by place on the way.
    """
    tree = space.tree
    S, D_inv = tree.S_A, tree.DA_inv
    v, first = zero_rows(), space.way_first[b]
    for e in range(first, first + space.way_length[b]):
        i = space.way_node[e]
        step = (space.Y_d[space.way_register[e], 0:W] - combination(tree.U, i, v)) * D_inv[i]
        v = subtract_outer(v, S, i, -step)
        store_rows(own.V, e, v)


@stage(Space, Efpa, fills="inertia_inv")
def inertia_inv(space, own):
    """Lambda^-1 by what two tasks carry to, and cause at, their common ancestor; J H^-1 x into Jx."""
    aba.articulated_inertias(space.tree)
    gather_rows(space)
    for b in range(space.blocks):
        if space.block_kind[b] == FRAME:
            carry_rows(space, b, own.K, True)
            responses(space, own, b)
    place = space.meeting_place
    for a in range(space.blocks):
        for b in range(a, space.blocks):
            if space.meeting[a, b] == BY_ROWS:
                product(space, a, b)
            elif space.meeting[a, b] < 0:
                store_zero(space, a, b)
            else:
                store_product(space, a, b, own.K, place[a, b], load_rows(own.V, place[b, a]))
    project_innovations(space)
