"""What was asked for on the command line of a launch file, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..errors import BringupError, ConfigurationError, listed, quoted
from ..model import Model, load_robot, load_urdf
from ..model.source import ROBOTS, read_source, robot_text
from ..parameter_file import node_parameters, section_for
from ..sim.settings import locked_joints
from .arguments import LAUNCHES, arguments, default_robot
from .defaults import default_params_file

__all__ = ["CONTROLLER", "SIMULATOR", "Request"]

CONTROLLER, SIMULATOR = "opspace_controller", "opspace_simulator"


@dataclass(frozen=True)
class Request:
    """The arguments of one launch; what is not given has its default.

    Attributes:
        launch: one of LAUNCHES.
        given: {argument: text}.
        scratch: a folder for files that are generated.
    """

    launch: str
    given: Mapping[str, str]
    scratch: Path

    def __post_init__(self) -> None:
        if self.launch not in LAUNCHES:
            raise BringupError(f"no launch {quoted(self.launch)}; there are {listed(LAUNCHES)}")
        known = {argument.name: argument for argument in arguments(self.launch)}
        for name, value in self.given.items():
            if name not in known:
                raise BringupError(
                    f"{self.launch}: no argument {quoted(name)}; there are {listed(known)}"
                )
            if known[name].choices and value not in known[name].choices:
                raise BringupError(
                    f"{self.launch}: {name}:={value} is not one of {listed(known[name].choices)}"
                )

    def __getitem__(self, name: str) -> str:
        values = {argument.name: argument.default for argument in arguments(self.launch)}
        return str(self.given.get(name, values[name]))

    def is_true(self, name: str) -> bool:
        """A boolean argument."""
        return self[name] == "true"

    def whole_number(self, name: str, minimum: int = 0) -> int:
        """An argument that is a number without a fraction."""
        try:
            number = int(self[name])
        except ValueError:
            raise BringupError(
                f"{self.launch}: {name}:={self[name]} is not a whole number"
            ) from None
        if number < minimum:
            raise BringupError(f"{self.launch}: {name}:={number} is less than {minimum}")
        return number

    def file(self, name: str) -> Path:
        """The full path of an argument that is an existing file."""
        path = Path(self[name]).expanduser().resolve()
        if not path.is_file():
            raise BringupError(f"{name}:={self[name]} is no file")
        return path

    @cached_property
    def _named_robot(self) -> str:
        """As it was named: by the argument, else by the parameter file, else the launch's own."""
        return self["robot"] or self._said("robot") or default_robot(self.launch)

    @cached_property
    def base(self) -> str:
        """The parameter `base` of our nodes, "" where neither the argument nor the parameter file says it."""
        return self["base"] or self._said("base")

    def _said(self, name: str) -> str:
        """What a parameter file that was given says for the controller."""
        is_given = self.launch != "description" and self["params_file"]
        return str(self.parameters(CONTROLLER).get(name) or "") if is_given else ""

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
        except ConfigurationError as error:
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
                f"robot:={self._named_robot} is not a shipped robot, so params_file:=FILE.yaml must say "
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

    @property
    def joints(self) -> list[str]:
        """The joints in the order of effort_controller/commands."""
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
