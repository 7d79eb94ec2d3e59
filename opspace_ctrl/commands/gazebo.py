# SPDX-License-Identifier: Apache-2.0
"""Write a Gazebo world, the robot as SDF, and the files of the bridges, for any robot."""

import argparse
import shlex
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..bringup.gazebo import server_words
from ..bringup.request import default_params_file
from ..errors import ParameterFileError, listed
from ..gazebo import world_settings, write_files
from ..model import Model
from ..model.source import ROBOTS
from ..parameter_file import node_parameters
from ..parameters import checked
from ..robot_settings import locked_joints
from ..sim.settings import SIMULATOR_TABLE
from . import CommandError, _robot, add_force
from ._console import console

NODE = "opspace_simulator"  # whose parameters say where the robot begins


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """ROBOT, where to, which Gazebo, and how the robot begins."""
    _robot.add_robot_arguments(parser, can_lock=False)
    parser.add_argument(
        "--out",
        metavar="DIR",
        required=True,
        help="folder for the files: a new one, an empty one, or one that this command made",
    )
    parser.add_argument(
        "--gazebo",
        choices=("fortress", "harmonic"),
        default="harmonic",
        help="generation, for the names of plugins and messages (default: harmonic and later)",
    )
    parser.add_argument(
        "--ros2-control",
        action="store_true",
        help="gz_ros2_control and controllers instead of one force topic a joint",
    )
    parser.add_argument(
        "--params",
        metavar="FILE.yaml",
        help=f"parameters of {NODE}: step, start and ground (default: a shipped robot's own)",
    )
    parser.add_argument(
        "--position",
        metavar="JOINT:=VALUE",
        action="append",
        default=[],
        help="where a joint begins [rad or m], may be repeated",
    )
    parser.add_argument(
        "--pose",
        metavar="X,Y,Z[,QX,QY,QZ,QW]",
        help="where a floating base begins [m]; write --pose=... if it begins with a minus sign",
    )
    parser.add_argument(
        "--step", type=float, metavar="SECONDS", help="step of the world (default: 0.001)"
    )
    parser.add_argument(
        "--world", metavar="NAME", default="opspace", help="name of the world (default: opspace)"
    )
    parser.add_argument("--no-ground", action="store_true", help="no ground plane")
    add_force(parser)


def run(args: argparse.Namespace) -> int:
    """Write the files and say what they are and how to start them."""
    simulator, controller = _file_parameters(args)
    model = _robot.load(args, locked_joints(checked(SIMULATOR_TABLE, simulator)))
    options: dict[str, Any] = {
        "gazebo": args.gazebo,
        "world": args.world,
        "ros2_control": args.ros2_control,
        "joints": controller.get("joints", []),
    }
    if args.no_ground:
        options["ground"] = False
    if Path(args.robot).exists():
        options["folder"] = Path(args.robot).parent
    folder = Path(args.out)
    settings = world_settings(model, simulator | _asked_for(args, simulator, model), **options)
    inputs = (args.robot, args.params or "")
    paths, notes = write_files(model, settings, folder, args.force, inputs)
    out = console()
    told = [*(f"written: {path}" for path in paths), *(f"note: {note}" for note in notes)]
    for line in [*told, *_how_to_start(args, folder)]:
        out.print(line, soft_wrap=True)  # a command must stay one line
    return 0


def _how_to_start(args: argparse.Namespace, folder: Path) -> list[str]:
    """The commands that start what was written, whatever the folder they are pasted in."""
    is_shipped, folder = args.robot in ROBOTS, folder.resolve()
    server = server_words(folder / "world.sdf", args.gazebo, args.ros2_control, gui=False)
    given = {"robot": args.robot if is_shipped else Path(args.robot).resolve(), "files": folder}
    if args.base:
        given["base"] = args.base
    if args.xacro:
        given["xacro_args"] = " ".join(args.xacro)
    if args.gazebo != "harmonic":
        given["gazebo"] = args.gazebo
    if args.ros2_control:
        given["ros2_control"] = "true"
    if args.params:
        given["params_file"] = Path(args.params).resolve()
    launch = shlex.join(
        [
            "ros2",
            "launch",
            "opspace_ctrl",
            "gazebo.launch.py",
            *(f"{name}:={value}" for name, value in given.items()),
        ]
    )
    state = "running" if args.ros2_control else "paused until the bridge or you start it"
    return [
        f"the world alone, {state}:",
        f"  {shlex.join(server)}",
        "with bridges and controller:"
        if is_shipped or args.params
        else "with bridges and controller, where FILE.yaml is the controller's parameter file:",
        f"  {launch}" + ("" if is_shipped or args.params else " params_file:=FILE.yaml"),
    ]


def _file_parameters(args: argparse.Namespace) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the parameter file says to the simulator and, if it does, to the controller."""
    path = args.params or default_params_file(args.robot)
    if not path:
        return {}, {}
    simulator, controller = node_parameters(path, NODE), {}
    with suppress(ParameterFileError):  # a file for the simulator alone
        controller = node_parameters(path, "opspace_controller")
    return simulator, controller


def _asked_for(args: argparse.Namespace, simulator: dict[str, Any], model: Model) -> dict[str, Any]:
    """The simulator's parameters that the options give."""
    parameters: dict[str, Any] = {}
    if args.step is not None:
        parameters["step"] = args.step
    if args.position:
        parameters["initial_positions"] = _positions(
            args.position, simulator.get("initial_positions"), model
        )
    if args.pose is not None:
        parameters["initial_pose"] = _pose(args.pose, model)
    return parameters


def _positions(pairs: list[str], others: list[float] | None, model: Model) -> list[float]:
    """All joint positions (k,): those of the pairs, else the others, else zero or the nearest limit."""
    nearest_to_zero = [min(max(lower, 0.0), upper) for lower, upper in model.position_limits]
    positions = dict(zip(model.joint_names, others or nearest_to_zero))
    for pair in pairs:
        name, separator, value = pair.partition(":=")
        if not separator:
            raise CommandError(
                f"--position {pair!r}: JOINT:=VALUE is expected, such as joint1:=0.5"
            )
        if name not in positions:
            raise CommandError(
                f"--position {pair!r}: {model.name} has no joint {name!r}; its joints: "
                f"{listed(positions)}"
            )
        positions[name] = _number(value, f"--position {pair!r}")
    return list(positions.values())


def _pose(text: str, model: Model) -> list[float]:
    if not model.is_base_coordinate.any():
        raise CommandError(
            f"--pose {text!r}: the base of {model.name} is fixed; with --base floating it has a pose"
        )
    numbers = [_number(word, f"--pose {text!r}") for word in text.split(",")]
    if len(numbers) not in (3, 7):
        raise CommandError(
            f"--pose {text!r}: 3 or 7 numbers are expected, x,y,z or x,y,z,qx,qy,qz,qw"
        )
    return numbers if len(numbers) == 7 else [*numbers, 0.0, 0.0, 0.0, 1.0]


def _number(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise CommandError(f"{where}: {text!r} is not a number") from None
