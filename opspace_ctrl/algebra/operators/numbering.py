# SPDX-License-Identifier: Apache-2.0
"""The papers' numbering, tip (1) to base (N), beside ours, base (0) to tips (N - 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .algebra import Atom, Space, SpatialOperator

if TYPE_CHECKING:
    from .operators import SpatialOperators


class TipToBase:
    """Shows operators and vectors in the papers' order; nothing is stored in it.

    The papers' body number is N - k for body k. On a tree every body comes before its parent, so that phi and psi
    are block lower triangular, as the papers print them. A joint's own coordinates keep their order.

    Attributes:
        bodies: (N,) our number of the papers' bodies 1 .. N.
        permutations: for each space, the operator that takes a vector from our order to the papers'.
    """

    def __init__(self, operators: SpatialOperators):
        quantities, spaces = operators.quantities, operators.spaces
        self.bodies = np.arange(len(quantities.parent))[::-1]
        joints = [
            quantities.rows[k, : quantities.dofs[k]]
            for k in self.bodies
            if not operators.model.is_mimic[k]
        ]
        orders = {
            "joint": np.concatenate([*joints, np.zeros(0, int)]),
            "body": (6 * self.bodies[:, None] + np.arange(6)).ravel(),
            "task": np.arange(spaces["task"].size),
        }
        self.permutations = {
            name: _permutation(order.astype(int), spaces[name]) for name, order in orders.items()
        }

    def number(self, body: int) -> int:
        """The papers' number of a body: 1 is a tip, N a root."""
        return len(self.bodies) - body

    def __call__(self, operator: SpatialOperator) -> SpatialOperator:
        """The operator on vectors in the papers' order."""
        rows, columns = (
            self.permutations[operator.rows.name],
            self.permutations[operator.columns.name],
        )
        return rows @ operator @ columns.T


def _permutation(order: np.ndarray, space: Space) -> Atom:
    back = np.argsort(order)
    papers = Space(f"{space.name}, tip to base,", space.size, space.owner)
    return Atom(f"order_{space.name}", papers, space, lambda x: x[order], lambda x: x[back])
