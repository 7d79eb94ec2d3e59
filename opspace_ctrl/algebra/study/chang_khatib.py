# SPDX-License-Identifier: Apache-2.0
"""The recursion of Chang and Khatib: one side at a time ([Featherstone2010] appendix B).

    Omega_ij = Omega_i,lambda(j) L_j^T     whether i supports j or not
It differs from `osim.methods.rjk` where i and j are on different branches: there RJK steps on both sides at once. One
factor a block instead of two, but more blocks: all between one branch's bodies and the other's.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...compiled.jit import stage
from ...model.connectivity import ancestor
from ...osim.fields import Space
from ...osim.methods.rjk import Rjk, blocks_by_recursion


class ChangKhatib(Rjk):
    """The tables of the one-sided recursion; the kernels are those of RJK."""

    name = "chang_khatib"

    @staticmethod
    def needed(
        parent: np.ndarray, ends: Sequence[int], apart: Sequence[tuple[int, int]]
    ) -> np.ndarray:
        """Figure 15 for this recursion: Omega_ij, i < j, needs Omega_i,lambda(j)."""
        need = np.zeros((len(parent), len(parent)), bool)
        pending = [(min(i, j), max(i, j)) for i in ends for j in ends if (i, j) not in set(apart)]
        while pending:
            i, j = pending.pop()
            if need[i, j] or ancestor(parent, i, j) < 0:
                continue
            need[i, j] = True
            other = parent[i] if i == j else i
            if parent[j] >= 0:
                pending.append((min(other, parent[j]), max(other, parent[j])))
        return need

    @staticmethod
    def source(parent: np.ndarray, i: int, j: int) -> tuple[int, int, bool]:
        """Omega_i,lambda(j), and no factor on the left."""
        return i, int(parent[j]), False


@stage(Space, ChangKhatib, fills="inertia_inv")
def inertia_inv(space, own):
    """Lambda^-1 by the one-sided recursion; J H^-1 x into Jx."""
    blocks_by_recursion(space, own)
