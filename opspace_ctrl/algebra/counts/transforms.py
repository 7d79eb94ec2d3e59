"""By how many coordinate transforms RJK computes its blocks of Omega ([Featherstone2010], appendix B)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...model.connectivity import ancestor

__all__ = ["Transforms", "transforms"]


@dataclass(frozen=True)
class Transforms:
    """Coordinate transforms of one loop of figure 14, by number of screws."""

    two: int
    three: int

    @classmethod
    def of(cls, two_screw: np.ndarray) -> Transforms:
        """Split by screws: one boolean a transform."""
        return cls(int(np.count_nonzero(two_screw)), int(np.count_nonzero(~two_screw)))

    @property
    def total(self) -> int:
        """All transforms."""
        return self.two + self.three


def transforms(
    parent: np.ndarray, need: np.ndarray, two_screw: np.ndarray
) -> tuple[Transforms, ...]:
    """Transforms in the second (P), third (Omega_ii) and last loop (Omega_ij) of figure 14.

    Args:
        parent: lambda (N,).
        need: `need_table`.
        two_screw: booleans (N,), the links that reach their parent by two screws.
    """
    loops = [[i for i in range(len(parent)) if parent[i] >= 0], [], []]
    for i, j in zip(*np.nonzero(need)):
        if i == j:
            loops[1] += [i] if parent[i] >= 0 else []
        elif ancestor(parent, i, j) == i:
            loops[2] += [j]
        elif ancestor(parent, i, j) >= 0:
            loops[2] += [i, j]
    return tuple(Transforms.of(two_screw[np.array(bodies, int)]) for bodies in loops)
