# SPDX-License-Identifier: Apache-2.0
"""The loop without Python: what is exported for it, and the controllers of ros2_control with our plugin among them."""

from pathlib import Path
from typing import Any

import yaml

from ..cli import main
from ..errors import BringupError
from ..gazebo.ros2_control import BROADCASTER as BROADCASTERS
from ..gazebo.ros2_control import urdf_with_hardware
from ..model import Model
from .installed import is_installed
from .request import CONTROLLER, SIMULATOR, Request

__all__ = [
    "PLUGIN",
    "STARTED",
    "compiled_controllers_file",
    "images",
    "look_up_plugin",
    "simulated_hardware",
]

PLUGIN = "opspace_ctrl_plugin"  # the ROS package
TYPE = "opspace_ctrl/OperationalSpaceController"
HARDWARE = "opspace_ctrl/SimulatedRobot"
BROADCASTER = "joint_state_broadcaster"
STARTED = (BROADCASTER, CONTROLLER)  # controllers, in the order in which they are started
BASE = "base"  # the sensor of a floating base; ros2_control/include has its interfaces, too
BASE_INTERFACES = (
    *(f"position.{axis}" for axis in "xyz"),
    *(f"orientation.{axis}" for axis in "xyzw"),
    *(f"{part}_velocity.{axis}" for part in ("linear", "angular") for axis in "xyz"),
)
LIBRARY, IMAGE, SIMULATED = "libopspace.so", "controller.opspace", "simulator.opspace"


def look_up_plugin() -> None:
    """Refuse a loop whose plugin is not installed: the spawner would say no more than an unknown type."""
    if not is_installed(PLUGIN):
        raise BringupError(
            f"package '{PLUGIN}' is not installed: it stands in the folder ros2_control of this "
            "repository, and docs/realtime.md says how it is built"
        )


def images(request: Request, simulated: bool) -> Path:
    """The folder with library and images: the one that is given, or one that they are exported into now.

    Args:
        request: the arguments; `images` is the folder, empty: they are exported.
        simulated: the simulated robot is needed, too.

    Raises:
        BringupError: A file is missing in the folder, or cannot be exported.
    """
    needed = (LIBRARY, IMAGE, *((SIMULATED,) if simulated else ()))
    if request["images"]:
        folder = Path(request["images"]).expanduser().resolve()
        missing = [name for name in needed if not (folder / name).is_file()]
        if missing:
            raise BringupError(
                f"images:={request['images']} has no {missing[0]}; needed are {', '.join(needed)}, which "
                "`opspace export` writes"
            )
        return folder
    folder = request.scratch / "images"
    robot = ["--robot", request.robot, *(["--base", request.base] if request.base else [])]
    _export(request, "-o", folder / IMAGE, "--library", folder, robot=robot)
    if simulated:
        _export(request, "-o", folder / SIMULATED, "--simulator", robot=robot)
    return folder


def _export(request: Request, *words: Any, robot: list[str]) -> None:
    (request.scratch / "images").mkdir(exist_ok=True)
    said = request.parameters(SIMULATOR if "--simulator" in words else CONTROLLER)
    given = [] if said.get("robot") == request.robot else robot
    if main(["export", str(request.params_file), *map(str, words), *given, "--force"]):
        raise BringupError(f"{request.params_file} cannot be exported; what is wrong stands above")


def compiled_controllers_file(request: Request, folder: Path) -> Path:
    """Write the parameters of the controller manager, the broadcaster and our controller, in any namespace."""
    path, rate = request.scratch / "compiled.yaml", request.whole_number("update_rate", minimum=1)
    kinds = {**BROADCASTERS, CONTROLLER: TYPE}
    own = {"image": str(folder / IMAGE), "library": str(folder / LIBRARY)}
    if request["hardware"] == "simulated":  # which tells its base itself, if it has one
        own["base_source"] = "interfaces"
    text = {
        "/**/controller_manager": {
            "ros__parameters": {"update_rate": rate}
            | {name: {"type": kind} for name, kind in kinds.items()}
        },
        f"/**/{CONTROLLER}": {"ros__parameters": own | request.chosen("method")},
    }
    path.write_text(yaml.safe_dump(text, sort_keys=False, width=200), encoding="utf-8")
    return path


def simulated_hardware(source: str, model: Model, folder: Path) -> str:
    """A URDF, its hardware the simulated robot of a folder; a floating base is a sensor of it."""
    start = dict.fromkeys(model.joint_names, 0.0)
    files = {"image": str(folder / SIMULATED), "library": str(folder / LIBRARY)}
    sensors = {BASE: BASE_INTERFACES} if model.is_base_coordinate.any() else {}
    return urdf_with_hardware(source, HARDWARE, start, files, sensors)
