# SPDX-License-Identifier: Apache-2.0
"""`TwoSweep`: forward dynamics that remembers the velocities of the step before ([Rodriguez1992] VII.D)."""

import numpy as np
from numpy.typing import ArrayLike

from ...dynamics import entries
from ...dynamics.build import RobotTree
from ...dynamics.forward import forward_method
from ...dynamics.forward_method import ForwardMethod
from ...dynamics.functions import Wrenches, external_wrenches, result_of
from ...model import Model
from .two_sweep import DelayedTwoSweep, UndelayedTwoSweep


class TwoSweep:
    """Forward dynamics for a simulation's loop in two sweeps a step instead of three.

    Gyroscopic forces and hinge accelerations are made from the link velocities of the step before: accelerations are
    off by a term of the first order in the step. The first step, and `forward_dynamics(method="two_sweep")`, which has
    no memory, make the sweep of velocities as well and are exact.

    Raises:
        MethodError: The model has mimic joints with other joints between them.
    """

    def __init__(self, model: Model):
        forward_method(model, "two_sweep")  # which refuses by name what it cannot carry
        self.model, self._tree = model, RobotTree(model)
        self._first, self._next = UndelayedTwoSweep(), DelayedTwoSweep()
        self.restart()

    def restart(self) -> None:
        """Forget the velocities: the next step is the first of another motion."""
        self._method: ForwardMethod = self._first

    def step(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, external: Wrenches | None = None
    ) -> np.ndarray:
        """dv/dt (nv,) for joint forces tau, by the link velocities of the step before; those at q and v are kept.

        Raises:
            ConfigurationError: Wrong size or non-finite; such a step changes nothing.
        """
        given, address = (q, v, tau), self._method.address
        with external_wrenches(self.model, q, external, self._tree):
            found = result_of(
                self.model, entries.forward_dynamics, given, "v tau", address, tree=self._tree
            )
        self._method = self._next
        return found
