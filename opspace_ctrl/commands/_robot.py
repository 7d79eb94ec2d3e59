"""The robot of a subcommand: its arguments, loading it, and its default task frames."""

from __future__ import annotations

import argparse
from pathlib import Path

import yaml

from ..data import read_shipped
from ..errors import OpspaceError, SourceError
from ..model import Model, load_robot, load_urdf
from ..model.source import ROBOTS
from . import CommandError


def add_robot_arguments(parser: argparse.ArgumentParser) -> None:
    """ROBOT, --base and --xacro."""
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


def load(args: argparse.Namespace, locked: dict[str, float] | None = None) -> Model:
    """The robot that the arguments of `add_robot_arguments` name, some joints frozen if `locked` says so.

    Raises:
        SourceError: the file cannot be read.
        CommandError: the robot is neither a file nor shipped, or what is wrong in the file.
    """
    options = {"base": args.base} if args.base else {}
    if locked:
        options["locked"] = locked
    if args.xacro and not args.robot.endswith(".xacro"):
        raise CommandError(f"--xacro is for .xacro files; {args.robot!r} is none")
    if args.robot in ROBOTS:
        return load_robot(args.robot, **options)
    if not args.robot or not Path(args.robot).exists():
        raise CommandError(
            f"{args.robot!r} is neither a file nor a shipped robot ({', '.join(ROBOTS)})"
        )
    if Path(args.robot).is_dir():
        raise CommandError(
            f"{args.robot!r} is a folder; valid are a URDF or .xacro file and the shipped robots "
            f"({', '.join(ROBOTS)})"
        )
    xacro_arguments = _xacro_arguments(args.xacro)
    try:
        return load_urdf(Path(args.robot), xacro_args=xacro_arguments, **options)
    except SourceError:  # names the file itself
        raise
    except OpspaceError as error:
        raise CommandError(f"{args.robot}: {error}") from error


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
    tips = [name for i, name in enumerate(model.body_names) if not model.children(i)]
    return shipped.get(args.robot, tips)


def _xacro_arguments(pairs: list[str]) -> dict[str, str]:
    arguments = {}
    for pair in pairs:
        name, separator, value = pair.partition(":=")
        if not (name and separator):
            raise CommandError(f"--xacro {pair!r}: NAME:=VALUE is expected")
        arguments[name] = value
    return arguments
