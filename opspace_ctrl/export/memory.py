# SPDX-License-Identifier: Apache-2.0
"""Workspaces as one block of bytes that can be put anywhere: what was an address is a place in it, or a number.

The block is that of every workspace, one after the other as each is laid out; `pointers` are the words that hold a
place in the block, and become addresses by adding the block's own; `calls` are those that hold the number of a stage.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ..compiled.workspace import Field, Workspace
from ..errors import ExportError
from .stages import number_of

__all__ = ["Memory"]

LINE = 64  # bytes of a cache line, which every workspace begins on


class Memory:
    """Some workspaces and all their parts.

    Attributes:
        data: (bytes,) the block.
        pointers, calls: (n,) places of words in it [bytes].
    """

    def __init__(self, roots: Iterable[Workspace]):
        self._place: dict[int, int] = {}  # by the address of a workspace
        self._works: list[Workspace] = []
        self._lent: dict[int, int] = {}  # by the address of memory outside of workspaces
        self._size = 0
        for each in roots:
            self._add(each)
        self.data = np.zeros(self._size, np.uint8)
        pointers: list[int] = []
        calls: list[int] = []
        for each in self._works:
            place = self._place[each.address]
            self.data[place : place + each._block.size] = each._block
            for field in each.fields.values():
                if field.name in each._held:
                    self._relocate(each, field, place + 16 * field.place, pointers, calls)
        self.pointers, self.calls = np.array(pointers, np.uint32), np.array(calls, np.uint32)

    def _add(self, work: Workspace) -> None:
        if work.address in self._place:
            return
        self._place[work.address] = self._size
        self._works.append(work)
        self._size += -(-work._block.size // LINE) * LINE
        for name, field in work.fields.items():
            if field.kind == "part" and name in work._held:
                self._add(work._held[name])
            if field.is_array and not self._is_inside(int(work.head[field.place, 0])):
                self._add_lent(work, field)

    def _is_inside(self, address: int) -> bool:
        return any(0 <= address - each.address < each._block.size for each in self._works)

    def _add_lent(self, work: Workspace, field: Field) -> None:
        """Zeros for memory that was lent to a workspace (`Workspace.lend`): it is scratch."""
        if field.role != "scratch":
            raise ExportError(
                f"{field.name} lies outside its workspace: such memory cannot be exported"
            )
        self._lent[int(work.head[field.place, 0])] = self._size
        self._size += -(-work._held[field.name].nbytes // LINE) * LINE

    def _relocate(
        self, work: Workspace, field: Field, word: int, pointers: list[int], calls: list[int]
    ) -> None:
        words = self.data[word : word + 8].view(np.int64)
        if field.kind == "call":
            words[0] = number_of(getattr(work, field.name))
            calls.append(word)
        elif field.kind == "part" or field.is_array:
            words[0] = self.place(int(words[0]))
            pointers.append(word)

    def place(self, address: int) -> int:
        """Where in the block an address of a workspace, or inside one, is.

        Raises:
            ExportError: It is in none of them.
        """
        for each in self._works:
            offset = address - each.address
            if 0 <= offset < each._block.size:
                return self._place[each.address] + offset
        if address in self._lent:
            return self._lent[address]
        raise ExportError("a field lies outside its workspace: such memory cannot be exported")

    def fields(self, work: Workspace, path: str = "") -> Iterator[tuple[str, Workspace, Field]]:
        """(path, owner, field) of all but the calls of a workspace and its parts, such as "space.tree.h"."""
        for name, field in work.fields.items():
            if field.kind != "call":
                yield path + name, work, field
            if field.kind == "part" and name in work._held:
                yield from self.fields(work._held[name], f"{path}{name}.")
