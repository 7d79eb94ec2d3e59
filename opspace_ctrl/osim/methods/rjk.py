"""Rodriguez-Jain-Kreutz recursion for the needed blocks of Omega = S H^-1 S^T ([Featherstone2010] figures 14 and 15).

    Omega_ii = S_i D_i^-1 S_i^T + L_i Omega_pp L_i^T                         p = lambda(i)
    Omega_ij = Omega_i,lambda(j) L_j^T                                       if i supports j
    Omega_ij = L_i Omega_lambda(i),lambda(j) L_j^T                           if they are on different branches
    Lambda^-1 = B^T Omega B
In world axes phi is the identity and L = tau-bar^T = 1 - S D^-1 U^T. The need table is the corrected one: figure 15 as
printed marks (lambda(i), lambda(j)), which can lie below the diagonal and is then never computed; we mark (min, max).
"""

from __future__ import annotations

import numpy as np

from ...compiled.jit import kernel
from ...compiled.lanes import W, splat, total
from ...dynamics import aba
from ...dynamics.rows import load_rows, store_rows
from ...model.connectivity import ancestor
from ..blocks import store_product, store_zero
from ..fields import METHOD
from ..method import Method
from ..need import need_table
from ..pack import Supports
from ..propagate import project_articulated, times_rows

OMEGA = METHOD  # by lane (6 blocks of Omega, 8)
DIAGONAL = METHOD + 1  # (k, 3): node i, its place in OMEGA, its parent's place (-1: world)
# (k, 5): node i (-1: no left factor), node j, place, source's place, 1 if it is turned
OFF_DIAGONAL = METHOD + 2
TASK_PAIR = METHOD + 3  # (blocks, blocks): place of the block's Omega; -1 if it is zero
TRANSPOSED = METHOD + 4  # (blocks, blocks): 1 if it is stored the other way round
DIAGONALS = METHOD + 5
OFF_DIAGONALS = METHOD + 6
SCRATCH = METHOD + 7  # place of a spare block


@kernel
def diagonal_blocks(space):
    """Omega_ii, base to tips: with u = D^-1 Omega_pp U, a symmetric update of rank two."""
    Omega = own.omega
    table = own.diagonal
    S = space.tree.S
    SL = space.tree.S_lanes
    U, dinv = space.tree.U, space.tree.DA_inv
    for k in range(own.diagonals):
        i, place, source = table[k, 0], table[k, 1], table[k, 2]
        s, inverse = SL[i, 0:W], dinv[i]
        x = (splat(0.0), splat(0.0), splat(0.0), splat(0.0), splat(0.0), splat(0.0))
        if source >= 0:
            x = load_rows(Omega, source)
        u = (
            x[0] * U[i, 0]
            + x[1] * U[i, 1]
            + x[2] * U[i, 2]
            + x[3] * U[i, 3]
            + x[4] * U[i, 4]
            + x[5] * U[i, 5]
        )
        u = u * inverse
        # shares the S S^T term between both halves
        u = u - (0.5 * (total(u * U[i, 0:W]) + 1.0) * inverse) * s
        Omega[6 * place, 0:W] = u
        u0, u1, u2 = Omega[6 * place, 0], Omega[6 * place, 1], Omega[6 * place, 2]
        u3, u4, u5 = Omega[6 * place, 3], Omega[6 * place, 4], Omega[6 * place, 5]
        store_rows(
            Omega,
            place,
            (
                x[0] - S[0, i] * u - u0 * s,
                x[1] - S[1, i] * u - u1 * s,
                x[2] - S[2, i] * u - u2 * s,
                x[3] - S[3, i] * u - u3 * s,
                x[4] - S[4, i] * u - u4 * s,
                x[5] - S[5, i] * u - u5 * s,
            ),
        )


