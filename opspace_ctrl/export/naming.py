# SPDX-License-Identifier: Apache-2.0
"""The lines of an image's table of names: every field of a workspace and of its parts, by its path."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..compiled.workspace import Field, Workspace
from .image import FieldRow
from .memory import Memory

__all__ = ["field_rows"]


def field_rows(memory: Memory, work: Workspace, path: str = "") -> Iterator[FieldRow]:
    """The lines of a workspace that is in the memory; `path` stands before their names."""
    for name, owner, field in memory.fields(work, path):
        yield _row(memory, name, owner, field)


def _row(memory: Memory, path: str, owner: Workspace, field: Field) -> FieldRow:
    place, rows, columns, stride = memory.place(owner.address) + 16 * field.place, 1, 1, 1
    if field.is_array:
        view = np.atleast_2d(np.asarray(getattr(owner, field.name)))
        place = memory.place(int(owner.head[field.place, 0]))
        rows, columns = view.shape
        stride = max(int(owner.head[field.place, 1]), columns)
    is_whole = field.kind not in ("float", "floats")
    return FieldRow(path, place, rows, columns, stride, is_whole, field.role)
