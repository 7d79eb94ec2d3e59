# SPDX-License-Identifier: Apache-2.0
"""The robot's judgement of a command: taken, or refused with a reason."""

import numpy as np
from numpy.typing import ArrayLike

from ...command_kind import CommandKind, command_limits, plural
from ...model import Model
from ..joint_index import coordinate_names

__all__ = ["Refusal"]


class Refusal:
    """Judges commands: k finite numbers within the limits of their kind are taken, all else is refused with a reason.

    Attributes:
        limits: (k,) None where there is none.
    """

    def __init__(self, model: Model, kind: CommandKind = "effort", is_limited: bool = True):
        self._kind, self._names = kind, coordinate_names(model)
        own = command_limits(model, kind) if is_limited else np.full(len(self._names), np.inf)
        self._limits = np.array(own)
        self.limits = [None if np.isinf(limit) else float(limit) for limit in own]
        # a controller that clips may round
        self._refused_above = self._limits * (1.0 + 1e-9) + 1e-9

    def judge(self, command: ArrayLike) -> tuple[np.ndarray | None, str]:
        """A copy (k,) of a command that is one, else None; and why not."""
        k, several = len(self._names), plural(self._kind)
        try:
            values = np.array(command, dtype=np.float64)
        except (TypeError, ValueError):
            return None, f"a command is {k} {several}, one a joint"
        if values.shape != (k,):
            return None, f"{values.size} {several} came, the robot has {k} joints"
        if not np.isfinite(values).all():
            return None, f"the {self._kind} of {self._first(~np.isfinite(values))} is not finite"
        beyond = np.abs(values) > self._refused_above
        if beyond.any():
            value, limit = values[beyond][0], self._limits[beyond][0]
            return (
                None,
                f"the {self._kind} of {self._first(beyond)}, {value:g}, is beyond its limit {limit:g}",
            )
        return values, ""

    def _first(self, mask: np.ndarray) -> str:
        return self._names[int(np.flatnonzero(mask)[0])]
