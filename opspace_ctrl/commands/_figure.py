"""Pictures without a screen: a new figure, and a file of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from . import CommandError, ensure_writable

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def new_figure(width: float, height: float) -> Figure:
    """A figure of this size [inch]; CommandError if matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise CommandError("--plot needs matplotlib: pip install 'opspace_ctrl[plot]'") from None
    return Figure(figsize=(width, height), dpi=150, layout="constrained")


def ensure_drawable(path: str) -> None:
    """Raise CommandError, before any work is done, if no picture could be written there."""
    valid = new_figure(1, 1).canvas.get_supported_filetypes()
    ensure_writable(path)
    if Path(path).suffix.lower().lstrip(".") not in valid:
        raise CommandError(
            f"cannot write {path!r}: its ending must be one of {', '.join(sorted(valid))}"
        )


def save(figure: Figure, path: str) -> None:
    """Write the picture; the ending of `path` chooses the format. CommandError if it cannot be written."""
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise CommandError(f"cannot write {path!r}: {error}") from None
