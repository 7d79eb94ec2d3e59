# SPDX-License-Identifier: Apache-2.0
"""The drives, which may scale a command, offset it, or apply nothing of it."""

from collections.abc import Iterable

import numpy as np

from ...model import Model
from ..joint_index import chosen
from .timetable import Activity

__all__ = ["Actuation"]


class Actuation:
    """The drives of a robot's joints: applied effort = factor * command + offset, both zero for a dead joint."""

    def __init__(self, model: Model):
        self._model = model
        self._active: list[Activity] = []
        count = len(model.effort_limits)
        self._factor, self._offset = np.ones(count), np.zeros(count)

    def set_faults(self, active: Iterable[Activity]) -> None:
        """Take the faults that act from now on; factors multiply, offsets add."""
        self._active = list(active)
        self._factor[:], self._offset[:] = 1.0, 0.0
        for activity in sorted(
            self._active, key=lambda activity: activity.fault.kind == "dead_joint"
        ):
            joints, values = chosen(self._model, activity.fault.joints), activity.fault.values
            if activity.fault.kind == "torque_scale":
                self._factor[joints] *= values["factor"]
            elif activity.fault.kind == "torque_offset":
                self._offset[joints] += values["effort"]
            else:
                self._factor[joints] = self._offset[joints] = 0.0

    def apply(self, command: np.ndarray) -> np.ndarray:
        """The efforts (k,) that act; the command itself while no fault does."""
        if not self._active:
            return command
        for activity in self._active:
            activity.count("steps")
        return self._factor * command + self._offset
