# SPDX-License-Identifier: Apache-2.0
"""Says what the gates do: a warning for each change, the state of safety for other machines, the black box."""

from collections.abc import Callable, Sequence
from time import monotonic

import numpy as np

from ..control.safety.fields import ADVISORY, BIT
from ..control.safety.settings import GATES
from ..control.safety.state_gate import StateGate, names_of
from ..control.safety.words import GATE_TEXTS
from .black_box import BlackBox
from .control_loop import ControlLoop

__all__ = ["GateWatch"]

QUIET = 1.0  # [s] between two warnings about one gate; the diagnostics count every closing


class GateWatch:
    """Looks at the gates often; one that was closed only between two looks shows in its count."""

    def __init__(
        self,
        gate: StateGate,
        loop: ControlLoop,
        box: BlackBox,
        dropped: Callable[[], Sequence[str]],
        logger,
    ):
        """Dropped: what was on its way to a target when the control was last stopped."""
        self._gate, self._loop, self._box = gate, loop, box
        self._dropped, self._logger = dropped, logger
        self._seen = gate.closings.copy()
        self._said = np.full(len(GATES), -np.inf)
        self._untold = np.zeros(len(GATES), bool)  # it has closed since that was last said
        self._is_told = False  # that the control is stopped
        self._trouble = ""  # of the black box, as it was told

    def look(self) -> str:
        """The state of safety: inactive, active, or the closed gates that stop the control."""
        gate, loop = self._gate, self._loop
        if self._box.trouble != self._trouble:
            self._trouble = self._box.trouble
            if self._trouble:
                self._logger.warning(f"no black box was kept: {self._trouble}")
        counts = gate.closings.copy()
        new = np.flatnonzero(counts != self._seen)
        self._seen = counts
        if not loop.is_active:
            self._untold[:] = self._is_told = False
            return "stop" if gate.is_stopped else "inactive"
        if len(new):
            self._box.keep(" ".join(GATES[i] for i in reversed(new)))
            self._untold[new] = True
        if self._untold.any():
            self._tell(counts)
        blocking = gate.closed & ~ADVISORY
        if self._is_told and not (blocking or gate.must_restart or self._untold.any()):
            self._is_told = False
            ended = ", ".join(self._dropped())
            self._logger.info(
                "all gates are open"
                + f"; the motion to the target of {ended} was ended: send it again" * bool(ended)
            )
        return " ".join(names_of(blocking)) or "active"

    def _tell(self, counts: np.ndarray) -> None:
        """Warn of gates that have closed, each once a second at most."""
        now = monotonic()
        due = np.flatnonzero(self._untold & (now - self._said > QUIET))
        if len(due):
            self._untold[due], self._said[due] = False, now
            self._is_told |= any(BIT[GATES[i]] & ~ADVISORY for i in due)
            texts = (
                f"{GATES[i]} ({counts[i]} times): {GATE_TEXTS[GATES[i]]}" for i in reversed(due)
            )
            self._logger.warning(f"closed: {'; '.join(texts)}")
