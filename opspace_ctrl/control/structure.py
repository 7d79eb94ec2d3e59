"""What a controller controls: the part that cannot change while it runs. Everything else is a view of `core.Core`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import ConfigurationError, listed, quoted
from ..model import Model
from ..osim.tasks import CenterOfMass, Task

__all__ = ["AXES", "LAWS", "WHOLE_ROBOT", "ContactSpec", "Structure", "TaskSpec"]

LAWS = ("inertia", "impedance")
AXES = ("frame", "world")
WHOLE_ROBOT = {"com": CenterOfMass}  # words for tasks on no frame
CONTACT_ROWS = {3: "position", 6: "pose"}


@dataclass(frozen=True)
class TaskSpec:
    """One task: which rows of which frame's motion, and by which law.

    Attributes:
        name: What the user calls it; unique.
        frame: Name of the frame, or None for the whole robot.
        rows: "pose" (6), "position" (3), "orientation" (3), or a constant (k, 6) matrix (linear first), k <= 6. Without
            a frame: a word of WHOLE_ROBOT, or rows of the centre of mass.
        relative_to: None for the world, or the frame in whose moving axes the motion is seen. Targets, errors and
            wrenches of the task are then in those axes, too.
        axes: None, or the frame whose axes gains and selection are given in; None means the world's, or those of
            `relative_to`.
        level: Priority, 1 is the highest; tasks of one level share it.
        law: "inertia": F = Lambda (a_d + Kd e_v + Kp e_x - Jdot v); "impedance": F = Kp e_x + Kd e_v. Where tasks of
            one level have different laws, those of the inertia law come first.
    """

    name: str
    frame: str | None
    rows: str | tuple = "pose"
    relative_to: str | None = None
    axes: str | None = None
    level: int = 1
    law: str = "inertia"

    def task(self) -> Task | CenterOfMass:
        """The same as a task of `osim`."""
        if self.frame is not None:
            return Task(self.frame, self.rows, self.relative_to)
        if isinstance(self.rows, str) and self.rows in WHOLE_ROBOT:
            return WHOLE_ROBOT[self.rows]()
        return CenterOfMass(self.rows)


@dataclass(frozen=True)
class ContactSpec:
    """One support contact: a frame that the ground holds.

    Attributes:
        name: What the user calls it; unique.
        frame: Name of the frame.
        rows: 3 (a point) or 6 (a sole).
        axes: "frame": the contact's normal is the z axis of the frame; "world": that of the world.
    """

    name: str
    frame: str
    rows: int = 6
    axes: str = "frame"

    def task(self) -> Task:
        """The same as a task of `osim`."""
        return Task(self.frame, CONTACT_ROWS[self.rows])


@dataclass(frozen=True)
class Structure:
    """Tasks, contacts and the order of the command.

    Attributes:
        tasks, contacts: In the user's order, which is the order of every view of `Core`.
        joints: Names in the order of the command; all joints of the model, each once. None: the model's order.
    """

    tasks: tuple[TaskSpec, ...] = ()
    contacts: tuple[ContactSpec, ...] = ()
    joints: tuple[str, ...] | None = None

    def levels(self) -> list[list[int]]:
        """The tasks (by number) of each level in order of priority; a level of two laws counts as two."""
        keys = sorted({(task.level, LAWS.index(task.law)) for task in self.tasks})
        return [
            [i for i, task in enumerate(self.tasks) if (task.level, LAWS.index(task.law)) == key]
            for key in keys
        ]

    def check(self, model: Model) -> None:
        """Everything that `osim` does not check itself.

        Raises:
            ConfigurationError: A value that is not one of the valid choices, or a name given twice.
            UnknownFrameError: A frame that the model does not have.
        """
        names = [task.name for task in self.tasks] + [contact.name for contact in self.contacts]
        for name in names:
            if names.count(name) > 1:
                raise ConfigurationError(
                    f"{quoted(name)} names two tasks or contacts; every name is given once"
                )
        for task in self.tasks:
            self._check_task(model, task)
        for contact in self.contacts:
            model.frame_index(contact.frame)
            _check_choice(f"contact {contact.name!r}: rows", contact.rows, tuple(CONTACT_ROWS))
            _check_choice(f"contact {contact.name!r}: axes", contact.axes, AXES)
        if self.joints is not None and sorted(self.joints) != sorted(model.joint_names):
            raise ConfigurationError(
                f"joints = {quoted(self.joints)} must be all joints of {model.name}, each once: "
                f"{listed(model.joint_names)}"
            )

    @staticmethod
    def _check_task(model: Model, task: TaskSpec) -> None:
        for frame in (task.frame, task.relative_to, task.axes):
            if frame is not None:
                model.frame_index(frame)
        _check_choice(f"task {task.name!r}: law", task.law, LAWS)
        if not isinstance(task.level, int) or task.level < 1:
            raise ConfigurationError(
                f"task {task.name!r}: level {quoted(task.level)} is not 1 or more"
            )
        if task.frame is None and task.relative_to is not None:
            raise ConfigurationError(
                f"task {task.name!r}: the centre of mass is seen from the world only"
            )
        if len(np.atleast_2d(task.task().selection())) > 6:
            raise ConfigurationError(f"task {task.name!r}: a task has at most 6 rows")


def _check_choice(what: str, value, choices: tuple) -> None:
    if value not in choices:
        raise ConfigurationError(f"{what} {quoted(value)} unknown; choose {listed(choices)}")
