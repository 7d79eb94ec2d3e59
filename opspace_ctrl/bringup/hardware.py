"""The processes of a robot under ros2_control."""

from __future__ import annotations

from pathlib import Path

import yaml

from ..gazebo.ros2_control import CONTROLLERS, controllers
from .processes import TASK, Process
from .request import Request
from .robot import state_publisher

__all__ = ["hardware_processes", "spawner"]


def hardware_processes(request: Request) -> tuple[Process, ...]:
    """robot_state_publisher, the controller manager and its controllers; nothing where a driver runs them."""
    if not request.is_true("controller_manager"):
        return ()
    use_sim_time, file = request.is_true("use_sim_time"), _controllers_file(request)
    # The controllers are nodes of the same process. Where the description is looked for depends on the distribution.
    manager = Process(
        "controller_manager",
        "ros2_control_node",
        "controller_manager",
        (file, {"use_sim_time": use_sim_time}),
        keeps_name=True,
        remappings=(("~/robot_description", "robot_description"),),
    )
    return state_publisher(request.description, use_sim_time), manager, spawner(request, file)


def spawner(request: Request, file: Path) -> Process:
    """The task that starts the controllers, in order; our controller comes after it.

    Args:
        request: what was asked for.
        file: the controllers' parameters; newer controller managers do not hand on their own.
    """
    namespace = request["namespace"].strip("/")
    manager = f"/{namespace}/controller_manager" if namespace else "/controller_manager"
    return Process(
        "controller_manager",
        "spawner",
        "spawner",
        role=TASK,
        keeps_name=True,
        arguments=(*CONTROLLERS, "--controller-manager", manager, "--param-file", str(file)),
    )


def _controllers_file(request: Request) -> Path:
    """The file that is given, or a generated one for the joints of the robot."""
    if request["controllers_file"]:
        return request.file("controllers_file")
    path, rate = (
        request.scratch / "controllers.yaml",
        request.whole_number("update_rate", minimum=1),
    )
    path.write_text(
        yaml.safe_dump(controllers(request.joints, rate), sort_keys=False, width=120),
        encoding="utf-8",
    )
    return path
