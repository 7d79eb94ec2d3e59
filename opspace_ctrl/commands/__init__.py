"""The subcommands of `opspace`, one module each; modules with a leading underscore are shared between them.

A subcommand's module is named after it, its docstring's first line is its help, and it defines

    add_arguments(parser: argparse.ArgumentParser) -> None
    run(args: argparse.Namespace) -> int    # the exit code

Every module is imported to print `opspace --help`, so what takes long to import is imported inside `run`.
"""

from __future__ import annotations

from ..errors import OpspaceError
from ..writable import why_not_writable


class CommandError(OpspaceError):
    """A command cannot do what it was asked for: a missing extra, a file that cannot be written."""


def ensure_writable(path: str) -> None:
    """Raise CommandError, before any work is done, if a result could not be written there."""
    if reason := why_not_writable(path):
        raise CommandError(f"cannot write {path!r}: {reason}")
