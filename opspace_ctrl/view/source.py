# SPDX-License-Identifier: Apache-2.0
"""What a page shows: the robot, and rows of what it does, whoever tells them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from ..control.settings import ControllerSettings
from ..model import Model

__all__ = ["Rows", "Subject"]


class Rows(Protocol):
    """Where rows come from: a loop's `Ring`, a `Replay`, a ROS graph."""

    def since(self, count: int) -> tuple[int, np.ndarray]:
        """The number of the newest row, and those after number `count`."""

    def latest(self) -> np.void | None:
        """The newest row."""

    def whole(self) -> np.ndarray:
        """All rows that are still known."""


@dataclass(frozen=True)
class Subject:
    """What is shown.

    Attributes:
        model, settings: The robot and its controller.
        ring: What happens.
        methods: That a row's `method` counts.
        ask: Takes requests; None: the page only shows.
        able: What can be asked for, by the names of `requests`; empty: nothing.
        trouble: Says why nothing comes any more, "" if it is not known.
        name: Of the robot among several.
        folder: Where the robot's URDF lies, for its meshes.
        ground: Height of the floor [m].
        is_live: Gates and times of ticks are told.
    """

    model: Model
    settings: ControllerSettings
    ring: Rows
    methods: tuple[str, ...] = ()
    ask: Callable[..., None] | None = None
    folder: Path | None = None
    ground: float = 0.0
    is_live: bool = True
    able: frozenset[str] = frozenset()
    trouble: Callable[[], str] = lambda: ""
    name: str = ""
