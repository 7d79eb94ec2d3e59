# SPDX-License-Identifier: Apache-2.0
"""One node a link: algorithm 7's mapping to a parallel computer, and what its links have to tell each other.

[Jain1995] 3.3.2: every link knows its own inertia, velocity and hinge, and talks to its neighbours alone. It tells its
parent P+ and z+ as soon as all its children have told theirs, and a child S+ and z_s+ as soon as its parent and that
child's brothers have; then it solves for its own acceleration. Simulated: in every round each node reads what arrived
in the round before, computes what it can and sends it; messages, numbers and rounds are counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .link_tree import LinkTree

Message = tuple[np.ndarray, np.ndarray]  # an articulated inertia (6, 6) and a residual force (6,)


@dataclass
class Traffic:
    """What went over the wires.

    Attributes:
        rounds: Until every link had its acceleration: the longest path, whatever the number of links.
        messages: All of them; numbers: the floats in them, 21 + 6 each (inertias are symmetric).
        busiest: Messages of the link that sent most.
    """

    rounds: int = 0
    messages: int = 0
    numbers: int = 0
    busiest: int = 0


@dataclass
class _Node:
    """A link's processor: its own data, and what its neighbours have told it."""

    tree: LinkTree
    k: int
    children: list[int]
    from_children: dict[int, Message] = field(default_factory=dict)
    from_parent: Message | None = None
    told: set[int] = field(default_factory=set)
    alpha: np.ndarray | None = None

    def ready(self) -> dict[int, Message]:
        """Messages that can be sent now, by neighbour."""
        out, p = {}, int(self.tree.parent[self.k])
        if p >= 0 and p not in self.told and len(self.from_children) == len(self.children):
            out[p] = self._inward()
        for c in self.children:
            others = [j for j in self.children if j != c]
            has_all = all(j in self.from_children for j in others)
            if c not in self.told and has_all and (p < 0 or self.from_parent is not None):
                out[c] = self._outward(others)
        self.told.update(out)
        return out

    def solve(self) -> None:
        """alpha = -(P + S)^-1 (z + z_s - P a), once everything is there (lemma 3.2)."""
        is_base = self.tree.parent[self.k] < 0
        if len(self.from_children) < len(self.children) or not (is_base or self.from_parent):
            return
        P, z = self._gathered(self.children)
        S, z_s = self._across()
        self.alpha = -np.linalg.solve(P + S, z + z_s)

    def _gathered(self, children: list[int]) -> Message:
        """P and z of this link with some of its children."""
        told = [self.from_children[c] for c in children]
        P = self.tree.M[self.k] + sum((each[0] for each in told), np.zeros((6, 6)))
        return P, self.tree.b[self.k] + sum((each[1] for each in told), np.zeros(6))

    def _inward(self) -> Message:
        """P+ and z+ through the hinge (algorithms 2 and 3)."""
        tree, k = self.tree, self.k
        P, z = self._gathered(self.children)
        H, z = tree.H[k], z + P @ tree.a[k]
        D = H.T @ P @ H + tree.armature[k]
        G = np.linalg.solve(D, H.T @ P).T
        return P - G @ D @ G.T, z + G @ (tree.T[k] - H.T @ z)

    def _outward(self, brothers: list[int]) -> Message:
        """S+ and z_s+ of a child, before its hinge (algorithms 4 and 5)."""
        P, z = self._gathered(brothers)
        S, z_s = self._across()
        return P + S, z + z_s

    def _across(self) -> Message:
        """S and z_s of this link: what its parent told, through its own hinge; of a base the force on it."""
        tree, k = self.tree, self.k
        if tree.parent[k] < 0:
            return np.zeros((6, 6)), -tree.T[k]
        assert self.from_parent is not None, "called once the parent has told"
        S, z = self.from_parent
        H, z = tree.H[k], z - S @ tree.a[k]
        D = H.T @ S @ H + tree.armature[k]
        G = -np.linalg.solve(D, H.T @ S).T
        return S - G @ D @ G.T, z + G @ (tree.T[k] + H.T @ z)


def run_on_nodes(tree: LinkTree) -> tuple[np.ndarray, Traffic]:
    """The links' accelerations alpha (N, 6), each found by its own node, and the traffic that it took."""
    N = len(tree.parent)
    nodes = [_Node(tree, k, np.flatnonzero(tree.parent == k).tolist()) for k in range(N)]
    traffic, sent = Traffic(), np.zeros(N, int)
    while any(node.alpha is None for node in nodes):
        traffic.rounds += 1
        post = [(node.k, to, message) for node in nodes for to, message in node.ready().items()]
        for sender, to, message in post:
            sent[sender] += 1
            if tree.parent[sender] == to:
                nodes[to].from_children[sender] = message
            else:
                nodes[to].from_parent = message
        for node in nodes:
            if node.alpha is None:
                node.solve()
        traffic.messages += len(post)
        traffic.numbers += 27 * len(post)
    traffic.busiest = int(sent.max())
    return np.array([node.alpha for node in nodes]), traffic
