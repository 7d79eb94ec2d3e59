"""`ControllerSettings`: everything about a controller except its robot, of the parts that declare it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, cached_property
from typing import Any, Literal, TypeAlias

from ..declaration import Names, Settings, declared, fixed, live
from ..errors import ConfigurationError, SettingsError, listed, quoted
from ..model import Model
from ..osim.registry import methods
from ..osim.tasks import CenterOfMass, Task
from ..parameters import Parameter, checked
from ..robot_settings import RobotSettings
from .contacts import Contact
from .names import check_names, check_unique
from .options import Compensation, Limits, Payload
from .posture import Posture
from .safety.settings import SafetySettings
from .tasks import ControlTask, task_of, task_table

__all__ = [
    "LAWS",
    "ControllerSettings",
    "NodeSettings",
    "controller_settings",
    "controller_table",
    "fixed_changes",
]

Mode: TypeAlias = Literal["tasks", "raw", "gravity"]
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
    velocity_time: float = fixed(
        0.005,
        "Time constant of the low-pass of velocities that are differentiated because the "
        "joint states carry none.",
        "s",
        0.0,
        1.0,
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
        "only, for the first power-on.",
        law=True,
    )
    joints: Names = fixed(
        (),
        "Joints in the order of the effort controller; empty: those of the robot in its own order.",
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
        """Refuse names that stand twice or mean something else, and a raw mode without rows."""
        object.__setattr__(self, "tasks", tuple(self.tasks))
        object.__setattr__(self, "contacts", tuple(self.contacts))
        names = [task.name for task in self.tasks] + [contact.name for contact in self.contacts]
        check_names(names, _reserved())
        check_unique("joints and locked_joints", [*self.joints, *self.robot.locked_joints])
        if self.mode == "raw" and not self.tasks:
            raise SettingsError(
                "mode raw needs at least one task, whose rows F belongs to: give `tasks`"
            )

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

    def operational_tasks(self) -> list[Task | CenterOfMass]:
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
        for frame in filter(None, frames):
            model.frame_index(frame)
        if self.joints and sorted(self.joints) != sorted(model.joint_names):
            raise ConfigurationError(
                f"joints = {quoted(self.joints)} must be all joints of {model.name}, each once: "
                f"{listed(model.joint_names)}"
            )


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
            read_only=True,
            names_others=True,
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


def controller_settings(values: Mapping[str, Any]) -> ControllerSettings:
    """The settings of ROS parameters by name (flat and dotted; the rest take their defaults).

    Raises:
        ParameterError: A parameter is unknown, of the wrong type, out of range or not one of its choices.
        SettingsError: Parameters contradict each other.
    """
    lists = {name: values[name] for name in ("tasks", "contacts") if name in values}
    names = checked(controller_table(), lists)
    tasks, contacts = names["tasks"], names["contacts"]
    check_names([*tasks, *contacts], _reserved())
    p = checked(controller_table(tasks, contacts), values)
    parts: dict[str, Any] = {
        each.name: type(each.default).of(p)
        for each in fields(ControllerSettings)
        if isinstance(each.default, Settings)
    }
    return ControllerSettings(
        **{name: p[name] for name in declared(ControllerSettings)},
        **parts,
        tasks=[task_of(name, p) for name in tasks],
        contacts=[
            Contact(name, **{each: p[q.name] for each, q in declared(Contact, f"{name}.").items()})
            for name in contacts
        ],
    )


@cache
def _reserved() -> frozenset[str]:
    """First parts of the names of parameters, which no task or contact can have."""
    return frozenset(parameter.name.partition(".")[0] for parameter in controller_table())


def fixed_changes(old: ControllerSettings, new: ControllerSettings) -> list[str]:
    """Names of the parameters that differ and cannot change while the controller runs."""
    table = controller_table(old.values["tasks"], old.values["contacts"])
    fixed_names = {parameter.name for parameter in table if parameter.read_only}
    return sorted(
        name
        for name in fixed_names | (set(old.values) ^ set(new.values))
        if old.values.get(name) != new.values.get(name)
    )
