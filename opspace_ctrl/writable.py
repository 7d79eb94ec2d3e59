"""Whether a file could be written, asked before the work whose result it shall hold."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["why_not_writable"]


def why_not_writable(path: str | Path) -> str:
    """The reason why a file of this path could not be written; empty if none is known."""
    path = Path(path).absolute()
    if path.is_dir():
        return "it is a folder"
    if not path.parent.is_dir():
        return "its folder does not exist"
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        return "permission denied"
    return ""
