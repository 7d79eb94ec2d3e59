"""A part that fails is noted, and the others go on: minutes of measuring are not to be lost."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import OpspaceError

__all__ = ["noted"]


@contextmanager
def noted(failed: dict[str, str], what: str) -> Iterator[None]:
    """An error inside ends the block, not the run: `failed[what]` is its reason. OPSPACE_TRACEBACK lets it through."""
    try:
        yield
    except Exception as error:
        if os.environ.get("OPSPACE_TRACEBACK"):
            raise
        failed[what] = _reason(error)


def _reason(error: Exception) -> str:
    """The error in one line, with its kind unless it is one of ours."""
    kind = "" if isinstance(error, OpspaceError) else f"{type(error).__name__}: "
    return " ".join(f"{kind}{error}".split())
