"""Which forces go to Gazebo and when; knows no ROS.

Gazebo keeps the last force of a joint for ever, through a pause too, so the bridge has the watchdog: forces go to
zero when no command came for `command_timeout` of simulated time, or when neither Gazebo nor a controller said
anything for `silence_timeout` of real time. A paused world repeats its stamp: there, neither runs out.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["ForceCounters", "ForceGuard"]


@dataclass
class ForceCounters:
    """What happened since the start."""

    commands: int = 0
    refused: int = 0
    extra: int = 0
    watchdog: int = 0


class ForceGuard:
    """Checks commands and decides when forces must be zeroed and, in lock-step, when the world may step.

    Attributes:
        counters: see `ForceCounters`.
        reason: why the last command was refused, "" if none was.
        armed: forces other than zero may be acting in Gazebo.
    """

    def __init__(self, joints: Sequence[str], limits: Sequence[float], command_timeout: float,
                 silence_timeout: float, lockstep: bool) -> None:
        self._joints = list(joints)
        self._limits = np.asarray(limits, float) if len(limits) else np.full(len(joints), np.inf)
        self.command_timeout, self.silence_timeout, self._lockstep = command_timeout, silence_timeout, lockstep
        self.counters = ForceCounters()
        self.reason = ""
        self.armed = False
        self._stamp: float | None = None  # of the last state
        self._commanded_at = 0.0  # simulated time of the last command
        self._heard_at = 0.0  # real time of the last message from either side
        self._answered = False  # a command has come since the last new state

    @property
    def is_waiting(self) -> bool:
        """Has the last state not been answered by a command?"""
        return self._stamp is not None and not self._answered

    def command(self, values: Sequence[float], now: float) -> np.ndarray | None:
        """The forces (k,) to send for a command that came at the real time `now`, or None.

        In lock-step only the first command after each state counts; later ones are extra.
        """
        refusal = self._refusal(values)
        if refusal:
            self.counters.refused += 1
            self.reason = refusal
            return None
        if self._lockstep and not self.is_waiting:
            self.counters.extra += 1
            return None
        self.counters.commands += 1
        self._answered = True
        self.armed = True
        self._commanded_at = self._stamp or 0.0
        self._heard_at = now
        return np.asarray(values, float)

    def state(self, stamp: float, now: float) -> None:
        """A state with a new stamp arrived; a stamp before the last one is that of a world that was reset."""
        if self._stamp is not None and stamp < self._stamp:
            self._commanded_at = stamp
        self._stamp = stamp
        self._answered = False
        self._heard_at = now

    def heard(self, now: float) -> None:
        """A repeated state arrived: the world is paused."""
        self._heard_at = now

    def must_zero(self, now: float) -> bool:
        """Has a time-out run out? True once; the caller then sends zeros."""
        if not self.armed:
            return False
        stale = self._stamp is not None and self._stamp - self._commanded_at > self.command_timeout
        silent = now - self._heard_at > self.silence_timeout
        if not (stale or silent):
            return False
        self.armed = False
        self.counters.watchdog += 1
        return True

    def _refusal(self, values: Sequence[float]) -> str:
        """Why a command is not taken, "" if it is."""
        if len(values) != len(self._joints):
            return f"{len(values)} efforts for {len(self._joints)} joints"
        efforts = np.asarray(values, float)
        for bad, what in ((~np.isfinite(efforts), "is not finite"),
                          (np.abs(efforts) > self._limits, "is beyond the effort limit")):
            if bad.any():
                at = int(np.argmax(bad))
                return f"the effort of {self._joints[at]}, {efforts[at]:g}, {what}"
        return ""
