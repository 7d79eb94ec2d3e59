"""Pictures without a screen: a new figure, and a file of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..writing import check_output, new_file
from . import CommandError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def new_figure(width: float, height: float) -> Figure:
    """A figure of this size [inch]; CommandError if matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise CommandError("--plot needs matplotlib: pip install 'opspace_ctrl[plot]'") from None
    return Figure(figsize=(width, height), dpi=150, layout="constrained")


def ensure_drawable(path: str, force: bool) -> None:
    """Raise CommandError or OutputError, before any work is done, if no picture could be written there."""
    valid = new_figure(1, 1).canvas.get_supported_filetypes()
    check_output(path, force)
    if _ending(path) not in valid:
        raise CommandError(
            f"cannot write {path!r}: its ending must be one of {', '.join(sorted(valid))}"
        )


def save(figure: Figure, path: str, force: bool) -> None:
    """Write the picture; the ending of `path` chooses the format. OutputError if it cannot be written."""
    with new_file(path, force) as file:
        figure.savefig(file, format=_ending(path))


def _ending(path: str) -> str:
    return Path(path).suffix.lower().lstrip(".")
