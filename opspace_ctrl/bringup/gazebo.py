# SPDX-License-Identifier: Apache-2.0
"""The world of a robot in Gazebo, and how its server is started."""

import os
from pathlib import Path

from ..errors import BringupError
from ..gazebo import GENERATIONS, world_settings, write_files
from ..gazebo.files import BRIDGE_FILE, CONTROLLERS_FILE, TOPICS_FILE, URDF_FILE, WORLD_FILE
from ..model.xml_safety import parse_xml
from .request import SIMULATOR, Request

__all__ = [
    "gazebo_folder",
    "needs_bridge",
    "server_environment",
    "server_words",
    "world_control",
]

SERVERS = {"fortress": ("ign", "gazebo"), "harmonic": ("gz", "sim")}


def gazebo_folder(request: Request) -> Path:
    """The folder with world and bridge files: one that is there, or one that is generated."""
    ros2_control = request.is_true("ros2_control")
    if request["files"]:
        return _written_files(request, ros2_control)
    return _new_files(request, ros2_control)


def server_words(world: Path, gazebo: str, ros2_control: bool, gui: bool) -> list[str]:
    """The command line of the server.

    Paused, unless gz_ros2_control runs in it: the bridge starts or steps the world when commands come.
    """
    return [
        *SERVERS[gazebo],
        *([] if gui else ["-s"]),
        *(["-r"] if ros2_control else []),
        str(world),
    ]


def server_environment(gazebo: str) -> dict[str, str]:
    """Where the server finds systems besides its own, gz_ros2_control among them: where ROS has its libraries."""
    variable = GENERATIONS[gazebo].plugin_path
    paths = [os.environ[name] for name in (variable, "LD_LIBRARY_PATH") if os.environ.get(name)]
    return {variable: os.pathsep.join(paths)}


def needs_bridge(folder: Path) -> bool:
    """Is our bridge node a part of this world? Not where ros2_control serves a robot that stands."""
    return (folder / BRIDGE_FILE).is_file()


def world_control(folder: Path) -> str:
    """The service that runs and steps the world of a folder."""
    world = parse_xml((folder / WORLD_FILE).read_text(encoding="utf-8")).find("world")
    if world is None or not world.get("name"):
        raise BringupError(f"{folder / WORLD_FILE} has no world with a name")
    return f"/world/{world.get('name')}/control"


def _new_files(request: Request, ros2_control: bool) -> Path:
    """Generate the world; the folder."""
    model = request.model_of(SIMULATOR)
    settings = world_settings(
        model,
        request.parameters(SIMULATOR),
        gazebo=request["gazebo"],
        ros2_control=ros2_control,
        namespace=request["namespace"],
        joints=request.joints,
        folder=request.folder,
    )
    out = (
        Path(request["out"]).expanduser().resolve()
        if request["out"]
        else request.scratch / "gazebo"
    )
    write_files(model, settings, out, inputs=(request.robot, request.params_file))
    return out


def _written_files(request: Request, ros2_control: bool) -> Path:
    """The folder of a world that was generated before, which must be of the kind that is asked for."""
    folder = Path(request["files"]).expanduser().resolve()
    if request["out"]:
        raise BringupError(
            "files takes a world that is there, out writes a new one: give one of the two"
        )
    for name in (
        WORLD_FILE,
        URDF_FILE,
        TOPICS_FILE,
        CONTROLLERS_FILE if ros2_control else BRIDGE_FILE,
    ):
        if not (folder / name).is_file():
            option = " --ros2-control" if ros2_control else ""
            raise BringupError(
                f"files:={request['files']} has no {name}; "
                f"`opspace gazebo ROBOT --out {request['files']}{option}` writes it"
            )
    world, namespace = (folder / WORLD_FILE).read_text(encoding="utf-8"), request["namespace"]
    if ros2_control and namespace and f"<namespace>{namespace}</namespace>" not in world:
        raise BringupError(
            f"files:={request['files']} has no namespace {namespace}; leave files out, so that "
            "a world with it is generated"
        )
    if GENERATIONS[request["gazebo"]].systems not in world:
        raise BringupError(
            f"files:={request['files']} is not for gazebo:={request['gazebo']}, of which its "
            "world names no system"
        )
    return folder
