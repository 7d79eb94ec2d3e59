# SPDX-License-Identifier: Apache-2.0
"""Test a controller on simulated hardware with faults: a report, plots, and an exit code for CI."""

import argparse
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from ..data import shipped_path
from ..errors import LogError, quoted, shown
from ..model import Model
from ..model.source import ROBOTS
from ..parameter_file import node_parameters
from ..parameters import checked
from ..sim.plant.faults import load_faults
from ..sim.record.bag import check_recording, write_bag
from ..sim.record.log import log_folder, read_log
from ..sim.record.report import LIMITS, make_report, report_text
from ..sim.record.tracking import tracking_errors
from ..sim.settings import SIMULATOR_TABLE
from ..writing import OutputFolder
from ..yaml_reader import parse_yaml
from . import CommandError, _robot, add_force
from ._console import console, new_table, right
from ._hil_plots import PICTURES, draw
from ._hil_run import Outcome, controller_words, ensure_ros, run_hardware
from ._interrupt import INTERRUPTED, Interruption

KEPT, BROKEN = 0, 1
WALL_CLOCK = (
    "the controller does not listen to /clock (use_sim_time): "
    "what it does by the wall clock differs from run to run"
)
# What a run leaves in its folder, beside the pictures.
REPORT, ROBOT, LOG = "report.json", "robot.urdf", "log"
PROCESS_FILES = ("simulator.yaml", "simulator.txt", "controller.txt")

OPTIONS: dict[str, dict[str, Any]] = {
    "--controller": {
        "metavar": "CMD",
        "default": "",
        "help": "command line that starts the controller; without it, start yours beside",
    },
    "--seconds": {
        "metavar": "S",
        "type": float,
        "default": 10.0,
        "help": "simulated seconds from the first command on (default 10)",
    },
    "--faults": {
        "metavar": "FILE.yaml",
        "default": "",
        "help": "schedule of faults, pushes, targets and trajectories (see docs/hil.md)",
    },
    "--report": {
        "metavar": "DIR",
        "default": "hil_report",
        "help": "folder for report.json, plots and outputs: a new one, an empty one, or one that this command made "
        "(default hil_report)",
    },
    "--record": {
        "metavar": "FILE.mcap",
        "help": "write the run as an MCAP bag with ROS 2 messages",
    },
    "--mode": {
        "choices": ("free", "scaled", "lockstep"),
        "default": "free",
        "help": "free: real time (default); lockstep: each step waits for its command",
    },
    "--seed": {
        "metavar": "N",
        "type": int,
        "default": 0,
        "help": "seed of the faults (default: the file's)",
    },
    "--params": {
        "metavar": "FILE.yaml",
        "help": "ROS 2 parameter file of the simulator (default: a shipped robot's own)",
    },
    "--set": {
        "metavar": "NAME:=VALUE",
        "action": "append",
        "default": [],
        "help": "a parameter of the simulator, may be repeated",
    },
    "--patience": {
        "metavar": "S",
        "type": float,
        "default": 300.0,
        "help": "seconds that the run may stand still, as while a controller starts (default 300)",
    },
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
    _robot.add_robot_arguments(parser, can_lock=False)
    limits = {
        f"--{name.replace('_', '-')}": {
            "metavar": limit.unit,
            "type": float,
            "help": f"limit: {limit.text}".replace("%", "%%"),
        }
        for name, limit in LIMITS.items()
    }
    for name, options in (OPTIONS | limits).items():
        parser.add_argument(name, **options)
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
    if args.record:  # fail before the run, not after it
        check_recording(args.record, args.force)
    if not (0.0 < args.seconds < float("inf") and args.patience > 0.0):
        raise CommandError("--seconds and --patience: positive numbers are valid")
    model = _robot.load(args)
    values = _simulator_values(args, model)
    if stop.requested:
        return INTERRUPTED
    # with the arguments of a xacro filled in
    folder = _report_folder(args, "" if args.robot in ROBOTS else str(model.source))
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
    with _progress(out, args.seconds) as tell:
        outcome = run_hardware(values, controller, args.seconds, args.patience, folder, stop, tell)
    return _reported(args, model, folder, outcome, stop, out)


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


def _simulator_values(args: argparse.Namespace, model: Model) -> dict[str, Any]:
    """The parameters of the simulator, checked before anything starts."""
    faults = str(Path(args.faults).absolute()) if args.faults else ""
    load_faults(faults).check(model)
    folder, is_shipped = Path(args.report).absolute(), args.robot in ROBOTS
    params = args.params or (shipped_path("config", f"{args.robot}.yaml") if is_shipped else "")
    values = {
        **(node_parameters(params, "opspace_simulator") if params else {}),
        **_set_values(args.set),
        "robot": args.robot if is_shipped else str(folder / ROBOT),
        **({"base": args.base} if args.base else {}),
        "mode": args.mode,
        "faults": faults,
        "seed": args.seed,
        "log": str(folder / LOG),
        "autostart": True,
    }
    checked(SIMULATOR_TABLE, values)
    return values


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


@contextmanager
def _progress(out: Console, seconds: float) -> Iterator[Callable[[str, float], None]]:
    """A progress bar on a terminal, nothing in a file; yields what shows what happens and how far the run is [s]."""
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[at]}"))
    is_hidden = not out.is_terminal
    with Progress(
        *columns, TimeElapsedColumn(), console=out, disable=is_hidden, transient=True
    ) as bar:
        task = bar.add_task("starting", total=seconds, at="")

        def tell(what: str, reached: float) -> None:
            at = f"{reached:.1f} of {seconds:g} s"
            bar.update(task, description=what, completed=reached, at=at)

        yield tell


