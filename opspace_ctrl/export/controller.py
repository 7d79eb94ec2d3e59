"""From a `Controller` to its image: the law with all methods that the robot can use, and every name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from ..compiled.workspace import Field, Workspace
from ..control.controller import Controller
from ..control.fields import Law
from ..control.targets.references import CAPACITY, STOP
from ..declaration import Settings, declared
from ..parameters import Parameter
from .image import FieldRow, Image
from .memory import Memory
from .stages import kernel_hash

__all__ = ["image_of"]


WAY_POINTS = 64  # of a trajectory, unless told otherwise


def image_of(controller: Controller, way_points: int = WAY_POINTS) -> Image:
    """The image of a controller as it is now, without reference ticks; so many points of a trajectory fit."""
    controller.prepare()
    core = controller._duty.core
    law, space = core.law, core._space
    law.references = law.references.with_room(max(way_points + STOP, CAPACITY))
    methods = [(name, space._now.build(name)) for name in controller.methods()]
    memory = Memory([law, *(method for _, method in methods)])
    fields = {row.name: row for row in _fields(memory, law)}
    for row in _parameters(controller, fields):
        fields[row.name] = row
    return Image(
        robot=controller.model.name,
        target="",
        nq=controller.model.nq,
        nv=controller.model.nv,
        capacity=law.references.capacity,
        law=memory.place(law.address),
        data=memory.data,
        pointers=memory.pointers,
        calls=memory.calls,
        fields=sorted(fields.values(), key=lambda row: row.name.encode()),
        joints=controller.joints,
        tasks=controller.task_names,
        methods=[(name, memory.place(method.address)) for name, method in methods],
        ticks=np.zeros((0, 1)),
        kernels=kernel_hash(),
    )


def _fields(memory: Memory, law: Law) -> Iterator[FieldRow]:
    """Every field of the law and of its parts, by its path."""
    for path, owner, field in memory.fields(law):
        yield _field_row(memory, path, owner, field)


def _field_row(memory: Memory, path: str, owner: Workspace, field: Field) -> FieldRow:
    place, rows, columns, stride = memory.place(owner.address) + 16 * field.place, 1, 1, 1
    if field.is_array:
        view = np.atleast_2d(np.asarray(getattr(owner, field.name)))
        place = memory.place(int(owner.head[field.place, 0]))
        rows, columns = view.shape
        stride = max(int(owner.head[field.place, 1]), columns)
    is_whole = field.kind not in ("float", "floats")
    return FieldRow(path, place, rows, columns, stride, is_whole, field.role)


def _parameters(controller: Controller, fields: Mapping[str, FieldRow]) -> Iterator[FieldRow]:
    """The parameters that kernels use, by the names that ROS nodes and files have for them."""
    settings = controller.settings
    for group in settings.groups:
        yield from _of_group(group, fields)
    for each in (settings.tasks, settings.contacts):
        for number, one in enumerate(each):
            yield from _of_group(one, fields, number)


def _of_group(
    group: Settings, fields: Mapping[str, FieldRow], number: int | None = None
) -> Iterator[FieldRow]:
    """Those of a group that is there once, or of one task or contact."""
    named = declared(type(group), group.own_prefix())
    for attribute, each in declared(type(group)).items():
        if not each.law:
            continue
        field, parameter = fields[each.name.replace(".", "_")], named[attribute]
        if number is not None:
            is_list = parameter.kind in ("double_array", "string_array")
            field = _one_of(field, number, is_list)
        least, most = _range(parameter)
        yield replace(
            field,
            name=parameter.name,
            is_live=not parameter.read_only,
            least=least,
            most=most,
            unit=parameter.unit,
            choices="|".join(parameter.choices),
        )


def _one_of(field: FieldRow, number: int, is_list: bool) -> FieldRow:
    """What belongs to a task or contact: a row, or one number."""
    place = field.place + 8 * number * (field.stride if is_list else 1)
    return replace(field, place=place, rows=1, columns=field.columns if is_list else 1)


def _range(parameter: Parameter) -> tuple[float, float]:
    """Of the numbers that kernels have for it: a choice is its place, of a list of choices each is there or not."""
    if parameter.kind in ("bool", "string_array"):
        return 0.0, 1.0
    if parameter.kind == "string":
        return 0.0, len(parameter.choices) - 1.0
    least, most = parameter.minimum, parameter.maximum
    return -np.inf if least is None else least, np.inf if most is None else most
