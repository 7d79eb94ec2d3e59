"""Test a controller on simulated hardware with faults: a report, plots, and an exit code for CI."""

from __future__ import annotations

import argparse
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from ..data import shipped_path
from ..errors import LogError, quoted, shown
from ..model.source import ROBOTS
from ..parameter_file import node_parameters
from ..parameters import checked
from ..sim.plant.faults import load_faults
from ..sim.record.bag import check_recording, write_bag
from ..sim.record.log import log_folder, read_log
from ..sim.record.report import make_report, report_text
from ..sim.settings import SIMULATOR_TABLE
from ..writing import OutputFolder
from ..yaml_reader import parse_yaml
from . import CommandError, _robot, add_force
from ._console import console
from ._hil_plots import PICTURES, draw
from ._hil_run import Outcome, controller_words, ensure_ros, run_hardware
from ._interrupt import INTERRUPTED, Interruption

KEPT, BROKEN = 0, 1
# What a run leaves in its folder, beside the pictures.
REPORT, ROBOT, LOG = "report.json", "robot.urdf", "log"
PROCESS_FILES = ("simulator.yaml", "simulator.txt", "controller.txt")
# The options that state a limit, with their units; sim/record/report.py says what they are compared with.
LIMITS = {
    "max_torque": ("NM", "the largest effort commanded on any joint [Nm or N]"),
    "max_error": ("M", "the largest position error of any task [m]"),
    "max_angle": ("RAD", "the largest orientation error of any task [rad]"),
    "max_missed": ("N", "deadlines missed: states without a command before the next one"),
    "max_latency": ("S", "from a state to its command, for 99 of 100 [s]"),
    "max_refused": ("N", "commands refused: wrong size, not finite, over the limits"),
    "max_watchdog": ("N", "times that the watchdog had to act"),
}

