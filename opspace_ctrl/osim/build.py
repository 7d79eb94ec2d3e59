# SPDX-License-Identifier: Apache-2.0
"""From tasks to a `Space`: supports, slots, ways, common paths and selections."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..dynamics.build import RobotTree
from ..dynamics.clusters import hangs_on
from ..dynamics.nodes import Nodes
from ..model.connectivity import ancestor, support
from .fields import BY_ROWS, Space
from .tasks import Block


class Supports:
    """Which coordinates each block depends on, and where they are stored.

    Attributes:
        slots: For each block, its coordinates in rising order, ancestors (lambda_e) included.
        is_path: For each block, whether these are one path of lambda_e.
        first: For each block, its first register; the last entry is the number of registers.
        legs: (block, node at its end, nodes it contributes) of every leg.
        parent_A: (n,) what the cluster of each node hangs on, -1 for the world: the tree of the recursive methods.
        ways: For each block, the nodes whose innovations it depends on, base to tips: its way in that tree.
        meetings: (blocks, blocks) the node where the ways of two blocks on frames meet, -1 for separate robots; BY_ROWS
            for other blocks, and where the ways part within a cluster.
    """

    def __init__(self, nodes: Nodes, blocks: Sequence[Block]):
        self.model, self.blocks, self.nodes = nodes.model, blocks, nodes
        self.legs = [leg for b in range(len(blocks)) for leg in self._legs_of(b)]
        self.parent_A = hangs_on(nodes.parent, nodes.coordinate)
        self.ways = [self._way_of(b) for b in range(len(blocks))]
        self.slots = [self._slots_of(b) for b in range(len(blocks))]
        self.is_path = [self._is_path(slots) for slots in self.slots]
        self.first = np.cumsum([0, *map(len, self.slots)])
        count = range(len(blocks))
        self.meetings = np.array([[self._meeting(a, b) for b in count] for a in count])

    def ends(self) -> list[int]:
        """The node at the end of each leg, -1 for the world."""
        return [end for _, end, _ in self.legs]

    def _end_node(self, frame: int) -> int:
        """The node that carries a frame, -1 for the world."""
        body = self.model.frame_body[frame]
        return int(self.nodes.last[body]) if body >= 0 else -1

    def _legs_of(self, b: int) -> list[tuple[int, int, list[int]]]:
        block = self.blocks[b]
        if block.is_whole_robot:
            return []
        end = self._end_node(block.frame)
        path = self.nodes.path(end)
        if not block.is_relative:
            return [(b, end, path)]
        other = self._end_node(block.reference)
        other_path = self.nodes.path(other)
        shared = len(
            set(path) & set(other_path)
        )  # what moves both moves neither relative to the other
        return [(b, end, path[shared:]), (b, other, other_path[shared:])]

    def _slots_of(self, b: int) -> list[int]:
        if self.blocks[b].is_whole_robot:
            return list(range(self.model.nv))
        # also where J is zero: what moves both frames of a relative task alike, not an ancestor with every mimic joint
        nodes = {node for block, _, own in self.legs if block == b for node in own}
        coordinates = {int(self.nodes.coordinate[node]) for node in nodes.union(self.ways[b])}
        parent = self.model.parent_expanded
        return sorted({i for c in coordinates for i in support(parent, c)})

    def _way_of(self, b: int) -> list[int]:
        if self.blocks[b].is_whole_robot:
            return list(range(self.nodes.n))
        ends = [end for block, end, _ in self.legs if block == b]
        return sorted({i for end in ends for i in support(self.parent_A, end)})

    def _meeting(self, a: int, b: int) -> int:
        if any(self.blocks[c].is_relative or self.blocks[c].is_whole_robot for c in (a, b)):
            return BY_ROWS
        met = ancestor(self.parent_A, self.ways[a][-1], self.ways[b][-1])
        after = [next((i for i in self.ways[c] if i > met), None) for c in (a, b)]
        parted = None not in after and len(set(after)) == 2
        is_cluster = parted and len({int(self.nodes.coordinate[i]) for i in after}) == 1
        return BY_ROWS if is_cluster else met

    def _is_path(self, slots: list[int]) -> bool:
        parents = [-1, *slots[:-1]]
        return all(self.model.parent_expanded[c] == p for c, p in zip(slots, parents))


class TaskSpace(Space):
    """A `Space` of some tasks over a robot's tree.

    Attributes:
        supports: What the blocks of the tasks depend on.
    """

    def __init__(self, tree: RobotTree, blocks: Sequence[Block]):
        self.supports = supports = Supports(tree.nodes, blocks)
        super().__init__(
            tree=tree,
            n=tree.n,
            nv=tree.nv,
            m=blocks[-1].row + len(blocks[-1].selection),
            blocks=len(blocks),
            needs_composite=int(any(b.is_whole_robot for b in blocks)),
            **_block_tables(supports),
            **_leg_tables(supports),
            **_slot_tables(supports),
            **_way_tables(supports),
            **_pair_tables(supports),
            **_selections(supports),
        )
        self.scale = 1.0


def _block_tables(supports: Supports) -> dict[str, Any]:
    blocks = supports.blocks
    legs = [[k for k, leg in enumerate(supports.legs) if leg[0] == b] for b in range(len(blocks))]
    return {
        "block_kind": [block.kind for block in blocks],
        "block_reference": [block.reference for block in blocks],
        "block_rows": [len(block.selection) for block in blocks],
        "block_row": [block.row for block in blocks],
        "block_first": supports.first[:-1],
        "block_slots": [len(slots) for slots in supports.slots],
        "block_leg": [own[0] if own else 0 for own in legs],
        "block_legs": [len(own) for own in legs],
        "block_on_path": supports.is_path,
    }


def _register_of(supports: Supports) -> list[dict[int, int]]:
    """For each block {coordinate: register}."""
    return [
        {c: int(first) + slot for slot, c in enumerate(slots)}
        for first, slots in zip(supports.first, supports.slots)
    ]


def _leg_tables(supports: Supports) -> dict[str, Any]:
    register_of, nodes = _register_of(supports), supports.nodes
    lengths = [len(own) for _, _, own in supports.legs]
    return {
        "legs": len(supports.legs),
        "leg_end": [end if end >= 0 else nodes.n for end in supports.ends()],
        "leg_start": np.cumsum([0, *lengths])[:-1],
        "leg_length": lengths,
        "leg_places": sum(lengths),
        "leg_node": [node for _, _, own in supports.legs for node in own],
        "leg_register": [
            register_of[b][int(nodes.coordinate[node])]
            for b, _, own in supports.legs
            for node in own
        ],
    }


def _slot_tables(supports: Supports) -> dict[str, Any]:
    parent = supports.model.parent_expanded
    return {
        "registers": supports.first[-1],
        "support": [c for slots in supports.slots for c in slots],
        "slot_parent": [
            of.get(int(parent[c]), -1)
            for of, slots in zip(_register_of(supports), supports.slots)
            for c in slots
        ],
    }


def _way_tables(supports: Supports) -> dict[str, Any]:
    """The nodes that recursive methods visit for each block, and where they keep what they find there."""
    register_of, coordinate = _register_of(supports), supports.nodes.coordinate
    registers = [
        [of[int(coordinate[i])] for i in way] for of, way in zip(register_of, supports.ways)
    ]
    meetings, lengths = supports.meetings, [len(way) for way in supports.ways]
    first = np.cumsum([0, *lengths])
    count = range(len(meetings))
    return {
        "way_nodes": first[-1],
        "way_first": first[:-1],
        "way_length": lengths,
        "way_node": [i for way in supports.ways for i in way],
        "way_register": [r for own in registers for r in own],
        "way_closes": [own.index(r) == k for own in registers for k, r in enumerate(own)],
        "meeting": meetings,
        "meeting_place": [
            [
                first[a] + supports.ways[a].index(meetings[a, b]) if meetings[a, b] >= 0 else -1
                for b in count
            ]
            for a in count
        ],
        "block_by_rows": (meetings == BY_ROWS).any(axis=1),
        "gathers": int((meetings.diagonal() == BY_ROWS).any()),
    }


def _pair_tables(supports: Supports) -> dict[str, Any]:
    """Coordinates that two blocks both depend on: the length of a common prefix of two paths, else a list."""
    count, register_of = len(supports.blocks), _register_of(supports)
    common, pairs = np.zeros((2, count, count), int)
    pair: list[tuple[int, int]] = []
    for a in range(count):
        for b in range(count):
            shared = [
                (r, register_of[b][c]) for c, r in register_of[a].items() if c in register_of[b]
            ]
            if supports.is_path[a] and supports.is_path[b]:
                common[a, b] = len(shared)
            else:
                common[a, b], pairs[a, b] = -1 - len(pair), len(shared)
                pair += shared
    return {
        "common": common,
        "pairs": pairs,
        "listed_pairs": len(pair),
        "pair": np.array(pair).reshape(-1, 2),
    }


def _selections(supports: Supports) -> dict[str, Any]:
    model, blocks = supports.model, supports.blocks
    selection, point = np.zeros((6 * len(blocks), 8)), np.zeros((len(blocks), 3))
    for b, block in enumerate(blocks):
        selection[6 * b : 6 * b + 6, : len(block.selection)] = block.selection.T
        if not block.is_whole_robot:
            point[b] = _axes(supports, block.frame).T @ model.frame_translation[block.frame]
    return {"selection": selection, "point": point}


def _axes(supports: Supports, frame: int) -> np.ndarray:
    """From the axes of a frame's body to those of its node."""
    body = supports.model.frame_body[frame]
    return supports.nodes.axes[body] if body >= 0 else np.eye(3)
