"""Print Tables 1 to 4 and equations (39), (40) of Featherstone (2010), the paper's figures beside ours."""

from __future__ import annotations

import argparse

from rich.table import Table

from ..algebra.counts import tables
from ._console import console, new_table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take the number of a table."""
    parser.add_argument(
        "--table",
        type=int,
        choices=(1, 2, 3, 4),
        help="print this table only (4: with the equations)",
    )


def run(args: argparse.Namespace) -> int:
    """Print the tables; 0 if every figure that can be compared agrees with the paper's, 1 otherwise."""
    builders = {
        1: [tables.table_1],
        2: [tables.table_2],
        3: [tables.table_3],
        4: [tables.table_4, tables.equations],
    }
    out, agree = console(), True
    for number in [args.table] if args.table else builders:
        for build in builders[number]:
            table = build()
            out.print(rendered(table))
            out.print("\n".join(table.notes) + "\n")
            agree = agree and all(row.agrees is not False for row in table.rows)
    return 0 if agree else 1


def rendered(table: tables.Table) -> Table:
    """A table for the terminal; its last column says whether ours agrees with the paper."""
    marks = {True: "=", False: "differs", None: ""}
    # Narrow gaps: table 1 fits a line of 140 characters unfolded.
    printed = new_table(*table.columns, "", title=table.title, padding=(0, 1, 0, 0))
    for row in table.rows:
        printed.add_row(*row.cells, marks[row.agrees])
    return printed
