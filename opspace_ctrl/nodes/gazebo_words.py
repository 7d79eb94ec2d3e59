# SPDX-License-Identifier: Apache-2.0
"""What the Gazebo bridge says of itself and of both sides; knows no ROS."""

from collections.abc import Mapping
from typing import Any, Protocol

from .gazebo_forces import ForceGuard
from .gazebo_states import Pairing
from .gazebo_watch import Watch

__all__ = ["Words"]


class Rejecting(Protocol):
    """Whatever counts messages that it cannot take, and says why."""

    rejected: int
    problem: str


class Words:
    """The bridge's condition in words, the most important one first: no later one is true while an earlier one is.

    The words carry no numbers, so that they change only when the condition does; the numbers are beside them.
    """

    def __init__(self, watch: Watch, guard: ForceGuard, pairing: Pairing, relay: Rejecting) -> None:
        self._watch, self._guard, self._pairing, self._relay = watch, guard, pairing, relay
        self._counted: dict[str, int] = {}  # when it was last asked

    def __call__(
        self, now: float, settings: Mapping[str, Any], lacking: str, has_run: bool
    ) -> tuple[str, str, dict[str, Any]]:
        """(level, condition, numbers by name) at the real time `now` [s].

        Args:
            now: the real time.
            settings: the bridge's parameters.
            lacking: what would not arrive in Gazebo, "" if everything would.
            has_run: the world was started by a command.
        """
        counts = {
            **self._guard.counters,
            "repeats": self._pairing.repeats,
            "unpaired": self._pairing.unpaired,
            "rejected_states": self._relay.rejected,
            "asked_again": self._watch.again,
            "restarts": self._watch.restarts,
        }
        grown = {name for name, count in counts.items() if count > self._counted.get(name, 0)}
        self._counted = counts
        level, text = (
            self._of_gazebo(now, lacking)
            or self._of_standing(settings, grown, has_run)
            or self._of_commands(settings, grown)
        )
        values = {
            "seconds_without_gazebo": self._watch.silence(now),
            "seconds_standing": self._watch.stood(),
            "last_refusal": self._guard.reason,
        }
        return level, text, counts | values

    def _of_gazebo(self, now: float, lacking: str) -> tuple[str, str] | None:
        """Is it there?"""
        if self._watch.silence(now) == float("inf"):
            return "warn", "no state from Gazebo yet: do its server and ros_gz_bridge run?"
        if self._guard.is_silent(now):
            return "error", "Gazebo is silent: its server or ros_gz_bridge has ended or hangs"
        return ("warn", lacking) if lacking else None

    def _of_standing(
        self, settings: Mapping[str, Any], grown: set[str], has_run: bool
    ) -> tuple[str, str] | None:
        """Does its time move?"""
        if "asked_again" in grown:
            return "warn", "the world did not obey: a request was lost, and is made again"
        if self._watch.stood() <= settings["resend"]:
            return None
        has_control = settings["lockstep"] or settings["run_on_command"]
        if self._pairing.lacks_odometry:
            remedy = "it is stepped until it does" if has_control else "start it"
            return "warn", f"the world stands and does not say where the base is: {remedy}"
        if settings["lockstep"]:
            return "warn", "the world waits for a command of the controller"
        if settings["run_on_command"] and not has_run:
            return "warn", "the world waits for the first command of the controller"
        return "warn", "the world is paused"

    def _of_commands(self, settings: Mapping[str, Any], grown: set[str]) -> tuple[str, str]:
        """Is it commanded?"""
        if self._guard.tripped or "watchdog" in grown:
            return "warn", f"no command in time: {settings['timeout_action']}"
        if "refused" in grown:
            return "warn", f"a command was refused: {self._guard.reason}"
        if "rejected_states" in grown:
            return "warn", f"a state of Gazebo was not taken: {self._relay.problem}"
        return "ok", "relaying"
