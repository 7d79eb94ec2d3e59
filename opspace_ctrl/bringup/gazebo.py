"""The processes of a robot in Gazebo."""
from __future__ import annotations

import os
from pathlib import Path

from opspace_ctrl.bringup.hardware import spawner
from opspace_ctrl.bringup.processes import Process
from opspace_ctrl.bringup.request import SIMULATOR, Request
from opspace_ctrl.bringup.robot import state_publisher
from opspace_ctrl.gazebo import GENERATIONS, WorldSettings, world_settings, write_files
from opspace_ctrl.gazebo.files import CONTROLLERS_FILE
from opspace_ctrl.nodes.gazebo_table import CONTROL

__all__ = ["gazebo_processes"]

BRIDGE = "opspace_gazebo_bridge"
SERVERS = {"fortress": ("ign", "gazebo"), "harmonic": ("gz", "sim")}
GRACE = 15.0  # [s] it gives its window and its server five each before it kills them; killed itself, it leaves both


def gazebo_processes(request: Request) -> tuple[Process, ...]:
    """Write the world, then: the server, ros_gz_bridge, and our bridge or the controllers of gz_ros2_control."""
    ros2_control = request.is_true("ros2_control")
    model = request.model_of(SIMULATOR)
    settings = world_settings(model, request.parameters(SIMULATOR), gazebo=request["gazebo"],
                              ros2_control=ros2_control, namespace=request["namespace"], joints=request.joints,
                              folder=request.folder)
    out = Path(request["out"]).expanduser().resolve() if request["out"] else request.scratch / "gazebo"
    write_files(model, settings, out)
    server, bridge = _server(request, out, ros2_control), _ros_gz_bridge(settings, out)
    if not ros2_control:
        return server, bridge, _bridge_node(request, out)
    description = (out / "robot.urdf").read_text(encoding="utf-8")
    return (state_publisher(description, use_sim_time=True), server, bridge,
            spawner(request, out / CONTROLLERS_FILE))


def _server(request: Request, out: Path, ros2_control: bool) -> Process:
    """Paused, unless gz_ros2_control runs in it: the bridge starts or steps the world when commands come."""
    command, verb = SERVERS[request["gazebo"]]
    options = [] if request.is_true("gui") else ["-s"]
    options += ["-r"] if ros2_control else []
    variable = GENERATIONS[request["gazebo"]].plugin_path
    paths = [os.environ[name] for name in (variable, "LD_LIBRARY_PATH") if os.environ.get(name)]
    return Process("", command, "gazebo", arguments=(verb, *options, str(out / "world.sdf")), grace=GRACE,
                   environment={variable: os.pathsep.join(paths)})  # where gz_ros2_control is, among others


def _ros_gz_bridge(settings: WorldSettings, out: Path) -> Process:
    service = f"/world/{settings.world}/control"
    return Process("ros_gz_bridge", "parameter_bridge", "ros_gz_bridge",
                   ({"config_file": str(out / "ros_gz_bridge.yaml"), "use_sim_time": False},),
                   arguments=(f"{service}@ros_gz_interfaces/srv/ControlWorld",), remappings=((service, CONTROL),))


def _bridge_node(request: Request, out: Path) -> Process:
    lockstep = request["mode"] == "lockstep"
    return Process("opspace_ctrl", BRIDGE, BRIDGE,
                   (out / "bridge_node.yaml", {"lockstep": lockstep, "run_on_command": not lockstep}),
                   log_level=request["log_level"])
