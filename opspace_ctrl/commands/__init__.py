# SPDX-License-Identifier: Apache-2.0
"""The subcommands of `opspace`, one module each; modules with a leading underscore are shared between them.

A subcommand's module is named after it, its docstring's first line is its help, and it defines

    add_arguments(parser: argparse.ArgumentParser) -> None
    run(args: argparse.Namespace) -> int    # the exit code

Only the chosen one is imported; what an extra brings is imported where it is used.
"""

import argparse

from ..errors import OpspaceError


class CommandError(OpspaceError):
    """A command cannot do what it was asked for: a missing extra, arguments that contradict each other."""


def add_force(parser: argparse.ArgumentParser) -> None:
    """--force, for every command that writes files."""
    parser.add_argument(
        "--force",
        action="store_true",
        help="replace files that exist, and use a folder that this command did not make",
    )
