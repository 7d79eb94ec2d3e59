# SPDX-License-Identifier: Apache-2.0
"""Settings that are declared once: a frozen dataclass whose fields say what they mean, their unit and what is valid.

    @dataclass(frozen=True, kw_only=True)
    class Posture(Settings, prefix="posture."):
        speed: float = live(0.5, "Speed at which a new posture is approached.", "rad/s", 1e-3, 100.0)

All else follows: the value is checked when an object is made; a ROS node has the parameter `posture.speed` with this
description and range; YAML files may give it; the documentation lists it. With `law=True` the compiled law has it too,
as `law.posture_speed`: whatever the object holds is there when the next tick begins (`control.live`). With
`derived=True` it is `law.asked_posture_speed`, of which a kernel makes the numbers of the tick (`law.derived`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, field, fields
from functools import lru_cache
from typing import Any, ClassVar, Literal, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from .errors import Mistakes, ParameterError, listed, offered, quoted
from .parameters import MOST_ENTRIES, Parameter, checked_value

Numbers: TypeAlias = float | Sequence[float] | NDArray[Any]
NumbersByName: TypeAlias = Numbers | Mapping[str, Numbers]
Names: TypeAlias = Sequence[str]
KINDS: dict[Any, str] = {
    bool: "bool",
    int: "integer",
    float: "double",
    str: "string",
    Numbers: "double_array",
    NumbersByName: "double_array",
    Names: "string_array",
}
Own = TypeVar("Own", bound="Settings")


def live(
    default: Any,
    doc: str,
    unit: str = "",
    least: float | None = None,
    most: float | None = None,
    *,
    choices: Sequence[str] = (),
    name: str = "",
    law: bool = False,
    longest: int = MOST_ENTRIES,
    structural: bool = False,
    derived: bool = False,
) -> Any:
    """A field that may change while a controller or node runs.

    Args:
        default: Of the annotated type; `Numbers` and `Names` are tuples.
        doc: One or two sentences.
        unit: In SI, such as "1/s"; empty where the sentences say it.
        least, most: Range of a number, or of every number of a list, ends included.
        choices: Valid strings, where the annotation is no Literal.
        name: Of the ROS parameter, where it is not the prefix and the name of the field.
        law: Kernels use it: it is a field of `control.fields.Law`.
        longest: Characters of a string at most.
        structural: A law is built for it: when it changes, another one takes over (`control.duty`).
        derived: Kernels use numbers that follow from it; an empty list is NaN in the law.
    """
    words = (doc, unit, least, most, choices, name, law or derived, longest, structural, derived)
    return _field(True, default, *words)


def fixed(
    default: Any,
    doc: str,
    unit: str = "",
    least: float | None = None,
    most: float | None = None,
    *,
    choices: Sequence[str] = (),
    name: str = "",
    law: bool = False,
    longest: int = MOST_ENTRIES,
) -> Any:
    """A field that cannot change while a controller or node runs; the arguments are those of `live`."""
    return _field(False, default, doc, unit, least, most, choices, name, law, longest)


def _field(is_live: bool, default: Any, *declaration: Any) -> Any:
    words = (
        "doc",
        "unit",
        "least",
        "most",
        "choices",
        "name",
        "law",
        "longest",
        "structural",
        "derived",
    )
    return field(default=default, metadata={"live": is_live, **dict(zip(words, declaration))})


def refuse_misspelt(cls: type, given: Iterable[str], known: Iterable[str]) -> None:
    """Refuse an argument that a class does not have, with the one that was probably meant.

    Args:
        cls: The class.
        given: Names of what it was given.
        known: Names of what it takes.

    Raises:
        ParameterError: One is not known.
    """
    known = [name for name in known if name != "self"]
    for name in given:
        if name not in known:
            raise ParameterError(
                f"{cls.__name__} has no {quoted(name)} (valid are {listed(known)}{offered(name, known)})"
            )


class Settings:
    """Base of all that is declared: a frozen dataclass, checked when it is made.

    Raises:
        ParameterError: A value has the wrong type, is out of range or not among the choices; the field is named as the
            ROS parameter is.
        SettingsError: Fields contradict each other.
    """

    prefix: ClassVar[str] = ""

    def __init_subclass__(cls, prefix: str | None = None) -> None:
        if prefix is not None:
            cls.prefix = prefix

    def __new__(cls: type[Own], *args: Any, **given: Any) -> Own:
        """Refuse a misspelt field by name, as files and ROS do, and what is given by place and has none."""
        known = {each.name: each for each in fields(cls)}  # type: ignore[arg-type]  # all are dataclasses
        refuse_misspelt(cls, given, known)
        placed = [name for name, each in known.items() if not each.kw_only]
        if len(args) > len(placed):
            raise ParameterError(
                f"{cls.__name__}: {quoted(args[len(placed)])} is given without a name; valid without "
                f"one is {listed(placed)}, then by name {listed(n for n in known if n not in placed)}"
            )
        lacking = [name for name in placed[len(args) :] if known[name].default is MISSING]
        if given and not given.keys() >= set(lacking):  # without any it may be a copy in the making
            raise ParameterError(f"{cls.__name__} needs {listed(lacking)}")
        return super().__new__(cls)

    def __post_init__(self) -> None:
        mistakes = Mistakes()
        for name, parameter in declared(type(self), self.own_prefix()).items():
            with mistakes:
                object.__setattr__(self, name, _own_value(parameter, getattr(self, name)))
        mistakes.tell()
        self.check()

    def own_prefix(self) -> str:
        """What the ROS parameters of this object begin with."""
        return self.prefix

    def check(self) -> None:
        """Refuse what no single field shows."""

    def flat(self) -> dict[str, Any]:
        """Values by the names of the ROS parameters, as ROS has them."""
        return {
            parameter.name: list(value) if parameter.is_array else value
            for name, parameter in declared(type(self), self.own_prefix()).items()
            for value in [getattr(self, name)]
        }

    @classmethod
    def of(cls: type[Own], values: Mapping[str, Any], prefix: str | None = None) -> Own:
        """An object of values by the names of the ROS parameters, none missing."""
        found = declared(cls, cls.prefix if prefix is None else prefix)
        return cls(**{name: values[parameter.name] for name, parameter in found.items()})

    def structure(self, *but: str) -> tuple[Any, ...]:
        """Its class and all values that are structural, but for some fields: where it differs, so does the law."""
        found = [name for name, each in declared(type(self)).items() if each.structural]
        return (type(self), *(getattr(self, name) for name in found if name not in but))

    def law_values(self, law: bool = True) -> Iterator[tuple[str, Any]]:
        """(field of the law, its numbers) of all that is declared with `law=True`, or of all else."""
        for name, parameter in declared(type(self)).items():
            if parameter.law == law:
                yield parameter.field, self.law_value(name, parameter)

    def law_value(self, name: str, parameter: Parameter) -> Any:
        """The number of a value: a choice is its place, a list of choices a flag for each choice."""
        value = getattr(self, name)
        if parameter.kind == "string":
            return parameter.choices.index(value)
        if parameter.kind == "string_array":
            return [choice in value for choice in parameter.choices]
        is_empty = parameter.derived and parameter.is_array and not np.size(value)
        return np.nan if is_empty else value


def _own_value(parameter: Parameter, value: Any) -> Any:
    """A value as an object holds it: lists are tuples, and one number is a list of one."""
    if parameter.by_name and isinstance(value, Mapping):
        return value  # whoever knows the names checks it
    if not parameter.is_array:
        return checked_value(parameter, value)
    is_one = isinstance(value, (int, float, np.number)) or getattr(value, "shape", None) == ()
    return tuple(checked_value(parameter, [value] if is_one else value))


def declared(cls: type[Settings], prefix: str | None = None) -> Mapping[str, Parameter]:
    """{field: its parameter} of a class, in order; `prefix` stands before names, where it is not that of the class."""
    key: Any = cls  # mypy takes no class for a key
    return _declared(key, cls.prefix if prefix is None else prefix)


@lru_cache(maxsize=1024)
def _declared(cls: Any, prefix: str) -> Mapping[str, Parameter]:
    hints, found = get_type_hints(cls), {}
    for each in fields(cls):
        said, hint = each.metadata, hints[each.name]
        if not said:
            continue
        is_literal = get_origin(hint) is Literal
        found[each.name] = Parameter(
            said["name"] or prefix + each.name,
            list(each.default) if isinstance(each.default, tuple) else each.default,
            said["doc"],
            said["least"],
            said["most"],
            tuple(get_args(hint)) if is_literal else tuple(said["choices"]),
            read_only=not said["live"],
            kind="string" if is_literal else KINDS[hint],
            unit=said["unit"],
            law=said["law"],
            longest=said["longest"],
            structural=bool(said.get("structural")),
            derived=bool(said.get("derived")),
            by_name=hint == NumbersByName,
        )
    return found
