# SPDX-License-Identifier: Apache-2.0
"""The definition of a ROS 2 message as text, from its Python class; an MCAP file carries it beside the messages."""

import re
from importlib import import_module
from typing import Any

__all__ = ["schema_of"]

SEPARATOR = "\n" + "=" * 80 + "\n"
# What rosidl calls the types in Python, and in a .msg file.
PLAIN = {"boolean": "bool", "octet": "byte", "float": "float32", "double": "float64"}


def schema_of(message: type) -> str:
    """The definition of a message, followed by those it is made of."""
    parts: dict[str, str] = {}
    needed: list[Any] = [message]
    for kind in needed:  # grows while it is walked
        fields, inner = _fields(kind)
        parts[_name(kind)] = fields
        needed += [part for part in inner if part not in needed]
    first, *others = parts
    return SEPARATOR.join([parts[first], *(f"MSG: {name}\n{parts[name]}" for name in others)])


def _fields(kind: Any) -> tuple[str, list[type]]:
    """The lines of a definition, and the messages they name."""
    lines, inner = [], []
    for field, text in kind.get_fields_and_field_types().items():
        base, extent = _split(text)
        if "/" in base:
            package, name = base.split("/")
            inner.append(getattr(import_module(f"{package}.msg"), name))
        lines.append(f"{PLAIN.get(base, base)}{extent} {field}")
    return "\n".join(lines), inner


def _split(text: str) -> tuple[str, str]:
    """(type, extent) of a field: sequence<double, 3> is double and [<=3], double[36] is double and [36]."""
    extent = ""
    if found := re.fullmatch(r"sequence<(.+?)(?:, (\d+))?>", text):
        text, extent = found[1], f"[<={found[2]}]" if found[2] else "[]"
    elif found := re.fullmatch(r"(.+)\[(\d+)\]", text):
        text, extent = found[1], f"[{found[2]}]"
    if found := re.fullmatch(r"(w?string)<(\d+)>", text):
        text = f"{found[1]}<={found[2]}"
    return text, extent


def _name(kind: Any) -> str:
    package, _, _ = kind.__module__.partition(".")
    return f"{package}/{kind.__name__}"
