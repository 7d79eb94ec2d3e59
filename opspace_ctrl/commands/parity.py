# SPDX-License-Identifier: Apache-2.0
"""Compare two descriptions of a robot (URDF, xacro, SDF, MJCF), or one and a recording of it at rest: worst first."""

import argparse
from pathlib import Path

from rich.console import Console
from rich.table import Column

from ..parity.compare import NOTE, Difference, compare_models, compare_recording
from ..parity.recorded import read_recording
from ..parity.sources import BAGS, load_description
from . import CommandError, _robot
from ._console import console, new_table, right

DIFFERENT = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """A, B and how close is close."""
    parser.add_argument(
        "first", metavar="A", help="a URDF, .xacro, SDF or MJCF file, or a shipped robot"
    )
    parser.add_argument(
        "second",
        metavar="B",
        help="another; or an MCAP bag with joint states, efforts among them, of the robot holding still",
    )
    parser.add_argument(
        "--tolerance",
        type=float,
        default=1e-3,
        metavar="SHARE",
        help="differences below this share are none (default: 0.001)",
    )
    parser.add_argument(
        "--free-zeros",
        action="store_true",
        help="joints may count from other zeros, as those of `opspace gazebo` do, which are at zero "
        "where the robot starts: told, but no difference",
    )
    parser.add_argument(
        "--xacro",
        metavar="NAME:=VALUE",
        action="append",
        default=[],
        help="an argument for .xacro files, may be repeated",
    )


def run(args: argparse.Namespace) -> int:
    """Print what differs; 0 if nothing does, 1 otherwise: a gate for CI."""
    if not 0.0 < args.tolerance < 1.0:
        raise CommandError(f"--tolerance {args.tolerance:g}: a share between 0 and 1 is valid")
    if Path(args.first).suffix in BAGS:
        raise CommandError(f"{args.first!r} is a bag: give the description first, the bag second")
    arguments = _robot.xacro_arguments(args) or None
    first = load_description(args.first, arguments)
    if Path(args.second).suffix in BAGS:
        recording = read_recording(args.second)
        found = compare_recording(first, recording, args.tolerance)
        what = f"gravity torques in {len(recording.positions)} poses at rest"
    else:
        second = load_description(args.second, arguments)
        found = compare_models(first, second, args.tolerance, free_zeros=args.free_zeros)
        what = "joints, limits, masses, centres, inertias, and gravity torques at 64 poses"
    out, count = console(), sum(each.size > NOTE for each in found)
    if found:
        _tell(out, found)
    if not count:
        out.print(f"{args.first} and {args.second} agree: {what}", soft_wrap=True)
        return 0
    out.print(f"{args.first} and {args.second} differ in {count} points", soft_wrap=True)
    return DIFFERENT


def _tell(out: Console, found: list[Difference]) -> None:
    table = new_table(
        right("size"), Column("of", overflow="fold"), Column("difference", overflow="fold")
    )
    for each in found:
        size = f"{each.size:.2g}" if each.size > NOTE else "note"
        table.add_row(size, each.subject, each.text)
    out.print(table)
    out.print(
        "size: the difference as a share of the larger of the two; 10: another kind of robot (joints, order, "
        "signs); note: only one of them says it, or no joint feels it"
    )
