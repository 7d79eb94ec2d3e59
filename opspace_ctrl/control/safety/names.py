# SPDX-License-Identifier: Apache-2.0
"""Which entries of a message are which joints: found once for each list of names."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

__all__ = ["JointNames", "Mapping"]

MAPPINGS = 32  # how many lists of names are remembered


class Mapping(NamedTuple):
    """The entries `source` of a message are the joints `joints`.

    Attributes:
        names: Of the message.
        fault: "", "names" (a joint is named twice) or "foreign" (none of ours is).
    """

    names: Sequence[str]
    source: np.ndarray
    joints: np.ndarray
    fault: str


class JointNames:
    """Finds the joints of a robot in messages that name them in any order, with others between them, or only some."""

    def __init__(self, names: Sequence[str]):
        self._number = {name: number for number, name in enumerate(names)}
        self._known: dict[tuple[str, ...], Mapping] = {}
        self._last = self._made(())

    def find(self, names: Sequence[str]) -> Mapping:
        """The mapping of a message with these names; the same object for the same names as before."""
        last = self._last
        if names is last.names or names == last.names:
            return last
        key = tuple(names)
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= MAPPINGS:  # somebody sends ever new names
                self._known.clear()
            found = self._known[key] = self._made(names)
        self._last = found
        return found

    def _made(self, names: Sequence[str]) -> Mapping:
        source = [at for at, name in enumerate(names) if name in self._number]
        joints = [self._number[names[at]] for at in source]
        fault = "" if joints else "foreign"
        if len(set(joints)) != len(joints):
            fault = "names"
        return Mapping(names, np.array(source, int), np.array(joints, int), fault)
