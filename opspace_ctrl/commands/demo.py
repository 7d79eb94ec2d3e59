# SPDX-License-Identifier: Apache-2.0
"""A controller and a simulated robot at work: the same figure of eight by each method, then a push."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ..data import shipped_path
from . import add_force
from ._interrupt import Interruption
from .view import add_page_arguments, ensure_viser, giving_up

if TYPE_CHECKING:
    from rich.console import Console

    from opspace_ctrl.commands._demo.record import Record

LOST = 1  # exit code


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take the robot, whether to use ROS, and where the picture goes."""
    parser.add_argument(
        "robot",
        metavar="ROBOT",
        nargs="?",
        default="arm7",
        help="a shipped robot (arm7, asimo, free_flyer) or a URDF or .xacro file (default: arm7)",
    )
    parser.add_argument(
        "config",
        metavar="CONFIG",
        nargs="?",
        help="a ROS 2 parameter file for controller and simulator (default: a shipped robot's own; "
        "else the position of the first tip is controlled)",
    )
    parser.add_argument(
        "--no-ros",
        action="store_true",
        help="controller and simulator in this process instead of two ROS 2 nodes",
    )
    parser.add_argument(
        "--view",
        action="store_true",
        help="watch it in the browser, again and again, until Ctrl-C; without ROS (extra view)",
    )
    parser.add_argument(
        "--page",
        action="store_true",
        help="afterwards, play the run in the browser, at the address that is printed, until Ctrl-C",
    )
    add_page_arguments(parser)
    parser.add_argument(
        "--plot", metavar="FILE.png", help="draw the path, the errors, the torques and the timing"
    )
    add_force(parser)


def run(args: argparse.Namespace) -> int:
    """Follow the figure of eight, then say how well; 1 if the robot did not follow it, 130 after SIGINT."""
    with (
        Interruption(keep=getattr(args, "owns_process", False)) as stop,
        TemporaryDirectory(prefix="opspace_demo_") as folder,
    ):
        return _shown(args, Path(folder), stop)


def _shown(args: argparse.Namespace, folder: Path, stop: Interruption) -> int:
    """Show it; the exit code."""
    from opspace_ctrl.commands._console import console
    from opspace_ctrl.commands._demo.own import scenario_of
    from opspace_ctrl.commands._demo.view import LiveView, summary
    from opspace_ctrl.commands._figure import ensure_drawable

    if args.plot:
        ensure_drawable(args.plot, args.force)
    if args.page:
        ensure_viser()
    out, scenario = console(), None
    with stop.ending_at_once():
        scenario = scenario_of(args.robot, args.config, folder)
    if scenario is None:
        return stop.exit_code
    if args.view:
        from opspace_ctrl.commands._demo.watched import watch_demo

        out.print(f"{Path(scenario.robot).name}: {scenario.story}")
        with giving_up(stop), ExitStack() as stack:
            watch_demo(scenario, args, stop, stack, folder)
        return stop.exit_code
    has_ros = _has_ros()
    follow, delay_name, how = _choose_way(has_ros, args.no_ros, scenario.rows == "com")
    out.print(
        f"{Path(scenario.robot).name}: {scenario.story};\neach time with another method ("
        f"{', '.join(scenario.methods)}), and at last with a push"
    )
    out.print(how)
    out.print("(the first run ever compiles the kernels, a minute or two; later ones take seconds)")
    with LiveView(out, delay_name) as view:
        record = follow(scenario, view.show, stop)
    if record is None:
        return stop.exit_code
    out.print(summary(record, delay_name))
    if args.plot:
        from opspace_ctrl.commands._demo.picture import draw

        draw(record, delay_name, args.plot, args.force)
        out.print(f"drawn: {args.plot}")
    if not record.is_followed:
        out.print(f"{record.model.name} did not follow the figure. What the nodes said:")
        for line in record.remarks or ("nothing",):
            out.print(f"  {line}", markup=False, soft_wrap=True)
    if args.config is None and scenario.config is None:
        _say_what_next(out, scenario.robot, has_ros)
    code = stop.exit_code or (0 if record.is_followed else LOST)
    if args.page and not stop.requested:
        from opspace_ctrl.commands._demo.page import show_run

        show_run(record, args, stop)
    return code


def _has_ros() -> bool:
    try:
        import rclpy  # noqa: F401
    except ImportError:  # also one that is made for another Python
        return False
    return True


def _choose_way(
    has_ros: bool, no_ros: bool, moves_com: bool
) -> tuple[Callable[..., Record | None], str, str]:
    """Choose how to run it: the function, the name of its delays, and a line that says so."""
    if has_ros and not no_ros and not moves_com:
        from opspace_ctrl.commands._demo import graph

        return (
            graph.follow,
            graph.DELAY,
            "controller and simulator are two ROS 2 nodes on this machine alone",
        )
    from opspace_ctrl.commands._demo import direct

    why = "" if no_ros else "no ROS 2 here (neither sourced nor its wheels installed): "
    if moves_com and has_ros and not no_ros:
        why = "its centre of mass is what moves: "  # the simulator node moves frames only
    return (
        direct.follow,
        direct.DELAY,
        f"{why}controller and simulator run in this process, without ROS",
    )


def _say_what_next(out: Console, robot: str, has_ros: bool) -> None:
    """Three commands to try, which work as they are printed in this folder."""
    from opspace_ctrl.commands._console import programs

    here = programs()
    lines = {
        "the same in the browser, to watch and to touch": f"demo {robot} --view",
        "another robot": f"demo {'asimo' if robot != 'asimo' else 'free_flyer'}",
        "the methods timed, beside Pinocchio and MuJoCo where they are installed": f"bench {robot}",
    }
    if has_ros:
        lines["a controller tested in lock-step, with a report and plots"] = _hil_line(robot, here)
    else:
        lines["what a controller would send first"] = f"check {robot} {robot}"
    out.print("next:")
    for what, line in lines.items():
        out.print(f"  {what}:\n    {here}opspace {line}", soft_wrap=True)


def _hil_line(robot: str, here: str) -> str:
    file = shlex.quote(str(shipped_path("config", f"{robot}.yaml")))
    options = "-p autostart:=true -p use_sim_time:=true -p liveness_timeout:=60.0"
    controller = f"{here}opspace_controller --ros-args --params-file {file} {options}"
    return f"hil {robot} --mode lockstep --seconds 5 --report hil_report --controller {shlex.quote(controller)}"
