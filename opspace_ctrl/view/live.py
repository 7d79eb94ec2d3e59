# SPDX-License-Identifier: Apache-2.0
"""A robot of our own to look at: a loop in a process of its own."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from ..commands._demo.own import parameters_for
from ..control.settings import controller_settings
from ..parameter_file import node_parameters
from ..robot_settings import load_any
from ..sim.settings import simulator_settings
from .process import PRIORITY, LoopProcess
from .requests import NAMES
from .source import Subject

__all__ = ["live_subject"]


def live_subject(
    robot: str,
    params: str | None,
    folder: Path,
    stack: ExitStack,
    priority: int = PRIORITY,
    is_given_up: Callable[[], bool] = lambda: False,
) -> tuple[Subject, str]:
    """Start a loop; what it shows, and a title.

    Args:
        robot: A shipped name or a path.
        params: A parameter file, or None.
        folder: For one that is written where there is none.
        stack: What ends the loop.
        priority, is_given_up: Of the loop, as `LoopProcess` has them.

    Raises:
        OpspaceError: The robot or the file cannot be read, or do not fit each other.
    """
    path = parameters_for(robot, params, folder)
    settings = controller_settings(node_parameters(path, "opspace_controller"))
    simulation = simulator_settings(node_parameters(path, "opspace_simulator"))
    model = load_any(robot, settings.robot.base, settings.robot.locked)
    loop = stack.enter_context(LoopProcess(model, settings, simulation, priority, is_given_up))
    subject = Subject(
        model,
        settings,
        loop.ring,
        loop.methods,
        loop.ask,
        Path(robot).parent if Path(robot).is_file() else None,
        simulation.ground_height,
        able=frozenset(NAMES),
        trouble=lambda: loop.trouble,
        name=model.name,
    )
    return subject, f"opspace_ctrl: {model.name}"
