# SPDX-License-Identifier: Apache-2.0
"""Operational-space inertia of the links of a free flyer, Lambda(k) = P(k) + S(k) ([Jain1995], lemma 4.1, algorithm 8).

P(k) is the articulated inertia of the tree above link k, S(k) its dual: that of the rest of the robot, felt through the
hinge of k. With X = M(p) + S(p) + sum of P+ over the brothers of k, p the parent (summed up, never subtracted):
    S(k) = X - X S_k (S_k^T X S_k + armature)^-1 S_k^T X,            S(base) = 0.
Tasks on several links meet at their nearest common ancestor g:  Lambda^-1_ab = K_{g,a} (P_g + S_g)^-1 K_{g,b}^T.
"""

from __future__ import annotations

from ...compiled.jit import stage
from ...compiled.workspace import constant, count, part, scratch
from ...dynamics import aba
from ...dynamics.dual import dual_inertias, dual_of
from ...dynamics.fields import Dual
from ...dynamics.rows import add_rows, invert, load_rows, store_rows
from ..blocks import product, store_product, store_zero
from ..build import TaskSpace
from ..fields import BY_ROWS, Space
from ..method import ARTICULATED, BY_RECURSION, Method
from ..propagate import carry_rows, gather_rows, project_innovations, times_rows
from ..tasks import FRAME


class BaseInvariant(Method):
    """The links where tasks meet, and the dual recursion on the way there."""

    name = "base_invariant"
    leaves = ARTICULATED
    carries = BY_RECURSION
    floating_only = True

    dual = part(Dual, "S(k) of the nodes on the way there")
    blocks = count("blocks of the tasks")
    way_nodes = count("nodes of all ways")
    meetings = count("links where tasks meet")
    meeting_link = constant("meetings", "last node of the joint of each of these links", int)
    meeting_of = constant("blocks, blocks", "which of them two tasks meet at, -1 for none", int)
    K = scratch("6 * way_nodes, 8", "by lane: K at each place of a way")
    Lambda_inv = scratch("6 * meetings, 8", "by lane: P + S of each meeting link, then its inverse")

    @classmethod
    def for_space(cls, space: TaskSpace) -> BaseInvariant:
        """Find the links at which two tasks meet, and allocate the dual recursion to them."""
        meet = space.supports.meetings
        links = sorted({int(g) for g in meet.flat if g >= 0})
        return cls(
            dual=dual_of(space.tree, links),
            blocks=space.blocks,
            way_nodes=space.way_nodes,
            meetings=len(links),
            meeting_link=links,
            meeting_of=[[links.index(g) if g >= 0 else -1 for g in row] for row in meet],
        )


@stage(Space, BaseInvariant, fills="inertia_inv")
def inertia_inv(space, own):
    """Lambda^-1 by the inertias of the links where tasks meet; J H^-1 x into Jx."""
    tree, inverse = space.tree, own.Lambda_inv
    aba.articulated_inertias(tree)
    dual_inertias(tree, own.dual)
    for k in range(own.meetings):
        link = own.meeting_link[k]
        store_rows(inverse, k, load_rows(tree.IA, link))
        add_rows(inverse, k, load_rows(own.dual.S, link))
        invert(inverse, k)
    gather_rows(space)
    for b in range(space.blocks):
        if space.block_kind[b] == FRAME:
            carry_rows(space, b, own.K, True)
    place = space.meeting_place
    for a in range(space.blocks):
        for b in range(a, space.blocks):
            if space.meeting[a, b] == BY_ROWS:
                product(space, a, b)
            elif space.meeting[a, b] < 0:
                store_zero(space, a, b)
            else:
                t = times_rows(inverse, own.meeting_of[a, b], load_rows(own.K, place[b, a]))
                store_product(space, a, b, own.K, place[a, b], t)
    project_innovations(space)
