# SPDX-License-Identifier: Apache-2.0
"""Which names tasks, contacts and joints may have."""

import re
from collections.abc import Collection, Sequence

from ..errors import Mistakes, SettingsError, quoted

__all__ = ["check_names", "check_unique"]

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")


def check_names(names: Sequence[str], reserved: Collection[str]) -> None:
    """Refuse names of tasks and contacts that cannot be the first part of a parameter's name.

    Raises:
        SettingsError: A name has other characters than letters, digits and _, is that of a parameter, or stands twice.
    """
    mistakes = Mistakes()
    for name in names:
        with mistakes:
            _check_name(name, reserved)
    with mistakes:
        check_unique("tasks and contacts", names)
    mistakes.tell()


def _check_name(name: str, reserved: Collection[str]) -> None:
    refusal = f"{quoted(name)} cannot name a task or contact: "
    if not isinstance(name, str) or not NAME.match(name):
        raise SettingsError(f"{refusal}letters, digits and _ are valid, a letter first")
    if name in reserved:
        raise SettingsError(f"{refusal}it is the name of a parameter")


def check_unique(what: str, names: Sequence[str]) -> None:
    """Refuse a name that stands twice.

    Raises:
        SettingsError: Naming it.
    """
    for name in names:
        if list(names).count(name) > 1:
            raise SettingsError(
                f"{what}: {quoted(name)} is given {list(names).count(name)} times; each name may "
                "stand once"
            )
