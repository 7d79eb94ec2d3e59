# SPDX-License-Identifier: Apache-2.0
"""Record topics of a running graph into an MCAP file, for Foxglove or rosbag2; Ctrl-C ends it."""

import argparse
import sys
from time import monotonic

from ..errors import shown, without_ros
from ..sim.record.bag import check_recording
from ..writing import open_stream
from . import CommandError, add_force
from ._console import console
from ._interrupt import Interruption

FAILED = 1  # a topic that was named is not there
TURN = 0.1  # [s] between two looks at the signals


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """FILE and TOPIC ..."""
    parser.add_argument("file", metavar="FILE.mcap", help="what is written")
    parser.add_argument(
        "topics",
        metavar="TOPIC",
        nargs="*",
        help="topics or patterns such as '/left/*' (default: all)",
    )
    parser.add_argument("--seconds", type=float, metavar="S", help="end after so long")
    add_force(parser)


def run(args: argparse.Namespace) -> int:
    """Subscribe to what there is and what comes, and write it until a signal comes or the time is over."""
    if args.seconds is not None and not args.seconds > 0.0:
        raise CommandError(f"--seconds {args.seconds:g}: a positive number is expected")
    check_recording(args.file, args.force)
    with Interruption() as stop:
        try:
            import rclpy
            from rclpy.executors import SingleThreadedExecutor
            from rclpy.signals import SignalHandlerOptions
        except ImportError as error:
            raise CommandError(without_ros("opspace record", error)) from None
        from ..nodes.recorder import Recorder

        rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
        # straight into its place: what is written is there even if this process is killed
        with open_stream(args.file, args.force) as file:
            recorder = Recorder(file, args.topics or ["/*"])
            executor = SingleThreadedExecutor()
            executor.add_node(recorder)
            console().print(f"recording into {args.file}; Ctrl-C ends it")
            end = monotonic() + (args.seconds or float("inf"))
            while not stop.requested and monotonic() < end:
                executor.spin_once(timeout_sec=TURN)
            recorder.close()
        rclpy.try_shutdown()
    _tell(recorder.counts, recorder.unknown)
    missing = recorder.unmatched()
    for name in missing:
        print(f"{shown(name)}: nobody has published there", file=sys.stderr)
    return FAILED if missing else 0


def _tell(counts: dict[str, int], unknown: set[str]) -> None:
    out = console()
    for topic in sorted(counts):
        out.print(f"  {counts[topic]:8d}  {topic}")
    for kind in sorted(unknown):
        out.print(f"left out: {kind}, whose package is not installed here")
    out.print(f"recorded: {sum(counts.values())} messages of {len(counts)} topics")
