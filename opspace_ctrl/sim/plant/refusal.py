# SPDX-License-Identifier: Apache-2.0
"""The robot's judgement of a command: taken, or refused with a reason."""

import numpy as np
from numpy.typing import ArrayLike

from ...model import Model
from ..joint_index import coordinate_names

__all__ = ["Refusal"]


class Refusal:
    """Judges commands: k finite efforts within their limits are taken, all else is refused with a reason."""

    def __init__(self, model: Model, is_limited: bool = True):
        self._names = coordinate_names(model)
        self._limits = (
            np.array(model.effort_limits) if is_limited else np.full(len(self._names), np.inf)
        )
        # a controller that clips may round
        self._refused_above = self._limits * (1.0 + 1e-9) + 1e-9

    def judge(self, effort: ArrayLike) -> tuple[np.ndarray | None, str]:
        """A copy (k,) of a command that is one, else None; and why not."""
        k = len(self._names)
        try:
            values = np.array(effort, dtype=np.float64)
        except (TypeError, ValueError):
            return None, f"a command is {k} efforts, one a joint"
        if values.shape != (k,):
            return None, f"{values.size} efforts came, the robot has {k} joints"
        if not np.isfinite(values).all():
            return None, f"the effort of {self._first(~np.isfinite(values))} is not finite"
        beyond = np.abs(values) > self._refused_above
        if beyond.any():
            value, limit = values[beyond][0], self._limits[beyond][0]
            return (
                None,
                f"the effort of {self._first(beyond)}, {value:g}, is beyond its limit {limit:g}",
            )
        return values, ""

    def _first(self, mask: np.ndarray) -> str:
        return self._names[int(np.flatnonzero(mask)[0])]
