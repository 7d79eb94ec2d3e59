"""The processes of a robot in Gazebo."""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import BringupError
from ..gazebo import GENERATIONS, world_settings, write_files
from ..gazebo.files import BRIDGE_FILE, CONTROLLERS_FILE, TOPICS_FILE, URDF_FILE, WORLD_FILE
from ..model.xml_safety import parse_xml
from ..nodes.gazebo_table import CONTROL
from .hardware import spawner
from .processes import Process
from .request import SIMULATOR, Request
from .robot import state_publisher

__all__ = ["gazebo_processes", "server_words"]

BRIDGE = "opspace_gazebo_bridge"
SERVERS = {"fortress": ("ign", "gazebo"), "harmonic": ("gz", "sim")}
GRACE = 15.0  # [s] it gives its window and its server five each before it kills them; killed itself, it leaves both


def gazebo_processes(request: Request) -> tuple[Process, ...]:
    """Write the world or take one that is there, then: the server, ros_gz_bridge, and our bridge or the controllers."""
    ros2_control = request.is_true("ros2_control")
    folder = (
        _written_files(request, ros2_control)
        if request["files"]
        else _new_files(request, ros2_control)
    )
    server, bridge = _server(request, folder, ros2_control), _ros_gz_bridge(folder)
    if not ros2_control:
        return server, bridge, _bridge_node(request, folder)
    description = (folder / URDF_FILE).read_text(encoding="utf-8")
    return (
        state_publisher(description, use_sim_time=True),
        server,
        bridge,
        spawner(request, folder / CONTROLLERS_FILE),
    )


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


def _server(request: Request, folder: Path, ros2_control: bool) -> Process:
    command, *words = server_words(
        folder / WORLD_FILE, request["gazebo"], ros2_control, request.is_true("gui")
    )
    variable = GENERATIONS[request["gazebo"]].plugin_path
    paths = [os.environ[name] for name in (variable, "LD_LIBRARY_PATH") if os.environ.get(name)]
    # where gz_ros2_control is, among others
    return Process(
        "",
        command,
        "gazebo",
        arguments=tuple(words),
        grace=GRACE,
        environment={variable: os.pathsep.join(paths)},
    )


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
            "gazebo: files takes a world that is there, out writes a new one: give one of the two"
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
                f"gazebo: files:={request['files']} has no {name}; "
                f"`opspace gazebo ROBOT --out {request['files']}{option}` writes it"
            )
    world, namespace = (folder / WORLD_FILE).read_text(encoding="utf-8"), request["namespace"]
    if ros2_control and namespace and f"<namespace>{namespace}</namespace>" not in world:
        raise BringupError(
            f"gazebo: files:={request['files']} has no namespace {namespace}; leave files out, so that "
            "a world with it is generated"
        )
    if GENERATIONS[request["gazebo"]].systems not in world:
        raise BringupError(
            f"gazebo: files:={request['files']} is not for gazebo:={request['gazebo']}, of which its "
            "world names no system"
        )
    return folder


def _world_name(folder: Path) -> str:
    world = parse_xml((folder / WORLD_FILE).read_text(encoding="utf-8")).find("world")
    if world is None or not world.get("name"):
        raise BringupError(f"gazebo: {folder / WORLD_FILE} has no world with a name")
    return str(world.get("name"))


def _ros_gz_bridge(folder: Path) -> Process:
    service = f"/world/{_world_name(folder)}/control"
    return Process(
        "ros_gz_bridge",
        "parameter_bridge",
        "ros_gz_bridge",
        ({"config_file": str(folder / TOPICS_FILE), "use_sim_time": False},),
        arguments=(f"{service}@ros_gz_interfaces/srv/ControlWorld",),
        remappings=((service, CONTROL),),
    )


def _bridge_node(request: Request, folder: Path) -> Process:
    lockstep = request["mode"] == "lockstep"
    return Process(
        "opspace_ctrl",
        BRIDGE,
        BRIDGE,
        (folder / BRIDGE_FILE, {"lockstep": lockstep, "run_on_command": not lockstep}),
        log_level=request["log_level"],
    )
