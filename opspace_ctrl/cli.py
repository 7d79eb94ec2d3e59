"""The `opspace` command: subcommands are found in `opspace_ctrl.commands`, every error is one line."""

from __future__ import annotations

import argparse
import os
import pkgutil
import signal
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module, metadata
from types import ModuleType
from typing import NoReturn

from opspace_ctrl import commands

from .commands._interrupt import INTERRUPTED
from .errors import OpspaceError

__all__ = ["main"]

FAILED = 2


class _Parser(argparse.ArgumentParser):
    """An argument parser whose complaint is one line, without the usage before it."""

    def error(self, message: str) -> NoReturn:
        self.exit(FAILED, f"{self.prog}: error: {message} (see {self.prog} --help)\n")


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
        kind = "" if isinstance(error, OpspaceError) else f"{type(error).__name__}: "
        print("opspace: error:", _one_line(f"{kind}{error}"), file=sys.stderr)
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
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name, module in _subcommands():
        text = (module.__doc__ or "").strip().splitlines()[0]
        command = subparsers.add_parser(name, help=text, description=text)
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    return parser


def _subcommands() -> list[tuple[str, ModuleType]]:
    found = sorted(module.name for module in pkgutil.iter_modules(commands.__path__))
    names = [name for name in found if not name.startswith("_")]
    return [(name, import_module(f"{commands.__name__}.{name}")) for name in names]


def _version() -> str:
    try:
        return metadata.version("opspace_ctrl")
    except metadata.PackageNotFoundError:
        return "(not installed)"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _one_line_warning(message, category, filename, lineno, file=None, line=None) -> None:
    del category, filename, lineno, file, line
    print("opspace: warning:", _one_line(str(message)), file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
