"""From a model and a structure to the tables of `layout`, with the start values of everything that is live."""

from __future__ import annotations

import numpy as np

from ..dynamics.layout import Workspace
from ..errors import ConfigurationError
from ..model import JointType, Model
from ..osim import layout as osim
from ..osim.pack import Supports
from . import layout as at
from .structure import LAWS, Structure

__all__ = ["DEFAULT_OPTIONS", "command_order", "pack_control"]

DEFAULT_OPTIONS = {
    at.MODE: at.TASKS_MODE,
    at.GRAVITY: 1.0,
    at.CORIOLIS: 1.0,
    at.FRICTION: 0.0,
    at.BETA: 0.0,
    at.RAMP: 0.5,
    at.FADE: 0.3,
    at.DAMPING: 0.5,
    at.CUT: 0.005,
    at.INTERNAL: at.BALANCED,
    at.TRUNCATE: 0.0,
}
RATE_LIMIT = 1000.0  # [Nm/s]
OF_LIMITS = 0.1  # of a joint's own response: so much may contacts leave of it


def command_order(model: Model, joints: tuple[str, ...] | None) -> list[int]:
    """For each place of the command, the joint coordinate (model order) that it commands."""
    first, sizes, k = {}, {}, 0
    for body, name in enumerate(model.body_joint_names):
        if model.is_mimic[body] or model.is_base_coordinate[model.v_index[body]]:
            continue
        sizes[name] = {JointType.FLOATING: 6, JointType.PLANAR: 3}.get(
            JointType(model.joint_type[body]), 1
        )
        first[name] = k
        k += sizes[name]
    return [first[name] + e for name in joints or model.joint_names for e in range(sizes[name])]


def pack_control(work: Workspace, model: Model, structure: Structure, supports: Supports) -> None:
    """Add the controller's tables to the workspace of an `OperationalSpace` of its contacts and tasks.

    Raises:
        ConfigurationError: More than one floating base.
    """
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
    levels, tasks, contacts = structure.levels(), len(structure.tasks), len(structure.contacts)
    for slot, value in (
        (at.TASKS, tasks),
        (at.CONTACTS, contacts),
        (at.JOINTS, model.nv - base),
        (at.BASE, base),
        (at.LEVELS, len(levels)),
    ):
        work.set_count(slot, value)
    if base:
        work.set_count(osim.COMPOSITE, 1)  # base columns of H come from composite inertias
    _tables(work, model, structure, levels, supports)
    _live(work, model, structure)
    _results(work, model, structure)
    work.allocate()
    for option, value in DEFAULT_OPTIONS.items():
        work[at.OPTION][option] = value


def _tables(
    work: Workspace, model: Model, structure: Structure, levels: list[list[int]], supports: Supports
) -> None:
    order = [i for level in levels for i in level]
    first = np.cumsum([0, *(len(level) for level in levels)])
    rows = [len(task.task().selection()) for task in structure.tasks]
    starts = np.cumsum([0, *rows])

    def frame(name):
        return -1 if name is None else model.frame_index(name)

    table = [
        (
            len(structure.contacts) + order.index(i),
            frame(task.frame),
            frame(task.relative_to),
            frame(task.axes),
            starts[i],
            rows[i],
            LAWS.index(task.law),
            0,
        )
        for i, task in enumerate(structure.tasks)
    ]
    work.put(at.TASK, table or np.zeros((1, 8)), int)
    contact = [
        (c, frame(each.frame), each.rows, at.FRAME_AXES if each.axes == "frame" else at.WORLD_AXES)
        for c, each in enumerate(structure.contacts)
    ]
    work.put(at.CONTACT, contact or np.zeros((1, 4)), int)
    work.put(at.LEVEL, [(first[l], len(level)) for l, level in enumerate(levels)] or [(0, 0)], int)
    work.put(at.ORDER, order or [0], int)
    base, k = int(model.is_base_coordinate.sum()), model.nv - int(model.is_base_coordinate.sum())
    joint = np.full((max(k, 1), 3), -1)
    for body, kind in enumerate(model.joint_type):
        if not model.is_mimic[body] and kind not in (JointType.FLOATING, JointType.PLANAR):
            joint[model.v_index[body] - base, at.J_Q] = model.q_index[body]
    joint[:k, at.J_V] = base + np.arange(k)
    joint[command_order(model, structure.joints), at.J_COMMAND] = np.arange(k)
    work.put(at.JOINT, joint, int)
    work.put(
        at.BASE_REGISTER,
        [
            [supports.first[b] + slots.index(c) if c in slots else -1 for c in range(6)]
            for b, slots in enumerate(supports.slots)
        ],
        int,
    )
    work.put(at.PROGRAM, np.zeros(len(structure.tasks) + 1), int)


