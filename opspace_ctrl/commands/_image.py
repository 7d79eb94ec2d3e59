"""What `opspace info` shows of an exported controller."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from ..errors import ExportError, quoted
from ..export.image import FieldRow, Image
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
        raise ExportError(f"cannot read {quoted(str(path))}: {error.strerror}") from error
    except ExportError as error:
        raise ExportError(f"{quoted(str(path))}: {error}") from error


def show_image(image: Image, out: Console) -> None:
    """Print what it is of, and every parameter and result by name."""
    methods = ", ".join(name for name, _ in image.methods)
    out.print(
        f"{image.robot}: {len(image.joints)} joints, nq = {image.nq}, nv = {image.nv}, "
        f"{len(image.data)} bytes of workspaces, kernels {image.kernels:016x}\n"
        f"joints: {', '.join(image.joints)}\n"
        f"tasks: {', '.join(image.tasks) or '(none)'}; trajectories of up to {image.capacity - 2} points\n"
        f"methods: {methods}\n"
        f"{len(image.ticks)} reference ticks, recorded by {image.target or '(nobody)'}"
    )
    live = [each for each in image.fields if each.is_live]
    table = new_table("live parameter", right("numbers"), right("least"), right("most"), "unit")
    for each in live:
        numbers = f"{each.rows * each.columns}"
        table.add_row(each.name, numbers, f"{each.least:g}", f"{each.most:g}", _unit(each))
    out.print(table)
    table = new_table("result", right("shape"))
    for each in image.fields:
        if each.role == "result":
            table.add_row(each.name, f"{each.rows} x {each.columns}")
    out.print(table)


def _unit(field: FieldRow) -> str:
    return field.choices or field.unit
