# SPDX-License-Identifier: Apache-2.0
"""The connectivity of a kinematic tree, from its parent array [Featherstone2010, sections 2 and 8].

The paper counts from 1 and calls the fixed base 0; here bodies and coordinates count from 0 and the fixed
world is -1. A parent array lambda has -1 <= lambda[i] < i.
"""

import numpy as np


def children(parent: np.ndarray, i: int) -> list[int]:
    """mu(i) = {j : lambda(j) = i}, ascending; i = -1 gives the bodies on the world."""
    return [int(j) for j in np.flatnonzero(parent == i)]


def support(parent: np.ndarray, i: int) -> list[int]:
    """kappa(i) = {i} u kappa(lambda(i)), ascending; kappa(-1) is empty."""
    path = []
    while i >= 0:
        path.append(int(i))
        i = parent[i]
    return path[::-1]


def subtree(parent: np.ndarray, i: int) -> list[int]:
    """nu(i) = {j : i in kappa(j)}, ascending."""
    inside = np.zeros(len(parent) + 1, dtype=bool)  # the last entry stands for the world, index -1
    inside[i] = True
    for j in range(i + 1, len(parent)):
        inside[j] = inside[parent[j]]
    return [int(j) for j in np.flatnonzero(inside[:-1])]


def ancestor(parent: np.ndarray, p: int, q: int) -> int:
    """The nearest common ancestor of p and q (one of them, possibly), -1 if they share only the world."""
    while p != q:
        if p > q:
            p = parent[p]
        else:
            q = parent[q]
    return int(p)


def depths(parent: np.ndarray) -> np.ndarray:
    """|kappa(i)| (n,): the number of nodes on the path from the world to each node, itself included."""
    # the last entry stands for the world, index -1
    count = np.zeros(len(parent) + 1, dtype=np.int64)
    for i, p in enumerate(parent):
        count[i] = count[p] + 1
    return count[:-1]


def expand(parent: np.ndarray, dof: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The expanded parent array lambda_e: a joint of n_i freedoms becomes a chain of n_i nodes (figure 4).

    Args:
        parent: lambda (N,).
        dof: n_i (N,), at least 1 each.

    Returns:
        lambda_e (n,) with n = sum n_i, and map (N,): the last coordinate of each body, so that b_e = map[b].
    """
    last = np.cumsum(dof) - 1
    parent_expanded = np.arange(-1, int(np.sum(dof)) - 1, dtype=np.int64)
    for i, p in enumerate(parent):
        parent_expanded[last[i] - dof[i] + 1] = last[p] if p >= 0 else -1
    return parent_expanded, last


def merged_pattern(supports: list[set[int]], n: int) -> np.ndarray:
    """The pattern of H (n, n): H_jk may be nonzero when some body is moved by both coordinates j and k.

    Args:
        supports: for each body the coordinates that move it (with mimic joints: of whichever branch).
        n: number of coordinates.
    """
    moves = np.zeros((len(supports), n), dtype=np.float32)
    for row, coordinates in zip(moves, supports):
        row[list(coordinates)] = 1.0
    return moves.T @ moves > 0.0


def elimination_tree(pattern: np.ndarray) -> np.ndarray:
    """The parent array of the LTL factor of a symmetric pattern, eliminated from the last row to the first.

    parent(k) = max {j < k : L_kj != 0}, with the fill that eliminating k = n-1 .. 0 causes. For a pattern
    with branch-induced sparsity this is lambda_e again, without fill.

    Args:
        pattern: symmetric booleans (n, n).

    Returns:
        parent (n,), -1 at the roots.
    """
    n = len(pattern)
    filled = np.tril(pattern, -1)
    parent = np.full(n, -1, dtype=np.int64)
    for k in range(n - 1, -1, -1):
        row = np.flatnonzero(filled[k])
        if len(row):
            parent[k] = row[-1]
            # Eliminating k couples all it is coupled to; passing the row to its parent carries that on.
            filled[row[-1], row[:-1]] = True
    return parent
