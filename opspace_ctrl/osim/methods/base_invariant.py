"""Operational-space inertia of the links of a free flyer, Lambda(k) = P(k) + S(k) ([Jain1995], lemma 4.1, algorithm 8).

P(k) is the articulated inertia of the tree above link k, S(k) its dual: that of the rest of the robot, felt through the
hinge of k. With X = M(p) + S(p) + sum of P+ over the brothers of k, p the parent (summed up, never subtracted):
    S(k) = X - X S_k (S_k^T X S_k + armature)^-1 S_k^T X,            S(base) = 0.
Tasks on several links meet at their nearest common ancestor g:  Lambda^-1_ab = K_{g,a} (P_g + S_g)^-1 K_{g,b}^T.
"""

from __future__ import annotations

from ...compiled.jit import kernel
from ...compiled.lanes import W
from ...dynamics import aba
from ...dynamics.dual import through_hinge
from ...dynamics.pack import Nodes
from ...dynamics.rows import add_rows, invert, load_rows, store_rows, subtract_square
from ...model.connectivity import ancestor
from ..blocks import store_product, store_zero
from ..fields import METHOD
from ..method import Method
from ..pack import Supports
from ..propagate import carry_rows, project_articulated, times_rows

DUAL = METHOD  # by lane (6 (n + 1), 8): S(k)
CARRIED = METHOD + 1  # by lane (6 registers, 8): K of each slot
INVERSE = METHOD + 2  # by lane (6 meeting links, 8): (P + S)^-1
MEETING = METHOD + 3  # flat: the links where tasks meet
MEETINGS = METHOD + 4
# (blocks, blocks): which of them a pair of tasks meets at; -1 for separate robots
PLACE = METHOD + 5
# flat: the nodes whose dual inertia is wanted, base to tips; S of a base is zero
WANTED = METHOD + 6
WANTEDS = METHOD + 7


@kernel
def dual_inertias(space):
    """S of every wanted node, base to tips."""
    n = space.tree.n
    parent = space.tree.parent
    dual = own.dual
    wanted = own.wanted
    IA = space.tree.IA
    IW = space.tree.I
    U = space.tree.U
    dinv = space.tree.DA_inv
    for k in range(own.wanteds):
        i = wanted[k]
        p = parent[i]
        aba.inertia_to_lanes(IW, p, dual, i)
        add_rows(dual, i, load_rows(dual, p))
        for j in range(p + 1, n):
            if parent[j] == p and j != i:
                add_rows(dual, i, subtract_square(load_rows(IA, j), U[j, 0:W], U, j, dinv[j]))
        # the world's place serves as the way from lanes to numbers
        through_hinge(space.tree, dual, i, dual, 6 * n)


@kernel
def link_inertias(space):
    """P + S of every link in MEETING, into INVERSE (not yet inverted)."""
    aba.articulated_inertias(space.tree)
    dual_inertias(space)
    IA = space.tree.IA
    dual = own.dual
    out = own.inverse
    links = own.meeting
    for k in range(own.meetings):
        store_rows(out, k, load_rows(IA, links[k]))
        add_rows(out, k, load_rows(dual, links[k]))
    return 0


@kernel
def inertia_inv(space):
    """Lambda^-1 into LI, J H^-1 W into X."""
    link_inertias(space)
    for b in range(space.blocks):
        carry_rows(space, b, own.carried, True)
    inverse, K = own.inverse, own.carried
    common, place = space.common, own.place
    for k in range(own.meetings):
        invert(inverse, k)
    for a in range(space.blocks):
        for b in range(a, space.blocks):
            g = common[a, b] - 1
            if g < 0:
                store_zero(space, a, b)
            else:
                t = times_rows(inverse, place[a, b], load_rows(K, space.block_first[b] + g))
                store_product(
                    space, a, b, K, space.block_first[a] + g, t[0], t[1], t[2], t[3], t[4], t[5]
                )
    project_articulated(space)
    return 0


def link_tables(work: Workspace, nodes: Nodes, links: list[int]) -> None:
    """Which duals are wanted for the inertias of these links (last nodes of their joints)."""
    base = {i for i in range(nodes.n) if nodes.model.parent[nodes.body[i]] < 0}
    wanted = sorted({i for link in links for i in nodes.path(link)} - base)
    work.put(WANTED, wanted or [0], int)
    work.set_count(WANTEDS, len(wanted))
    work.put(MEETING, links, int)
    work.set_count(MEETINGS, len(links))
    work.zeros(DUAL, 6 * (nodes.n + 1), 8)
    work.zeros(INVERSE, 6 * len(links), 8)


def tables(work: Workspace, supports: Supports) -> None:
    """Where the tasks meet, and the way there."""
    nodes, ends = supports.nodes, [end for _, end, _ in supports.legs]
    meet = [[ancestor(nodes.parent, i, j) for j in ends] for i in ends]
    links = sorted({g for row in meet for g in row if g >= 0})
    link_tables(work, nodes, links)
    work.put(PLACE, [[links.index(g) if g >= 0 else -1 for g in row] for row in meet], int)
    work.zeros(CARRIED, 6 * int(supports.first[-1]), 8)


method = Method("base_invariant", inertia_inv, floating_only=True, tables=tables)
