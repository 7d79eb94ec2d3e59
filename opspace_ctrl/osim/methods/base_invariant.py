"""Operational-space inertia of the links of a free flyer, Lambda(k) = P(k) + S(k) ([Jain1995], lemma 4.1, algorithm 8).

P(k) is the articulated inertia of the tree above link k, S(k) its dual: that of the rest of the robot, felt through the
hinge of k. With X = M(p) + S(p) + sum of P+ over the brothers of k, p the parent (summed up, never subtracted):
    S(k) = X - X S_k (S_k^T X S_k + armature)^-1 S_k^T X,            S(base) = 0.
Tasks on several links meet at their nearest common ancestor g:  Lambda^-1_ab = K_{g,a} (P_g + S_g)^-1 K_{g,b}^T.
"""

from __future__ import annotations

from ...compiled.jit import kernel, stage
from ...compiled.workspace import constant, count, scratch
from ...dynamics import aba
from ...dynamics.dual import through_hinge, updated_inertia
from ...dynamics.rows import add_rows, invert, load_rows, store_rows
from ...model.connectivity import ancestor
from ..blocks import store_product, store_zero
from ..build import TaskSpace
from ..fields import Space
from ..method import Method
from ..propagate import carry_rows, project_articulated, times_rows


class BaseInvariant(Method):
    """The links where tasks meet, and the nodes on the way there."""

    name = "base_invariant"
    floating_only = True

    n = count("nodes of the tree")
    blocks = count("blocks of the tasks")
    registers = count("slots of all blocks")
    meetings = count("links where tasks meet")
    wanted = count("nodes whose dual inertia is wanted; that of a base is zero")
    meeting_link = constant("meetings", "last node of the joint of each of these links", int)
    meeting_of = constant(
        "blocks, blocks", "which of them two tasks meet at, -1 for separate robots", int
    )
    wanted_node = constant("wanted", "these nodes, base to tips", int)
    S = scratch("6 * (n + 1), 8", "by lane: S(k)")
    u = scratch("1, 8", "by lane: S+ S_k of one node")
    K = scratch("6 * registers, 8", "by lane: K of each slot")
    Lambda_inv = scratch("6 * meetings, 8", "by lane: P + S of each meeting link, then its inverse")

    @classmethod
    def for_space(cls, space: TaskSpace) -> BaseInvariant:
        """Where the tasks meet, and the way there."""
        nodes, ends = space.supports.nodes, space.supports.ends()
        meet = [[ancestor(nodes.parent, i, j) for j in ends] for i in ends]
        links = sorted({g for row in meet for g in row if g >= 0})
        base = {i for i in range(nodes.n) if nodes.before[i] < 0}
        wanted = sorted({i for link in links for i in nodes.path(link)} - base)
        return cls(
            n=nodes.n,
            blocks=len(ends),
            registers=space.registers,
            meetings=len(links),
            wanted=len(wanted),
            meeting_link=links,
            meeting_of=[[links.index(g) if g >= 0 else -1 for g in row] for row in meet],
            wanted_node=wanted,
        )


@kernel
def dual_inertias(tree, own):
    """S of every wanted node, base to tips. Needs I, S, IA, U, DA_inv."""
    parent, S = tree.parent, own.S
    for k in range(own.wanted):
        i = own.wanted_node[k]
        p = parent[i]
        aba.inertia_to_lanes(tree.I, p, S, i)
        add_rows(S, i, load_rows(S, p))
        for j in range(p + 1, tree.n):
            if parent[j] == p and j != i:
                add_rows(S, i, updated_inertia(tree, j))
        through_hinge(tree, S, i, own.u, 0)


@stage(Space, BaseInvariant, fills="inertia_inv")
def inertia_inv(space, own):
    """Lambda^-1 by the inertias of the links where tasks meet; J H^-1 x into Jx."""
    tree, inverse = space.tree, own.Lambda_inv
    aba.articulated_inertias(tree)
    dual_inertias(tree, own)
    for k in range(own.meetings):
        link = own.meeting_link[k]
        store_rows(inverse, k, load_rows(tree.IA, link))
        add_rows(inverse, k, load_rows(own.S, link))
        invert(inverse, k)
    for b in range(space.blocks):
        carry_rows(space, b, own.K, True)
    first, common = space.block_first, space.common
    for a in range(space.blocks):
        for b in range(a, space.blocks):
            g = common[a, b] - 1
            if g < 0:
                store_zero(space, a, b)
            else:
                t = times_rows(inverse, own.meeting_of[a, b], load_rows(own.K, first[b] + g))
                store_product(space, a, b, own.K, first[a] + g, t)
    project_articulated(space)