def _reported(
    args: argparse.Namespace,
    model: Model,
    folder: OutputFolder,
    outcome: Outcome,
    stop: Interruption,
    out: Console,
) -> int:
    """Write the report, the plots and the bag; the exit code."""
    try:
        log = read_log(folder.path / LOG)
    except LogError:
        if not outcome.is_interrupted:
            out.print(f"nothing was simulated: {outcome.reason or 'there is no log'}")
        return BROKEN
    tracking = tracking_errors(log.until(args.seconds), model, outcome.told)
    limits = {name: getattr(args, name) for name in LIMITS if getattr(args, name) is not None}
    context = {
        "mode": args.mode,
        "controller": args.controller,
        "interrupted": outcome.is_interrupted,
        "controller_code": outcome.controller_code,
        "stood_still": outcome.stood_still,
        "simulated_clock": outcome.has_clock,
    }
    report = make_report(log, args.seconds, tracking, limits, context)
    (path,) = folder.write({REPORT: report_text(report)})
    if outcome.is_interrupted:
        return INTERRUPTED
    _print_report(report, out)
    if outcome.reason:
        out.print(outcome.reason)
    if args.mode == "lockstep" and not outcome.has_clock:
        out.print(WALL_CLOCK, soft_wrap=True)
    if args.record and not stop.requested:
        count = write_bag(log, args.record, tracking, args.force)
        out.print(f"recorded: {count} messages in {args.record}")
    if not stop.requested:
        try:
            drawn = draw(log, report, tracking)
            folder.write(drawn)
            out.print(f"drawn: {', '.join(drawn)}")
        except CommandError as error:
            out.print(f"no plots: {error}")
    out.print(f"report: {path}")
    out.print(report["summary"])
    return KEPT if report["kept"] else BROKEN


def _print_report(report: dict, out: Console) -> None:
    lines = [f"  {fault['words']}" for fault in report["faults"]]
    latency, deadlines, tracking = report["latency"], report["deadlines"], report["tracking"]
    if latency["count"]:
        lines.append(
            f"commands: {latency['count']}, after {1e3 * latency['median']:.2f} ms (median), "
            f"{1e3 * latency['p99']:.2f} ms (99 %); missed deadlines: {deadlines['missed']} of "
            f"{deadlines['states']}; watchdog: {report['counters'].get('watchdog', 0)} times"
        )
        lines.append(
            f"largest torque: {report['torque']['largest']:.4g} {report['torque']['words']}"
        )
    if tracking["tasks"]:
        lines.append(
            f"largest tracking error: {1e3 * tracking['largest']['position']:.4g} mm "
            f"{tracking['largest']['words']}; judged: {100.0 * tracking['coverage']:.4g} % of the steps"
        )
    for line in lines:
        out.print(line, soft_wrap=True)
    table = new_table("limit", right("allowed"), right("reached"), "", box=None)
    for limit in report["limits"]:
        reached = "not measured" if limit["reached"] is None else f"{limit['reached']:.4g}"
        verdict = "kept" if limit["kept"] else "EXCEEDED"
        table.add_row(limit["text"], f"{limit['limit']:g}", reached, verdict)
    out.print(table)
