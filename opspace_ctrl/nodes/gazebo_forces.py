# SPDX-License-Identifier: Apache-2.0
"""Which forces go to Gazebo and when; knows no ROS.

Gazebo keeps the last force of a joint for ever, through a pause too, so the bridge has the watchdog. It bites when no
command came for `command_timeout` of simulated time, or when Gazebo said nothing for `silence_timeout` of real time. A
paused world repeats its stamp: there, neither runs out.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .gazebo_watch import Watch

__all__ = ["ForceGuard"]


class ForceGuard:
    """Checks commands, watches for their absence, and says in lock-step which command counts.

    Args:
        settings: the bridge's parameters.
        watch: when Gazebo was heard.

    Attributes:
        settings: the bridge's parameters; may be replaced while it runs.
        counters: what happened since the start, by name.
        reason: why the last command was refused, "" if none was.
        tripped: the watchdog has bitten and no command came since.
    """

    def __init__(self, settings: Mapping[str, Any], watch: Watch) -> None:
        self.settings = settings
        self._watch = watch
        self._joints = settings["joints"]
        limits = settings["effort_limits"]
        self._limits = np.asarray(limits, float) if limits else np.full(len(self._joints), np.inf)
        self._refused_above = self._limits * (1.0 + 1e-9)  # a controller that clips may round
        self._is_lockstep = settings["lockstep"]
        self.counters = dict.fromkeys(("commands", "refused", "extra", "watchdog"), 0)
        self.reason = ""
        self.tripped = False
        self._is_armed = False  # forces other than zero may be acting
        self._stamp: float | None = None  # of the last state
        self._commanded_at = 0.0  # simulated time of the last command
        self._answered = False  # a command has come since the last new state

    @property
    def is_waiting(self) -> bool:
        """Has the last state not been answered by a command?"""
        return self._stamp is not None and not self._answered

    def command(self, values: Sequence[float], now: float) -> np.ndarray | None:
        """The forces (k,) to send for a command that came at the real time `now`, or None.

        A command is the answer to a state: without one from Gazebo, which may have gone silent since, it counts as
        extra. So do, in lock-step, all but the first after each state.
        """
        refusal = self._refusal(values)
        if refusal:
            self.counters["refused"] += 1
            self.reason = refusal
            return None
        if self.is_silent(now) or self._stamp is None or (self._is_lockstep and self._answered):
            self.counters["extra"] += 1
            return None
        self.counters["commands"] += 1
        self._answered = self._is_armed = True
        self.tripped = False
        self._commanded_at = self._stamp
        return np.asarray(values, float)

    def state(self, stamp: float) -> None:
        """A state with a new stamp is handed on; one before the last belongs to a world that was reset."""
        if self._stamp is not None and stamp < self._stamp:
            self._commanded_at = stamp
        self._stamp = stamp
        self._answered = False

    def is_silent(self, now: float) -> bool:
        """Has Gazebo said nothing for the silence's time-out?"""
        return self._watch.is_silent(now, self.settings["silence_timeout"])

    def bites(self, now: float) -> bool:
        """Has a time-out run out? True once until the next command."""
        if not self._is_armed:
            return False
        # half a nanosecond: stamps are whole nanoseconds, their differences as floats are not
        is_stale = self._stamp is not None and (
            self._stamp - self._commanded_at > self.settings["command_timeout"] + 5e-10
        )
        if not (is_stale or self.is_silent(now)):
            return False
        self._is_armed = False
        self.tripped = True
        self.counters["watchdog"] += 1
        return True

    def fallback(self, velocities: np.ndarray) -> np.ndarray | None:
        """The forces (k,) while the watchdog has bitten; None: the last ones stay."""
        action = self.settings["timeout_action"]
        if action == "hold":
            return None
        if action == "damping" and len(velocities) == len(self._joints):
            return np.clip(
                -self.settings["timeout_damping"] * velocities, -self._limits, self._limits
            )
        return np.zeros(len(self._joints))

    def _refusal(self, values: Sequence[float]) -> str:
        """Why a command is not taken, "" if it is."""
        if len(values) != len(self._joints):
            return f"{len(values)} efforts for {len(self._joints)} joints"
        efforts = np.asarray(values, float)
        for bad, what in (
            (~np.isfinite(efforts), "is not finite"),
            (np.abs(efforts) > self._refused_above, "is beyond the effort limit"),
        ):
            if bad.any():
                at = int(np.argmax(bad))
                return f"the effort of {self._joints[at]}, {efforts[at]:g}, {what}"
        return ""
