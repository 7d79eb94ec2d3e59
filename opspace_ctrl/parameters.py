# SPDX-License-Identifier: Apache-2.0
"""Parameters as data: one table serves declaration, checking and documentation; it knows no ROS.

The type of the default is the type of the parameter. A range holds for every element of an array.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from math import isfinite
from typing import Any

from .errors import Mistakes, ParameterError, listed, offered, quoted, shown

# The names of the types, as ROS 2 spells them.
KINDS = ("bool", "integer", "double", "string", "double_array", "string_array")
MOST = 20  # unknown names that are reported
MOST_ENTRIES = 4096  # of an array, and characters of a string: more than any robot or path has
MOST_NAMES = 100  # of an array that names tables of parameters
_SCALARS = {bool: "bool", int: "integer", float: "double", str: "string"}


@dataclass(frozen=True)
class Parameter:
    """A parameter: name, default and what is valid.

    Attributes:
        name: Dotted name, such as "posture.stiffness".
        default: bool, int, float, str, list of float or list of str.
        description: One or two sentences, with the unit.
        minimum, maximum: Range of a number (of every element of an array), ends included; None = open.
        choices: Valid strings (for every element of an array); empty = any.
        read_only: It cannot change while the node is configured.
        kind: One of KINDS; found from the default, and needed only where that is an empty list.
        names_others: Each string of it is the first part of parameters of its own, as `tool` of "tool.frame".
        longest: Characters of a string (of every element of an array) at most.
        unit: Of a number, such as "1/s"; it is shown behind the description.
        law: A number of the compiled law, see `declaration`.
        derived: The law's own numbers follow from it, likewise.
        by_name: In Python a mapping by name is valid, too.
        structural: A law is built for it, see `declaration`.
    """

    name: str
    default: Any
    description: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    read_only: bool = False
    kind: str = ""
    names_others: bool = False
    longest: int = MOST_ENTRIES
    unit: str = ""
    law: bool = False
    derived: bool = False
    by_name: bool = False
    structural: bool = False

    def __post_init__(self) -> None:
        kind = self.kind or _kind_of(self.default)
        if kind not in KINDS:
            raise ParameterError(
                f"{self.name}: the type of {quoted(self.default)} is unknown; a parameter is one of "
                f"{listed(KINDS)}, and an empty list needs `kind`"
            )
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "default", checked_value(self, self.default))

    @property
    def text(self) -> str:
        """Description and unit."""
        return f"{self.description[:-1]} [{self.unit}]." if self.unit else self.description

    @property
    def field(self) -> str:
        """The field that kernels read it from: `task_stiffness`, or what was asked for, `asked_posture_speed`."""
        return ("asked_" if self.derived else "") + self.name.replace(".", "_")

    @property
    def is_array(self) -> bool:
        """Is the value a list?"""
        return self.kind.endswith("_array")


def checked(
    table: Iterable[Parameter], values: Mapping[str, Any], mistakes: Mistakes | None = None
) -> dict[str, Any]:
    """Every parameter of the table with its given value, or else its default.

    An int is accepted for a float, any sequence for a list; values come out as plain bool, int, float, str and list.

    Args:
        table: What there is.
        values: By name.
        mistakes: Where to put what is wrong, instead of raising it; wrong values are left out then.

    Raises:
        ParameterError: Names that are not in the table, a wrong type, a value out of range or not among the choices;
            all of these at once.
    """
    named = {parameter.name: parameter for parameter in table}
    found, good = Mistakes() if mistakes is None else mistakes, {}
    with found:
        _refuse_unknown(named, values)
    for name, parameter in named.items():
        with found:
            good[name] = (
                checked_value(parameter, values[name])
                if name in values
                else _copy(parameter.default)
            )
    if mistakes is None:
        found.tell()
    return good


def checked_value(parameter: Parameter, value: Any) -> Any:
    """One value in the type of its parameter.

    Raises:
        ParameterError: A wrong type, a value out of range or not among the choices.
    """
    if not parameter.is_array:
        return _element(parameter, parameter.kind, value)
    if isinstance(value, (str, bytes)) or not (
        isinstance(value, Sequence) or getattr(value, "ndim", 0) > 0
    ):
        raise ParameterError(f"{parameter.name}: {quoted(value)} is not {_meant(parameter)}")
    most = MOST_NAMES if parameter.names_others else MOST_ENTRIES
    if len(value) > most:
        raise ParameterError(f"{parameter.name}: {len(value)} entries; at most {most} are valid")
    kind = parameter.kind.removesuffix("_array")
    return [_element(parameter, kind, element) for element in value]


def _element(parameter: Parameter, kind: str, value: Any) -> Any:
    """A scalar, or an element of an array, in its plain type."""
    # a NumPy scalar
    value = value.item() if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 else value
    found = _SCALARS.get(type(value), "")
    if not (found == kind or (found == "integer" and kind == "double")):
        raise ParameterError(f"{parameter.name}: {quoted(value)} is not {_meant(parameter)}")
    if kind == "string":
        if len(value) > parameter.longest:
            raise ParameterError(
                f"{parameter.name}: {len(value)} characters; at most {parameter.longest} are valid"
            )
        if parameter.choices and value not in parameter.choices:
            raise ParameterError(
                f"{parameter.name}: {quoted(value)} is not a choice; valid are "
                f"{listed(choice or repr('') for choice in parameter.choices)}"
            )
        return value
    if kind == "double":
        value = _as_float(parameter, value)
    if kind != "bool":
        _check_range(parameter, value)
    return value


def _as_float(parameter: Parameter, value: int | float) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = float("inf")
    if not isfinite(number):
        raise ParameterError(f"{parameter.name}: {quoted(value)} is not a finite number")
    return number


def _check_range(parameter: Parameter, value: int | float) -> None:
    low, high = parameter.minimum, parameter.maximum
    if (low is not None and value < low) or (high is not None and value > high):
        ends = (
            f"at least {low:g}"
            if high is None
            else f"at most {high:g}"
            if low is None
            else f"{low:g} to {high:g}"
        )
        raise ParameterError(f"{parameter.name}: {quoted(value)} is out of range; valid is {ends}")


def _meant(parameter: Parameter) -> str:
    """The type in words, for a message."""
    words = {
        "bool": "a bool (true or false)",
        "integer": "an integer",
        "double": "a number",
        "string": "a string",
        "double_array": "a list of numbers",
        "string_array": "a list of strings",
    }
    return words[parameter.kind]


def _kind_of(default: Any) -> str:
    if isinstance(default, (list, tuple)):
        kinds = {_SCALARS.get(type(element), "") for element in default}
        return f"{kinds.pop()}_array" if len(kinds) == 1 else ""
    return _SCALARS.get(type(default), "")


def _copy(value: Any) -> Any:
    return list(value) if isinstance(value, list) else value


def _refuse_unknown(table: Mapping[str, Parameter], values: Mapping[str, Any]) -> None:
    """Tell all unknown names, each with what was probably meant; those with the same reason stand together."""
    unknown = [str(name) for name in values if name not in table]
    if not unknown:
        return
    names_of: dict[str, list[str]] = {}
    for name in unknown[:MOST]:
        names_of.setdefault(_remedy(name, table, values), []).append(quoted(name))
    parts = [f"{', '.join(names)}{remedy}" for remedy, names in names_of.items()]
    more = [f"and {len(unknown) - MOST} more"] if len(unknown) > MOST else []
    raise ParameterError(
        f"unknown parameter{'s' if len(unknown) > 1 else ''} {'; '.join(parts + more)}"
    )


def _held(value: Any) -> str:
    """What a list of names holds, or the value that stands in its place."""
    return listed(value) if isinstance(value, (list, tuple)) else shown(value, 80)


def _remedy(name: str, table: Mapping[str, Parameter], values: Mapping[str, Any]) -> str:
    """What to write instead: the nearest name, else the names beside it; or which list lacks its first part."""
    first, dot, _ = name.partition(".")
    firsts = {known.partition(".")[0] for known in table if "." in known}
    lists = [parameter.name for parameter in table.values() if parameter.names_others]
    if dot and lists and first not in firsts:
        held = ", ".join(f"{key} has {_held(values.get(key, ()))}" for key in lists)
        return f" (there is no {quoted(first)}: {held}{offered(first, firsts)})"
    prefix = name.rpartition(".")[0]
    beside = {
        known.rpartition(".")[2]: known for known in table if known.rpartition(".")[0] == prefix
    }
    if beside:
        near = get_close_matches(name.rpartition(".")[2], beside, 1)
        return (
            f" (did you mean {quoted(beside[near[0]])}?)"
            if near
            else f" (valid are {listed(beside.values())})"
        )
    return f" (valid are {listed(table)}{offered(name, table)})"
