# SPDX-License-Identifier: Apache-2.0
"""Print Tables 1 to 4 and equations (39), (40) of Featherstone (2010), the paper's figures beside ours."""

import argparse
import json
from dataclasses import asdict

from rich import box
from rich.table import Table

from ..algebra.counts import tables
from . import add_force
from ._console import console, new_table
from ._figure import ensure_drawable
from ._tables_plot import draw

MARKS = {True: "=", False: "differs", None: ""}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take the number of a table, and the form."""
    parser.add_argument(
        "--table",
        type=int,
        choices=(1, 2, 3, 4),
        help="print this table only (4: with the equations)",
    )
    parser.add_argument(
        "--plot",
        nargs="?",
        const="figures_12_13.png",
        metavar="FILE.png",
        help="draw figures 12 and 13, operations as bars (default: figures_12_13.png)",
    )
    add_force(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print them as JSON")
    form.add_argument("--markdown", action="store_true", help="print them as Markdown")


def run(args: argparse.Namespace) -> int:
    """Print the tables; 0 if every figure that can be compared agrees with the paper's, 1 otherwise."""
    if args.plot:
        ensure_drawable(args.plot, args.force)
    builders = {
        1: [tables.table_1],
        2: [tables.table_2],
        3: [tables.table_3],
        4: [tables.table_4, tables.equations],
    }
    chosen = [args.table] if args.table else builders
    made = [build() for number in chosen for build in builders[number]]
    out = console()
    if args.json:
        print(json.dumps([asdict(table) for table in made], indent=2))
    for table in [] if args.json else made:
        if args.markdown:
            out.print(f"**{table.title}**\n")
        out.print(rendered(table, args.markdown))
        out.print("\n".join(table.notes) + "\n")
    if args.plot:
        draw(args.plot, args.force)
        out.print(f"drawn: {args.plot}")
    return 0 if all(row.agrees is not False for table in made for row in table.rows) else 1


def rendered(table: tables.Table, markdown: bool = False) -> Table:
    """A table; its last column says whether ours agrees with the paper."""
    # Narrow gaps: table 1 fits a line of 140 characters unfolded.
    look = {"box": box.MARKDOWN, "pad_edge": True} if markdown else {"title": table.title}
    printed = new_table(*table.columns, "agrees" if markdown else "", padding=(0, 1, 0, 0), **look)
    for row in table.rows:
        printed.add_row(*row.cells, MARKS[row.agrees])
    return printed
