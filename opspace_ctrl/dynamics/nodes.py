# SPDX-License-Identifier: Apache-2.0
"""The expanded connectivity graph of a model: one node a degree of freedom ([Featherstone2010], figure 3)."""

import weakref

import numpy as np

from ..model import Model
from ..model.connectivity import depths, support
from ..model.joints import NV, planar_axes


class Nodes:
    """The nodes of a model, mimic followers included.

    Attributes:
        n: How many there are.
        first, last: (N,) first and last node of each body's joint.
        body: (n,) the body whose joint the node belongs to.
        parent, depth: (n,) parent node (-1 = world) and number of nodes above.
        before: (n,) the last node of the parent body's joint, -1 for the world.
        coordinate: (n,) entry of v that moves the node.
        axes: (N, 3, 3) rotation Q from the body's axes to those of its node, in which the joint axis is z.
    """

    def __init__(self, model: Model):
        self._model = weakref.ref(model)
        sizes = np.array(NV)[model.joint_type]
        self.last = np.cumsum(sizes) - 1
        self.first = self.last - sizes + 1
        self.n = int(np.sum(sizes))
        self.body = np.repeat(np.arange(len(sizes)), sizes)
        self.coordinate = model.v_index[self.body] + np.arange(self.n) - self.first[self.body]
        before = np.array([self.last[p] if p >= 0 else -1 for p in model.parent], dtype=int)
        self.before = before[self.body]
        is_first = np.arange(self.n) == self.first[self.body]
        self.parent = np.where(is_first, self.before, np.arange(self.n) - 1)
        self.depth = depths(self.parent) - 1
        axes = [planar_axes(axis) for axis in model.axis]
        self.axes = np.array(axes).reshape(-1, 3, 3)

    @property
    def model(self) -> Model:
        """The robot, while somebody else keeps it: a thread's tree of a model goes when the model does."""
        model = self._model()
        assert model is not None
        return model

    def path(self, node: int) -> list[int]:
        """The nodes from the root to `node` (empty for the world, -1)."""
        return support(self.parent, node)

    def leaves(self) -> list[int]:
        """Nodes that are nobody's parent."""
        return sorted(set(range(self.n)) - set(self.parent.tolist()))

    def roots(self) -> list[int]:
        """Nodes on the world."""
        return np.flatnonzero(self.parent < 0).tolist()
