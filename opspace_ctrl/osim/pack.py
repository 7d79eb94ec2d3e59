"""From tasks to the tables of `layout`: supports, slots, common paths and selections."""

from __future__ import annotations

import numpy as np

from ..dynamics.layout import Workspace
from ..dynamics.pack import Nodes
from ..model import Model
from . import layout as at
from .tasks import Block

__all__ = ["Supports", "pack_tasks"]


class Supports:
    """Which coordinates each block depends on, and where they are stored.

    Attributes:
        slots: For each block, its coordinates in rising order, ancestors (lambda_e) included.
        is_path: For each block, whether these are one path of lambda_e.
        first: For each block, its first register.
        legs: (block, node at its end, nodes it contributes) of every leg.
    """

    def __init__(self, model: Model, blocks: list[Block]):
        self.model, self.blocks, self.nodes = model, blocks, Nodes(model)
        self.legs = [leg for b in range(len(blocks)) for leg in self._legs_of(b)]
        self.slots = [self._slots_of(b) for b in range(len(blocks))]
        self.is_path = [self._is_path(s) for s in self.slots]
        self.first = np.concatenate([[0], np.cumsum([len(s) for s in self.slots])]).astype(int)

    def end_node(self, frame: int) -> int:
        """The node that carries a frame, -1 for the world."""
        body = self.model.frame_body[frame]
        return int(self.nodes.last[body]) if body >= 0 else -1

    def _legs_of(self, b: int) -> list[tuple[int, int, list[int]]]:
        block = self.blocks[b]
        if block.is_center_of_mass:
            return []
        end = self.end_node(block.frame)
        path = self.nodes.path(end)
        if not block.is_relative:
            return [(b, end, path)]
        other = self.end_node(block.reference)
        other_path = self.nodes.path(other)
        # what moves both moves neither relative to the other
        shared = len(set(path) & set(other_path))
        return [(b, end, path[shared:]), (b, other, other_path[shared:])]

    def _slots_of(self, b: int) -> list[int]:
        if self.blocks[b].is_center_of_mass:
            return list(range(self.model.nv))
        found = set()
        for block, _, nodes in self.legs:
            for node in nodes if block == b else ():
                c = int(self.nodes.coordinate[node])
                while c >= 0 and c not in found:
                    found.add(c)
                    c = int(self.model.parent_expanded[c])
        return sorted(found)

    def _is_path(self, slots: list[int]) -> bool:
        parents = [-1, *slots[:-1]]
        return all(self.model.parent_expanded[c] == p for c, p in zip(slots, parents))


def pack_tasks(work: Workspace, model: Model, blocks: list[Block]) -> Supports:
    """Add the tables and results of the tasks to a workspace."""
    supports = Supports(model, blocks)
    m = blocks[-1].row + len(blocks[-1].selection)
    for slot, value in (
        (at.BLOCKS, len(blocks)),
        (at.M, m),
        (at.COMPOSITE, int(any(b.is_center_of_mass for b in blocks))),
    ):
        work.set_count(slot, value)
    _tables(work, supports)
    _pairs(work, supports)
    _selections(work, model, blocks, supports)
    registers, nv = int(supports.first[-1]), model.nv
    for slot in (at.J, at.YD_LOWER, at.YD):
        work.zeros(slot, registers, 8)
    work.zeros(at.K, 6 * max(len(supports.legs), 1), 8)
    for slot in (at.LI, at.FACTOR, at.LAMBDA, at.TRUNCATED, at.VECTORS):
        work.zeros(slot, m + 8, m + 8)  # a block's register may overrun both ends
    for slot in (at.X, at.SOLUTION, at.FORCE, at.JDOT_V, at.VALUES, at.OFF_DIAGONAL):
        work.zeros(slot, m + 8)
    work.put(at.SCALE, np.ones(m + 8))
    work.zeros(at.THRESHOLD, 3)
    work.zeros(at.TORQUE, nv)
    work.zeros(at.JBAR, nv + 8, m + 8)
    work.zeros(at.JBAR_T, m + 8, nv + 8)
    work.zeros(at.N_T, nv, nv)
    work.zeros(at.J_DENSE, m, nv)
    work.zeros(at.STATUS, 4)
    work.allocate()
    return supports


def _tables(work: Workspace, supports: Supports) -> None:
    blocks, first = supports.blocks, supports.first
    block_rows, leg_rows, leg_node, leg_register = [], [], [], []
    register_of = [
        {c: first[b] + s for s, c in enumerate(slots)} for b, slots in enumerate(supports.slots)
    ]
    for b, end, nodes in supports.legs:
        leg_rows.append((end if end >= 0 else supports.nodes.n, len(leg_node), len(nodes), b))
        leg_node += nodes
        leg_register += [register_of[b][int(supports.nodes.coordinate[node])] for node in nodes]
    for b, block in enumerate(blocks):
        kind = (
            at.CENTER if block.is_center_of_mass else at.RELATIVE if block.is_relative else at.FRAME
        )
        own = [k for k, leg in enumerate(supports.legs) if leg[0] == b]
        block_rows.append(
            (
                kind,
                len(block.selection),
                block.row,
                first[b],
                len(supports.slots[b]),
                own[0] if own else 0,
                len(own),
                int(supports.is_path[b]),
            )
        )
    parent = supports.model.parent_expanded
    work.put(at.BLOCK, block_rows, int)
    work.put(at.LEG, leg_rows or [(0, 0, 0, 0)], int)
    work.put(at.LEG_NODE, leg_node or [0], int)
    work.put(at.LEG_REGISTER, leg_register or [0], int)
    work.put(at.SUPPORT, [c for slots in supports.slots for c in slots], int)
    work.put(
        at.SLOT_PARENT,
        [
            register_of[b][int(parent[c])] if parent[c] >= 0 else -1
            for b, slots in enumerate(supports.slots)
            for c in slots
        ],
        int,
    )


def _pairs(work: Workspace, supports: Supports) -> None:
    """Where the supports of two blocks meet: a common prefix of two paths, or a list."""
    count, slots, first = len(supports.blocks), supports.slots, supports.first
    common, pairs, pair = np.zeros((count, count), int), np.zeros((count, count), int), []
    for a in range(count):
        for b in range(count):
            shared = [
                (first[a] + slots[a].index(c), first[b] + slots[b].index(c))
                for c in slots[a]
                if c in slots[b]
            ]
            if supports.is_path[a] and supports.is_path[b]:
                common[a, b] = len(shared)
            else:
                common[a, b], pairs[a, b] = -1 - len(pair), len(shared)
                pair += shared
    work.put(at.COMMON, common, int)
    work.put(at.PAIRS, pairs, int)
    work.put(at.PAIR, pair or [(0, 0)], int)


def _selections(work: Workspace, model: Model, blocks: list[Block], supports: Supports) -> None:
    weight, point = np.zeros((6 * len(blocks), 8)), np.zeros((len(blocks), 12))
    for b, block in enumerate(blocks):
        weight[6 * b : 6 * b + 6, : len(block.selection)] = block.selection.T
        if block.is_center_of_mass:
            continue
        body = model.frame_body[block.frame]
        axes = supports.nodes.axes[body] if body >= 0 else np.eye(3)
        point[b, :3] = axes.T @ model.frame_translation[block.frame]
        if block.is_relative:
            body = model.frame_body[block.reference]
            axes = supports.nodes.axes[body] if body >= 0 else np.eye(3)
            point[b, 3:] = (axes.T @ model.frame_rotation[block.reference]).ravel()
    work.put(at.WEIGHT, weight)
    work.put(at.POINT, point)
