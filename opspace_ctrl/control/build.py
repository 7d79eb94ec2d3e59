"""From a model and a structure to a `Law`: its tables, and the start values of all settings."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ConfigurationError
from ..model import Model
from ..model.joints import NQ, NV
from ..osim.build import Supports, TaskSpace
from .fields import BALANCED, FRAME_AXES, TASKS_MODE, WORLD_AXES, Law, Program
from .safety.door import Door
from .structure import LAWS, Structure

__all__ = ["OF_LIMITS", "ControlLaw"]

OF_LIMITS = 0.1  # of a joint's own response: so much may contacts leave of it
RESERVE = 8  # rows of the stack that registers may overrun

# What a setting is until somebody writes it; those not named are zero, or the model's.
DEFAULTS: dict[str, Any] = {
    "mode": TASKS_MODE,
    "gravity_share": 1.0,
    "coriolis_share": 1.0,
    "ramp_time": 0.5,
    "fade_time": 0.3,
    "singular_damping": 0.5,
    "singular_cut": 0.005,
    "internal_forces": BALANCED,
    "task_on": 1.0,
    "stiffness": 100.0,
    "damping": 20.0,
    "error_limit": np.inf,
    "motion": 1.0,
    "contact_on": 1.0,
    "mu": 0.5,
    "half_lengths": np.inf,
    "rate_limits": 1000.0,
    "limit_stiffness": 400.0,
    "limit_damping": 40.0,
    "coulomb_speed": 0.01,
    "posture_damping": 2.0,
    "posture_error": np.inf,
}


class ControlLaw(Law):
    """A `Law` of some contacts and tasks, on the operational space of these.

    Attributes:
        programs: Of each task, then of the posture: what `program` holds the addresses of.

    Raises:
        ConfigurationError: More than one floating base.
    """

    def __init__(self, space: TaskSpace, model: Model, structure: Structure):
        base = _base_size(model)
        joints = np.s_[base:]
        rows = [len(task.task().selection()) for task in structure.tasks]
        k, levels = model.nv - base, structure.levels()
        super().__init__(
            space=space,
            door=Door(k=k),
            t=len(structure.tasks),
            c=len(structure.contacts),
            k=k,
            nv=model.nv,
            n=space.tree.n,
            base=base,
            L=len(levels),
            blocks=space.blocks,
            m=space.m,
            contact_rows=sum(contact.rows for contact in structure.contacts),
            task_rows=sum(rows),
            stack=space.m + 6 + k + RESERVE,
            **_task_tables(model, structure, levels, rows),
            **_contact_tables(model, structure),
            **_joint_tables(model, structure, base),
            base_register=_base_registers(space.supports),
            typical_response=OF_LIMITS,
            hard_limits=model.effort_limits,
            effort_limits=model.effort_limits,
            velocity_limits=model.velocity_limits,
            position_lower=model.position_limits[:, 0],
            position_upper=model.position_limits[:, 1],
            viscous=model.damping[joints],
            coulomb=model.friction[joints],
            **DEFAULTS,
        )
        self.programs: list[Program | None] = [None] * (len(structure.tasks) + 1)
        if base:
            space.needs_composite = 1  # base columns of H come from composite inertias

    def load(self, place: int, table: np.ndarray) -> None:
        """Give task number `place`, or after the tasks the posture, a program; the next tick samples it."""
        program = Program(rows=len(table), columns=table.shape[1], table=table)
        self.program[place] = program.address  # one write: a tick sees the old one or the new one
        self.programs[place] = program  # only now is the old one let go


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


def _frame(model: Model, name: str | None) -> int:
    return -1 if name is None else model.frame_index(name)


def _task_tables(
    model: Model, structure: Structure, levels: list[list[int]], rows: list[int]
) -> dict[str, Any]:
    tasks, order = structure.tasks, [i for level in levels for i in level]
    return {
        "task_block": [len(structure.contacts) + order.index(i) for i in range(len(tasks))],
        "task_frame": [_frame(model, task.frame) for task in tasks],
        "task_reference": [_frame(model, task.relative_to) for task in tasks],
        "task_axes": [_frame(model, task.axes) for task in tasks],
        "task_start": np.cumsum([0, *rows])[:-1],
        "task_size": rows,
        "task_law": [LAWS.index(task.law) for task in tasks],
        "task_order": order,
        "level_first": np.cumsum([0, *map(len, levels)])[:-1],
        "level_tasks": [len(level) for level in levels],
    }


def _contact_tables(model: Model, structure: Structure) -> dict[str, Any]:
    contacts = structure.contacts
    return {
        "contact_block": range(len(contacts)),
        "contact_frame": [_frame(model, each.frame) for each in contacts],
        "contact_size": [each.rows for each in contacts],
        "contact_axes": [FRAME_AXES if each.axes == "frame" else WORLD_AXES for each in contacts],
    }


def _joint_tables(model: Model, structure: Structure, base: int) -> dict[str, Any]:
    k = model.nv - base
    joint_q, joint_command = np.full(k, -1), np.zeros(k, int)
    for body, kind in enumerate(model.joint_type):
        if not model.is_mimic[body] and NQ[kind] == 1:
            joint_q[model.v_index[body] - base] = model.q_index[body]
    joint_command[_command_order(model, structure.joints)] = np.arange(k)
    return {"joint_v": base + np.arange(k), "joint_q": joint_q, "joint_command": joint_command}


def _command_order(model: Model, joints: tuple[str, ...] | None) -> list[int]:
    """For each place of the command, the joint coordinate (model order) that it commands."""
    coordinates, k = {}, 0
    for body, name in enumerate(model.body_joint_names):
        if model.is_mimic[body] or model.is_base_coordinate[model.v_index[body]]:
            continue
        size = NV[model.joint_type[body]]
        coordinates[name] = range(k, k + size)
        k += size
    return [place for name in joints or model.joint_names for place in coordinates[name]]


def _base_registers(supports: Supports) -> list[list[int]]:
    """For each block, the register of J that belongs to each of the first six coordinates."""
    return [
        [first + slots.index(c) if c in slots else -1 for c in range(6)]
        for first, slots in zip(supports.first, supports.slots)
    ]
