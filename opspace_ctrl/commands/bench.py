# SPDX-License-Identifier: Apache-2.0
"""Time the methods beside Pinocchio and MuJoCo: same work, same states, results compared first."""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ..bench import report as bench
from ..errors import quoted, shown
from ..reading import read_regular
from ..writing import check_output, new_file
from . import CommandError, add_force
from ._bench_accuracy import show_accuracy
from ._bench_plot import draw
from ._bench_tables import tables
from ._console import console
from ._figure import ensure_drawable
from ._interrupt import INTERRUPTED

FAILED = 2
LARGEST = 1 << 26  # [bytes] of a report that is read
# of a report; there are tables if it has any
PARTS = ("robots", "left_out", "growth", "auto", "start_up", "exported")
CALLS, CALLS_LONG = 2048, 100_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take the robots, what else to measure, and where to put it."""
    parser.add_argument(
        "robots",
        metavar="ROBOT",
        nargs="*",
        help="panda, g1, talos (of the wheel example-robot-data), asimo, arm7 (all of these "
        "if none is named), free_flyer, another robot of the wheel, or a URDF file",
    )
    parser.add_argument(
        "--frames", metavar="A,B", help="task frames (default: each robot's own; they are named)"
    )
    parser.add_argument("--base", choices=("fixed", "floating"), help="how the root links are held")
    parser.add_argument(
        "--calls",
        metavar="N",
        type=_positive,
        default=CALLS,
        help="timed calls of each contestant (default: %(default)s; ratios are judged from 2000 on)",
    )
    parser.add_argument(
        "--calls-long",
        metavar="N",
        type=_positive,
        default=CALLS_LONG,
        help="ticks for the 99.9th percentile, in whole thousands (default: %(default)s, from which on "
        "it is judged)",
    )
    parser.add_argument(
        "--growth", action="store_true", help="also chains and trees of 8 to 512 joints"
    )
    parser.add_argument(
        "--start-up", action="store_true", help="also the time to import and to compile"
    )
    parser.add_argument(
        "--auto",
        action="store_true",
        help="also whether auto chooses well, on every robot of the wheel",
    )
    parser.add_argument(
        "--exported",
        action="store_true",
        help="also the exported tick of arm7, asimo and free_flyer, in a hot loop and cold: after other "
        "memory was used, and after pauses (needs a C compiler)",
    )
    parser.add_argument("--all", action="store_true", help="all of these")
    parser.add_argument(
        "--accuracy",
        metavar="STATES",
        nargs="?",
        type=_positive,
        const=3,
        help="time nothing: count the correct digits of every method against extended precision, "
        "also with very light links (needs mpmath; default: 3 states)",
    )
    parser.add_argument(
        "--json", metavar="FILE", help="write every figure, with machine and versions"
    )
    parser.add_argument(
        "--plot",
        metavar="FILE.png",
        help="draw the tick by method and peer, and cost against size (implies --growth)",
    )
    parser.add_argument(
        "--from",
        metavar="FILE",
        dest="earlier",
        help="measure nothing: show and draw what --json wrote",
    )
    parser.add_argument("--markdown", action="store_true", help="print the tables as Markdown")
    add_force(parser)


def run(args: argparse.Namespace) -> int:
    """Measure (or read), print, write, draw what is complete. Slow is no error; results that disagree are."""
    if args.accuracy:
        frames = args.frames.split(",") if args.frames else ()
        return show_accuracy(args.robots, args.base, frames, args.accuracy, args.markdown)
    if args.earlier:
        _refuse_measuring(args)
    if args.plot:
        ensure_drawable(args.plot, args.force)
    if args.json:
        check_output(args.json, args.force)
    report = _read(args.earlier) if args.earlier else _measure(args)
    out = console()
    if any(report.get(part) for part in PARTS):
        for part in tables(report, out.width, args.markdown):
            out.print(part)
    if args.json:
        _write(args.json, report, args.force)
        out.print(f"written: {args.json}")
    failed, interrupted = report.get("failed", {}), report.get("interrupted", False)
    if args.plot and (report["robots"] or report.get("growth") or not (failed or interrupted)):
        draw(report, args.plot, args.force)
        out.print(f"drawn: {args.plot}")
    if args.earlier:
        return 0
    for what, reason in failed.items():
        print(f"opspace: error: {shown(what)}: {shown(reason, 4000)}", file=sys.stderr)
    return INTERRUPTED if interrupted else FAILED if failed else 0


def _refuse_measuring(args: argparse.Namespace) -> None:
    """Raise CommandError if --from stands beside what only a measurement could heed."""
    given = {
        "ROBOT": args.robots,
        "--base": args.base,
        "--frames": args.frames,
        "--calls": args.calls != CALLS,
        "--calls-long": args.calls_long != CALLS_LONG,
        "--growth": args.growth,
        "--start-up": args.start_up,
        "--auto": args.auto,
        "--exported": args.exported,
        "--all": args.all,
        "--json": args.json,
    }
    if idle := [name for name, value in given.items() if value]:
        raise CommandError(
            f"--from measures nothing, it shows what the file holds: leave out {', '.join(idle)}"
        )


def _measure(args: argparse.Namespace) -> dict:
    plan = bench.Plan(
        robots=tuple(args.robots),
        base=args.base,
        frames=tuple(filter(None, (args.frames or "").split(","))),
        calls=args.calls,
        calls_long=args.calls_long,
        growth=args.growth or args.all or bool(args.plot),
        start_up=args.start_up or args.all,
        auto=args.auto or args.all,
        exported=args.exported or args.all,
    )
    with _progress(plan) as tell:
        return bench.run(plan, tell)


@contextmanager
def _progress(plan: bench.Plan) -> Iterator[Callable[[str], None]]:
    """A bar on stderr that moves when told and sleeps in between: nothing runs beside what is timed."""
    terminal = Console(stderr=True, markup=False)
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
    )
    with Progress(
        *columns,
        console=terminal,
        auto_refresh=False,
        transient=True,
        disable=not terminal.is_terminal,
    ) as bar:
        task = bar.add_task("", total=plan.steps)

        def tell(text: str) -> None:
            bar.update(task, description=text)
            bar.refresh()
            bar.advance(task)

        yield tell


def _read(path: str) -> dict:
    try:
        report = json.loads(read_regular(path, LARGEST))
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or shown(error)
        raise CommandError(f"cannot read {quoted(path)}: {reason}") from None
    if not isinstance(report, dict) or report.get("format") != bench.FORMAT:
        raise CommandError(f"{path!r} was not written by `opspace bench --json` of this version")
    return report


def _write(path: str, report: dict, force: bool) -> None:
    with new_file(path, force) as file:
        file.write(json.dumps(report, indent=1).encode() + b"\n")


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of calls, 1 or more")
    return int(text)
