# SPDX-License-Identifier: Apache-2.0
"""A recorded run to look at."""

from __future__ import annotations

from pathlib import Path

from ..commands.check import config_path
from ..control.settings import ControllerSettings, controller_settings
from ..data import shipped_path
from ..model.source import ROBOTS
from ..parameter_file import node_parameters
from .recording import read_recording
from .replay import Replay
from .source import Subject

__all__ = ["recorded_subject"]


def recorded_subject(path: Path, robot: str | None, params: str | None) -> tuple[Subject, str]:
    """What a run shows, and a title.

    Args:
        path: An MCAP file, or the folder of `opspace hil`.
        robot: A shipped name or a path; None: what the run says.
        params: A parameter file whose tasks are followed, or None.

    Raises:
        OpspaceError: The run, the robot or the file cannot be read, or do not fit each other.
    """
    settings = ControllerSettings()
    file = config_path(params) if params else None
    if file is None and robot in ROBOTS:
        file = shipped_path("config", f"{robot}.yaml")
    if file is not None:
        settings = controller_settings(node_parameters(file, "opspace_controller"))
    model, rows = read_recording(path, robot, settings)
    folder = Path(robot).parent if robot and Path(robot).is_file() else path.parent
    subject = Subject(model, settings, Replay(rows), folder=folder, is_live=False)
    return subject, f"{path.name}: {model.name}"