@kernel
def off_diagonal_blocks(space):
    """Omega_ij in rising order of i and j, so that every source is there."""
    Omega = own.omega
    table = own.off_diagonal
    U = space.tree.U
    dinv = space.tree.DA_inv
    S, SL, scratch = space.tree.S, space.tree.S_lanes, own.scratch
    for k in range(own.off_diagonals):
        i, j, source = table[k, 0], table[k, 1], table[k, 3]
        if table[k, 4] == 1:
            transpose_block(Omega, source, scratch)
            source = scratch
        x = load_rows(Omega, source)
        if i >= 0:
            u = (
                x[0] * U[i, 0]
                + x[1] * U[i, 1]
                + x[2] * U[i, 2]
                + x[3] * U[i, 3]
                + x[4] * U[i, 4]
                + x[5] * U[i, 5]
            )
            u = u * dinv[i]
            x = (
                x[0] - S[0, i] * u,
                x[1] - S[1, i] * u,
                x[2] - S[2, i] * u,
                x[3] - S[3, i] * u,
                x[4] - S[4, i] * u,
                x[5] - S[5, i] * u,
            )
        u, s = U[j, 0:W] * dinv[j], SL[j, 0:W]
        store_rows(
            Omega,
            table[k, 2],
            (
                x[0] - total(x[0] * u) * s,
                x[1] - total(x[1] * u) * s,
                x[2] - total(x[2] * u) * s,
                x[3] - total(x[3] * u) * s,
                x[4] - total(x[4] * u) * s,
                x[5] - total(x[5] * u) * s,
            ),
        )


@kernel
def transpose_block(Omega, source, target):
    """Write the transpose of a block into another."""
    for r in range(6):
        for c in range(6):
            Omega[6 * target + r, c] = Omega[6 * source + c, r]


@kernel
def inertia_inv(space):
    """Lambda^-1 = B^T Omega B into LI, B^T the task rows K; J H^-1 W into X."""
    aba.articulated_inertias(space.tree)
    diagonal_blocks(space)
    off_diagonal_blocks(space)
    Omega, K = own.omega, space.K
    pair, turned = own.task_pair, own.transposed
    scratch = own.scratch
    for a in range(space.blocks):
        for b in range(a, space.blocks):
            place = pair[a, b]
            if place < 0:
                store_zero(space, a, b)
                continue
            if turned[a, b] == 1:
                transpose_block(Omega, place, scratch)
                place = scratch
            t = times_rows(Omega, place, load_rows(K, space.block_leg[b]))
            store_product(space, a, b, K, space.block_leg[a], t[0], t[1], t[2], t[3], t[4], t[5])
    project_articulated(space)
    return 0


def tables(work: Workspace, supports: Supports) -> None:
    """The order of computation, and where each block of Omega is kept."""
    parent, ends = supports.nodes.parent, [end for _, end, _ in supports.legs]
    need = need_table(parent, ends)
    diagonal = np.flatnonzero(need.diagonal()).tolist()
    off_diagonal = [(int(i), int(j)) for i, j in np.argwhere(np.triu(need, 1))]
    place = {pair: k for k, pair in enumerate([(i, i) for i in diagonal] + off_diagonal)}
    rows = []
    for i, j in off_diagonal:
        common = ancestor(parent, i, j)
        p, q = (i, parent[j]) if common == i else (parent[i], parent[j])
        if common >= 0:  # blocks between separate robots are zero and stay so
            rows.append(
                (-1 if common == i else i, j, place[i, j], place[min(p, q), max(p, q)], int(p > q))
            )
    work.put(
        DIAGONAL,
        [(i, place[i, i], place[parent[i], parent[i]] if parent[i] >= 0 else -1) for i in diagonal],
        int,
    )
    work.put(OFF_DIAGONAL, rows or [(0, 0, 0, 0, 0)], int)
    work.set_count(DIAGONALS, len(diagonal))
    work.set_count(OFF_DIAGONALS, len(rows))
    work.set_count(SCRATCH, len(place))
    work.zeros(OMEGA, 6 * (len(place) + 1), 8)
    pair = [
        [place[min(i, j), max(i, j)] if ancestor(parent, i, j) >= 0 else -1 for j in ends]
        for i in ends
    ]
    work.put(TASK_PAIR, pair, int)
    work.put(TRANSPOSED, [[int(i > j) for j in ends] for i in ends], int)


method = Method("rjk", inertia_inv, tables=tables)
