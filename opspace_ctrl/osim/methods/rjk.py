# SPDX-License-Identifier: Apache-2.0
"""Rodriguez-Jain-Kreutz recursion for the needed blocks of Omega = S H^-1 S^T ([Featherstone2010] figures 14 and 15).

    Omega_ii = S_i D_i^-1 S_i^T + L_i Omega_pp L_i^T                         p = lambda(i)
    Omega_ij = Omega_i,lambda(j) L_j^T                                       if i supports j
    Omega_ij = L_i Omega_lambda(i),lambda(j) L_j^T                           if they are on different branches
    Lambda^-1 = B^T Omega B
In world axes phi is the identity and L = tau-bar^T = 1 - S D^-1 U^T. The need table is the corrected one: figure 15 as
printed marks (lambda(i), lambda(j)), which can lie below the diagonal and is then never computed; we mark (min, max).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...compiled.jit import kernel, stage
from ...compiled.lanes import W, total
from ...compiled.workspace import constant, count, scratch
from ...dynamics import aba
from ...dynamics.rows import (
    add_scaled,
    combination,
    load_rows,
    store_rows,
    subtract_outer,
    zero_rows,
)
from ...model.connectivity import ancestor
from ..blocks import product, store_product, store_zero
from ..build import TaskSpace
from ..fields import BY_ROWS, Space
from ..method import ARTICULATED, BY_RECURSION, Method
from ..need import need_table
from ..propagate import carry_needed_rows, project_articulated, times_rows


class Rjk(Method):
    """The blocks of Omega, each with a place (one more is spare), and the order in which they are computed."""

    name = "rjk"
    leaves = ARTICULATED
    carries = BY_RECURSION

    blocks = count("blocks of the tasks")
    diagonals = count("blocks Omega_ii")
    off_diagonals = count("blocks Omega_ij")
    places = count("places of blocks")
    diagonal_node = constant("diagonals", "node i", int)
    diagonal_place = constant("diagonals", "place of Omega_ii", int)
    diagonal_source = constant("diagonals", "place of its parent's, -1 for the world", int)
    left_node = constant("off_diagonals", "node i, -1 if there is no left factor", int)
    right_node = constant("off_diagonals", "node j", int)
    pair_place = constant("off_diagonals", "place of Omega_ij", int)
    pair_source = constant("off_diagonals", "place of what it is made from", int)
    source_is_turned = constant("off_diagonals", "1 if that is stored the other way round", int)
    task_place = constant(
        "blocks, blocks", "place of the Omega of two tasks, -1 if it is zero", int
    )
    task_is_turned = constant("blocks, blocks", "1 if that is stored the other way round", int)
    Omega = scratch("6 * (places + 1), 8", "by lane: the blocks of Omega")

    @classmethod
    def for_space(cls, space: TaskSpace) -> Rjk:
        """The method with its tables."""
        return cls(**cls.tables(space))

    @staticmethod
    def needed(
        parent: np.ndarray, ends: Sequence[int], apart: Sequence[tuple[int, int]]
    ) -> np.ndarray:
        """Booleans (n, n), i <= j: which blocks are computed for tasks on `ends`; pairs `apart` are found otherwise."""
        return need_table(parent, ends, skipped=apart)

    @staticmethod
    def source(parent: np.ndarray, i: int, j: int) -> tuple[int, int, bool]:
        """Which block Omega_ij, i < j, is made from, and whether L_i is a factor of it beside L_j^T."""
        supports = ancestor(parent, i, j) == i
        return (i, parent[j], False) if supports else (parent[i], parent[j], True)

    @classmethod
    def tables(cls, space: TaskSpace) -> dict[str, Any]:
        """The order of computation, and where each block of Omega is kept."""
        supports = space.supports
        parent, meet = supports.parent_A, supports.meetings
        ends, on_frame = [way[-1] for way in supports.ways], meet.diagonal() != BY_ROWS
        apart = [
            (ends[a], ends[b]) for a, b in np.argwhere(meet == BY_ROWS) if on_frame[[a, b]].all()
        ]
        need = cls.needed(parent, [ends[b] for b in np.flatnonzero(on_frame)], apart)
        diagonal = np.flatnonzero(need.diagonal()).tolist()
        off_diagonal = [(int(i), int(j)) for i, j in np.argwhere(np.triu(need, 1))]
        order = [(i, i) for i in diagonal] + off_diagonal
        place = {pair: k for k, pair in enumerate(order)}
        place[-1, -1] = -1
        rows = []
        for i, j in off_diagonal:
            if ancestor(parent, i, j) >= 0:  # blocks between separate robots are zero and stay so
                p, q, has_left = cls.source(parent, i, j)
                source = place[min(p, q), max(p, q)]
                rows.append((i if has_left else -1, j, place[i, j], source, int(p > q)))
        left, right, pair_place, pair_source, is_turned = np.array(rows).reshape(-1, 5).T
        return {
            "blocks": len(meet),
            "diagonals": len(diagonal),
            "off_diagonals": len(rows),
            "places": len(order),
            "diagonal_node": diagonal,
            "diagonal_place": [place[i, i] for i in diagonal],
            "diagonal_source": [place[parent[i], parent[i]] for i in diagonal],
            "left_node": left,
            "right_node": right,
            "pair_place": pair_place,
            "pair_source": pair_source,
            "source_is_turned": is_turned,
            "task_place": [
                [place[min(i, j), max(i, j)] if g >= 0 else -1 for j, g in zip(ends, row)]
                for i, row in zip(ends, meet)
            ],
            "task_is_turned": [[int(i > j) for j in ends] for i in ends],
        }


@kernel
def diagonal_blocks(tree, own):
    """Omega_ii, base to tips. Needs S_A, S_lanes, U, DA_inv. Writes Omega.

    Multiplied out, S D^-1 S^T + L Omega_pp L^T is Omega_pp - S w^T - w S^T + (1 + w^T U) D^-1 S S^T with
    w = D^-1 Omega_pp U. Half of the last term goes to either side of the other two:
        Omega_ii = Omega_pp - S u^T - u S^T,    u = w - 1/2 (1 + w^T U) D^-1 S
    """
    Omega, S, D_inv = own.Omega, tree.S_A, tree.DA_inv
    places, sources = own.diagonal_place, own.diagonal_source
    for k in range(own.diagonals):
        i, place = own.diagonal_node[k], 6 * places[k]
        s, inverse = tree.S_lanes[i, 0:W], D_inv[i]
        x = zero_rows()
        if sources[k] >= 0:
            x = load_rows(Omega, sources[k])
        u = combination(tree.U, i, x)
        u = u * inverse
        u = u - (0.5 * (total(u * tree.U[i, 0:W]) + 1.0) * inverse) * s
        Omega[place, 0:W] = u  # the way from lanes to numbers
        x = subtract_outer(x, S, i, u)
        store_rows(Omega, places[k], add_scaled(x, Omega, place, -s))


@kernel
def off_diagonal_blocks(tree, own):
    """Omega_ij = L_i Omega_source L_j^T in rising order of i and j, so that every source is there.

    The source is Omega_lambda(i),lambda(j), or Omega_i,lambda(j) if i supports j: then without L_i (`left_node` is -1).
    Where its mirror image is stored, the transpose goes to the spare place, which is the last.
    L_i x = x - S_i D_i^-1 (U_i^T x) changes the six rows together, x L_j^T = x - (x U_j) D_j^-1 S_j^T each by itself.
    Needs S_A, S_lanes, U, DA_inv and Omega_ii. Writes Omega.
    """
    Omega, spare, S, D_inv = own.Omega, own.places, tree.S_A, tree.DA_inv
    for k in range(own.off_diagonals):
        i, j, source = own.left_node[k], own.right_node[k], own.pair_source[k]
        if own.source_is_turned[k] == 1:
            transpose_block(Omega, source, spare)
            source = spare
        x = load_rows(Omega, source)
        if i >= 0:
            u = combination(tree.U, i, x)
            x = subtract_outer(x, S, i, u * D_inv[i])
        u, s = tree.U[j, 0:W] * D_inv[j], tree.S_lanes[j, 0:W]
        store_rows(
            Omega,
            own.pair_place[k],
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
def task_blocks(space, own):
    """Lambda^-1 = B^T Omega B, B^T the task rows K. Needs Omega and what `carry_needed_rows` carries."""
    leg, spare = space.block_leg, own.places
    for a in range(space.blocks):
        for b in range(a, space.blocks):
            place = own.task_place[a, b]
            if space.meeting[a, b] == BY_ROWS:
                product(space, a, b)
                continue
            if place < 0:
                store_zero(space, a, b)
                continue
            if own.task_is_turned[a, b] == 1:
                transpose_block(own.Omega, place, spare)
                place = spare
            t = times_rows(own.Omega, place, load_rows(space.K, leg[b]))
            store_product(space, a, b, space.K, leg[a], t)


@kernel
def blocks_by_recursion(space, own):
    """Lambda^-1 from the needed blocks of Omega, in the order of the tables; J H^-1 x into Jx."""
    aba.articulated_inertias(space.tree)
    carry_needed_rows(space)
    diagonal_blocks(space.tree, own)
    off_diagonal_blocks(space.tree, own)
    task_blocks(space, own)
    project_articulated(space)


@stage(Space, Rjk, fills="inertia_inv")
def inertia_inv(space, own):
    """Lambda^-1 by figure 14; J H^-1 x into Jx."""
    blocks_by_recursion(space, own)
