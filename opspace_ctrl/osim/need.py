# SPDX-License-Identifier: Apache-2.0
"""Which blocks of Omega the Rodriguez-Jain-Kreutz recursion needs ([Featherstone2010], figure 15)."""

from collections.abc import Iterable, Sequence

import numpy as np

from ..model.connectivity import ancestor


def need_table(
    parent: np.ndarray,
    task_bodies: Sequence[int],
    corrected: bool = True,
    skipped: Iterable[tuple[int, int]] = (),
) -> np.ndarray:
    """need(i, j), i <= j: Omega_ij has to be computed (figure 15).

    The figure marks (lambda(i), lambda(j)). When, of two task bodies on different branches, the
    lower-numbered one is deeper, this falls below the diagonal, is never visited, and leaves Omega_ij without
    its source. Corrected, the table marks (min, max) of the two.

    Args:
        parent: lambda (N,), -1 = world.
        task_bodies: the bodies of b.
        corrected: False gives the table as printed.
        skipped: pairs of task bodies whose block is found in another way.

    Returns:
        Booleans (N, N).
    """
    N = len(parent)
    need = np.zeros((N, N), bool)
    need[np.ix_(task_bodies, task_bodies)] = True
    for pair in skipped:
        need[pair] = False
    for i in range(N - 1, -1, -1):
        for j in range(N - 1, i - 1, -1):
            if not need[i, j]:
                continue
            source = (parent[i], parent[j])
            common = ancestor(parent, i, j)
            if i != j and common == i:
                source = (i, parent[j])
            elif corrected:
                source = (min(source), max(source))
            if common >= 0 and min(source) >= 0:
                need[source] = True
    return np.triu(need)
