# SPDX-License-Identifier: Apache-2.0
"""The robot of a subcommand: its arguments, loading it, and its default task frames."""

import argparse
from pathlib import Path

import yaml

from ..data import read_shipped, shipped_path
from ..errors import OpspaceError, SingularInertiaError, quoted
from ..model import Model, load_robot, load_urdf
from ..model.options import LoadOptions
from ..model.source import ROBOTS
from . import CommandError


def add_robot_arguments(parser: argparse.ArgumentParser, can_lock: bool = True) -> None:
    """ROBOT, --base, --xacro and --lock; can_lock False: a parameter file says which joints are locked."""
    parser.add_argument(
        "robot",
        metavar="ROBOT",
        help="a shipped robot (arm7, asimo, free_flyer) or a URDF or .xacro file",
    )
    parser.add_argument(
        "--base",
        choices=("fixed", "floating"),
        help="how the root link is held (default: fixed; a shipped robot's own)",
    )
    parser.add_argument(
        "--xacro",
        metavar="NAME:=VALUE",
        action="append",
        default=[],
        help="an argument for a .xacro file, may be repeated",
    )
    parser.set_defaults(lock=[])
    if can_lock:
        parser.add_argument(
            "--lock",
            metavar="JOINT[:=POSITION]",
            action="append",
            help="freeze a joint (at 0, or at a position [rad or m]), may be repeated",
        )


def source_path(args: argparse.Namespace) -> Path:
    """The file of the robot that the arguments name; a shipped robot's is in the package.

    Raises:
        CommandError: the robot is neither a file nor shipped, or --xacro is given for another file.
    """
    if args.xacro and not args.robot.endswith(".xacro"):
        raise CommandError(f"--xacro is for .xacro files; {args.robot!r} is none")
    if args.robot in ROBOTS:
        return shipped_path("urdf", f"{args.robot}.urdf")
    if not args.robot or not Path(args.robot).exists():
        raise CommandError(
            f"{args.robot!r} is neither a file nor a shipped robot ({', '.join(ROBOTS)})"
        )
    if Path(args.robot).is_dir():
        raise CommandError(
            f"{args.robot!r} is a folder; valid are a URDF or .xacro file and the shipped robots "
            f"({', '.join(ROBOTS)})"
        )
    return Path(args.robot)


def xacro_arguments(args: argparse.Namespace) -> dict[str, object]:
    """{name: value} of --xacro."""
    return dict(_pairs("--xacro", args.xacro))


def load(args: argparse.Namespace, locked: dict[str, float] | None = None) -> Model:
    """The robot that the arguments of `add_robot_arguments` name, some joints frozen if `locked` says so.

    Raises:
        OpspaceError: the file cannot be read.
        CommandError: the robot is neither a file nor shipped, or what is wrong in the file.
    """
    options: LoadOptions = {"base": args.base} if args.base else {}
    options["locked"] = {**(locked or {}), **_locked(args.lock)}
    path = source_path(args)
    if args.robot in ROBOTS:
        return load_robot(args.robot, **options)
    options["xacro_args"] = xacro_arguments(args)
    try:
        return load_urdf(path, **options)
    except OpspaceError as error:
        if quoted(path) in str(error):  # what is found while the file is read names it
            raise
        advice = " (--lock JOINT)" if isinstance(error, SingularInertiaError) else ""
        raise CommandError(f"{quoted(path)}: {error}{advice}") from error


def task_frames(args: argparse.Namespace, model: Model) -> list[str]:
    """The frames of --frames; else those of a shipped robot's task; else the links at the tips of the tree.

    Raises:
        UnknownFrameError: a frame of --frames that the model does not have.
    """
    if args.frames is not None:
        frames = [name.strip() for name in args.frames.split(",") if name.strip()]
        for name in frames:
            model.frame_index(name)
        return frames
    shipped = yaml.safe_load(read_shipped("config", "task_frames.yaml"))
    return shipped.get(args.robot) or tips(model)


def tips(model: Model) -> list[str]:
    """The links at the tips of the tree."""
    return [name for i, name in enumerate(model.body_names) if not model.children(i)]


def _locked(given: list[str]) -> dict[str, float]:
    """{joint: position} of --lock."""
    pairs = _pairs("--lock", [each if ":=" in each else f"{each}:=0" for each in given])
    try:
        return {name: float(value) for name, value in pairs}
    except ValueError:
        raise CommandError(
            f"--lock {' '.join(given)}: JOINT or JOINT:=NUMBER is expected"
        ) from None


def _pairs(option: str, given: list[str]) -> list[tuple[str, str]]:
    """(name, value) of NAME:=VALUE."""
    pairs = [each.partition(":=") for each in given]
    for each, (name, separator, _) in zip(given, pairs):
        if not (name and separator):
            raise CommandError(f"{option} {each!r}: NAME:=VALUE is expected")
    return [(name, value) for name, _, value in pairs]
