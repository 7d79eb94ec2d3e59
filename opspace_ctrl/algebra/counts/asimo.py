# SPDX-License-Identifier: Apache-2.0
"""Connectivity of ASIMO Next-Generation and its variants ([Featherstone2010], figure 11 and table 3)."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...model.connectivity import children, depths, expand, subtree


@dataclass(frozen=True)
class Mechanism:
    """A kinematic tree and the bodies of its task; six task rows a body.

    Attributes:
        name: as in table 3.
        space: the operational space, HF, HFH or FTF.
        parent: lambda (N,), -1 = world.
        dof: n_i (N,).
        task_bodies: bodies whose spatial velocities are the task.
    """

    name: str
    space: str
    parent: np.ndarray
    dof: np.ndarray
    task_bodies: tuple[int, ...]

    @cached_property
    def _expanded(self) -> tuple[np.ndarray, np.ndarray]:
        return expand(self.parent, self.dof)

    @property
    def lambda_e(self) -> np.ndarray:
        """Parents of the coordinates (n,), figure 4."""
        return self._expanded[0]

    @property
    def b_e(self) -> np.ndarray:
        """Last coordinate that moves each task row (m,), figure 4."""
        return np.repeat(self._expanded[1][list(self.task_bodies)], 6)

    @property
    def n(self) -> int:
        """Coordinates."""
        return len(self.lambda_e)

    @property
    def m(self) -> int:
        """Task rows."""
        return len(self.b_e)

    @property
    def d(self) -> int:
        """Depth of the expanded tree."""
        return int(depths(self.lambda_e).max())

    @cached_property
    def subtree_sizes(self) -> np.ndarray:
        """|nu(i)| (N,)."""
        return np.array([len(subtree(self.parent, i)) for i in range(len(self.parent))])

    @cached_property
    def two_screw(self) -> np.ndarray:
        """Booleans (N,): links that reach their parent by two axial screws, one child a body (appendix B).

        The paper leaves open which one; the child with the largest subtree, the first of equals, gives its
        figures.
        """
        two = np.zeros(len(self.parent), bool)
        for i in range(len(self.parent)):
            below = children(self.parent, i)
            if below:
                two[max(below, key=lambda child: self.subtree_sizes[child])] = True
        return two


def asimo_variant(
    space: str = "HF",
    *,
    extra_joints_per_limb: int = 0,
    arms: int = 2,
    legs: int = 2,
    fingers: int = 2,
    finger_joints: int = 1,
    name: str = "ASIMO",
) -> Mechanism:
    """ASIMO with its torso as floating base: head 3, each arm 7 and a hand, waist 1, each leg 6 joints.

    Args:
        space: HF (hands, feet), HFH (hands, feet, head) or FTF (forefingers, thumbs, feet).
        extra_joints_per_limb: added to every arm and leg.
        arms: number of arms.
        legs: number of legs.
        fingers: per hand; the first is the forefinger, the last the thumb.
        finger_joints: joints of a finger.
        name: label of the mechanism.

    Raises:
        KeyError: `space` is none of the three.
    """
    parent: list[int] = []

    def chain(root: int, length: int) -> int:
        """Append `length` bodies in a row; the last one's index."""
        for _ in range(length):
            parent.append(root)
            root = len(parent) - 1
        return root

    torso = chain(-1, 1)
    head = chain(torso, 3)
    hands, tips = [], []
    for _ in range(arms):
        hands.append(chain(torso, 7 + extra_joints_per_limb))
        hand_tips = [chain(hands[-1], finger_joints) for _ in range(fingers)]
        tips += [hand_tips[0], hand_tips[-1]]
    waist = chain(torso, 1)
    feet = [chain(waist, 6 + extra_joints_per_limb) for _ in range(legs)]
    tasks = {"HF": hands + feet, "HFH": hands + feet + [head], "FTF": tips + feet}[space]
    dof = np.ones(len(parent), np.int64)
    dof[torso] = 6
    return Mechanism(name, space, np.array(parent), dof, tuple(tasks))
