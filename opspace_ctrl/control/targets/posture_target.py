"""The reference of the posture: joint positions that are approached with the least jerk, as a program of the tick."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...errors import SettingsError, TargetError, listed, quoted
from ...model import Model
from ...model.joints import NQ
from ..posture import Posture
from . import segments
from .target import vector

__all__ = ["PostureTarget"]

# of the least time: a joint in motion may need more to keep its speed
STRETCHES = np.array([1.0, 1.2, 1.5, 2.0, 3.0])
SLOWEST = 1e-6  # [rad/s or m/s] a velocity limit that is lower, as the zero of many URDFs, is none
SLOWING = 0.2  # [s] in which a posture that was given a velocity comes to rest


class PostureTarget:
    """Where the joints should be in the null space of the tasks, model order.

    Attributes:
        program: (n, 2 + 6 k): start, end, six coefficients a joint.
    """

    def __init__(self, model: Model, settings: Posture):
        self._model = model
        self._entry = {
            model.body_joint_names[i]: (int(model.q_index[i]), int(place))
            for i, place in zip(np.flatnonzero(~model.is_mimic), _places(model))
            if NQ[model.joint_type[i]] == 1
        }
        self._k = int((~model.is_base_coordinate).sum())
        self.program: np.ndarray = np.zeros((1, 2 + 6 * self._k))
        self.settings = settings
        self.check(settings)

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

    def gains(self) -> tuple[np.ndarray, np.ndarray]:
        """Stiffness and damping (k,); joints that the posture leaves out are only damped."""
        s = self.settings
        stiffness, damping = np.zeros(self._k), np.full(self._k, s.null_damping)
        kp, kd = s.gains()
        if s.enabled:
            for number, name in enumerate(s.joints or self._model.joint_names):
                if name in self._entry:
                    place = self._entry[name][1]
                    stiffness[place] = kp[number if len(kp) > 1 else 0]
                    damping[place] = kd[number if len(kd) > 1 else 0]
        return stiffness, damping

    def hold(self, q: np.ndarray, time: float) -> None:
        """Take the present joint positions as the posture."""
        self.program = self._row(time, time + segments.SHORTEST, self._at_rest(q))[None]

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
        positions = vector("posture: positions", positions, len(places))
        has_speed = velocities is not None and len(velocities) > 0
        speeds = (
            vector("posture: velocities", velocities, len(places))
            if has_speed
            else np.zeros(len(places))
        )
        now, end = self._state(time), self._state(np.inf)
        goal, speed = end[0], np.zeros(self._k)
        limits = self._model.position_limits[places]
        goal[places] = np.clip(positions, limits[:, 0], limits[:, 1])
        most = np.where(
            self._model.velocity_limits > SLOWEST,
            np.minimum(self.settings.speed, self._model.velocity_limits),
            self.settings.speed,
        )
        speed[places] = np.clip(speeds, -most[places], most[places])
        zero = np.zeros(self._k)
        shortest = max(
            0.1, segments.PEAK_SPEED * float(np.max(np.abs(goal - now[0]) / most, initial=0.0))
        )
        T, there = min(
            (
                (T, segments.quintic(now[0], now[1], now[2], goal, speed, zero, T))
                for T in shortest * STRETCHES
            ),
            key=lambda way: max(1.0, _excess(way[1], way[0], most)),
        )
        rest = segments.brake(goal, speed, zero, SLOWING)
        self.program = np.stack(
            [self._row(time, time + T, there), self._row(time + T, time + T + SLOWING, rest)]
        )

    def _places_of(self, names: Sequence[str]) -> np.ndarray:
        if len(set(names)) != len(names):
            raise TargetError(f"posture: a joint is given twice in {quoted(list(names))}")
        for name in names:
            if name not in self._entry:
                raise TargetError(
                    f"posture: no joint {quoted(name)}; valid are {listed(self._entry)}"
                )
        return np.array([self._entry[name][1] for name in names], int)

    def _state(self, time: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        k = max(0, int(np.searchsorted(self.program[:, 0], time, side="right")) - 1)
        start, end = self.program[k, :2]
        inside = self.program[0, 0] <= time < self.program[-1, 1]
        state = segments.evaluate(
            self.program[k, 2:].reshape(-1, 6), min(max(time, start), end) - start
        )
        return state if inside else (state[0], 0.0 * state[1], 0.0 * state[2])

    def _at_rest(self, q: np.ndarray) -> np.ndarray:
        coefficients = np.zeros((self._k, 6))
        for entry, place in self._entry.values():
            coefficients[place, 0] = q[entry]
        return coefficients

    @staticmethod
    def _row(start: float, end: float, coefficients: np.ndarray) -> np.ndarray:
        return np.concatenate([[start, end], coefficients.ravel()])


def _excess(coefficients: np.ndarray, duration: float, most: np.ndarray) -> float:
    """How many times joints (k, 6) exceed their largest speeds (k,)."""
    return segments.excess_of(
        coefficients[:, None] / most[:, None, None], np.full(len(most), duration), 1.0, 1.0
    )[0]


def _places(model: Model) -> list[int]:
    """Place of each moving body's first coordinate among the joint coordinates (base left out)."""
    before = np.concatenate([[0], np.cumsum(~model.is_base_coordinate)])
    return [int(before[model.v_index[i]]) for i in np.flatnonzero(~model.is_mimic)]
