# SPDX-License-Identifier: Apache-2.0
"""Pushes on links while they last."""

from collections.abc import Iterable

import numpy as np

from ..simulator import Simulator
from .timetable import Activity

__all__ = ["Disturbance"]


class Disturbance:
    """The pushes that act now, handed to the simulator step by step, so that a live one ends when it is cleared."""

    def __init__(self) -> None:
        self._active: list[Activity] = []
        self._wrenches: dict[str, np.ndarray] = {}

    def set_faults(self, active: Iterable[Activity]) -> None:
        """Take the pushes that act from now on; those on one frame add."""
        self._active, self._wrenches = list(active), {}
        for activity in self._active:
            values = activity.fault.values
            wrench = self._wrenches.setdefault(activity.fault.frame, np.zeros(6))
            wrench += (*values["force"], *values["torque"])

    def act(self, simulator: Simulator, step: float) -> None:
        """Push for the step of this length [s] that comes."""
        for activity in self._active:
            activity.count("steps")
        for frame, wrench in self._wrenches.items():
            simulator.push(frame, wrench, step)
