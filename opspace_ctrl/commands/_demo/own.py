# SPDX-License-Identifier: Apache-2.0
"""The demo of a user's robot or parameter file: its first task with a position follows a small figure of eight.

A robot that only stands moves its centre of mass.
"""

import os
from pathlib import Path

import numpy as np
import yaml

from opspace_ctrl import frame_pose

from ...control.settings import ControllerSettings, controller_settings
from ...control.tasks import ControlTask
from ...data import shipped_path
from ...model import Model
from ...model.source import ROBOTS
from ...osim import methods
from ...parameter_file import node_parameters
from ...proposal.standing import center_of_mass
from ...robot_settings import load_any
from ...sim.initial import start_configuration
from ...sim.settings import simulator_settings
from .. import CommandError
from .._robot import tips
from ..check import config_path
from .scenario import SCENARIOS, Scenario

__all__ = ["parameters_for", "scenario_of"]

SIZE = 0.04  # amplitudes of the figure, as a share of the distance from the base
LARGEST = 0.1  # [m]
LEAN = 0.03  # that of a centre of mass, as a share of its height
PUSH, STRONGEST = 0.05, 15.0  # the push as a share of the weight, and [N] at most
STANDARD_GRAVITY = 9.81  # [m/s^2]
# [rad or m] from the middle of a joint's range, and as a share of it at most: a straight arm is singular
BEND, SHARE = 0.8, 0.4
TASK = "tip"


def scenario_of(robot: str, config: str | None, folder: Path) -> Scenario:
    """The demo of a robot, a shipped name or a path; without a parameter file one is written into `folder`.

    Raises:
        OpspaceError: The robot or the file cannot be read, or do not fit each other.
        CommandError: No task of the file has a position in the world.
    """
    if config is None and robot in SCENARIOS:
        return SCENARIOS[robot]
    path = parameters_for(robot, config, folder)
    nodes = ("opspace_controller", "opspace_simulator")
    controller, simulator = (node_parameters(path, node) for node in nodes)
    settings = controller_settings(controller)
    base, locked = settings.robot.base, settings.robot.locked
    model = load_any(robot, base, locked)
    task = _task(settings, path)
    q = start_configuration(model, simulator_settings(simulator))
    frame = task.moved_frame or model.frame_names[0]
    push = round(min(PUSH * STANDARD_GRAVITY * model.total_mass, STRONGEST), 1)
    if task.rows == "com":
        # forwards, not sideways, where legs without a roll of the ankle cannot go
        reach, what = LEAN * _height(model, q), "the centre of mass"
        forwards, sideways = 1.0, 0.0
    else:
        reach = min(SIZE * float(np.linalg.norm(frame_pose(model, q, frame)[0])), LARGEST)
        what, forwards, sideways = frame, 0.0, 1.0
    able = [name for name in Scenario.methods if name in methods(model)]
    return Scenario(
        robot if robot in ROBOTS else os.path.abspath(robot),
        task.name,
        (forwards * reach, sideways * reach, 0.5 * reach),
        (forwards * push, sideways * push, 0.0),
        f"{what} of {model.name} follows a figure of eight",
        methods=tuple(able or methods(model)[:1]),
        frame=frame,
        config=path,
        base=base,
        locked=locked,
        rows=task.rows,
        waves=(forwards, sideways, 2.0),
    )


def parameters_for(robot: str, config: str | None, folder: Path) -> Path:
    """The parameter file that is given, a shipped robot's own, or else one that is written into `folder`.

    Raises:
        OpspaceError: The robot or the file cannot be read.
    """
    if config is None and robot in ROBOTS:
        return Path(shipped_path("config", f"{robot}.yaml"))
    return config_path(config).absolute() if config else _written(load_any(robot), folder)


def _task(settings: ControllerSettings, path: Path) -> ControlTask:
    """The first task that can follow a path in the world; the centre of mass where there is no other."""
    for kinds in (("pose", "position"), ("com",)):
        for task in settings.tasks:
            if task.rows in kinds and not task.reference_frame:
                return task
    raise CommandError(
        f"{path}: no task with rows pose, position or com follows a path in the world"
    )


def _height(model: Model, q: np.ndarray) -> float:
    """Height of the centre of mass above the robot's lowest link [m]."""
    lowest = min(frame_pose(model, q, name)[0][2] for name in model.body_names)
    return float(center_of_mass(model, q)[2] - lowest)


def _written(model: Model, folder: Path) -> Path:
    """A parameter file for a robot: the position of its first tip, every joint bent a little from its middle.

    Raises:
        CommandError: It has no joint.
    """
    if not model.joint_names:
        raise CommandError(
            f"{model.name}: it has no joint that moves, so there is nothing to control"
        )
    lower, upper = model.position_limits.T
    is_bounded = np.isfinite(upper - lower)
    middle = 0.5 * np.where(is_bounded, lower + upper, 0.0)
    bend = np.minimum(BEND, 0.5 * SHARE * np.where(is_bounded, upper - lower, np.inf))
    controller = {
        "tasks": [TASK],
        TASK: {"frame": tips(model)[0], "rows": "position"},
        "compensation": {"friction": True},
    }
    path = folder / "demo.yaml"
    path.write_text(
        yaml.safe_dump(
            {
                "opspace_controller": {"ros__parameters": controller},
                "opspace_simulator": {
                    "ros__parameters": {"initial_positions": (middle + bend).tolist()}
                },
            }
        )
    )
    return path
