# SPDX-License-Identifier: Apache-2.0
"""What was asked for on the command line of a launch file, checked."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..command_kind import CommandKind
from ..data import shipped_path
from ..errors import BringupError, OpspaceError, quoted
from ..model import Model, load_robot, load_urdf
from ..model.source import ROBOTS, read_source, robot_text
from ..parameter_file import node_parameters, section_for
from ..robot_settings import locked_joints
from .installed import is_installed

__all__ = ["CONTROLLER", "SIMULATOR", "Request", "default_params_file"]

CONTROLLER, SIMULATOR = "opspace_controller", "opspace_simulator"
RVIZ_FILE = "opspace.rviz"


def default_params_file(robot: str) -> Path | None:
    """The parameter file of a shipped robot, for controller and simulator; None for any other robot."""
    return shipped_path("config", f"{robot}.yaml") if robot in ROBOTS else None


@dataclass(frozen=True)
class Request:
    """The arguments of one launch; what is not given is empty text.

    Each is checked when it is used.

    Attributes:
        given: {argument: text}; `default_robot` is the robot where nobody names one.
        scratch: an existing folder for files that are generated.
    """

    given: Mapping[str, str]
    scratch: Path

    def __getitem__(self, name: str) -> str:
        return str(self.given.get(name, ""))

    def chosen(self, *names: str) -> dict[str, str]:
        """The arguments of these names that are given: parameters that go before those of the file."""
        return {name: self[name] for name in names if self[name]}

    def is_true(self, name: str) -> bool:
        """A boolean argument."""
        return self[name] == "true"

    def whole_number(self, name: str, minimum: int = 0) -> int:
        """An argument that is a number without a fraction."""
        try:
            number = int(self[name])
        except ValueError:
            raise BringupError(f"{name}:={self[name]} is not a whole number") from None
        if number < minimum:
            raise BringupError(f"{name}:={number} is less than {minimum}")
        return number

    def file(self, name: str) -> Path:
        """The full path of an argument that is an existing file."""
        path = Path(self[name]).expanduser().resolve()
        if not path.is_file():
            raise BringupError(f"{name}:={self[name]} is no file")
        return path

    def files(self, name: str) -> list[str]:
        """The full path of an argument that is an existing file, none if it is empty."""
        return [str(self.file(name))] if self[name] else []

    def use_sim_time(self, simulated: bool) -> bool:
        """Whether nodes follow /clock: as the argument says; auto: where a simulator owns the time."""
        return simulated if self["use_sim_time"] in ("", "auto") else self.is_true("use_sim_time")

    @cached_property
    def has_state_publisher(self) -> bool:
        """Does robot_state_publisher run? RViz and ros2_control need it; auto: where it is installed."""
        if any(self.is_true(name) for name in ("rviz", "ros2_control", "controller_manager")):
            return True
        if self["state_publisher"] == "auto":
            return is_installed("robot_state_publisher")
        return self.is_true("state_publisher")

    @cached_property
    def _named_robot(self) -> str:
        """As it was named: by the argument, else by the parameter file, else the launch's own."""
        return self["robot"] or self._said("robot") or self["default_robot"] or "arm7"

    @cached_property
    def base(self) -> str:
        """The parameter `base` of our nodes, "" where neither the argument nor the parameter file says it."""
        return self["base"] or self._said("base")

    def _said(self, name: str) -> str:
        """What a parameter file that was given says for the controller."""
        return str(self.parameters(CONTROLLER).get(name) or "") if self["params_file"] else ""

    @cached_property
    def robot(self) -> str:
        """The parameter `robot` of our nodes: a shipped name or the full path of a URDF or xacro file."""
        name = self._named_robot
        path = Path(name).expanduser().resolve()
        if self["xacro_args"] and path.suffix != ".xacro":
            raise BringupError(
                f"xacro_args:={self['xacro_args']} is for .xacro files; robot:={name} is none"
            )
        if name in ROBOTS:
            return name
        if not path.is_file():
            raise BringupError(
                f"robot:={name} is neither a file nor a shipped robot ({', '.join(ROBOTS)})"
            )
        if not self["xacro_args"]:
            return str(path)
        expanded = self.scratch / "robot.urdf"
        expanded.write_text(read_source(path, _pairs(self["xacro_args"])), encoding="utf-8")
        return str(expanded)

    @property
    def robot_and_base(self) -> dict[str, str]:
        """The parameters `robot` and, where it is said, `base` of our nodes."""
        return {"robot": self.robot} | ({"base": self.base} if self.base else {})

    @cached_property
    def description(self) -> str:
        """The URDF."""
        return robot_text(self.robot) if self.robot in ROBOTS else read_source(Path(self.robot))

    @cached_property
    def model(self) -> Model:
        """The robot, held as asked for."""
        return self._loaded({})

    def model_of(self, node: str) -> Model:
        """The robot with the joints locked that a node's parameters lock."""
        try:
            locked = locked_joints(self.parameters(node))
        except OpspaceError as error:
            raise BringupError(f"{self.params_file}: {node}: {error}") from None
        return self._loaded(locked) if locked else self.model

    def _loaded(self, locked: Mapping[str, float]) -> Model:
        options: dict[str, Any] = {"locked": locked} if locked else {}
        if self.base:
            options["base"] = self.base
        return (
            load_robot(self.robot, **options)
            if self.robot in ROBOTS
            else load_urdf(self.description, **options)
        )

    @property
    def folder(self) -> Path | None:
        """Where the robot's file lies."""
        return (
            None
            if self._named_robot in ROBOTS
            else Path(self._named_robot).expanduser().resolve().parent
        )

    @cached_property
    def params_file(self) -> Path:
        """The parameter file of controller and simulator."""
        if self["params_file"]:
            path = self.file("params_file")
            self._check_sections(path)
            return path
        shipped = default_params_file(self._named_robot)
        if shipped is None:
            raise BringupError(
                f"robot:={self.robot} is not a shipped robot, so params_file:=FILE.yaml must say "
                "what its tasks are"
            )
        return shipped.resolve()

    def _check_sections(self, path: Path) -> None:
        """Refuse a file whose sections are for another namespace: ROS would start our nodes without them."""
        namespace = self["namespace"].strip("/")
        for node in (CONTROLLER, SIMULATOR):
            name = f"/{namespace}/{node}" if namespace else f"/{node}"
            if section_for(path, name) is False:
                raise BringupError(
                    f"params_file:={path} has a section for {node}, but not for {name}; "
                    f"/**/{node} is for any namespace"
                )

    def parameters(self, node: str) -> dict[str, Any]:
        """What the parameter file says for a node of ours."""
        return node_parameters(self.params_file, node)

    def rviz_arguments(self) -> list[str]:
        """RViz with robot, tasks and targets, seen from the world."""
        model = self.model
        roots = (name for name, body in zip(model.frame_names, model.frame_body) if body < 0)
        frame = "odom" if model.is_base_coordinate.any() else next(roots)
        return ["-d", str(shipped_path("rviz", RVIZ_FILE)), "-f", self["frame_prefix"] + frame]

    @property
    def commands(self) -> CommandKind:
        """What the controller sends, as its `mode` says."""
        return "velocity" if self.parameters(CONTROLLER).get("mode") == "velocity" else "effort"

    @property
    def joints(self) -> list[str]:
        """The joints in the order of the commands."""
        return list(
            self.parameters(CONTROLLER).get("joints") or self.model_of(CONTROLLER).joint_names
        )


def _pairs(text: str) -> dict[str, str]:
    pairs = {}
    for word in text.split():
        name, separator, value = word.partition(":=")
        if not (name and separator):
            raise BringupError(f"xacro_args: {quoted(word)} is not name:=value")
        pairs[name] = value
    return pairs
