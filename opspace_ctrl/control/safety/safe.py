"""`SafeCommands`: what a controller can send while a gate is closed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...dynamics import inverse_dynamics
from ...errors import ConfigurationError, quoted
from ...model import Model
from ..core import Core

__all__ = ["SafeCommands"]


class SafeCommands:
    """Torques that are within limits and need no target.

    Attributes:
        damping: Deceleration per velocity of the command `damping` [1/s].
    """

    def __init__(self, core: Core, model: Model, joints: Sequence[str], damping: float):
        self.damping = damping
        self._core, self._model = core, model
        self._joint = ~model.is_base_coordinate
        # in the command, model order
        self._place = np.array([joints.index(name) for name in model.joint_names], int)
        self._torque, self._at_rest = np.zeros(len(joints)), np.zeros(model.nv)

    def torque(self, kind: str, q, v) -> np.ndarray:
        """One of the safe commands (len(joints),), in the order of the command; the next call changes it.

        Raises:
            ConfigurationError: An unknown kind, or a state that is missing or not finite.
        """
        if kind == "zero":
            self._torque[:] = 0.0
        elif kind == "held":
            self._write(self._core.law.level_torque[0])
        elif kind in ("gravity", "damping"):
            self._core.gravity(q, v)
            self._write(
                self._core.law.level_torque[0] + (self._braking(q, v) if kind == "damping" else 0.0)
            )
        else:
            raise ConfigurationError(
                f"no safe command {quoted(kind)}; valid are zero, held, gravity, damping"
            )
        return self._torque

    def _write(self, torque: np.ndarray) -> None:
        """Take torques in model order, clipped."""
        limit = self._core.law.effort_limits
        self._torque[self._place] = np.clip(torque, -limit, limit)

    def _braking(self, q, v) -> np.ndarray:
        """Joint torques (k,), model order, of H a with a = -damping v of the joints; the base is left alone."""
        model, rest = self._model, self._at_rest
        a = np.where(self._joint, -self.damping * np.asarray(v, float), 0.0)
        return (inverse_dynamics(model, q, rest, a) - inverse_dynamics(model, q, rest, rest))[
            self._joint
        ]
