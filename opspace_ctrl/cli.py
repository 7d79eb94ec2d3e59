# SPDX-License-Identifier: Apache-2.0
"""The `opspace` command: subcommands are found in `opspace_ctrl.commands`, every error is one line."""

import argparse
import ast
import os
import pkgutil
import signal
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module, metadata
from typing import NoReturn

from opspace_ctrl import commands

from .commands._interrupt import INTERRUPTED
from .errors import in_one_line, on_one_line

FAILED = 2


class _Parser(argparse.ArgumentParser):
    """An argument parser whose complaint is one line, without the usage before it."""

    def error(self, message: str) -> NoReturn:
        self.exit(FAILED, f"{self.prog}: error: {on_one_line(message)} (see {self.prog} --help)\n")


class _Command(_Parser):
    """The parser of one subcommand, which imports the subcommand's module when it was chosen."""

    def parse_known_args(self, *given):  # type: ignore[override]  # argparse calls it with two arguments
        """Let the module say which arguments it takes, then parse."""
        module = import_module(f"{commands.__name__}.{self.prog.split()[-1]}")
        module.add_arguments(self)
        self.set_defaults(run=module.run)
        return super().parse_known_args(*given)


def main(argv: Sequence[str] | None = None) -> int:
    """Run `opspace` with the given arguments (default: the process's) and return its exit code.

    0 success, 2 an error (one line on stderr), 130 interrupted; OPSPACE_TRACEBACK=1 lets errors through.
    """
    if argv is None:
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # the process ends as by Ctrl-C
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a terminal without Unicode still gets its table
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _one_line_warning
            return _run(argv)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader (head, less) has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if os.environ.get("OPSPACE_TRACEBACK"):
            raise
        print("opspace: error:", in_one_line(error), file=sys.stderr)
        return FAILED


def _run(argv: Sequence[str] | None) -> int:
    parser = _parser()
    args = parser.parse_args(argv)
    if not args.run:
        parser.print_help()
        return 0
    args.owns_process = argv is None
    code = args.run(args)
    sys.stdout.flush()  # a closed pipe shows itself here, not at exit
    return code


def _parser() -> argparse.ArgumentParser:
    text = "Operational-space dynamics and control of robots given as URDF."
    parser = _Parser(prog="opspace", description=text)
    parser.add_argument("--version", action="version", version=f"opspace {_version()}")
    parser.set_defaults(run=None)
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=_Command)
    for module in sorted(pkgutil.iter_modules(commands.__path__), key=lambda module: module.name):
        if not module.name.startswith("_"):
            text = _first_line(module)
            subparsers.add_parser(module.name, help=text, description=text)
    return parser


def _first_line(module: pkgutil.ModuleInfo) -> str:
    """The first line of the docstring of a module that is not imported."""
    source = pkgutil.get_data(commands.__name__, f"{module.name}.py") or b""
    return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]


def _version() -> str:
    try:
        return metadata.version("opspace_ctrl")
    except metadata.PackageNotFoundError:
        return "(not installed)"


def _one_line_warning(message, category, filename, lineno, file=None, line=None) -> None:
    del category, filename, lineno, file, line
    print("opspace: warning:", on_one_line(str(message)), file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
