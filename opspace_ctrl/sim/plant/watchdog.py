# SPDX-License-Identifier: Apache-2.0
"""The drives' watchdog: what they do when commands stay away."""

import numpy as np

from ...dynamics import mass_matrix
from ...errors import ConfigurationError, listed, quoted
from ...model import Model

__all__ = ["ACTIONS", "Watchdog", "damping_effort"]

ACTIONS = ("zero", "hold", "damping")
SAME_TIME = 1e-9  # [s]: times are sums of steps
BRAKING_TIME = (
    0.05  # [s]: time constant of the joint speeds under `damping`, were there no other forces
)


def damping_effort(model: Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """tau = -H_jj v_j / T (k,) of the joints: speeds decay with T = BRAKING_TIME whatever the robot's size."""
    joints = ~model.is_base_coordinate
    return -(mass_matrix(model, q)[np.ix_(joints, joints)] @ v[joints]) / BRAKING_TIME


class Watchdog:
    """Trips when no command has come for `timeout` simulated seconds, and recovers with the next one.

    Attributes:
        timeout: [s]; 0 switches it off.
        action: What the drives then do: one of ACTIONS.
        is_tripped: Whether they do it now.
        trips: How often it happened.
    """

    def __init__(self, timeout: float, action: str):
        if not (np.isfinite(timeout) and timeout >= 0.0):
            raise ConfigurationError(
                f"command_timeout = {quoted(timeout)}; a number >= 0 [s] is valid, 0 = off"
            )
        if action not in ACTIONS:
            raise ConfigurationError(f"timeout_action = {quoted(action)}; valid: {listed(ACTIONS)}")
        self.timeout, self.action = timeout, action
        self.is_tripped, self.trips = False, 0
        self._fed: float | None = None

    def clear(self) -> None:
        """Wait for the first command again."""
        self._fed, self.is_tripped = None, False

    def feed(self, time: float) -> bool:
        """A command came; True if the drives were waiting for it."""
        recovered, self.is_tripped, self._fed = self.is_tripped, False, time
        return recovered

    def trip(self, time: float) -> bool:
        """Look at the clock; True if it trips now."""
        is_late = (
            self.timeout > 0.0
            and self._fed is not None
            and time - self._fed > self.timeout + SAME_TIME
        )
        if not is_late or self.is_tripped:
            return False
        self.is_tripped = True
        self.trips += 1
        return True
