# SPDX-License-Identifier: Apache-2.0
"""RJK as it was published, with psi = phi taubar multiplied out and all of Omega ([Rodriguez1992b]).

    Omega_ii = H_i^T D_i^-1 H_i + psi_i^T Omega_pp psi_i,   Omega_ij = [psi_i^T] Omega_.. psi_j
[Featherstone2010] appendix B keeps phi and taubar apart and computes the needed blocks alone: `osim.methods.rjk`. In
world axes phi = 1, and psi^T is L = 1 - S D^-1 U^T.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...compiled.jit import kernel, stage
from ...compiled.workspace import count, scratch
from ...dynamics import aba
from ...osim.build import TaskSpace
from ...osim.fields import Space
from ...osim.methods.rjk import Rjk, task_blocks
from ...osim.propagate import carry_needed_rows, project_articulated


class RjkOriginal(Rjk):
    """All blocks of Omega on and above the diagonal, and psi of every node."""

    name = "rjk_original"

    nodes = count("nodes of the robot")
    psi_T = scratch("6 * nodes, 6", "psi_i^T = 1 - S D^-1 U^T")
    product = scratch("6, 6", "half of psi_i^T Omega psi_j")

    @staticmethod
    def needed(
        parent: np.ndarray, ends: Sequence[int], apart: Sequence[tuple[int, int]]
    ) -> np.ndarray:
        """Everything: the original does not ask what is needed."""
        return np.triu(np.ones((len(parent), len(parent)), bool))

    @classmethod
    def tables(cls, space: TaskSpace) -> dict[str, Any]:
        """Those of RJK, and the number of nodes."""
        return {"nodes": len(space.supports.parent_A), **super().tables(space)}


@kernel
def multiply_out(tree, own):
    """psi_i^T of every node. Needs S_A, U, DA_inv."""
    for i in range(own.nodes):
        for r in range(6):
            for c in range(6):
                one = 1.0 if r == c else 0.0
                own.psi_T[6 * i + r, c] = one - tree.S_A[r, i] * tree.DA_inv[i] * tree.U[i, c]


@kernel
def transform(own, left, source, is_turned, right, place):
    """Omega[place] = psi_left^T Omega[source] psi_right by two products of 6 x 6 matrices; without the left if -1."""
    Omega, psi_T, half = own.Omega, own.psi_T, own.product
    for r in range(6):
        for c in range(6):
            found = 0.0
            for k in range(6):
                if is_turned == 1:
                    found += Omega[6 * source + k, r] * psi_T[6 * right + c, k]
                else:
                    found += Omega[6 * source + r, k] * psi_T[6 * right + c, k]
            half[r, c] = found
    for r in range(6):
        for c in range(6):
            found = half[r, c]
            if left >= 0:
                found = 0.0
                for k in range(6):
                    found += psi_T[6 * left + r, k] * half[k, c]
            Omega[6 * place + r, c] = found


@kernel
def all_blocks(tree, own):
    """Omega, diagonal first. Needs S_A, DA_inv and psi_T."""
    for k in range(own.diagonals):
        i, place = own.diagonal_node[k], own.diagonal_place[k]
        for r in range(6):
            for c in range(6):
                own.Omega[6 * place + r, c] = 0.0
        if own.diagonal_source[k] >= 0:
            transform(own, i, own.diagonal_source[k], 0, i, place)
        for r in range(6):
            for c in range(6):
                own.Omega[6 * place + r, c] += tree.S_A[r, i] * tree.DA_inv[i] * tree.S_A[c, i]
    for k in range(own.off_diagonals):
        transform(
            own,
            own.left_node[k],
            own.pair_source[k],
            own.source_is_turned[k],
            own.right_node[k],
            own.pair_place[k],
        )


@stage(Space, RjkOriginal, fills="inertia_inv")
def inertia_inv(space, own):
    """Lambda^-1 = B^T Omega B from all of Omega; J H^-1 x into Jx."""
    tree = space.tree
    aba.articulated_inertias(tree)
    carry_needed_rows(space)
    multiply_out(tree, own)
    all_blocks(tree, own)
    task_blocks(space, own)
    project_articulated(space)
