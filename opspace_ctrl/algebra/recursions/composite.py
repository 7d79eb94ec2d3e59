# SPDX-License-Identifier: Apache-2.0
"""Composite bodies: r(k), the inertia of all that a joint carries, by ten parameters ([Rodriguez1992] (30)-(33)).

A spatial inertia is mass, mass times centre and rotational inertia: 1 + 3 + 6 numbers instead of a 6 x 6 matrix. In
axes that all links share (31) is then ten additions a link, which makes (30)-(33) the composite-rigid-body algorithm.
"""

import numpy as np
from numpy.typing import ArrayLike

from ...dynamics import entries
from ...dynamics.functions import run
from ...model import Model

_TRIANGLE = np.array([[0, 1, 2], [1, 3, 4], [2, 4, 5]])


def composite_bodies(model: Model, q: ArrayLike) -> np.ndarray:
    """r(k) of every body (N, 10): m [kg], m c (3) [kg m], xx xy xz yy yz zz [kg m^2] about the body's origin O_k.

    World axes; c from O_k to the centre of all bodies that the joint of k carries, k among them.
    """
    tree = run(model, entries.mass_matrix, (q,), "")
    last = tree.nodes.last
    ten, p = tree.Ic[:, last].T.copy(), tree.p[:, last].T
    from_tree = ten[:, 1:4].copy()
    ten[:, 1:4] -= ten[:, :1] * p
    ten[:, 4:] -= _moved(ten[:, 1:4], p) + _moved(p, from_tree)
    return ten


def _moved(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Upper triangle (N, 6) of a.b 1 - a b^T: the parallel-axis theorem from O_k to the tree's origin, in two terms."""
    matrix = np.einsum("ni,ni->n", a, b)[:, None, None] * np.eye(3) - np.einsum("ni,nj->nij", a, b)
    rows, columns = np.triu_indices(3)
    return matrix[:, rows, columns]


def spatial_inertias(ten: np.ndarray) -> np.ndarray:
    """The matrices (N, 6, 6) [I, m c x; -m c x, m] of ten parameters a body."""
    matrices = np.zeros((len(ten), 6, 6))
    matrices[:, :3, :3] = ten[:, 4:][:, _TRIANGLE]
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        matrices[:, k, 3 + j] = matrices[:, 3 + j, k] = ten[:, 1 + i]
        matrices[:, j, 3 + k] = matrices[:, 3 + k, j] = -ten[:, 1 + i]
        matrices[:, 3 + i, 3 + i] = ten[:, 0]
    return matrices
