"""Pushes on links while they last."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .timetable import Activity

__all__ = ["Disturbance"]


class Disturbance:
    """The pushes that act now, handed to the simulator step by step, so that a live one ends when it is cleared."""

    def __init__(self) -> None:
        self._pushes: list[tuple[Activity, np.ndarray]] = []

    def set_faults(self, active: Iterable[Activity]) -> None:
        """Take the pushes that act from now on."""
        self._pushes = [(activity, np.array([*activity.fault.values["force"], *activity.fault.values["torque"]]))
                        for activity in active]

    def act(self, simulator: Any, step: float) -> None:
        """Push for the step of this length [s] that comes."""
        for activity, wrench in self._pushes:
            activity.count("steps")
            simulator.push(activity.fault.frame, wrench, step)
