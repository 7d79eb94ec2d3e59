# SPDX-License-Identifier: Apache-2.0
"""A controller and a minimal integrator on forward dynamics, for tests of the control layer alone."""

from __future__ import annotations

import numpy as np

from opspace_ctrl import forward_dynamics
from opspace_ctrl.control.controller import Controller
from opspace_ctrl.control.settings import controller_settings
from opspace_ctrl.model import Model

STEP = 1e-3
ARM_START = np.array([0.0, 0.35, 0.0, 1.55, 0.0, 1.2415926535897932, 0.0])


class Loop:
    """A robot under control; semi-implicit Euler, no friction.

    Attributes:
        q, v, time: The state.
        torques: Every command so far.
        delay: Steps by which commands come late.
    """

    def __init__(
        self, model: Model, q, start: float = 0.0, step: float = STEP, delay: int = 0, **values
    ):
        self.model, self.step, self.delay = model, step, delay
        self.controller = Controller.from_settings(
            model, controller_settings({"method": "sparse_ltdl", **values})
        )
        self.q, self.v, self.time = np.array(q, float), np.zeros(model.nv), start
        self.torques: list[np.ndarray] = []
        self._order = [self.controller.joints.index(name) for name in model.joint_names]
        self.controller.activate(self.q, self.v, start)

    def run(self, seconds: float, push=None) -> Loop:
        """Let time pass; `push` (nv,) is a generalised force from outside."""
        for _ in range(round(seconds / self.step)):
            self.torques.append(self.controller.tick(self.q, self.v, self.time).copy())
            tau = np.zeros(self.model.nv)
            tau[~self.model.is_base_coordinate] = self.torques[
                max(len(self.torques) - 1 - self.delay, 0)
            ][self._order]
            a = forward_dynamics(
                self.model, self.q, self.v, tau if push is None else tau + push, method="crba_ltdl"
            )
            self.v = self.v + self.step * a
            self.q = self.model.integrate(self.q, self.v, self.step)
            self.time += self.step
        return self

    @property
    def torque_rates(self) -> np.ndarray:
        """Change of every torque a second, between ticks."""
        return np.abs(np.diff(self.torques, axis=0)) / self.step
