"""Says what the gates do: a warning for each change, the state of safety for other machines, the black box."""

from __future__ import annotations

from time import monotonic

import numpy as np

from ..control.safety.fields import ADVISORY
from ..control.safety.settings import GATES
from ..control.safety.state_gate import StateGate, names_of
from .black_box import BlackBox
from .control_loop import ControlLoop

__all__ = ["GATE_TEXTS", "GateWatch"]

QUIET = 1.0  # [s] between two warnings about one gate; the diagnostics count every closing
GATE_TEXTS = {
    "first": "no joint states yet",
    "state": "joint states are stale",
    "odom": "odometry is missing or old",
    "clock": "the stamps of joint_states jumped",
    "finite": "a number that is used is NaN or infinite",
    "quaternion": "the base's quaternion is not normalised",
    "size": "arrays of joint_states do not fit, or a message cannot be read",
    "names": "joints are missing, named twice, or odom is about another link",
    "velocity": "joints are faster than they can be, or their velocities do not fit their positions",
    "enable": "nobody permits motion",
    "position": "joints are outside their limits",
    "overrun": "ticks take too long",
    "publishers": "a target has several publishers",
    "target": "a target is stale",
    "error": "the control loop failed",
    "stop": "emergency stop",
}


class GateWatch:
    """Looks at the gates often; one that was closed only between two looks shows in its count."""

    def __init__(self, gate: StateGate, loop: ControlLoop, box: BlackBox, logger):
        self._gate, self._loop, self._box, self._logger = gate, loop, box, logger
        self._seen = gate.closings.copy()
        self._said = np.full(len(GATES), -np.inf)
        self._was_blocked = False

    def look(self) -> str:
        """The state of safety: inactive, active, or the closed gates that stop the control."""
        gate, loop = self._gate, self._loop
        counts = gate.closings.copy()
        new = np.flatnonzero(counts != self._seen)
        self._seen = counts
        if not loop.is_active:
            self._was_blocked = False
            return "stop" if gate.is_stopped else "inactive"
        if len(new):
            self._tell(new, counts)
        blocking = gate.closed & ~ADVISORY
        if self._was_blocked and not blocking:
            self._logger.info("all gates are open")
        self._was_blocked = bool(blocking)
        return " ".join(names_of(blocking)) or "active"

    def _tell(self, new: np.ndarray, counts: np.ndarray) -> None:
        """Warn of gates that have closed, each once a second at most, and keep what led to it."""
        names = [GATES[i] for i in reversed(new)]
        if self._loop.is_active:
            self._box.keep(" ".join(names))
        now = monotonic()
        texts = [
            f"{GATES[i]} ({counts[i]} times): {GATE_TEXTS[GATES[i]]}"
            for i in reversed(new)
            if now - self._said[i] > QUIET
        ]
        if texts:
            self._said[new] = now
            self._logger.warning(f"closed: {'; '.join(texts)}")
