# SPDX-License-Identifier: Apache-2.0
"""A robot in the browser: watch it, drag its tool, push it, tune its gains."""

from __future__ import annotations

import argparse
import os
import socket
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from ipaddress import ip_address
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..errors import ViewError
from ._interrupt import Interruption

PORT = 8080
NICE = 5  # the page yields to the loop


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take the robot, its parameters, and where the page is."""
    parser.add_argument(
        "robot",
        metavar="ROBOT",
        nargs="?",
        help="a shipped robot (arm7, asimo, free_flyer) or a URDF or .xacro file (default: arm7, or "
        "the one that a recorded run or a ROS graph names)",
    )
    parser.add_argument(
        "--params",
        metavar="FILE",
        help="a ROS 2 parameter file for controller and simulator (default: a shipped robot's own; "
        "else the position of the first tip is controlled)",
    )
    parser.add_argument(
        "--replay",
        metavar="RUN",
        help="show a recorded run: an MCAP file, or the folder of opspace hil --report",
    )
    parser.add_argument(
        "--ros",
        action="store_true",
        help="show a robot of the running ROS graph; it is only watched, unless --control is given",
    )
    parser.add_argument(
        "--namespace",
        action="append",
        default=[],
        metavar="NS",
        help="of the robot on the graph, again for each of several (default: all that the graph describes)",
    )
    parser.add_argument(
        "--control", action="store_true", help="with --ros: handles, gains and stop work, too"
    )
    add_page_arguments(parser)


def add_page_arguments(parser: argparse.ArgumentParser) -> None:
    """Where the page is, and who may see it."""
    parser.add_argument(
        "--port", type=int, default=PORT, metavar="N", help=f"of the page; 0: any (default: {PORT})"
    )
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    parser.add_argument(
        "--allow-remote",
        action="store_true",
        help="let other hosts connect that have the address with its token, which is printed",
    )


def run(args: argparse.Namespace) -> int:
    """Show it until Ctrl-C."""
    with Interruption(keep=getattr(args, "owns_process", False)) as stop:
        with giving_up(stop), ExitStack() as stack:
            _show(args, stop, stack)
        return stop.exit_code


@contextmanager
def giving_up(stop: Interruption) -> Iterator[None]:
    """What cannot go on because a signal has come is no trouble."""
    try:
        yield
    except ViewError:
        if not stop.requested:
            raise


def _show(args: argparse.Namespace, stop: Interruption, stack: ExitStack) -> None:
    ensure_viser()
    if not 0 <= args.port < 65536:
        raise ViewError(f"--port {args.port}: valid is 0 to 65535")
    subjects, title = _subjects(args, stop, stack)
    from ..view.page import feed

    feed(open_page(subjects, title, args, stack), stop.wait)


def open_page(subjects: list[Any], title: str, args: argparse.Namespace, stack: ExitStack) -> Any:
    """Serve a page of some robots, and say where it is.

    Raises:
        ViewError: The port is taken.
    """
    from ..view.page import Page
    from ..view.server import start_server
    from ..view.several import Several

    give_way()
    server, door = start_server(args.port, args.allow_remote, title)
    stack.callback(server.stop)
    page = Page(server, subjects[0]) if len(subjects) == 1 else Several(server, subjects)
    announce(door, args)
    return page


def give_way() -> None:
    """Let the loop go first: this thread, and those that it starts from now on, as the server's."""
    os.nice(NICE)
    with suppress(AttributeError, OSError):  # not on this system
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def _subjects(
    args: argparse.Namespace, stop: Interruption, stack: ExitStack
) -> tuple[list[Any], str]:
    """The robots that are shown, and a title."""
    if args.ros and args.replay is not None:
        raise ViewError("--ros and --replay contradict each other: give one of them")
    if (args.control or args.namespace) and not args.ros:
        raise ViewError("--control and --namespace are for a ROS graph: give --ros, too")
    if args.ros:
        from ..view.graph import graph_subjects

        return graph_subjects(args.namespace, args.robot, args.control, stack)
    folder = Path(stack.enter_context(TemporaryDirectory(prefix="opspace_view_")))
    if args.replay is not None:
        from ..view.recorded import recorded_subject

        recorded, title = recorded_subject(Path(args.replay), args.robot, args.params)
        return [recorded], title
    from ..view.live import live_subject

    print("starting (the first start ever compiles the kernels, a minute or two) ...", flush=True)
    subject, title = live_subject(
        args.robot or "arm7", args.params, folder, stack, is_given_up=lambda: stop.requested
    )
    return [subject], title


def ensure_viser() -> None:
    """Refuse to start without the extra.

    Raises:
        ViewError: Saying how to get it.
    """
    try:
        import trimesh  # noqa: F401
        import viser  # noqa: F401
    except ImportError as error:
        raise ViewError(
            f"the viewer needs {error.name}: pip install 'opspace_ctrl[view]'"
        ) from None


def announce(door: Any, args: argparse.Namespace) -> None:
    """Print the address, and open it where there is a browser."""
    print(f"open {door.address()}", flush=True)
    if args.allow_remote:
        print(f"from other hosts: {door.address(own_name())}", flush=True)
    has_screen = sys.platform != "linux" or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    if has_screen and not args.no_browser:
        webbrowser.open(door.address())


def own_name() -> str:
    """How other hosts call this one: its name, or its address where that name leads to itself only."""
    name = socket.getfqdn()
    with suppress(OSError):
        if not ip_address(socket.gethostbyname(name)).is_loopback:
            return name
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("10.255.255.255", 9))  # chooses a way there, and sends nothing
        return str(probe.getsockname()[0])
    return name
