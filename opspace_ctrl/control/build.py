# SPDX-License-Identifier: Apache-2.0
"""From a model and settings to a `Law`: its tables, and the numbers that are declared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from ..command_kind import command_limits
from ..errors import ConfigurationError
from ..model import Model
from ..model.joints import NQ, NV
from ..osim.build import Supports, TaskSpace
from .fields import FRAME_AXES, WORLD_AXES, Law
from .safety.door import Door
from .settings import LAWS, ControllerSettings
from .targets.references import CAPACITY, References
from .tasks import ControlTask

__all__ = ["OF_LIMITS", "ControlLaw", "carriers", "first_frame"]

OF_LIMITS = 0.1  # of a joint's own response: so much may contacts leave of it
RESERVE = 8  # rows of the stack that registers may overrun
_STATE = {name: each.shape for name, each in Law.fields.items() if each.role == "state"}
SINGLE_STATE = tuple(name for name, shape in _STATE.items() if not shape)
TASK_STATE = tuple(name for name, shape in _STATE.items() if shape.startswith("t,"))


class ControlLaw(Law):
    """A `Law` of some contacts and tasks, on the operational space of these.

    Raises:
        ConfigurationError: More than one floating base.
    """

    task_enabled: np.ndarray  # declared with its parameter

    def __init__(self, space: TaskSpace, model: Model, settings: ControllerSettings):
        base = _base_size(model)
        joints = np.s_[base:]
        rows = [len(task.task().selection()) for task in settings.tasks]
        contact_rows = [len(contact.task().selection()) for contact in settings.contacts]
        k, levels = model.nv - base, settings.levels()
        tables, posture = _joint_tables(model, settings, base), _posture_joints(model, settings)
        frames = carriers(model)
        super().__init__(
            space=space,
            door=Door(k=k),
            references=References(
                t=len(settings.tasks),
                k=k,
                capacity=CAPACITY,
                joint_q=tables["joint_q"],
                joint_lower=model.position_limits[:, 0],
                joint_upper=model.position_limits[:, 1],
            ),
            t=len(settings.tasks),
            c=len(settings.contacts),
            k=k,
            nq=model.nq,
            nv=model.nv,
            n=space.tree.n,
            base=base,
            L=len(levels),
            p=len(posture),
            carriers=len(frames),
            blocks=space.blocks,
            m=space.m,
            contact_rows=sum(contact_rows),
            task_rows=sum(rows),
            stack=space.m + 6 + k + RESERVE,
            **_task_tables(model, settings, levels, rows),
            **_contact_tables(model, settings, contact_rows),
            **tables,
            base_register=_base_registers(space.supports),
            posture_joint=posture,
            carrier=[_frame(model, each) for each in (first_frame(settings.tasks), *frames[1:])],
            loaded_node=-1,
            typical_response=OF_LIMITS,
            hard_limits=command_limits(model, settings.commands),
            command_limits=command_limits(model, settings.commands),
            command_rate=np.inf,
            velocity_limits=model.velocity_limits,
            position_lower=model.position_limits[:, 0],
            position_upper=model.position_limits[:, 1],
            viscous=model.damping[joints],
            coulomb=model.friction[joints],
            gravity_share=1.0,
            coriolis_share=1.0,
            wrench_end=np.inf,
            measured_end=np.inf,
            force_end=np.inf,
            tau0_end=np.inf,
        )
        if base:
            space.needs_composite = 1  # base columns of H come from composite inertias
        self.take(settings)

    def take(self, settings: ControllerSettings, before: ControllerSettings | None = None) -> None:
        """Write every number that is declared with `law=True`, but for what was so in the settings before."""
        for _, group in _changed(settings.groups, before.groups if before else ()):
            for name, value in group.law_values():
                setattr(self, name, value)
        tasks = list(_changed(settings.tasks, before.tasks if before else ()))
        contacts = _changed(settings.contacts, before.contacts if before else ())
        for i, one in (*tasks, *contacts):
            for name, value in one.law_values():
                getattr(self, name)[i] = value
        self.references.take(tasks)
        self.references.target_timeout = settings.safety.target_timeout
        self.references.stream_timeout = settings.safety.stream_timeout

    def follow(self, before: ControlLaw, same: Iterable[tuple[int, int]], time: float) -> None:
        """Go on where another law of the same robot and contacts is; torques pass over from it over `fade`.

        Called between two ticks of the other one, by the thread that ticks.

        Args:
            before: The other law, which has to live on until this one is let go or follows another.
            same: (task here, task there) of those that keep their state.
            time: Of the next tick [s], the first of this law.
        """
        self.door = before.door
        if not before.has_started:
            return
        for name in SINGLE_STATE:
            setattr(self, name, getattr(before, name))
        self.included[:, : self.c] = before.included[:, : self.c]
        self.included[:, self.c :] = self.task_enabled > 0.5
        for name in TASK_STATE:
            mine, theirs = getattr(self, name), getattr(before, name)
            for here, there in same:
                mine[here] = theirs[there]
        # a tick computes two laws at most: the last torques of a third stand for it
        before.followed = 0
        self.is_following, self.followed, self.follow_start = 1, before.address, time


def _changed(those: Sequence[Any], before: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    """(place, each) of those that are not what stood at their place before."""
    for i, (one, old) in enumerate(zip_longest(those, before)):
        if one != old:
            yield i, one


def _base_size(model: Model) -> int:
    """Coordinates of the floating base, which is before all others."""
    base = int(model.is_base_coordinate.sum())
    if base not in (0, 6) or not model.is_base_coordinate[:base].all():
        reason = (
            f"it has {base // 6}"
            if base > 6
            else "its floating robot is not the first of the forest"
        )
        raise ConfigurationError(
            f"{model.name}: a controller carries one floating base or none, and that before all "
            f"fixed ones, but {reason}; valid are base='fixed', one floating robot with fixed "
            "ones after it, or a controller for each robot"
        )
    return base


def carriers(model: Model) -> list[str]:
    """What `payload.frame` may be: empty, which is the first task's, or a frame that moves."""
    return ["", *(name for name, body in zip(model.frame_names, model.frame_body) if body >= 0)]


