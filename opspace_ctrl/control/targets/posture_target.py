# SPDX-License-Identifier: Apache-2.0
"""The reference of the posture: joint positions that are approached with the least jerk, as a program of the tick."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ...compiled.jit import prepare
from ...errors import SettingsError, TargetError, listed, quoted
from ...model import Model
from ...model.joints import NQ
from ..posture import Posture
from . import entries
from .references import References
from .target import vector

__all__ = ["PostureTarget"]


class PostureTarget:
    """Where the joints should be in the null space of the tasks, model order."""

    def __init__(self, model: Model, settings: Posture):
        self._model = model
        self._entry = {
            model.body_joint_names[i]: (int(model.q_index[i]), int(place))
            for i, place in zip(np.flatnonzero(~model.is_mimic), _places(model))
            if NQ[model.joint_type[i]] == 1
        }
        self._k = int((~model.is_base_coordinate).sum())
        prepare(entries.ENTRIES)
        self._own = References(t=0, k=self._k, capacity=1, **self.joints())
        self.settings = settings
        self.check(settings)

    @property
    def program(self) -> np.ndarray:
        """(n, 2 + 6 k): start, end, six coefficients a joint; a view that the next target changes."""
        return self._own.posture_table[: self._own.posture_rows]

    def joints(self) -> dict[str, np.ndarray]:
        """What `References` has of every joint, in model order."""
        joint_q = np.full(self._k, -1)
        for entry, place in self._entry.values():
            joint_q[place] = entry
        lower, upper = self._model.position_limits.T
        return {"joint_q": joint_q, "joint_lower": lower, "joint_upper": upper}

    def take(self, references: References) -> None:
        """Let joints be as fast as the references of a law have it."""
        self._own.joint_speed = references.joint_speed

    def check(self, settings: Posture) -> None:
        """Do the settings fit the robot?

        Raises:
            SettingsError: An unknown joint, or a wrong number of positions or gains.
        """
        names = settings.joints or tuple(self._model.joint_names)
        for name in settings.joints:
            if name not in self._entry:
                raise SettingsError(
                    f"posture.joints: no joint {quoted(name)}; valid are {listed(self._entry)}"
                )
        settings.check_sizes(
            len(names), "joints of " + ("posture.joints" if settings.joints else "the robot")
        )

    def hold(self, q: np.ndarray, time: float) -> None:
        """Take the present joint positions as the posture."""
        entries.rest_in_posture(q, time, self._own.address)

    def start(self, q: np.ndarray, time: float) -> None:
        """Begin where the robot is, and approach the positions of the settings where they are given."""
        self.hold(q, time)
        self.move_to_settings(time)

    def move_to_settings(self, time: float) -> None:
        """Approach the positions of the settings, where they are given."""
        if self.settings.positions:
            self.move(
                self.settings.joints or tuple(self._model.joint_names),
                self.settings.positions,
                None,
                time,
            )

    def move(self, names: Sequence[str], positions, velocities, time: float) -> None:
        """Approach positions, to arrive with the velocities (None or empty: at rest); other joints go on as they do.

        Raises:
            TargetError: Unknown or repeated names, wrong sizes, numbers that are not finite.
        """
        places = self._places_of(names)
        given, position, speed = np.zeros((3, self._k))
        given[places] = 1.0
        position[places] = vector("posture: positions", positions, len(places))
        speeds = vector("posture: velocities", () if velocities is None else velocities, -1)
        if len(speeds):
            speed[places] = vector("posture: velocities", speeds, len(places))
        entries.approach_posture(given, position, speed, time, self._own.address)

    def _places_of(self, names: Sequence[str]) -> np.ndarray:
        if isinstance(names, str) or not isinstance(names, Iterable):
            raise TargetError(f"posture: {quoted(names)} is not a list of joints")
        names = [*names]
        if len(set(map(str, names))) != len(names):
            raise TargetError(f"posture: a joint is given twice in {quoted(list(names))}")
        for name in names:
            if not isinstance(name, str) or name not in self._entry:
                raise TargetError(
                    f"posture: no joint {quoted(name)}; valid are {listed(self._entry)}"
                )
        return np.array([self._entry[name][1] for name in names], int)


def _places(model: Model) -> list[int]:
    """Place of each moving body's first coordinate among the joint coordinates (base left out)."""
    before = np.concatenate([[0], np.cumsum(~model.is_base_coordinate)])
    return [int(before[model.v_index[i]]) for i in np.flatnonzero(~model.is_mimic)]
