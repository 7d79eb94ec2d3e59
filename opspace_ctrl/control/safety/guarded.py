# SPDX-License-Identifier: Apache-2.0
"""`GuardedController`: a controller behind its gates: for everything that happens, the command to send, if any.

It knows no ROS and has no thread or clock of its own. All times in ns, as `StateGate` says. What is to be done is
decided by kernels, `decisions`, for C too; here it is carried out.
"""

from threading import Lock

import numpy as np

from ..controller import Controller
from . import entries
from .decisions import WATCH
from .door import NOMINAL
from .fields import BIT, DROPPED, NOTHING, SAFE, START
from .settings import SAFE_COMMANDS
from .state_gate import StateGate

__all__ = ["WATCH", "GuardedController"]


class GuardedController:
    """Runs a controller on the states that its gate believes, and replaces it while a gate is closed.

    Attributes:
        controller, gate: See there.
        lock: Held while targets are taken, and while the controller starts again.
    """

    def __init__(self, controller: Controller, gate: StateGate):
        self.controller, self.gate, self.lock = controller, gate, Lock()
        self._last = np.zeros(len(controller.joints))  # the newest safe command

    @property
    def is_active(self) -> bool:
        """Do commands go out?"""
        return self.gate.is_active == 1

    @property
    def is_ticking(self) -> bool:
        """Was the last command the controller's?"""
        return self.gate.is_ticking == 1

    # ---- what happens ----

    def activate(self, time: int, steady: int) -> np.ndarray | None:
        """Let commands out, the first free of the rate limit; the newest state is answered if it still counts."""
        self.controller.begin()
        return self._done(entries.activate(time, steady, self.gate.address), time, steady)

    def deactivate(self) -> np.ndarray | None:
        """The last command: what it replaces may be far from it. None follows."""
        gate = self.gate
        if entries.deactivate(gate.address) == NOTHING:
            return None
        self.controller.begin()
        kind = SAFE_COMMANDS[gate.safe_kind]
        return self.controller.safe_command(kind, gate.q, gate.v, gate.safe_time)

    def answer(self, verdict: int, time: int, steady: int) -> np.ndarray | None:
        """The gate has judged a message (READY, REFUSED): a torque of the law, or what the gates permit."""
        decision = entries.answer(verdict, time, steady, self.gate.address)
        return self._done(decision, time, steady) if decision != NOTHING else None

    def watch(self, time: int, steady: int) -> np.ndarray | None:
        """Nothing that counts has come: close the gates whose time it is, and keep sending what they permit."""
        return self.answer(DROPPED, time, steady)

    def left(self, tau: np.ndarray | None) -> None:
        """The newest command could not be sent, or only later: the next is compared with `tau`, which was sent last.

        None: nothing was sent since the activation.
        """
        if tau is None:
            self.controller.begin()
        else:
            self.controller.left(tau)

    def timeout(self) -> float:
        """How long to wait for a message before `watch` [s]."""
        gate = self.gate
        if not self.is_active:
            return WATCH
        if gate.closed and gate.is_moving:
            return max(gate.period, NOMINAL)
        settings = gate.settings
        return min(WATCH, 0.5 * max(settings.state_timeout, settings.state_periods * gate.period))

    # ---- what follows ----

    def _done(self, decision: int, time: int, steady: int) -> np.ndarray | None:
        """The command of a decision."""
        gate, controller = self.gate, self.controller
        if decision == START and not self._restart():
            decision = entries.refrain(0, time, steady, gate.address)
        if decision > SAFE:
            tau = controller.tick(gate.q, gate.v, gate.told, steady * 1e-9)
            if controller.is_finite:
                return tau
            # tau is that of the tick before, which must not stand
            decision = entries.refrain(BIT["finite"], time, steady, gate.address)
        return self._safe(steady) if decision == SAFE else None

    def _restart(self) -> bool:
        """Let the controller start again where the robot is, unless a target is just being taken."""
        if not self.lock.acquire(blocking=False):
            return False
        try:
            self.controller.restart(self.gate.q, self.gate.v, self.gate.told)
        finally:
            self.lock.release()
        self.gate.must_restart = 0
        return True

    def _safe(self, steady: int) -> np.ndarray:
        """What the closed gates permit."""
        gate = self.gate
        kind = SAFE_COMMANDS[gate.safe_kind]
        tau = self.controller.safe_command(kind, gate.q, gate.v, gate.safe_time, steady * 1e-9)
        gate.is_moving = bool((tau != self._last).any())
        self._last[:] = tau
        return tau
