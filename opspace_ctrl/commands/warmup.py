# SPDX-License-Identifier: Apache-2.0
"""Compile everything that a robot's controller and simulator need, and keep it for the next start."""

import argparse
from time import perf_counter

import numpy as np

from opspace_ctrl import Controller, PoseTask, Simulator

from ..compiled.cache import base_folder
from . import _robot
from ._console import console


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """ROBOT and its task frames."""
    _robot.add_robot_arguments(parser)
    parser.add_argument(
        "--frames",
        metavar="A,B",
        help="task frames (default: a shipped robot's own, else all tips)",
    )


def run(args: argparse.Namespace) -> int:
    """Build a controller, prepare every method and tick by each; step a simulator once."""
    out, start = console(), perf_counter()
    model = _robot.load(args)
    frames = _robot.task_frames(args, model)
    out.print(f"{model.name}: controller ...")
    tasks = [PoseTask(f"task{i}", frame=frame) for i, frame in enumerate(frames)]
    controller = Controller(model, tasks)
    q, v = model.neutral(), np.zeros(model.nv)
    out.print(f"  methods {', '.join(controller.methods())}")
    controller.prepare()
    controller.activate(q, v, 0.0)
    for name in controller.methods():
        controller.method = name
        controller.tick(q, v, 0.0)
    controller.safe_command("damping", q, v)
    out.print(f"{model.name}: simulator ...")
    simulator = Simulator(model)
    simulator.step(simulator.hold())
    kept = base_folder()
    out.print(
        f"done in {perf_counter() - start:.1f} s; "
        + (f"kept in {kept}" if kept else "nothing could be kept")
    )
    return 0
