# SPDX-License-Identifier: Apache-2.0
"""What is written for hardware: the controllers of ros2_control, and the faults of simulated hardware."""

from collections.abc import Iterable
from pathlib import Path

import yaml

from ..gazebo.ros2_control import controllers, started
from .request import Request

__all__ = ["controllers_file", "faults_file", "spawner_arguments"]


def controllers_file(request: Request) -> Path:
    """The controllers' parameters: the file that is given, or a generated one for the joints of the robot."""
    if request["controllers_file"]:
        return request.file("controllers_file")
    path, rate = (
        request.scratch / "controllers.yaml",
        request.whole_number("update_rate", minimum=1),
    )
    written = controllers(request.joints, rate, request.commands)
    path.write_text(
        yaml.safe_dump(written, sort_keys=False, width=120),
        encoding="utf-8",
    )
    return path


def spawner_arguments(
    namespace: str, file: Path, names: Iterable[str] = tuple(started())
) -> list[str]:
    """The controllers in the order in which they are started, and their manager.

    Args:
        namespace: of the manager.
        file: the controllers' parameters; newer controller managers do not hand on their own.
        names: of the controllers.
    """
    manager = f"/{namespace.strip('/')}/controller_manager".replace("//", "/")
    return [*names, "--controller-manager", manager, "--param-file", str(file)]


def faults_file(request: Request) -> Path:
    """Write the simulator's parameters of a run with faults."""
    path = request.scratch / "faults.yaml"
    parameters = {
        "faults": str(request.file("faults")) if request["faults"] else "",
        "seed": request.whole_number("seed"),
        "log": str(Path(request["log"]).expanduser().resolve()) if request["log"] else "",
    }
    path.write_text(yaml.safe_dump({"/**": {"ros__parameters": parameters}}), encoding="utf-8")
    return path
