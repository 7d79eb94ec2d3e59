"""Write a Gazebo world, the robot as SDF, and the files of the bridges, for any robot."""
from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opspace_ctrl.commands import CommandError, _robot

if TYPE_CHECKING:
    from opspace_ctrl.model import Model

NODE = "opspace_simulator"  # whose parameters say where the robot begins


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """ROBOT, where to, which Gazebo, and how the robot begins."""
    _robot.add_robot_arguments(parser)
    parser.add_argument("--out", metavar="DIR", required=True, help="folder for the files; made if it does not exist")
    parser.add_argument("--gazebo", choices=("fortress", "harmonic"), default="harmonic",
                        help="generation, for the names of plugins and messages (default: harmonic and later)")
    parser.add_argument("--ros2-control", action="store_true",
                        help="gz_ros2_control and controllers instead of one force topic a joint")
    parser.add_argument("--params", metavar="FILE.yaml",
                        help=f"parameters of {NODE}: step, start and ground (default: a shipped robot's own)")
    parser.add_argument("--position", metavar="JOINT:=VALUE", action="append", default=[],
                        help="where a joint begins [rad or m], may be repeated")
    parser.add_argument("--pose", metavar="X,Y,Z[,QX,QY,QZ,QW]",
                        help="where a floating base begins [m]; write --pose=... if it begins with a minus sign")
    parser.add_argument("--step", type=float, metavar="SECONDS", help="step of the world (default: 0.001)")
    parser.add_argument("--world", metavar="NAME", default="opspace", help="name of the world (default: opspace)")
    parser.add_argument("--no-ground", action="store_true", help="no ground plane")


def run(args: argparse.Namespace) -> int:
    """Write the files and say what they are and how to start them."""
    from opspace_ctrl.commands._console import console
    from opspace_ctrl.gazebo import world_settings, write_files

    model = _robot.load(args)
    options: dict[str, Any] = {"gazebo": args.gazebo, "world": args.world, "ros2_control": args.ros2_control}
    if args.no_ground:
        options["ground"] = False
    if Path(args.robot).exists():
        options["folder"] = Path(args.robot).parent
    folder = Path(args.out)
    paths, notes = write_files(model, world_settings(model, _parameters(args, model), **options), folder)
    out = console()
    for path in paths:
        out.print(f"written: {path}")
    for note in notes:
        out.print(f"note: {note}")
    server = "ign gazebo" if args.gazebo == "fortress" else "gz sim"
    out.print(f"start it alone: {server} -s {folder / 'world.sdf'}; with everything: "
              f"ros2 launch opspace_ctrl gazebo.launch.py robot:={args.robot}")
    return 0


def _parameters(args: argparse.Namespace, model: Model) -> dict[str, Any]:
    """The simulator's parameters of the file, and over them what the options say."""
    from opspace_ctrl.bringup.defaults import default_params_file
    from opspace_ctrl.parameter_file import node_parameters

    path = args.params or default_params_file(args.robot)
    parameters = node_parameters(path, NODE) if path else {}
    if args.step is not None:
        parameters["step"] = args.step
    if args.position:
        parameters["initial_positions"] = _positions(args.position, parameters.get("initial_positions"), model)
    if args.pose is not None:
        parameters["initial_pose"] = _pose(args.pose)
    return parameters


def _positions(pairs: list[str], others: list[float] | None, model: Model) -> list[float]:
    """All joint positions (k,): those of the pairs, else the others, else zero."""
    positions = dict(zip(model.joint_names, others or [0.0] * len(model.joint_names)))
    for pair in pairs:
        name, _, value = pair.partition(":=")
        if name not in positions:
            raise CommandError(f"--position {pair!r}: no joint {name!r}; joints: {', '.join(positions)}")
        positions[name] = _number(value, f"--position {pair!r}")
    return list(positions.values())


def _pose(text: str) -> list[float]:
    numbers = [_number(word, f"--pose {text!r}") for word in text.split(",")]
    if len(numbers) not in (3, 7):
        raise CommandError(f"--pose {text!r}: 3 or 7 numbers are expected, x,y,z or x,y,z,qx,qy,qz,qw")
    return numbers if len(numbers) == 7 else [*numbers, 0.0, 0.0, 0.0, 1.0]


def _number(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise CommandError(f"{where}: {text!r} is not a number") from None
