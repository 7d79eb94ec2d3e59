"""What a launch takes when nothing else is asked for."""

from __future__ import annotations

from pathlib import Path

from ..data import shipped_path
from ..model.source import ROBOTS

__all__ = ["RVIZ_FILE", "default_params_file"]

RVIZ_FILE = "opspace.rviz"


def default_params_file(robot: str) -> Path | None:
    """The parameter file of a shipped robot, for controller and simulator; None for any other robot."""
    return shipped_path("config", f"{robot}.yaml") if robot in ROBOTS else None