def first_frame(tasks: Iterable[ControlTask]) -> str:
    """The frame of the first task that has one; empty if none has."""
    return next((task.moved_frame for task in tasks if task.moved_frame), "")


def _frame(model: Model, name: str) -> int:
    return model.frame_index(name) if name else -1


def _task_tables(
    model: Model, settings: ControllerSettings, levels: list[list[int]], rows: list[int]
) -> dict[str, Any]:
    tasks, order = settings.tasks, [i for level in levels for i in level]
    return {
        "task_block": [len(settings.contacts) + order.index(i) for i in range(len(tasks))],
        "task_frame": [_frame(model, task.moved_frame) for task in tasks],
        "task_reference": [_frame(model, task.reference_frame) for task in tasks],
        "task_axes": [_frame(model, task.axes) for task in tasks],
        "task_start": np.cumsum([0, *rows])[:-1],
        "task_size": rows,
        "task_law": [LAWS.index(task.law) for task in tasks],
        "task_order": order,
        "selection_inverse": _selection_inverses(tasks),
        "level_first": np.cumsum([0, *map(len, levels)])[:-1],
        "level_tasks": [len(level) for level in levels],
    }


def _selection_inverses(tasks: Sequence[ControlTask]) -> np.ndarray:
    """By lane: S^+ (6, rows) of every task's selection S, one below the other."""
    found = np.zeros((6 * len(tasks), 8))
    for i, task in enumerate(tasks):
        selection = task.task().selection()
        found[6 * i : 6 * i + 6, : len(selection)] = np.linalg.pinv(selection)
    return found


def _contact_tables(model: Model, settings: ControllerSettings, rows: list[int]) -> dict[str, Any]:
    contacts = settings.contacts
    return {
        "contact_block": range(len(contacts)),
        "contact_frame": [_frame(model, each.held_frame) for each in contacts],
        "contact_size": rows,
        "contact_axes": [FRAME_AXES if each.axes == "frame" else WORLD_AXES for each in contacts],
    }


def _joint_tables(model: Model, settings: ControllerSettings, base: int) -> dict[str, Any]:
    k = model.nv - base
    joint_q, joint_command = np.full(k, -1), np.zeros(k, int)
    for body, kind in enumerate(model.joint_type):
        if not model.is_mimic[body] and NQ[kind] == 1:
            joint_q[model.v_index[body] - base] = model.q_index[body]
    joint_command[_command_order(model, settings.joints)] = np.arange(k)
    return {"joint_v": base + np.arange(k), "joint_q": joint_q, "joint_command": joint_command}


def _command_order(model: Model, joints: Sequence[str]) -> list[int]:
    """For each place of the command, the joint coordinate (model order) that it commands."""
    coordinates = _coordinates(model)
    return [place for name in joints or model.joint_names for place in coordinates[name]]


def _posture_joints(model: Model, settings: ControllerSettings) -> list[int]:
    """The coordinate of each joint that the posture is given for; -1 where it has several."""
    coordinates = _coordinates(model)
    own = [coordinates[name] for name in settings.posture.joints or model.joint_names]
    return [each[0] if len(each) == 1 else -1 for each in own]


def _coordinates(model: Model) -> dict[str, range]:
    """The joint coordinates (model order) of every joint."""
    coordinates, k = {}, 0
    for body, name in enumerate(model.body_joint_names):
        if model.is_mimic[body] or model.is_base_coordinate[model.v_index[body]]:
            continue
        size = NV[model.joint_type[body]]
        coordinates[name] = range(k, k + size)
        k += size
    return coordinates


def _base_registers(supports: Supports) -> list[list[int]]:
    """For each block, the register of J that belongs to each of the first six coordinates."""
    return [
        [first + slots.index(c) if c in slots else -1 for c in range(6)]
        for first, slots in zip(supports.first, supports.slots)
    ]
