# SPDX-License-Identifier: Apache-2.0
"""Write a controller, or a simulated robot, as an image that libopspace runs without Python; and the library itself."""

from __future__ import annotations

import argparse
from pathlib import Path
from time import perf_counter

from ..control.controller import Controller
from ..data import shipped_or_own
from ..errors import ParameterFileError
from ..export.controller import WAY_POINTS, image_of
from ..export.emulated import recorder_for
from ..export.library import (
    NAMES,
    TARGETS,
    example_folder,
    library_path,
    machine,
    native_target,
    processors,
)
from ..export.record import with_reference_ticks
from ..export.simulator import simulator_image, with_reference_steps
from ..model import Model
from ..parameter_file import node_parameters
from ..robot_settings import load_any, locked_joints
from ..sim.settings import simulator_settings
from ..sim.simulator import Simulator
from ..writing import OutputFolder, check_output, new_file
from . import CommandError, add_force
from ._console import console

ROBOT = "robot.opspace"  # the image of an example
SIMULATOR = "opspace_simulator"  # whose section of a parameter file is read


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """PARAMS and what to write."""
    parser.add_argument(
        "parameters",
        metavar="PARAMS.yaml",
        nargs="?",
        help="the parameter file of a controller or simulator, or the name of a shipped one",
    )
    parser.add_argument("-o", "--output", metavar="ROBOT.opspace", help="the image to write")
    parser.add_argument(
        "--robot", metavar="URDF", help="the robot, where the parameter file names none"
    )
    parser.add_argument(
        "--base",
        choices=("", "fixed", "floating"),
        default="",
        help="how the root link of --robot is held (default: fixed; a shipped robot's own)",
    )
    parser.add_argument(
        "--way-points",
        metavar="N",
        type=int,
        default=WAY_POINTS,
        help=f"points of a trajectory that fit (default: {WAY_POINTS})",
    )
    parser.add_argument(
        "--simulator",
        action="store_true",
        help="the image is of the simulated robot, not of its controller",
    )
    parser.add_argument(
        "--library",
        metavar="DIR",
        help=f"write {', '.join(NAMES)} into this folder; needs a C compiler",
    )
    parser.add_argument(
        "--cpu", metavar="NAME", default="", help="as LLVM calls it (x86-64-v3); help: list them"
    )
    parser.add_argument("--target", choices=tuple(TARGETS), default=native_target())
    parser.add_argument(
        "--example",
        metavar="DIR",
        help="write library, image and a C program into this folder: make -C DIR run",
    )
    add_force(parser)


def run(args: argparse.Namespace) -> int:
    """Write what is asked for."""
    if args.cpu == "help":
        console().print(*processors(args.target))
        return 0
    args.parameters = _own_file(args.parameters)
    if not (args.output or args.library or args.example):
        raise CommandError(
            "nothing to write: give -o ROBOT.opspace, --library DIR or --example DIR"
        )
    if not args.parameters and (args.output or args.example):
        raise CommandError("an image is made of a parameter file: give PARAMS.yaml")
    if not 1 <= args.way_points <= 10_000:
        raise CommandError(f"--way-points {args.way_points}; valid are 1 to 10000")
    inputs = [args.parameters] if args.parameters else []
    if args.output:
        check_output(args.output, args.force, inputs)
    example_files = {
        path.name: path.read_bytes() for path in example_folder().iterdir() if path.is_file()
    }
    folders = {
        name: OutputFolder(path, "opspace export", names, args.force, inputs)
        for name, path, names in (
            ("library", args.library, NAMES),
            ("example", args.example, (*NAMES, ROBOT, *example_files)),
        )
        if path
    }
    out, start = console(), perf_counter()
    image = _image(args) if args.parameters else b""
    if args.output:
        with new_file(args.output, args.force, inputs) as file:
            file.write(image)
        out.print(f"{args.output}: {len(image)} bytes")
    if folders:
        built = library_path(args.target, args.cpu).parent
        files = {name: (built / name).read_bytes() for name in NAMES}
        extra = {"library": {}, "example": {ROBOT: image, **example_files}}
        for name, folder in folders.items():
            folder.write({**files, **extra[name]})
            out.print(f"{folder.path}: {', '.join((*files, *extra[name]))}")
    out.print(f"done in {perf_counter() - start:.1f} s")
    return 0


def _own_file(name: str | None) -> str | None:
    """The parameter file that is meant: "arm7" is the shipped arm7.yaml, as it is elsewhere the robot."""
    if not name or Path(name).suffix or shipped_or_own("config", name).is_file():
        return name
    return f"{name}.yaml" if shipped_or_own("config", f"{name}.yaml").is_file() else name


def _image(args: argparse.Namespace) -> bytes:
    """The image, its reference ticks recorded through the library where this machine or an emulator can run it."""
    model = load_any(args.robot, args.base) if args.robot else None
    # Files are read before the library is compiled, which takes long.
    given = _simulator(args, model) if args.simulator else _controller(args, model)
    record = recorder_for(args.target, args.cpu)
    recorded = machine(args.target, args.cpu) if record else f"Python on {native_target()}"
    if isinstance(given, Simulator):
        return with_reference_steps(simulator_image(given), given, record, recorded).packed()
    image = image_of(given, args.way_points)
    return with_reference_ticks(image, given, record, recorded).packed()


def _controller(args: argparse.Namespace, model: Model | None) -> Controller:
    try:
        return Controller.from_file(args.parameters, model)
    except ParameterFileError as error:
        if model is None and "no `robot`" in str(error):
            raise CommandError(f"{error}: --robot URDF") from None
        raise


def _simulator(args: argparse.Namespace, model: Model | None) -> Simulator:
    values = node_parameters(shipped_or_own("config", args.parameters), SIMULATOR)
    if model is None and not values.get("robot"):
        raise CommandError(f"{args.parameters}: no `robot` is named for {SIMULATOR}: --robot URDF")
    if model is None:
        model = load_any(values["robot"], values.get("base", ""), locked_joints(values))
    return Simulator.from_settings(model, simulator_settings(values))
