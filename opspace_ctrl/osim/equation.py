# SPDX-License-Identifier: Apache-2.0
"""The operational-space equation of motion, term by term, and the velocity law ([Featherstone2010] section 4)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..dynamics import forward_dynamics
from ..model import Model
from ..model.configuration import check_vector
from .health import Health, health_of
from .prepared import Prepared
from .tick import BIAS, INERTIA, INERTIA_INV, JACOBIAN, JBAR, STATE


class EquationOfMotion:
    """What (3) to (10) of the paper have beside J, Lambda, Jbar and N; computed when read, and the reader's own.

    xdd = Lambda^-1 F + beta  (3),     F = Lambda xdd + mu + rho,  mu + rho = -Lambda beta  (4)
    """

    model: Model
    _now: Prepared

    @property
    def beta(self) -> NDArray[np.float64]:
        """Jdot v - J H^-1 h (m,): the acceleration of the tasks while no force acts ((3), (8))."""
        now = self._now.find(JACOBIAN).find(BIAS)
        return np.asarray(now.bias_acceleration + now.jacobian @ self._free(now.space.tree.v))

    @property
    def mu(self) -> NDArray[np.float64]:
        """Lambda (J H^-1 (h - g) - Jdot v) (m,): centrifugal and Coriolis forces in the operational space ((4))."""
        return -self._forces(self.beta) - self.rho

    @property
    def rho(self) -> NDArray[np.float64]:
        """Lambda J H^-1 g (m,): what gravity asks for in the operational space ((4))."""
        jacobian = self._now.find(JACOBIAN).jacobian
        return -self._forces(jacobian @ self._free(np.zeros(self.model.nv)))

    def velocity(
        self, task_velocity: ArrayLike | None = None, v0: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """Jbar xdot + N v0 (nv,): the velocity law of section 4, N never formed.

        Of all velocities with J v = xdot it is the one that differs from v0 by the least kinetic energy.

        Args:
            task_velocity: xdot (m,), row by row of the tasks; zero if not given.
            v0: Velocity (nv,) for the null space; zero if not given.

        Raises:
            ConfigurationError: Wrong size or non-finite, or there is no state yet.
        """
        now = self._now.find(JBAR).find(JACOBIAN)
        wanted = np.zeros(now.m) if task_velocity is None else task_velocity
        wanted = check_vector(wanted, now.m, "task velocity")
        v0 = np.zeros(self.model.nv) if v0 is None else self.model.check_velocity(v0, "v0")
        return np.asarray(v0 + now.jbar @ (wanted - now.jacobian @ v0))

    def health(self) -> Health:
        """Whether the intermediate results of this state are what they are in nature: P >= 0, D > 0, Lambda^-1 >= 0.

        The recursions have a physical meaning at every step ([Rodriguez1992] X.C), so that bad inertias, lost digits
        and singular postures can be told apart; the report names the bodies and joints.
        """
        now = self._now.find(INERTIA_INV)
        return health_of(self.model, np.array(now.space.tree.q), now.inertia_inv)

    def _free(self, v: ArrayLike) -> NDArray[np.float64]:
        """-H^-1 h at a velocity: the joint accelerations while no force acts."""
        tree = self._now.find(STATE).space.tree
        no_force = np.zeros(self.model.nv)
        return forward_dynamics(self.model, np.array(tree.q), np.array(v), no_force)

    def _forces(self, acceleration: NDArray[np.float64]) -> NDArray[np.float64]:
        """Lambda times an acceleration of the tasks."""
        return np.asarray(self._now.find(INERTIA).inertia @ acceleration)
