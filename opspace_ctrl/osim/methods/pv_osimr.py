"""PV-OSIMr: rows are carried only from one branching body to the next, O(n + m^2) ([Sathya2024]).

A *span* runs from a task, or from a branching body (with the identity as rows), down to just above the next branching
body A: it carries P, the rows seen from there, and O, the response of its own bodies. Then, base to tips over the
branching bodies only, W = O + P W_A P^T, and
    Lambda^-1_cc = O_c + P_c W_A P_c^T,      Lambda^-1_ab = K_{g,a} W_g K_{g,b}^T,
with g the nearest branching body that carries both tasks and K_{g,c} the rows of c passed from span to span.
"""

from __future__ import annotations

import numpy as np

from ...compiled.jit import kernel
from ...compiled.lanes import W, splat
from ...dynamics import aba
from ...dynamics.rows import load_rows, row_sum, store_rows
from ..blocks import store_product, store_zero
from ..fields import METHOD
from ..method import Method
from ..pack import Supports
from ..propagate import pass_on, project_articulated, times_rows

SPAN = METHOD  # (spans, 4): first of SPAN_NODE, how many, span of the branching body below (-1: world), leg or -1
SPAN_NODE = METHOD + 1  # flat: nodes of each span, tip first
SPANS = METHOD + 2
ROWS = METHOD + 3  # by lane (6 spans + 6, 8): P; the identity behind the last
RESPONSE = METHOD + 4  # by lane (6 spans, 8): O, then W of branching bodies
PASSED = METHOD + 5  # by lane (6 k, 8): K_{g,c} for every task c and branching body g below it
CHAIN = METHOD + 6  # (blocks, 2): first place in PASSED, how many
# (blocks, 2 blocks): how many branching bodies down a pair meets, from either side; -1 never
MEETING = METHOD + 7


@kernel
def carry_span(space, k):
    """P and O of span k: O += (P S) D^-1 (P S)^T, P = P L, node by node."""
    span = own.span
    nodes = own.span_node
    P = own.rows
    O = own.response
    S, U, dinv = space.tree.S, space.tree.U, space.tree.DA_inv
    x = load_rows(P, own.spans)
    if span[k, 3] >= 0:
        x = load_rows(space.K, span[k, 3])
    o = (splat(0.0), splat(0.0), splat(0.0), splat(0.0), splat(0.0), splat(0.0))
    for e in range(span[k, 0], span[k, 0] + span[k, 1]):
        i = nodes[e]
        y = row_sum(x, S, i)
        yd = y * dinv[i]
        O[6 * k, 0:W] = y  # O's own place serves as the way from lanes to numbers
        o = (
            o[0] + O[6 * k, 0] * yd,
            o[1] + O[6 * k, 1] * yd,
            o[2] + O[6 * k, 2] * yd,
            o[3] + O[6 * k, 3] * yd,
            o[4] + O[6 * k, 4] * yd,
            o[5] + O[6 * k, 5] * yd,
        )
        x = pass_on(x, yd, U, i)
    store_rows(O, k, o)
    store_rows(P, k, x)


@kernel
def add_response(P, k, W, g, O):
    """O_k += P_k W_g P_k^T."""
    t = times_rows(W, g, load_rows(P, k))
    for r in range(6):
        row = P[6 * k, r] * t[0] + P[6 * k + 1, r] * t[1] + P[6 * k + 2, r] * t[2]
        row = row + P[6 * k + 3, r] * t[3] + P[6 * k + 4, r] * t[4] + P[6 * k + 5, r] * t[5]
        O[6 * k + r, 0:W] = O[6 * k + r, 0:W] + row


@kernel
def pass_down(space, c):
    """K_{g,c} for each branching body g below task c: K_next = K P_g."""
    chain = own.chain
    span = own.span
    P = own.rows
    passed = own.passed
    x, g = load_rows(P, c), span[c, 2]
    for e in range(chain[c, 0], chain[c, 0] + chain[c, 1]):
        store_rows(passed, e, x)
        x = times_rows(P, g, x)
        g = span[g, 2]


@kernel
def inertia_inv(space):
    """Lambda^-1 into LI, J H^-1 W into X. Spans are numbered tasks first, then branching bodies from the base up."""
    aba.articulated_inertias(space.tree)
    span = own.span
    P = own.rows
    O = own.response
    blocks = space.blocks
    for k in range(own.spans):
        carry_span(space, k)
    for k in range(blocks, own.spans):
        if span[k, 2] >= 0:
            add_response(P, k, O, span[k, 2], O)
    chain, meeting, passed = own.chain, own.meeting, own.passed
    for a in range(blocks):
        if span[a, 2] >= 0:
            add_response(P, a, O, span[a, 2], O)
        _store_own(space, a)
        pass_down(space, a)
    for a in range(blocks):
        for b in range(a + 1, blocks):
            if meeting[a, 2 * b] < 0:
                store_zero(space, a, b)
                continue
            g, e = span[a, 2], meeting[a, 2 * b]
            for _ in range(e):
                g = span[g, 2]
            t = times_rows(O, g, load_rows(passed, chain[b, 0] + meeting[a, 2 * b + 1]))
            store_product(space, a, b, passed, chain[a, 0] + e, t[0], t[1], t[2], t[3], t[4], t[5])
    project_articulated(space)
    return 0


@kernel
def _store_own(space, a):
    """Lambda^-1_aa is the task's own response."""
    LI, O = space.Lambda_inv, own.response
    for r in range(space.block_rows[a]):
        LI[space.block_row[a] + r, space.block_row[a] : space.block_row[a] + W] = O[6 * a + r, 0:W]


def tables(work: Workspace, supports: Supports) -> None:
    """Branching bodies, spans, and where the chains of two tasks meet."""
    parent, ends = supports.nodes.parent, [end for _, end, _ in supports.legs]
    carrying = {i for end in ends for i in supports.nodes.path(end)}
    branching = sorted(
        i for i in carrying if sum(int(parent[j]) == i for j in carrying) + ends.count(i) >= 2
    )
    number = {i: len(ends) + k for k, i in enumerate(branching)}
    rows, nodes = [], []
    for leg, start in [*enumerate(ends), *((-1, i) for i in branching)]:
        run, i = [], start
        while i >= 0 and (i not in number or (leg < 0 and i == start)):
            run.append(int(i))
            i = int(parent[i])
        rows.append((len(nodes), len(run), number.get(i, -1), leg))
        nodes += run
    chains = []
    for c in range(len(ends)):
        chain, g = [], rows[c][2]
        while g >= 0:
            chain.append(g)
            g = rows[g][2]
        chains.append(chain)
    meeting = np.full((len(ends), 2 * len(ends)), -1)
    for a, ca in enumerate(chains):
        for b, cb in enumerate(chains):
            shared = [g for g in ca if g in cb]
            if shared:
                meeting[a, 2 * b : 2 * b + 2] = ca.index(shared[0]), cb.index(shared[0])
    lengths = [len(c) for c in chains]
    work.put(SPAN, rows, int)
    work.put(SPAN_NODE, nodes or [0], int)
    work.set_count(SPANS, len(rows))
    work.put(ROWS, np.vstack([np.zeros((6 * len(rows), 8)), np.eye(6, 8)]))
    work.zeros(RESPONSE, 6 * len(rows), 8)
    work.zeros(PASSED, 6 * max(sum(lengths), 1), 8)
    work.put(CHAIN, np.column_stack([np.cumsum([0, *lengths[:-1]]), lengths]), int)
    work.put(MEETING, meeting, int)


method = Method("pv_osimr", inertia_inv, tables=tables)
