"""`make_simulator`: a robot and settings in, a simulator of the chosen engine out."""

from __future__ import annotations

import os

from ..model import Model, load_robot, load_urdf
from ..model.source import ROBOTS
from .engine.base import Simulator
from .settings import SimulatorSettings

__all__ = ["Simulator", "make_simulator"]


def make_simulator(
    robot: Model | str | os.PathLike, settings: SimulatorSettings | None = None, **options
) -> Simulator:
    """A simulator for a robot.

    Args:
        robot: A model, the name of a shipped robot, the path of a URDF or xacro file, or URDF text.
        settings: Default: `SimulatorSettings()`.
        options: As for `load_urdf`, where `robot` is no model.

    Raises:
        MethodError: The forward dynamics or the engine cannot carry the robot.
        UnknownFrameError: A contact or closure names no frame.
        ConfigurationError: The initial state does not fit the robot.
    """
    settings = SimulatorSettings() if settings is None else settings
    if not isinstance(robot, Model):
        robot = load_robot(robot, **options) if robot in ROBOTS else load_urdf(robot, **options)
    if settings.engine == "dart":
        from .engine.dart import DartSimulator

        return DartSimulator(robot, settings)
    from .engine.native import NativeSimulator

    return NativeSimulator(robot, settings)