# Parameters of the simulator that options of ours decide.
OWN_OPTIONS = {
    "robot": "ROBOT",
    "base": "--base",
    "mode": "--mode",
    "faults": "--faults",
    "seed": "--seed",
    "log": "--report",
    "autostart": "opspace hil itself",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The robot, the controller, the faults, the limits and where the results go."""
    _robot.add_robot_arguments(parser)
    parser.add_argument(
        "--controller",
        metavar="CMD",
        default="",
        help="command line that starts the controller; without it, start yours beside",
    )
    parser.add_argument(
        "--seconds",
        metavar="S",
        type=float,
        default=10.0,
        help="simulated seconds from the first command on (default 10)",
    )
    parser.add_argument(
        "--faults", metavar="FILE.yaml", default="", help="schedule of faults (see docs/hil.md)"
    )
    parser.add_argument(
        "--report",
        metavar="DIR",
        default="hil_report",
        help="folder for report.json, plots and outputs: a new one, an empty one, or one that this command made "
        "(default hil_report)",
    )
    parser.add_argument(
        "--record", metavar="FILE.mcap", help="write the run as an MCAP bag with ROS 2 messages"
    )
    parser.add_argument(
        "--mode",
        choices=("free", "scaled", "lockstep"),
        default="free",
        help="free: real time (default); lockstep: each step waits for its command",
    )
    parser.add_argument(
        "--seed", metavar="N", type=int, default=0, help="seed of the faults (default: the file's)"
    )
    parser.add_argument(
        "--params",
        metavar="FILE.yaml",
        help="ROS 2 parameter file of the simulator (default: a shipped robot's own)",
    )
    parser.add_argument(
        "--set",
        metavar="NAME:=VALUE",
        action="append",
        default=[],
        help="a parameter of the simulator, may be repeated",
    )
    parser.add_argument(
        "--patience",
        metavar="S",
        type=float,
        default=300.0,
        help="seconds that the run may stand still, as while a controller starts (default 300)",
    )
    for name, (unit, text) in LIMITS.items():
        parser.add_argument(
            f"--{name.replace('_', '-')}", metavar=unit, type=float, help=f"limit: {text}"
        )
    add_force(parser)


def run(args: argparse.Namespace) -> int:
    """Run the test; 0 if all limits were kept, 1 if not, 130 after SIGINT or SIGTERM."""
    with Interruption(keep=getattr(args, "owns_process", False)) as stop:
        code = _tested(args, stop)
        return INTERRUPTED if stop.requested else code


def _tested(args: argparse.Namespace, stop: Interruption) -> int:
    out = console()
    ensure_ros()
    controller = controller_words(args.controller)
    _check_record(args)
    values, description = _simulator_values(args)
    if stop.requested:
        return INTERRUPTED
    folder = _report_folder(args, description)
    print(
        f"opspace hil: {shown(args.robot, 400)} for {args.seconds:g} s, report in {shown(args.report, 400)}",
        flush=True,
    )
    if not controller:
        domain = os.environ.get("ROS_DOMAIN_ID", "0")
        print(
            f"no --controller: start one that sends effort_controller/commands in ROS domain {domain}; it is waited "
            f"for, {args.patience:g} s at most",
            flush=True,
        )
    with _Progress(out, args.seconds) as tell:
        outcome = run_hardware(values, controller, args.seconds, args.patience, folder, stop, tell)
    return _reported(args, folder, outcome, stop, out)


def _report_folder(args: argparse.Namespace, description: str) -> OutputFolder:
    """The folder of the report, with the robot's description if it has one and with nothing of an older run.

    Raises:
        OutputError: Something in it is not ours.
    """
    names = (REPORT, ROBOT, *PICTURES, *PROCESS_FILES)
    inputs = (args.robot, args.params or "", args.faults)
    folder = OutputFolder(args.report, "opspace hil", names, args.force, inputs)
    log = log_folder(folder.path / LOG, args.force)  # both are asked before either is touched
    folder.claim()
    log.claim()
    if description:
        folder.write({ROBOT: description})
    return folder


def _simulator_values(args: argparse.Namespace) -> tuple[dict[str, Any], str]:
    """The parameters of the simulator, checked before anything starts, and the robot's URDF unless it is shipped."""
    if not (0.0 < args.seconds < float("inf") and args.patience > 0.0):
        raise CommandError("--seconds and --patience: positive numbers are valid")
    model = _robot.load(args)
    faults = str(Path(args.faults).absolute()) if args.faults else ""
    load_faults(faults).check(model)
    folder = Path(args.report).absolute()
    values = (
        _file_values(args)
        | _set_values(args.set)
        | {
            "robot": args.robot if args.robot in ROBOTS else str(folder / ROBOT),
            "mode": args.mode,
            "faults": faults,
            "seed": args.seed,
            "log": str(folder / LOG),
            "autostart": True,
        }
    )
    if args.base:
        values["base"] = args.base
    checked(SIMULATOR_TABLE, values)
    # with the arguments of a xacro filled in
    return values, "" if args.robot in ROBOTS else str(model.source)


def _file_values(args: argparse.Namespace) -> dict[str, Any]:
    """The simulator's section of a parameter file: the given one, or a shipped robot's own."""
    if args.params:
        return node_parameters(args.params, "opspace_simulator")
    return (
        node_parameters(shipped_path("config", f"{args.robot}.yaml"), "opspace_simulator")
        if (args.robot in ROBOTS)
        else {}
    )


def _set_values(pairs: list[str]) -> dict[str, Any]:
    values = {}
    for pair in pairs:
        name, separator, text = pair.partition(":=")
        if not (name and separator):
            raise CommandError(f"--set {quoted(pair)}: NAME:=VALUE is expected")
        if name in OWN_OPTIONS:
            raise CommandError(f"--set {quoted(pair)}: {name} is chosen by {OWN_OPTIONS[name]}")
        values[name] = parse_yaml(text, f"--set {quoted(pair)}", CommandError)
    return values


def _check_record(args: argparse.Namespace) -> None:
    """Fail before the run, not after it, if it could not be recorded."""
    if args.record:
        check_recording(args.record, args.force)


class _Progress:
    """A progress bar on a terminal; nothing in a file."""

    def __init__(self, out: Console, seconds: float) -> None:
        self._seconds = seconds
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[at]}"),
            TimeElapsedColumn(),
            console=out,
            disable=not out.is_terminal,
            transient=True,
        )
        self._task = self._bar.add_task("starting", total=seconds, at="")

    def __enter__(self):
        self._bar.start()
        return self.tell

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def tell(self, what: str, reached: float) -> None:
        """Show what happens and how far the run has come [s]."""
        self._bar.update(
            self._task,
            description=what,
            completed=reached,
            at=f"{reached:.1f} of {self._seconds:g} s",
        )


