"""Which processes a launch starts, with which parameters.

The controller gets the same parameters before a simulator, before Gazebo and on hardware; only `use_sim_time` follows
from who owns the time.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..data import shipped_path
from .defaults import RVIZ_FILE
from .gazebo import gazebo_processes
from .hardware import hardware_processes
from .processes import OPTIONAL, Process
from .request import CONTROLLER, SIMULATOR, Request
from .robot import state_publisher

__all__ = ["plan"]


def plan(launch: str, given: Mapping[str, str], scratch: Path) -> tuple[Process, ...]:
    """The processes of a launch, in the order in which they are started.

    Args:
        launch: one of LAUNCHES.
        given: {argument: text}, as on the command line.
        scratch: an existing folder for files that are generated.

    Raises:
        BringupError: an argument is unknown or not valid.
        OpspaceError: the robot or the parameter file is wrong, by their own named errors.
    """
    request = Request(launch, given, scratch)
    if launch == "description":
        publisher = state_publisher(request.description, _use_sim_time(request))
        return publisher, *_viewers(request, has_publisher=True)
    if launch == "gazebo":
        others = gazebo_processes(request)
    elif launch == "hardware":
        others = hardware_processes(request)
    else:
        others = (_simulator(request),)
    after = next((process.name for process in reversed(others) if process.role == "task"), "")
    has_publisher = any(process.name == "robot_state_publisher" for process in others)
    return (*others, _controller(request, after), *_viewers(request, has_publisher))


def _robot_parameters(request: Request) -> dict[str, Any]:
    base = {"base": request.base} if request.base else {}
    return {"robot": request.robot, **base}


def _use_sim_time(request: Request) -> bool:
    """Whether the nodes beside the simulator follow /clock."""
    if request["use_sim_time"] != "auto":
        return request.is_true("use_sim_time")
    return request.launch == "gazebo" or request["mode"] != "free"


def _controller(request: Request, after: str) -> Process:
    parameters = {**_robot_parameters(request), "use_sim_time": _use_sim_time(request)}
    if request["method"]:
        parameters["method"] = request["method"]
    return Process(
        "opspace_ctrl",
        CONTROLLER,
        CONTROLLER,
        (request.params_file, parameters),
        is_lifecycle=True,
        activate=request.is_true("activate"),
        after=after,
        log_level=request["log_level"],
    )


def _simulator(request: Request) -> Process:
    parameters = {
        **_robot_parameters(request),
        "mode": request["mode"],
        "engine": request["engine"],
        "pace": request["mode"] == "lockstep",
        # robot_state_publisher publishes the description where it runs
        "publish_robot_description": not request.is_true("rviz"),
    }
    if request.launch == "hil":
        parameters |= {
            "faults": str(request.file("faults")) if request["faults"] else "",
            "seed": request.whole_number("seed"),
            "log": str(Path(request["log"]).expanduser().resolve()) if request["log"] else "",
        }
    return Process(
        "opspace_ctrl",
        SIMULATOR,
        SIMULATOR,
        (request.params_file, parameters),
        is_lifecycle=True,
        activate=True,
        log_level=request["log_level"],
    )


def _viewers(request: Request, has_publisher: bool) -> tuple[Process, ...]:
    """RViz, and robot_state_publisher where it does not run anyway."""
    if not request.is_true("rviz"):
        return ()
    sim_time = {"use_sim_time": _use_sim_time(request)}
    fixed_frame = "odom" if request.model.is_base_coordinate.any() else _root_link(request)
    rviz = Process(
        "rviz2",
        "rviz2",
        "rviz",
        (sim_time,),
        role=OPTIONAL,
        arguments=("-d", str(shipped_path("rviz", RVIZ_FILE)), "-f", fixed_frame),
    )
    return (rviz,) if has_publisher else (state_publisher(request.description, **sim_time), rviz)


def _root_link(request: Request) -> str:
    model = request.model
    return next(name for name, body in zip(model.frame_names, model.frame_body) if body < 0)
