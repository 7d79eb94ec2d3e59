# SPDX-License-Identifier: Apache-2.0
"""What the bridge knows of Gazebo: is it there, does its time move, does it obey; knows no ROS.

All times are real ones [s], for simulated time stands when something is wrong.
"""

__all__ = ["Watch"]


class Watch:
    """Clocks of Gazebo's side.

    Attributes:
        again: requests that were made again because the world had not obeyed.
        restarts: how often its time has gone back: a reset, or another server.
    """

    def __init__(self) -> None:
        self.again = 0
        self.restarts = 0
        self._stamp: int | None = None  # of the newest joint state
        self._heard_at: float | None = None
        self._moved_at = 0.0
        self._asked_at: float | None = None  # since its time moved

    def heard(self, stamp: int, now: float) -> bool:
        """A joint state of a stamp [ns] came; whether it belongs to a world that begins anew."""
        begins_anew = self._stamp is not None and stamp < self._stamp
        self._heard_at = now
        if stamp != self._stamp:
            self._stamp, self._moved_at, self._asked_at = stamp, now, None
        self.restarts += begins_anew
        return begins_anew

    def asked(self, now: float) -> None:
        """The world was asked to step or to run."""
        self.again += self._asked_at is not None
        self._asked_at = now

    def silence(self, now: float) -> float:
        """For how long nothing has come from Gazebo; infinite if nothing ever has."""
        return float("inf") if self._heard_at is None else now - self._heard_at

    def is_silent(self, now: float, patience: float) -> bool:
        """Has nothing come for longer than this?"""
        return self.silence(now) > patience

    def stood(self) -> float:
        """For how long Gazebo has repeated the same stamp, up to its last message."""
        return 0.0 if self._heard_at is None else self._heard_at - self._moved_at

    def is_disobeyed(self, patience: float) -> bool:
        """Was the world asked, and stands still so long after that: was the request lost?

        Only what Gazebo has said counts, so that a server that is busy with a step is not asked for another.
        """
        if self._asked_at is None or self._heard_at is None:
            return False
        return self._heard_at - self._asked_at > patience