def _live(work: Workspace, model: Model, structure: Structure) -> None:
    t, c = max(len(structure.tasks), 1), max(len(structure.contacts), 1)
    base = int(model.is_base_coordinate.sum())
    k = model.nv - base
    work.zeros(at.OPTION, at.OPTIONS)
    for slot, shape, value in (
        (at.TASK_ON, (t,), 1.0),
        (at.STIFFNESS, (t, 6), 100.0),
        (at.DAMPING_GAIN, (t, 6), 20.0),
        (at.ERROR_LIMIT, (t, 2), np.inf),
        (at.MOTION, (t, 6), 1.0),
        (at.WRENCH, (t, 6), 0.0),
        (at.MEASURED, (t, 6), 0.0),
        (at.MEASURED_ON, (t,), 0.0),
        (at.FORCE_GAIN, (t, 6), 0.0),
        (at.INTEGRAL_GAIN, (t, 6), 0.0),
        (at.INTEGRAL_LIMIT, (t, 6), 0.0),
        (at.FORCE_DAMPING, (t, 6), 0.0),
        (at.CONTACT_ON, (c,), 1.0),
        (at.CONTACT_DAMPING, (c,), 0.0),
        (at.MU, (c,), 0.5),
        (at.HALF_LENGTHS, (c, 2), np.inf),
        (at.SOLE_CENTRE, (c, 2), 0.0),
        (at.MINIMUM_FORCE, (c,), 0.0),
    ):
        work.put(slot, np.full(shape, value))
    limit = np.zeros((15, max(k, 1)))
    limit[at.EFFORT, :k], limit[at.SPEED, :k] = model.effort_limits, model.velocity_limits
    limit[at.LOWER, :k], limit[at.UPPER, :k] = (
        model.position_limits[:, 0],
        model.position_limits[:, 1],
    )
    limit[at.RATE], limit[at.REPULSION], limit[at.REPULSION_DAMPING] = RATE_LIMIT, 400.0, 40.0
    limit[at.VISCOUS, :k], limit[at.COULOMB, :k] = model.damping[base:], model.friction[base:]
    limit[at.COULOMB_SPEED], limit[at.POSTURE_DAMPING], limit[at.POSTURE_ERROR] = 0.01, 2.0, np.inf
    work.put(at.LIMIT, limit)
    work.zeros(at.RAW_FORCE, max(sum(len(task.task().selection()) for task in structure.tasks), 1))
    work.zeros(at.RAW_TAU0, max(k, 1))


def _results(work: Workspace, model: Model, structure: Structure) -> None:
    t, c, nv = max(len(structure.tasks), 1), max(len(structure.contacts), 1), model.nv
    k = max(nv - int(model.is_base_coordinate.sum()), 1)
    m, reported = int(work[osim.SCALE].shape[0]), len(structure.levels()) + 3
    contact_rows = sum(contact.rows for contact in structure.contacts)
    stack = m + 6 + k + 8
    for slot, shape in (
        (at.POSE, (t, 12)),
        (at.TARGET, (t, 12)),
        (at.VELOCITY, (t, 6)),
        (at.TARGET_VELOCITY, (t, 6)),
        (at.TARGET_ACCELERATION, (t, 6)),
        (at.ERROR, (t, 6)),
        (at.ERROR_SIDE, (t, 3)),
        (at.INTEGRAL, (t, 6)),
        (at.APPLIED, (t, 6)),
        (at.SCRATCH, (12,)),
        (at.POSTURE, (3, k)),
        (at.JB, (m, 8)),
        (at.HB, (nv, 8)),
        (at.H_INV, (k, nv)),
        (at.SETS, (3, c + t)),
        (at.G, (contact_rows + 8, 8)),
        (at.Z, (6, 8)),
        (at.NORMAL, (6, 8)),
        (at.SHARE, (contact_rows + 8, 8)),
        (at.SHARE_FACTOR, (6, 8)),
        (at.BASE_VECTOR, (4, 8)),
        (at.LEVEL_TORQUE, (reported, k)),
        (at.LEVEL_CONTACT, (reported, m)),
        (at.CONTACT_WRENCH, (c, 6)),
        (at.MARGIN, (c, 4)),
        (at.CONTACT_WEIGHT, (c,)),
        (at.TASK_WEIGHT, (t,)),
        (at.STATE, (12,)),
        (at.REPORT_SLOT, (at.REPORT,)),
    ):
        work.zeros(slot, *shape)
    for slot in (at.WANTED, at.PUSH, at.ROW_SPEED, at.ROW_POSTURE, at.ROW_BIAS, at.FULL):
        work.zeros(slot, m + 8)
    for slot in (at.H_SELECTED, at.HA_POSTURE, at.GENERALISED):
        work.zeros(slot, nv + 8)
    for slot in (
        at.ACTIVATION,
        at.REPULSE,
        at.SIDE,
        at.ZONE,
        at.EXCESS_SPAN,
        at.CHANGE,
        at.SATURATED,
        at.TAU,
        at.HELD,
    ):
        work.zeros(slot, k)
    work.put(at.TYPICAL, np.full(reported, OF_LIMITS))
    for slot in (at.SCALE, at.LEVEL_RANK, at.LEVEL_DAMPED):
        work.zeros(slot, reported)
    for slot in (at.GRAM, at.COUPLING, at.INVERSE, at.DAMPED_INVERSE, at.SCALED, at.EIGENVECTORS):
        work.zeros(slot, stack, stack)
    for slot in (
        at.ROW_SCALE,
        at.RIGHT,
        at.SPENT,
        at.FORCE,
        at.BACK,
        at.EIGENVALUES,
        at.OFF_DIAGONAL,
    ):
        work.zeros(slot, stack + 8)
    work.put(at.LIMITED_JOINT, np.zeros(k), int)
    work.put(at.STACK_LEVEL, np.zeros((reported + k, 4)), int)
    work.put(at.STACK_ROW, np.zeros(stack), int)
    work.put(at.NUMBERS, np.zeros(12), int)
    work.put(at.PERMUTATION, np.zeros(6), int)
