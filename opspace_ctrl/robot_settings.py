# SPDX-License-Identifier: Apache-2.0
"""Which robot is controlled or simulated, and how it is loaded."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from .declaration import Names, Numbers, Settings, fixed
from .errors import SettingsError, SourceError, quoted
from .model import Model, load_robot, load_urdf
from .model.options import LoadOptions
from .model.source import ROBOTS

Base: TypeAlias = Literal["", "fixed", "floating"]


@dataclass(frozen=True, kw_only=True)
class RobotSettings(Settings):
    """The robot, its base, and the joints that are frozen."""

    robot: str = fixed(
        "",
        "Robot: a shipped name (arm7, asimo, free_flyer), the path of a URDF or xacro file, or, of "
        "the controller, empty: the topic robot_description.",
    )
    base: Base = fixed("", "How the root link is held; empty: a shipped robot's own, else fixed.")
    locked_joints: Names = fixed(
        (),
        "Joints that the effort controller does not move, such as a gripper's: they are "
        "frozen, and not among `joints`.",
    )
    locked_positions: Numbers = fixed((), "Where they are frozen [rad or m]; empty: 0.")

    def check(self) -> None:
        """Is there a position for every locked joint?"""
        given, wanted = np.size(self.locked_positions), len(self.locked_joints)
        if given not in (0, wanted):
            raise SettingsError(f"locked_positions has {given} numbers for {wanted} locked_joints")

    @property
    def locked(self) -> dict[str, float]:
        """Joints to freeze when the robot is loaded, and where."""
        positions = np.atleast_1d(self.locked_positions).tolist()
        return dict(zip(self.locked_joints, positions or [0.0] * len(self.locked_joints)))


def locked_joints(values: Mapping[str, Any]) -> dict[str, float]:
    """Joints to freeze when the robot is loaded, and where, by the parameters of `RobotSettings`; any may be missing.

    Raises:
        ParameterError, SettingsError: They are not valid.
    """
    names = ("locked_joints", "locked_positions")
    return RobotSettings(**{name: values[name] for name in names if name in values}).locked


def load_any(
    robot: str | os.PathLike[str], base: str = "", locked: Mapping[str, float] | None = None
) -> Model:
    """The robot of a shipped name, a path, or URDF text.

    Args:
        robot: Which.
        base: How it is held; "": a shipped robot's own, else fixed.
        locked: Joints that are frozen, and where.

    Raises:
        OpspaceError: It cannot be read, or is no robot.
    """
    options: LoadOptions = {"base": base} if base else {}
    if locked:
        options["locked"] = dict(locked)
    if isinstance(robot, str) and robot in ROBOTS:
        return load_robot(robot, **options)
    is_text = isinstance(robot, str) and robot.lstrip().startswith("<")
    is_path = isinstance(robot, (str, os.PathLike))
    if not is_text and not (is_path and os.path.isfile(robot)):
        raise SourceError(
            f"robot {quoted(robot)} is neither a shipped robot ({', '.join(ROBOTS)}) nor a file; "
            f"relative paths count from {quoted(Path.cwd())}"
        )
    return load_urdf(robot if is_text else Path(robot), **options)
