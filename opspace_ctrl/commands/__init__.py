"""The subcommands of `opspace`, one module each; modules with a leading underscore are shared between them.

A subcommand's module is named after it, its docstring's first line is its help, and it defines

    add_arguments(parser: argparse.ArgumentParser) -> None
    run(args: argparse.Namespace) -> int    # the exit code

Every module is imported to print `opspace --help`, so what takes long to import is imported inside `run`.
"""
from __future__ import annotations

from opspace_ctrl.errors import OpspaceError


class CommandError(OpspaceError):
    """A command cannot do what it was asked for: a missing extra, a file that cannot be written."""
