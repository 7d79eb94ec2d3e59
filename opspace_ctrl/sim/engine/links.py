# SPDX-License-Identifier: Apache-2.0
"""Algorithm 7 as an integrator: every link of a free flyer integrates its own pose, and projection holds the drift.

The links are placed by the hinges' coordinates, move one step of order four each for itself ([Jain1995] 3.3.1), and the
coordinates are read off them again, across the gaps that have opened meanwhile; `drift` tells how wide they were.
Efforts, pushes, damping, friction, stops, brakes and saved states are those of the other integrators.
"""

import numpy as np

from ...algebra.free_flyer import drift, hinge_coordinates, link_state, step_links
from ...dynamics.dual import held_bases
from ...errors import MethodError
from ...model.configuration import check_vector
from .native import NativeSimulator

__all__ = ["LinkSimulator"]


class LinkSimulator(NativeSimulator):
    """See `Simulator`.

    Attributes:
        drift: The widest gap of a hinge before a projection since `reset`: [m], and [rad] between its axes.
    """

    __slots__ = ("drift",)

    drift: tuple[float, float]

    def _check(self) -> None:
        model, settings = self.model, self.settings
        lacking = [
            *held_bases(model),
            *(["mimic joints"] if model.is_mimic.any() else []),
            *(["contacts"] if settings.contacts else []),
            *(["closures"] if settings.closures else []),
        ]
        if lacking:
            raise MethodError(
                f"integrator 'algorithm7' cannot carry {', '.join(lacking)} ({model.name}); "
                "semi_implicit, explicit and rkmk4 can"
            )

    def step(self, tau) -> None:
        """See `Simulator.step`."""
        tau = check_vector(tau, len(self.tau), "tau") if tau is not self._hold else tau
        worst = self._move_links(tau)
        super().step(tau)
        self.drift = max(self.drift[0], worst[0]), max(self.drift[1], worst[1])

    def _brake(self, velocity: np.ndarray, out: np.ndarray) -> None:
        self._move_links(np.zeros(len(self.tau)))
        super()._brake(velocity, out)

    def _reset(self, q: np.ndarray, v: np.ndarray) -> None:
        super()._reset(q, v)
        self.drift = 0.0, 0.0

    def _move_links(self, tau: np.ndarray) -> tuple[float, float]:
        """Write q_next and v_next after a step with efforts (k,), without friction and stops; the drift of it."""
        engine, model = self._engine, self.model
        forces, limit = np.zeros(model.nv), engine.effort_limit
        forces[engine.joint_coordinate] = np.clip(tau, -limit, limit)
        pushes = [
            (int(engine.push_frame[p]), np.array(engine.push_wrench[p]))
            for p in np.flatnonzero(engine.push_steps > 0.0)
        ]
        damping = np.array(engine.damping) if np.any(engine.damping) else None
        links = link_state(model, self.q, self.v)
        links = step_links(model, links, forces, self.settings.step, damping, pushes)
        engine.q_next, engine.v_next = hinge_coordinates(model, links, self.q)
        return drift(model, links)
