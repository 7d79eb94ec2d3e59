# SPDX-License-Identifier: Apache-2.0
"""`ControllerSettings`: everything about a controller except its robot, of the parts that declare it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, cached_property
from typing import Any, Literal, TypeAlias

from ..command_kind import CommandKind
from ..declaration import Names, Settings, declared, fixed, live
from ..errors import ConfigurationError, Mistakes, SettingsError, listed, quoted
from ..model import Model
from ..osim.registry import methods
from ..osim.tasks import AnyTask
from ..parameters import MOST_NAMES, Parameter, checked
from ..robot_settings import RobotSettings
from .contacts import Contact
from .names import check_names, check_unique
from .options import Compensation, Limits, Payload
from .posture import Posture
from .safety.settings import SafetySettings
from .tasks import TASKS, CenterOfMassTask, ControlTask, PoseTask, task_of, task_table

__all__ = [
    "LAWS",
    "ControllerSettings",
    "NodeSettings",
    "check_kind",
    "controller_settings",
    "controller_table",
    "fixed_changes",
    "table_for",
]

Mode: TypeAlias = Literal["tasks", "raw", "gravity", "velocity"]
InternalForces: TypeAlias = Literal["zero", "balanced"]
LAWS = declared(ControlTask)["law"].choices


@dataclass(frozen=True, kw_only=True)
class NodeSettings(Settings):
    """What only the node needs."""

    autostart: bool = fixed(False, "Configure and activate without being told.")
    world_frame: str = fixed(
        "", "Name of the world in messages; empty: odom's frame_id, or the root link's parent."
    )
    frame_prefix: str = fixed(
        "",
        "Put before the names of the robot's frames in messages and tf, such as left/; as "
        "robot_state_publisher's.",
    )
    publish_rate: float = live(
        50.0, "Rate of ~/<task>/pose, ~/<task>/error and ~/osim; 0: none.", "Hz", 0.0, 1000.0
    )
    marker_rate: float = live(10.0, "Rate of ~/markers; 0: none.", "Hz", 0.0, 100.0)
    publish_tf: bool = fixed(
        True,
        "Floating base: publish the transform from the world to the root link, where tf2_ros "
        "is installed.",
    )
    thread_priority: int = fixed(
        50, "SCHED_FIFO priority of the loop's thread, where permitted; 0: as started.", "", 0, 99
    )
    black_box: str = fixed(
        "auto",
        "Folder where the last 5 s are kept when a gate closes; auto: opspace_ctrl in ROS's folder of "
        "logs; empty: nowhere.",
    )
    lock_memory: bool = fixed(True, "Keep the process in memory, where permitted.")


@dataclass(frozen=True, kw_only=True)
class ControllerSettings(Settings):
    """All settings of a controller; `Controller` describes the parts.

    Attributes:
        robot, node: What a node needs beside.
    """

    tasks: Sequence[ControlTask] = ()
    posture: Posture = Posture()
    contacts: Sequence[Contact] = ()
    method: str = live(
        "auto",
        "Algorithm of the operational-space inertia; auto: the fastest here.",
        choices=("auto", *methods()),
    )
    mode: Mode = fixed(
        "tasks",
        "tasks: the hierarchy of tasks; raw: F and tau0 come from topics; gravity: compensation "
        "only, for the first power-on; velocity: the hierarchy of tasks for a robot that takes joint "
        "velocities, qdot = Jbar xdot + N qdot0.",
        law=True,
    )
    joints: Names = fixed(
        (),
        "Joints in the order of the commands; empty: those of the robot in its own order.",
    )
    internal_forces: InternalForces = live(
        "balanced",
        "Forces that contacts exert on each other in double support: zero: least "
        "norm; balanced: large margins of friction, pressure and normal force.",
        law=True,
    )
    compensation: Compensation = Compensation()
    payload: Payload = Payload()
    limits: Limits = Limits()
    safety: SafetySettings = SafetySettings()
    robot: RobotSettings = RobotSettings()
    node: NodeSettings = NodeSettings()

    def check(self) -> None:
        """Refuse parts of another kind, names that stand twice or mean something else, a raw mode without rows."""
        mistakes = Mistakes()
        for name, kind in (("tasks", ControlTask), ("contacts", Contact)):
            with mistakes:
                object.__setattr__(self, name, _all_of(kind, name, getattr(self, name)))
        for each in fields(self):
            if isinstance(each.default, Settings):
                with mistakes:
                    check_kind(type(each.default), each.name, getattr(self, each.name))
        mistakes.tell()
        names = [task.name for task in self.tasks] + [contact.name for contact in self.contacts]
        check_names(names, _reserved())
        check_unique("joints and locked_joints", [*self.joints, *self.robot.locked_joints])
        if self.mode == "raw" and not self.tasks:
            raise SettingsError(
                "mode raw needs at least one task, whose rows F belongs to: give `tasks`"
            )
        if self.commands == "velocity":
            self._check_velocities()

    @property
    def commands(self) -> CommandKind:
        """What leaves the controller: efforts, or in mode velocity joint velocities."""
        return "velocity" if self.mode == "velocity" else "effort"

    def _check_velocities(self) -> None:
        """Refuse what needs forces, and gains that are no speed."""
        mistakes = Mistakes()
        for contact in self.contacts:
            with mistakes:
                raise SettingsError(
                    f"mode velocity carries no contacts, which are forces: {contact.name!r}; without "
                    "contacts, or with mode tasks, it is valid"
                )
        for task in self.tasks:
            with mistakes:
                task.check_velocity()
        pairs = zip(*self.posture.gains())
        if self.limits.damping == 0.0 or any(kp > 0.0 and kd == 0.0 for kp, kd in pairs):
            with mistakes:
                raise SettingsError(
                    "mode velocity: errors fall at stiffness / damping: posture.damping and "
                    "limits.damping above 0 are valid"
                )
        mistakes.tell()

    @property
    def groups(self) -> tuple[Settings, ...]:
        """All parts that are there once: itself, and the fields that are settings."""
        own = (getattr(self, each.name) for each in fields(self))
        return (self, *(each for each in own if isinstance(each, Settings)))

    @cached_property
    def values(self) -> Mapping[str, Any]:
        """All parameters by the names that ROS has for them."""
        found: dict[str, Any] = {
            "tasks": [task.name for task in self.tasks],
            "contacts": [contact.name for contact in self.contacts],
        }
        for each in (*self.groups, *self.tasks, *self.contacts):
            found.update(each.flat())
        return found

    def operational_tasks(self) -> list[AnyTask]:
        """Contacts, then tasks level by level: the rows of the operational space."""
        contacts = [contact.task() for contact in self.contacts]
        return [*contacts, *(self.tasks[i].task() for level in self.levels() for i in level)]

    def levels(self) -> list[list[int]]:
        """The tasks (by number) of each level in order of priority; a level of two laws counts as two."""
        places = [(task.level, LAWS.index(task.law)) for task in self.tasks]
        return [[i for i, own in enumerate(places) if own == key] for key in sorted(set(places))]

    def check_robot(self, model: Model) -> None:
        """Does the model have all frames and joints that are named?

        Raises:
            ConfigurationError: `joints` are not those of the model.
            UnknownFrameError: A frame that the model does not have.
        """
        frames = [
            *(task.moved_frame for task in self.tasks),
            *(task.reference_frame for task in self.tasks),
            *(task.axes for task in self.tasks),
            *(contact.held_frame for contact in self.contacts),
        ]
        mistakes = Mistakes()
        for frame in filter(None, frames):
            with mistakes:
                model.frame_index(frame)
        with mistakes:
            self._check_joints(model)
        if self.commands == "velocity":
            with mistakes:
                _check_velocity_robot(model)
        mistakes.tell()

    def _check_joints(self, model: Model) -> None:
        if self.joints and sorted(self.joints) != sorted(model.joint_names):
            raise ConfigurationError(
                f"joints = {quoted(self.joints)} must be all joints of {model.name}, each once: "
                f"{listed(model.joint_names)}"
            )


def _check_velocity_robot(model: Model) -> None:
    """Refuse a robot that joint velocities alone do not move, or whose joints may not move.

    Raises:
        ConfigurationError: Naming what is in the way.
    """
    if model.is_base_coordinate.any():
        raise ConfigurationError(
            f"{model.name}: mode velocity moves a robot by its joints alone, and its base floats; "
            "valid are base='fixed', or mode tasks"
        )
    for name, limit in zip(model.joint_names, model.velocity_limits):
        if limit <= 0.0:
            raise ConfigurationError(
                f"{model.name}: mode velocity: the URDF says that {name} moves at 0 at most; valid is "
                "a velocity limit above 0, or none"
            )


def _all_of(kind: type[Settings], what: str, given: Any) -> tuple[Any, ...]:
    """The tasks or contacts that are given.

    Raises:
        SettingsError: It is no list, or something in it is none.
    """
    if isinstance(given, (str, Settings)) or not isinstance(given, Iterable):
        raise SettingsError(f"{what}: {quoted(given)} is not a list of {_calls(kind)}")
    several = tuple(given)
    for each in several:
        check_kind(kind, what, each)
    return several


def check_kind(kind: type[Settings], what: str, given: Any) -> None:
    """Refuse what is no object of a class.

    Raises:
        SettingsError: Saying how one is made.
    """
    if not isinstance(given, kind):
        raise SettingsError(f"{what}: {quoted(given)} is not valid; valid is {_calls(kind)}")


def _calls(kind: type[Settings]) -> str:
    """How such objects are made, for a message."""
    if kind is ControlTask:
        return " or ".join(f"{each.__name__}(...)" for each in TASKS.values())
    return f"{kind.__name__}(...)"


def controller_table(
    tasks: Sequence[str] = (), contacts: Sequence[str] = ()
) -> tuple[Parameter, ...]:
    """Every ROS parameter of a controller with tasks and contacts of these names."""
    lists = (
        Parameter(
            "tasks",
            [],
            "Names of the tasks; each has its own parameters <name>.*.",
            kind="string_array",
            names_others=True,
            structural=True,
        ),
        Parameter(
            "contacts",
            [],
            "Names of the support contacts, which come before every task; each has its own "
            "parameters <name>.*.",
            kind="string_array",
            read_only=True,
            names_others=True,
        ),
    )
    groups = (RobotSettings, ControllerSettings, Compensation, Payload, Limits, Posture)
    return (
        *lists,
        *(each for group in groups for each in declared(group).values()),
        *declared(SafetySettings).values(),
        *declared(NodeSettings).values(),
        *(each for name in tasks for each in task_table(name)),
        *(each for name in contacts for each in declared(Contact, f"{name}.").values()),
    )


def table_for(values: Mapping[str, Any]) -> tuple[Parameter, ...]:
    """Every ROS parameter of a controller with the tasks and contacts that some values name.

    Raises:
        ParameterError, SettingsError: They are no names.
    """
    given = {name: values[name] for name in ("tasks", "contacts") if name in values}
    lists = checked(controller_table(), given)
    check_names([*lists["tasks"], *lists["contacts"]], _reserved())
    return controller_table(lists["tasks"], lists["contacts"])


def controller_settings(
    values: Mapping[str, Any], mistakes: Mistakes | None = None
) -> ControllerSettings:
    """The settings of ROS parameters by name (flat and dotted; the rest take their defaults).

    Args:
        values: By name.
        mistakes: Where to put what is wrong, instead of raising it; the settings are then what is left.

    Raises:
        ParameterError: A parameter is unknown, of the wrong type, out of range or not one of its choices.
        SettingsError: Parameters contradict each other. Several mistakes are told at once.
    """
    found = Mistakes() if mistakes is None else mistakes
    given = [_names(values.get(each, ())) for each in ("tasks", "contacts")]
    with found:
        check_names([*given[0], *given[1]], _reserved())
    tasks, contacts = (
        [name for name in dict.fromkeys(each) if name not in _reserved()] for each in given
    )
    p = checked(controller_table(tasks, contacts), values, found)
    parts: dict[str, Any] = {name: p[name] for name in declared(ControllerSettings) if name in p}
    for each in fields(ControllerSettings):
        if isinstance(each.default, Settings) and _is_whole(
            declared(type(each.default)).values(), p
        ):
            with found:
                parts[each.name] = type(each.default).of(p)
    parts["tasks"] = [_stand_in(name, p) for name in tasks]
    for i, name in enumerate(tasks):
        if _is_whole(task_table(name), p):
            with found:
                parts["tasks"][i] = task_of(name, p)
    parts["contacts"] = [
        Contact(name, **{each: p[q.name] for each, q in own.items() if q.name in p})
        for name, own in ((name, declared(Contact, f"{name}.")) for name in contacts)
    ]
    settings = ControllerSettings()
    # where joints or mode contradict the rest, this is what is left of it
    rest = {name: part for name, part in parts.items() if name not in ("joints", "mode")}
    for each_parts in (rest, parts):
        with found:
            settings = ControllerSettings(**each_parts)
    if mistakes is None:
        found.tell()
    return settings


def _names(given: Any) -> list[str]:
    """The names that a list of tasks or contacts gives, as far as it is one."""
    several = given if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    return [name for name in several[:MOST_NAMES] if isinstance(name, str)]


def _is_whole(own: Iterable[Parameter], values: Mapping[str, Any]) -> bool:
    return all(each.name in values for each in own)


def _stand_in(name: str, values: Mapping[str, Any]) -> ControlTask:
    """For a task that something is wrong with: the same frame where it is known, else none."""
    frame, rows = values.get(f"{name}.frame"), values.get(f"{name}.rows", "com")
    return CenterOfMassTask(name) if frame is None or rows == "com" else PoseTask(name, frame=frame)


@cache
def _reserved() -> frozenset[str]:
    """First parts of the names of parameters, which no task or contact can have."""
    return frozenset(parameter.name.partition(".")[0] for parameter in controller_table())


def fixed_changes(old: ControllerSettings, new: ControllerSettings) -> list[str]:
    """Names of the parameters that differ and cannot change while the controller runs."""
    table = controller_table((), old.values["contacts"])
    fixed_names = (parameter.name for parameter in table if parameter.read_only)
    return sorted(name for name in fixed_names if old.values.get(name) != new.values.get(name))
