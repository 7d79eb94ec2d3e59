"""One way to print tables."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from rich.console import Console


class _PipeConsole(Console):
    """A console that leaves a closed pipe to `opspace_ctrl.cli`; rich would exit with code 1."""

    def on_broken_pipe(self) -> NoReturn:
        """Raise the error again that rich has caught."""
        raise BrokenPipeError


def console() -> Console:
    """No markup, for names come from files; a pipe or file gets wide lines instead of 80 columns."""
    width = None if sys.stdout.isatty() or os.environ.get("COLUMNS") else 140
    return _PipeConsole(width=width, markup=False, highlight=False, emoji=False)
