"""`TwoSweep`: forward dynamics that remembers the velocities of the step before ([Rodriguez1992] VII.D)."""

from __future__ import annotations

import numpy as np

from ...dynamics.api import Wrenches, checked, dynamics_of
from ...dynamics.pack import pack
from ...errors import MethodError
from ...model import Model
from . import forward_entries

__all__ = ["TwoSweep"]


class TwoSweep:
    """Forward dynamics for a simulation's loop in two sweeps a step instead of three.

    Gyroscopic forces and hinge accelerations are made from the link velocities of the step before: accelerations are
    off by a term of the first order in the step. The first step, and `forward_dynamics(method="two_sweep")`, which has
    no memory, make the sweep of velocities as well and are exact.

    Raises:
        MethodError: The model has mimic joints.
    """

    def __init__(self, model: Model):
        if model.is_mimic.any():
            raise MethodError(f"'two_sweep' cannot carry mimic joints ({model.name})")
        self.model, self._work = model, pack(model)
        self.restart()

    def restart(self) -> None:
        """Forget the velocities: the next step is the first of another motion."""
        self._entry = forward_entries.two_sweep

    def step(self, q, v, tau, external: Wrenches | None = None) -> np.ndarray:
        """dv/dt (nv,) for joint forces tau, by the link velocities of the step before; those at q and v are kept.

        Raises:
            ConfigurationError: Wrong size or non-finite; such a step changes nothing.
        """
        q, v, tau = checked(self.model, (q, v, tau), "v tau")
        found = dynamics_of(self.model, self._work, self._entry, q, v, tau, "tau", external)
        self._entry = forward_entries.two_sweep_delayed
        return found
