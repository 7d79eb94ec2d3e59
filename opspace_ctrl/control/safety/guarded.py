"""`GuardedController`: a controller behind its gates: for everything that happens, the command to send, if any.

It knows no ROS and has no thread or clock of its own. All times in ns, as `StateGate` says.
"""

from threading import Lock

import numpy as np

from ..controller import Controller
from ..core import NAN
from .door import NOMINAL
from .fields import READY, REFUSED
from .state_gate import StateGate

__all__ = ["WATCH", "GuardedController"]

WATCH = 0.1  # [s] between two looks at the gates, and two safe commands, while no state comes


class GuardedController:
    """Runs a controller on the states that its gate believes, and replaces it while a gate is closed.

    Attributes:
        controller, gate: See there.
        lock: Held while targets are taken, and while the controller starts again.
        is_active: Commands go out.
        is_ticking: The last command was the controller's.
    """

    def __init__(self, controller: Controller, gate: StateGate):
        self.controller, self.gate, self.lock = controller, gate, Lock()
        self.is_active = self.is_ticking = False
        self._told = 0.0  # the controller's time of what was answered last [s]
        self._sent = ("", 0)  # the newest safe command, and when it was sent
        self._last = np.zeros(len(controller.joints))
        self._is_moving = False  # a safe command is being approached

    # ---- what happens ----

    def activate(self, time: int, steady: int) -> np.ndarray | None:
        """Let commands out, the first free of the rate limit; the newest state is answered if it still counts."""
        gate = self.gate
        gate.begin()
        self.controller.begin()
        self._sent, self._is_moving, self.is_active = ("", 0), False, True
        # in lock-step nothing more comes until the newest state is answered
        is_there = gate.has_state and not gate.is_waiting and not gate.check(time, steady)
        return self.answer(READY, time, steady) if is_there else None

    def deactivate(self) -> np.ndarray | None:
        """The last command: what it replaces may be far from it. None follows."""
        gate, was_active = self.gate, self.is_active
        self.is_active = self.is_ticking = False
        if not (was_active and gate.has_state):
            return None
        self.controller.begin()
        return self.controller.safe_command(gate.last_permitted(), gate.q, gate.v, gate.time)

    def answer(self, verdict: int, time: int, steady: int) -> np.ndarray | None:
        """The gate has judged a message (READY, REFUSED): a torque of the law, or what the gates permit."""
        if verdict not in (READY, REFUSED):
            return self.watch(time, steady)
        gate, controller = self.gate, self.controller
        is_blocked = gate.check(time, steady)
        if not self.is_active:
            return None
        # what was refused told no time: a period has passed
        self._told = gate.time if verdict == READY else self._told + gate.period
        if is_blocked or (gate.must_restart and not self._restart()):
            return self._safe(self._told, steady)
        tau = controller.tick(gate.q, gate.v, self._told, steady * 1e-9)
        if controller.is_finite:
            self.is_ticking = True
            return tau
        # tau is that of the tick before, which must not stand
        gate.fail("finite")
        gate.check(time, steady)
        return self._safe(self._told, steady)

    def watch(self, time: int, steady: int) -> np.ndarray | None:
        """Nothing that counts has come: close the gates whose time it is, and keep sending what they permit."""
        gate = self.gate
        if gate.is_waiting and (steady - gate.last_arrival) * 1e-9 > gate.settings.odom_timeout:
            return self.answer(gate.give_up_odometry(time), time, steady)
        if not gate.check(time, steady) or not self.is_active:
            return None
        kind, sent = self._sent
        is_due = self._is_moving or self.is_ticking or (steady - sent) * 1e-9 >= WATCH
        return self._safe(NAN, steady) if is_due or kind != gate.permitted(steady) else None

    def timeout(self) -> float:
        """How long to wait for a message before `watch` [s]."""
        gate = self.gate
        if not self.is_active:
            return WATCH
        if gate.closed and self._is_moving:
            return max(gate.period, NOMINAL)
        settings = gate.settings
        return min(WATCH, 0.5 * max(settings.state_timeout, settings.state_periods * gate.period))

    # ---- what follows ----

    def _restart(self) -> bool:
        """Let the controller start again where the robot is, unless a target is just being taken."""
        if not self.lock.acquire(blocking=False):
            return False
        try:
            self.controller.restart(self.gate.q, self.gate.v, self.gate.time)
        finally:
            self.lock.release()
        self.gate.must_restart = 0
        return True

    def _safe(self, time: float, steady: int) -> np.ndarray | None:
        """What the closed gates permit; nothing before the first state, for the robot may be holding itself."""
        gate = self.gate
        self.is_ticking = False
        if not gate.has_state:
            return None
        kind = gate.permitted(steady)
        self._sent = (kind, steady)
        tau = self.controller.safe_command(kind, gate.q, gate.v, time, steady * 1e-9)
        self._is_moving = bool((tau != self._last).any())
        self._last[:] = tau
        return tau
