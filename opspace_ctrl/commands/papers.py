# SPDX-License-Identifier: Apache-2.0
"""List the equations of the five papers with their calls and tests, or show one and run it on a robot."""

import argparse
import inspect

import numpy as np
from rich.console import Console

from ..algebra.papers import Line, Paper, find, papers, run_line
from ..algebra.papers.page import file_of, source_of
from ..model import load_robot, load_urdf
from ..model.source import ROBOTS
from ._console import console, new_table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take a paper, a place in it, and a robot."""
    parser.add_argument(
        "paper",
        nargs="?",
        choices=tuple(papers()),
        metavar="PAPER",
        help="000 to 004 (all if none)",
    )
    parser.add_argument(
        "place",
        nargs="*",
        metavar="PLACE",
        help="an equation, figure, table or algorithm: 22, fig8, table 2, algorithm1, VII.D",
    )
    parser.add_argument(
        "--robot", help="a shipped robot or a URDF file (default: what each place names)"
    )
    parser.add_argument("--errata", action="store_true", help="list the errata instead")


def run(args: argparse.Namespace) -> int:
    """Print the table of a paper, or everything about a place of it."""
    out = console()
    chosen = [papers()[args.paper]] if args.paper else list(papers().values())
    if args.errata:
        for paper in chosen:
            _print_errata(paper, out)
    elif args.place:
        for line in find(args.paper, " ".join(args.place)):
            _show(line, args.robot, out)
    else:
        for paper in chosen:
            _print_lines(paper, out)
    return 0


def _print_lines(paper: Paper, out: Console) -> None:
    table = new_table("place", "what", "call", title=f"{paper.number}: {paper.title}")
    for line in paper.lines:
        table.add_row(line.at, line.says, line.call.removeprefix("opspace_ctrl."))
    out.print(table)
    out.print(f"doi: {paper.doi}; `opspace papers {paper.number} PLACE` shows and runs a line\n")


def _print_errata(paper: Paper, out: Console) -> None:
    table = new_table("place", "printed", "correct", title=f"{paper.number}: errata")
    for erratum in paper.errata:
        table.add_row(erratum.at, erratum.printed, erratum.correct)
    out.print(table)


def _show(line: Line, robot: str | None, out: Console) -> None:
    """The code behind a line, what is run, and what comes out."""
    name = robot or line.robot
    model = load_robot(name) if name in ROBOTS else load_urdf(name)
    out.print(f"{line.paper} {line.at}: {line.says}", style="bold")
    out.print(f"{line.call}\n  in {file_of(line.call)}, proved by {line.test}\n")
    out.print(inspect.getsource(source_of(line.call)))
    out.print(f"on {model.name}:", style="bold")
    out.print("\n".join(f"    {text}" for text in line.code.splitlines()))
    with np.printoptions(precision=5, suppress=True, linewidth=120, threshold=400):
        result = run_line(line, model)
        out.print(result if isinstance(result, str) else repr(result))
    if line.symbols:
        out.print(f"symbols: {line.symbols}")
    out.print()
