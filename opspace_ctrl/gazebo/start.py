"""A world that begins as our simulator does: the settings of a world from the simulator's parameters."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import GazeboError, quoted
from ..model import Model
from ..sim.initial import start_configuration
from ..sim.settings import simulator_settings
from .files import BRIDGE_FILE, CONTROLLERS_FILE, MARK, gazebo_files
from .settings import WorldSettings

__all__ = ["world_settings", "write_files"]


def world_settings(model: Model, parameters: Mapping[str, Any], **options: Any) -> WorldSettings:
    """A world with the step, start and ground of the simulator's parameters.

    Args:
        model: the robot.
        parameters: of opspace_simulator, such as `node_parameters` reads.
        options: other fields of WorldSettings; they go before.

    Raises:
        ParameterError: a parameter is unknown or invalid.
        ConfigurationError: the start is none of the robot's.
    """
    simulator = simulator_settings(parameters)
    same = {
        "step": simulator.step,
        "friction": simulator.ground_friction,
        "height": simulator.ground_height,
        "normal": simulator.ground_normal,
        "start": start_configuration(model, simulator),
    }
    return WorldSettings(**{**same, **options})


def write_files(
    model: Model, settings: WorldSettings, folder: Path
) -> tuple[list[Path], tuple[str, ...]]:
    """Write what `gazebo_files` makes into a folder, which is made if need be; no older file of ours stays beside it.

    Returns:
        The paths, and sentences on what Gazebo cannot have as the model says.

    Raises:
        GazeboError: a file cannot be written, or the robot cannot be expressed.
    """
    files, notes = gazebo_files(model, settings, folder)
    if folder.exists() and not folder.is_dir():
        raise GazeboError(f"cannot write into {quoted(folder)}: it is a file, not a folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
        for name in {BRIDGE_FILE, CONTROLLERS_FILE} - set(files):
            _remove_ours(folder / name)
    except OSError as error:
        raise GazeboError(
            f"cannot write into {quoted(folder)}: {error.strerror or error}"
        ) from None
    return [folder / name for name in files], notes


def _remove_ours(path: Path) -> None:
    """Remove a file that an earlier run has written; one that somebody else has written stays."""
    if path.is_file() and path.read_bytes().startswith(MARK.encode()):
        path.unlink()
