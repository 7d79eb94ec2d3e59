# SPDX-License-Identifier: Apache-2.0
"""`Duty`: the tasks of a controller with all that follows from them, so that one assignment exchanges it.

A new list of tasks is a new duty, with a law of its own, prepared while the old one ticks. Between two ticks it takes
over: tasks that stay go on with their reference and state, new ones hold where they are, and the torques pass over from
the old law to the new one over `fade`, both being computed meanwhile (`ControlLaw.follow`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import TargetError, listed, quoted
from ..model import Model
from ..model.rotations import to_quaternion
from .core import Core, read_only
from .live import write_live
from .options import Payload
from .report import Report
from .settings import ControllerSettings
from .targets.posture_target import PostureTarget
from .targets.streams import Streams
from .targets.target import Target

__all__ = ["Duty"]

ARRIVED = np.repeat([0.002, 0.02], 3)  # [m, rad] a task that is nearer to its target is there


class Duty:
    """The compiled law of some contacts and tasks, the references of these, and what is told about them.

    Attributes:
        core: The law.
        tasks: What it was made for.
        names: Of the tasks.
        targets: The reference of each task.
        streams: Inputs that count for a while.
        report: What the last tick did.
        next_method: What the next tick changes the method to, if anything.

    Raises:
        OpspaceError: The settings do not fit the robot, see `Core`.
    """

    def __init__(self, model: Model, settings: ControllerSettings):
        self.model = model
        self.core = Core(model, settings)
        self._written = replace(settings, payload=Payload())  # a core is made without a payload
        self.tasks = tuple(settings.tasks)
        self.names = tuple(task.name for task in settings.tasks)
        self._number = {name: i for i, name in enumerate(self.names)}
        self.targets = [Target(task, settings.safety.target_timeout) for task in settings.tasks]
        self.streams = Streams(self.core.law)
        self.report = Report(self.core.law, settings, tuple(model.joint_names))
        self.error = read_only(self.core.law.error)
        self.next_method: str | None = None
        self._followed: Duty | None = None  # keeps the memory of its law alive

    def apply(self, settings: ControllerSettings, posture: PostureTarget) -> None:
        """Use settings of the same tasks, which have been checked, from the next tick on."""
        for target, task in zip(self.targets, settings.tasks):
            target.settings, target.timeout = task, settings.safety.target_timeout
        write_live(self.core, settings, posture, self._written)
        self._written = settings

    # ---- other tasks ----

    def is_for(self, settings: ControllerSettings) -> bool:
        """Does its law fit the tasks of the settings?"""
        mine, theirs = (
            [task.structure() for task in each] for each in (self.tasks, settings.tasks)
        )
        return mine == theirs

    def successor(self, settings: ControllerSettings, running: Core) -> Duty:
        """A duty for other tasks, not taking part yet: new tasks hold where the running core saw them last.

        Raises:
            OpspaceError: The settings do not fit the robot; nothing has changed then.
        """
        other = Duty(self.model, settings)
        other.hold(*running.state, running.law.last_time)
        law, before = other.core.law, self.core.law
        law.target, law.error, law.last_time = law.pose, 0.0, before.last_time
        same = other._same_as(self, "level", "law", "axes")
        for here, there in same:
            other.targets[here] = self.targets[there]
            other.load(other.names[here])
            law.target[here], law.error[here] = before.target[there], before.error[there]
        other.streams.go_on(self.streams, same)
        return other

    def take_over(self, before: Duty, time: float) -> None:
        """Go on from another duty, by the thread that ticks; time: of the next tick, see `ControlLaw.follow`."""
        self.core.follow(before.core, self._same_as(before, "level"), time)
        self._followed, before._followed = before, None

    def _same_as(self, other: Duty, *but: str) -> list[tuple[int, int]]:
        """(place here, place there) of the tasks that are the same but for some fields."""
        there = {task.structure(*but): place for place, task in enumerate(other.tasks)}
        here = [task.structure(*but) for task in self.tasks]
        return [(place, there[each]) for place, each in enumerate(here) if each in there]

    # ---- tasks by name ----

    def number(self, task: str) -> int:
        """The place of a task among all.

        Raises:
            TargetError: There is no such task.
        """
        if not isinstance(task, str) or task not in self._number:
            raise TargetError(f"no task {quoted(task)}; valid are {listed(self.names)}")
        return self._number[task]

    def target(self, task: str) -> Target:
        """The reference of a task. Raises as `number`."""
        return self.targets[self.number(task)]

    def load(self, task: str) -> None:
        """Let the next tick follow the reference of a task as it has become."""
        self.core.load_program(self.number(task), self.target(task).program)
        self.report.clipped_targets = tuple(each.name for each in self.targets if each.clipped)

    def pose(self, task: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Position (3,) and quaternion (4,) xyzw of a task at the last tick, copies. Raises as `number`."""
        return _pose_of(self.core.law.pose[self.number(task)])

    def wanted_pose(self, task: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Where a task should have been at the last tick, likewise."""
        return _pose_of(self.core.law.target[self.number(task)])

    # ---- what is done with all of them ----

    def moving(self) -> tuple[str, ...]:
        """Tasks that were on their way to a target at the last tick, or not there yet though their reference was."""
        time = self.core.law.last_time
        return tuple(
            name
            for name, target, error in zip(self.names, self.targets, self.error)
            if target.is_moving(time) or not (np.abs(error) < ARRIVED).all()
        )

    def hold(self, q: ArrayLike, v: ArrayLike, time: float) -> None:
        """Let every task come to rest from where it is, and nothing that was streamed count any more."""
        self.core.measure(q, v)
        for i, name in enumerate(self.names):
            self.targets[i].hold(self.core.motion(i), time)
            self.load(name)
        self.streams.clear()


def _pose_of(pose: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Position and quaternion, copies, of rotation (9; zeros for the centre of mass) and position (3)."""
    rotation = pose[:9].reshape(3, 3) if pose[:9].any() else np.eye(3)
    return pose[9:12].copy(), to_quaternion(rotation)
