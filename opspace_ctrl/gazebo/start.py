# SPDX-License-Identifier: Apache-2.0
"""A world that begins as our simulator does: the settings of a world from the simulator's parameters."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..model import Model
from ..sim.initial import start_configuration
from ..sim.settings import simulator_settings
from ..writing import OutputFolder
from .files import NAMES, gazebo_files
from .settings import WorldSettings


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
    model: Model,
    settings: WorldSettings,
    folder: Path,
    force: bool = False,
    inputs: Iterable[str | Path] = (),
) -> tuple[list[Path], tuple[str, ...]]:
    """Write what `gazebo_files` makes into a folder, which is made if need be; no older file of ours stays beside it.

    Args:
        model, settings, folder: as for `gazebo_files`.
        force, inputs: as for `OutputFolder`.

    Returns:
        The paths, and sentences on what Gazebo cannot have as the model says.

    Raises:
        OutputError: the folder is somebody else's, or a file cannot be written.
        GazeboError: the robot cannot be expressed.
    """
    out = OutputFolder(folder, "opspace gazebo", NAMES, force, inputs)
    files, notes = gazebo_files(model, settings, folder)
    paths = out.write(files)
    out.remove_all_but(files)
    return paths, notes
