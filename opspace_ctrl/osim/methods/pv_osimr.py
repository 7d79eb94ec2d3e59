# SPDX-License-Identifier: Apache-2.0
"""PV-OSIMr: rows are carried only from one branching body to the next, O(n + m^2) ([Sathya2024]).

A *span* runs from a task, or from a branching body (with the identity as rows), down to just above the next branching
body A: it carries P, the rows seen from there, and O, the response of its own bodies. Then, base to tips over the
branching bodies only, W = O + P W_A P^T, and
    Lambda^-1_cc = O_c + P_c W_A P_c^T,      Lambda^-1_ab = K_{g,a} W_g K_{g,b}^T,
with g the nearest branching body that carries both tasks and K_{g,c} the rows of c passed from span to span.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from ...compiled.jit import kernel, stage
from ...compiled.lanes import W
from ...compiled.workspace import constant, count, scratch
from ...dynamics import aba
from ...dynamics.rows import add_scaled, load_rows, row_sum, store_rows, zero_rows
from ..blocks import product, store_product, store_zero
from ..build import Supports, TaskSpace
from ..fields import BY_ROWS, Space
from ..method import ARTICULATED, BY_RECURSION, Method
from ..propagate import carry_needed_rows, pass_on, project_articulated, times_rows


class PvOsimr(Method):
    """The spans, numbered tasks first, then branching bodies from the base up; and where chains of spans meet."""

    name = "pv_osimr"
    leaves = ARTICULATED
    carries = BY_RECURSION

    blocks = count("blocks of the tasks")
    spans = count("spans")
    span_nodes = count("nodes of all spans")
    links = count("branching bodies below each task, summed over the tasks")
    span_first = constant("spans", "first of its places in span_node", int)
    span_length = constant("spans", "number of its nodes", int)
    span_below = constant("spans", "the span of the branching body below, -1 for the world", int)
    span_leg = constant("spans", "the leg it starts on, -1 for a branching body", int)
    span_node = constant("span_nodes", "nodes of each span, tip first", int)
    chain_first = constant("blocks", "first of a task's places in `passed`", int)
    chain_length = constant("blocks", "branching bodies below it", int)
    meeting = constant(
        "blocks, blocks",
        "branching bodies from task a down to where it meets task b, -1: never",
        int,
    )
    P = scratch(
        "6 * (spans + 1), 8",
        "by lane: rows carried to the end of each span; behind the last the identity",
    )
    O = scratch("6 * spans, 8", "by lane: response of each span, then W of branching bodies")
    passed = scratch(
        "6 * max(links, 1), 8", "by lane: K_{g,c} for every task c and branching body g below it"
    )

    @classmethod
    def for_space(cls, space: TaskSpace) -> PvOsimr:
        """Branching bodies, spans, and where the chains of two tasks meet."""
        rows, span_node = _spans(space.supports)
        chains = []
        for c in range(space.blocks):
            chain, g = [], rows[c][2]
            while g >= 0:
                chain.append(g)
                g = rows[g][2]
            chains.append(chain)
        meeting = np.full((len(chains), len(chains)), -1)
        for a, own in enumerate(chains):
            for b, other in enumerate(chains):
                shared = [g for g in own if g in other]
                if shared:
                    meeting[a, b] = own.index(shared[0])
        lengths = [len(chain) for chain in chains]
        first, length, below, leg = np.array(rows).T
        made = cls(
            blocks=len(chains),
            spans=len(rows),
            span_nodes=len(span_node),
            links=sum(lengths),
            span_first=first,
            span_length=length,
            span_below=below,
            span_leg=leg,
            span_node=span_node,
            chain_first=np.cumsum([0, *lengths])[:-1],
            chain_length=lengths,
            meeting=meeting,
        )
        made.P[6 * len(rows) :] = np.eye(6, 8)
        return made


def _spans(supports: Supports) -> tuple[list[tuple[int, int, int, int]], list[int]]:
    """(first place, length, span below, leg) of every span, and the nodes of all of them.

    A block that is not on one frame has an empty span: its rows are carried in another way.
    """
    parent, ends = supports.parent_A, [-1] * len(supports.blocks)
    legs = {b: k for k, (b, _, _) in reversed([*enumerate(supports.legs)])}
    for b in np.flatnonzero(supports.meetings.diagonal() != BY_ROWS):
        ends[b] = supports.ways[b][-1]
    carrying = {i for b, end in enumerate(ends) if end >= 0 for i in supports.ways[b]}
    tasks = Counter([*ends, *(int(parent[j]) for j in carrying)])
    branching = sorted(i for i in carrying if tasks[i] >= 2)
    number = {i: len(ends) + k for k, i in enumerate(branching)}
    rows: list[tuple[int, int, int, int]] = []
    span_node: list[int] = []
    starts = [(legs.get(b, -1), end) for b, end in enumerate(ends)]
    for leg, start in [*starts, *((-1, i) for i in branching)]:
        run, i = [], start
        while i >= 0 and (i not in number or (leg < 0 and i == start)):
            run.append(int(i))
            i = int(parent[i])
        rows.append((len(span_node), len(run), number.get(i, -1), leg))
        span_node += run
    return rows, span_node


@kernel
def carry_span(space, own, k):
    """P and O of span k: O += (P S) D^-1 (P S)^T, P = P L, node by node."""
    tree, O = space.tree, own.O
    S, D_inv = tree.S_A, tree.DA_inv
    x = load_rows(own.P, own.spans)
    if own.span_leg[k] >= 0:
        x = load_rows(space.K, own.span_leg[k])
    o = zero_rows()
    first = own.span_first[k]
    for e in range(first, first + own.span_length[k]):
        i = own.span_node[e]
        y = row_sum(x, S, i)
        yd = y * D_inv[i]
        O[6 * k, 0:W] = y  # its own place serves as the way from lanes to numbers
        o = add_scaled(o, O, 6 * k, yd)
        x = pass_on(x, yd, tree.U, i)
    store_rows(O, k, o)
    store_rows(own.P, k, x)


@kernel
def add_response(P, k, g, O):
    """O_k += P_k W_g P_k^T, W_g being O_g of a branching body that is complete."""
    t = times_rows(O, g, load_rows(P, k))
    for r in range(6):
        row = P[6 * k, r] * t[0] + P[6 * k + 1, r] * t[1] + P[6 * k + 2, r] * t[2]
        row = row + P[6 * k + 3, r] * t[3] + P[6 * k + 4, r] * t[4] + P[6 * k + 5, r] * t[5]
        O[6 * k + r, 0:W] = O[6 * k + r, 0:W] + row


@kernel
def pass_down(own, c):
    """K_{g,c} for each branching body g below task c: K_next = K P_g."""
    below = own.span_below
    x, g = load_rows(own.P, c), below[c]
    first = own.chain_first[c]
    for e in range(first, first + own.chain_length[c]):
        store_rows(own.passed, e, x)
        x = times_rows(own.P, g, x)
        g = below[g]


@stage(Space, PvOsimr, fills="inertia_inv")
def inertia_inv(space, own):
    """Lambda^-1 by what two tasks pass to, and how it responds at, the branching body where they meet."""
    aba.articulated_inertias(space.tree)
    carry_needed_rows(space)
    below, O, blocks = own.span_below, own.O, space.blocks
    for k in range(own.spans):
        carry_span(space, own, k)
    for k in range(blocks, own.spans):
        if below[k] >= 0:
            add_response(own.P, k, below[k], O)
    for a in range(blocks):
        if below[a] >= 0:
            add_response(own.P, a, below[a], O)
        pass_down(own, a)
    for a in range(blocks):
        for b in range(a, blocks):
            e = own.meeting[a, b]
            if space.meeting[a, b] == BY_ROWS:
                product(space, a, b)
                continue
            if a == b:
                _store_own(space, own, a)
                continue
            if e < 0:
                store_zero(space, a, b)
                continue
            g = below[a]
            for _ in range(e):
                g = below[g]
            t = times_rows(O, g, load_rows(own.passed, own.chain_first[b] + own.meeting[b, a]))
            store_product(space, a, b, own.passed, own.chain_first[a] + e, t)
    project_articulated(space)


@kernel
def _store_own(space, own, a):
    """Lambda^-1_aa is the task's own response."""
    row = space.block_row[a]
    for r in range(space.block_rows[a]):
        space.Lambda_inv[row + r, row : row + W] = own.O[6 * a + r, 0:W]
