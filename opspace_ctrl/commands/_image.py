# SPDX-License-Identifier: Apache-2.0
"""What `opspace info` shows of an exported controller."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from ..errors import ExportError, quoted
from ..export.image import NONE, FieldRow, Image
from ..reading import read_regular
from ._console import new_table, right

LARGEST = 1 << 30  # bytes of an image


def read_image(path: str | Path) -> Image:
    """The image in a file.

    Raises:
        ExportError: It cannot be read, or is not one.
    """
    try:
        return Image.unpacked(read_regular(path, LARGEST))
    except OSError as error:
        raise ExportError(f"cannot read {quoted(Path(path))}: {error.strerror}") from error
    except ExportError as error:
        raise ExportError(f"{quoted(Path(path))}: {error}") from error


def show_image(image: Image, out: Console) -> None:
    """Print what it is of, and every parameter and result by name."""
    kind = "a simulated robot" if image.engine != NONE else "a controller"
    out.print(
        f"{kind} of {image.robot}: {len(image.joints)} joints, nq = {image.nq}, nv = {image.nv}, "
        f"{len(image.data)} bytes of workspaces, kernels {image.kernels:016x}\n"
        f"joints: {', '.join(image.joints)}"
    )
    if image.law != NONE:
        names = ", ".join(image.tasks) or "(none)"
        out.print(
            f"tasks: {names}; trajectories of up to {image.capacity - 2} points\n"
            f"methods: {', '.join(name for name, _ in image.methods)}\n"
            f"gates: {', '.join(name for name, _ in image.gate_words) or '(none)'}"
        )
    out.print(f"{len(image.ticks)} reference ticks, recorded by {image.target or '(nobody)'}")
    live = [each for each in image.fields if each.is_live]
    table = new_table("live parameter", right("numbers"), right("least"), right("most"), "unit")
    for each in live:
        numbers = f"{each.rows * each.columns}"
        table.add_row(each.name, numbers, f"{each.least:g}", f"{each.most:g}", _unit(each))
    out.print(table)
    table = new_table("result", right("numbers"))
    for each in image.fields:
        if each.role == "result":
            table.add_row(each.name, _shape(each))
    out.print(table)
    out.print(
        "(a result has room for the most that can be: of a list of rows that is shorter the rest is not used)"
    )


def _shape(field: FieldRow) -> str:
    """Of what opspace_get reads; rows lie `stride` numbers apart in memory, which is not shown."""
    return f"{field.rows} x {field.columns}" if field.rows > 1 else f"{field.columns}"


def _unit(field: FieldRow) -> str:
    return field.choices or field.unit
