# SPDX-License-Identifier: Apache-2.0
"""Write a first parameter file and effort-controller file for a robot of your own, and try them in the simulator."""

from __future__ import annotations

import argparse

from rich.console import Console

from ..model.source import ROBOTS
from ..proposal.files import file_names, written
from ..proposal.propose import propose
from ..proposal.result import Proposal
from ..writing import OutputFolder
from . import CommandError, _robot, add_force
from ._console import console, new_table, programs

SLOWEST, FASTEST = 50.0, 10_000.0  # [Hz]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """ROBOT and where the files go."""
    _robot.add_robot_arguments(parser, can_lock=False)
    parser.add_argument(
        "--out",
        metavar="DIR",
        help="folder for the files (default: one named after the robot's file, here)",
    )
    parser.add_argument(
        "--rate",
        metavar="HZ",
        type=float,
        default=1000.0,
        help="rate of the robot's effort interface (default: 1000)",
    )
    parser.add_argument(
        "--no-trial",
        action="store_true",
        help="do not try the files in the simulator before they are written",
    )
    add_force(parser)


def run(args: argparse.Namespace) -> int:
    """Propose, try, write, and say what was guessed; 1 if the trial was not passed."""
    if not SLOWEST <= args.rate <= FASTEST:
        raise CommandError(f"--rate {args.rate:g}: valid is {SLOWEST:g} to {FASTEST:g} Hz")
    out, robot = console(), _robot.source_path(args)
    base = args.base or str(ROBOTS.get(args.robot, {}).get("base", "fixed"))
    names = file_names(robot.stem)
    folder = OutputFolder(args.out or robot.stem, "opspace init", names, args.force, inputs=[robot])
    arguments = _robot.xacro_arguments(args) or None
    if args.no_trial:
        proposal, trial = propose(robot, base, args.rate, arguments), None
    else:
        from ..proposal.trial import propose_tried

        proposal, trial = propose_tried(robot, base, args.rate, arguments)
    verdict = "not tried (--no-trial)" if trial is None else str(trial)
    files = written(proposal, robot.stem, args.rate, verdict)
    folder.write(files)
    _tell(out, proposal, verdict)
    params, controllers = (folder.path / name for name in names[:2])
    out.print(f"\nwritten: {params}, {controllers}")
    opspace = f"{programs()}opspace"
    out.print("next:")
    out.print(
        f"  {opspace} check {args.robot} {params} --controllers {controllers}", soft_wrap=True
    )
    out.print(f"  {opspace} demo {args.robot} {params}", soft_wrap=True)
    return 0 if trial is None or trial.is_good else 1


def _tell(out: Console, proposal: Proposal, verdict: str) -> None:
    table = new_table("of", "taken", "because")
    for note in proposal.notes:
        table.add_row(note.subject, note.taken, note.reason)
    out.print(table)
    for warning in proposal.warnings:
        out.print(f"look at this: {warning}")
    out.print(f"tried in the simulator with 2 ms of delay: {verdict}")