def _reported(
    args: argparse.Namespace,
    folder: OutputFolder,
    outcome: Outcome,
    stop: Interruption,
    out: Console,
) -> int:
    """Write the report, the plots and the bag; the exit code."""
    limits = {name: getattr(args, name) for name in LIMITS if getattr(args, name) is not None}
    context = {
        "mode": args.mode,
        "controller": args.controller,
        "interrupted": outcome.is_interrupted,
        "controller_code": outcome.controller_code,
        "stood_still": outcome.stood_still,
    }
    try:
        run = read_log(folder.path / LOG)
    except LogError:
        if not outcome.is_interrupted:
            out.print(f"nothing was simulated{_reason(outcome, folder.path)}")
        return BROKEN
    report = make_report(run, args.seconds, outcome.tracking, limits, context)
    (path,) = folder.write({REPORT: report_text(report)})
    if outcome.is_interrupted:
        return INTERRUPTED
    _print_report(report, out)
    if outcome.stood_still or outcome.controller_code is not None:
        out.print(_reason(outcome, folder.path).removeprefix(": "))
    if args.record and not stop.requested:
        count = write_bag(run, args.record, outcome.tracking, args.force)
        out.print(f"recorded: {count} messages in {args.record}")
    if not stop.requested:
        _draw(run, report, outcome, folder, out)
    out.print(f"report: {path}")
    out.print(report["summary"])
    return KEPT if report["kept"] else BROKEN


def _reason(outcome: Outcome, folder: Path) -> str:
    """Why the run ended early, with the controller's last words."""
    said = ""
    with suppress(OSError):
        said = " ".join(
            (folder / "controller.txt").read_text(errors="replace").split("\n")[-12:]
        ).strip()
    said = f"; it said: {said}" if said else ""
    if outcome.controller_code is not None:
        return f": the controller ended with code {outcome.controller_code}{said}"
    return (
        f": the run stood still for {outcome.stood_still:g} s{said}" if outcome.stood_still else ""
    )


def _print_report(report: dict, out: Console) -> None:
    for fault in report["faults"]:
        out.print(f"  {fault['words']}", soft_wrap=True)
    latency, deadlines = report["latency"], report["deadlines"]
    if latency["count"]:
        out.print(
            f"commands: {latency['count']}, after {1e3 * latency['median']:.2f} ms (median), "
            f"{1e3 * latency['p99']:.2f} ms (99 %); missed deadlines: {deadlines['missed']} of "
            f"{deadlines['states']}; watchdog: {report['counters'].get('watchdog', 0)} times"
        )
    table = Table(box=None, pad_edge=False)
    for title in ("limit", "allowed", "reached", ""):
        table.add_column(title, justify="left" if title in ("limit", "") else "right")
    for limit in report["limits"]:
        reached = "not measured" if limit["reached"] is None else f"{limit['reached']:.4g}"
        table.add_row(
            limit["text"], f"{limit['limit']:g}", reached, "kept" if limit["kept"] else "EXCEEDED"
        )
    out.print(table)


def _draw(run, report: dict, outcome: Outcome, folder: OutputFolder, out: Console) -> None:
    try:
        drawn = draw(run, report, outcome.tracking)
    except CommandError as error:
        out.print(f"no plots: {error}")
        return
    folder.write(drawn)
    out.print(f"drawn: {', '.join(drawn)}")
