# SPDX-License-Identifier: Apache-2.0
"""Declared settings as fields of a workspace, named and described as the parameters are."""

from __future__ import annotations

from typing import Any

from ..compiled.workspace import setting
from ..declaration import Settings, declared

__all__ = ["declared_fields"]


def declared_fields(
    cls: type[Settings], size: str = "", law: bool = True, list_size: str = "6"
) -> dict[str, Any]:
    """The fields that `cls.law_values` gives the numbers of.

    A choice is its place among the choices, a list of choices a flag for each; a list of numbers is one an axis, or
    as long as told.

    Args:
        cls: Where they are declared.
        size: A count, where there is one number for each of several objects.
        law: Those with `law=True`, or all others.
        list_size: A count, of lists of numbers.
    """
    found = {}
    for each in declared(cls).values():
        if each.law == law:
            columns = {"double_array": list_size, "string_array": str(len(each.choices))}
            shape = ", ".join(filter(None, (size, columns.get(each.kind))))
            kind = int if each.kind in ("integer", "string") else float
            found[each.field] = setting(shape, each.text, kind)
    return found
