# SPDX-License-Identifier: Apache-2.0
"""The entries of H, L and J that may be nonzero: branch-induced sparsity [Featherstone2010, sections 3, 5]."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..model import Model
from ..model.connectivity import merged_pattern, support
from ..model.joints import NV


@dataclass(frozen=True)
class Patterns:
    """Booleans, true where an entry is free to be nonzero.

    H (n, n) and J (6 per frame, n) as the joints couple; L (n, n) as H = L^T L fills it, more than the
    lower triangle of H only where mimic joints couple branches.
    """

    H: np.ndarray
    L: np.ndarray
    J: np.ndarray


def sparsity(model: Model, frames: Sequence[str]) -> Patterns:
    """The patterns of a model, J stacking the 6 rows of each frame.

    Raises:
        UnknownFrameError: a frame that the model does not have.
    """
    n, moving = model.nv, _moving_coordinates(model)
    L = np.zeros((n, n), dtype=bool)
    for i in range(n):
        L[i, support(model.parent_expanded, i)] = True
    J = np.zeros((6 * len(frames), n), dtype=bool)
    for row, name in enumerate(frames):
        body = model.frame_body[model.frame_index(name)]
        if body >= 0:
            J[6 * row : 6 * row + 6, sorted(moving[body])] = True
    return Patterns(merged_pattern(moving, n), L, J)


def coordinate_body(model: Model) -> np.ndarray:
    """(n,) the body whose joint each coordinate belongs to; of a mimic group the leader's."""
    owner = np.full(model.nv, -1)
    for body in np.flatnonzero(~model.is_mimic):
        owner[_coordinates(model, int(body))] = body
    return owner


def _coordinates(model: Model, body: int) -> list[int]:
    first = int(model.v_index[body])
    return list(range(first, first + NV[model.joint_type[body]]))


def _moving_coordinates(model: Model) -> list[set[int]]:
    """For each body the coordinates that move it."""
    moving: list[set[int]] = []
    for body, parent in enumerate(model.parent):
        inherited = moving[parent] if parent >= 0 else set()
        moving.append(inherited.union(_coordinates(model, body)))
    return moving
