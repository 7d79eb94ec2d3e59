# SPDX-License-Identifier: Apache-2.0
"""From a `Controller` to its image: the law with all methods that the robot can use, and every name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from ..control.build import carriers
from ..control.controller import Controller
from ..control.safety.settings import GATES
from ..control.safety.state_gate import StateGate
from ..control.safety.words import GATE_TEXTS
from ..control.targets.references import CAPACITY, OF_TASKS, STOP
from ..declaration import Settings, declared
from ..errors import ConfigurationError
from ..parameters import Parameter
from .image import NONE, OPTIONAL, FieldRow, Image
from .memory import Memory
from .naming import field_rows
from .stages import kernel_hash

__all__ = ["image_of"]


WAY_POINTS = 64  # of a trajectory, unless told otherwise
REFERENCES_PATH, GATES_PATH = "references.", "gates."


def image_of(controller: Controller, way_points: int = WAY_POINTS) -> Image:
    """The image of a controller as it is now, without reference ticks; so many points of a trajectory fit."""
    controller.prepare()
    core = controller._duty.core
    law, space = core.law, core._space
    law.references = law.references.with_room(max(way_points + STOP, CAPACITY))
    methods = [(name, space._now.build(name)) for name in controller.methods()]
    gates = _gates_of(controller)
    memory = Memory([law, *gates, *(method for _, method in methods)])
    fields = {row.name: row for row in field_rows(memory, law)}
    for each in gates:
        fields |= {row.name: row for row in field_rows(memory, each, GATES_PATH)}
    for row in _parameters(controller, fields):
        fields[row.name] = row
    return Image(
        robot=controller.model.name,
        nq=controller.model.nq,
        nv=controller.model.nv,
        data=memory.data,
        pointers=memory.pointers,
        calls=memory.calls,
        fields=sorted(fields.values(), key=lambda row: row.name.encode()),
        joints=controller.joints,
        kernels=kernel_hash(),
        law=memory.place(law.address),
        gates=memory.place(gates[0].address) if gates else NONE,
        capacity=law.references.capacity,
        tasks=controller.task_names,
        methods=[(name, memory.place(method.address)) for name, method in methods],
        gate_words=[(name, GATE_TEXTS[name]) for name in GATES] if gates else (),
    )


def _gates_of(controller: Controller) -> list[StateGate]:
    """The gates before a controller; none if joint states cannot carry the robot's joints."""
    try:
        return [StateGate(controller.model, controller.settings.safety)]
    except ConfigurationError:
        return []


def _parameters(controller: Controller, fields: Mapping[str, FieldRow]) -> Iterator[FieldRow]:
    """The parameters that kernels use, by the names that ROS nodes and files have for them."""
    settings = controller.settings
    yield _payload_frame(controller, fields)
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
        own = attribute if number is not None and attribute in OF_TASKS else each.field
        field, parameter = _place_of(each, own, fields), named[attribute]
        if field is None:
            continue
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
            kind=OPTIONAL if _may_be_empty(parameter) else parameter.kind,
        )


def _place_of(parameter: Parameter, name: str, fields: Mapping[str, FieldRow]) -> FieldRow | None:
    """The field of the law, of its references or of the gates that kernels read a parameter from."""
    if parameter.law:
        return fields[name]
    paths = (REFERENCES_PATH, GATES_PATH)
    found = (fields[path + name] for path in paths if path + name in fields)
    return next((field for field in found if field.role == "setting"), None)


def _may_be_empty(parameter: Parameter) -> bool:
    """Is it a list of numbers that need not be given? Then it is NaN for the kernels."""
    return parameter.derived and parameter.kind == "double_array" and not parameter.default


def _payload_frame(controller: Controller, fields: Mapping[str, FieldRow]) -> FieldRow:
    """What only a robot knows the choices of."""
    frames = carriers(controller.model)
    return replace(
        fields["asked_payload_frame"],
        name="payload.frame",
        is_live=True,
        least=0.0,
        most=len(frames) - 1.0,
        choices="|".join(frames),
        kind="string",
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
