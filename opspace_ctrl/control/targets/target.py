# SPDX-License-Identifier: Apache-2.0
"""The reference of one task: how targets from outside become a program that the tick samples.

A new target starts from where the reference is, with its velocity and acceleration, so that it never jumps. All
quantities are in world axes, or in those of the frame the task is relative to.
"""

import numpy as np

from ...compiled.jit import prepare
from ...dynamics.state import OK
from ...errors import TargetError, quoted
from ...model.rotations import quaternion_conjugate, quaternion_log, quaternion_product
from ..tasks import ControlTask
from . import entries
from .motion import Motion
from .poses import NORM
from .references import CAPACITY, END, HAS_ORIENTATION, HAS_POSITION, MOTION, STOP, References
from .rows import FARTHEST, LATEST
from .stops import SHORTEST
from .way_points import LONGEST, NEAR, NEAR_ANGLE, POINT

__all__ = ["Target", "unit_quaternion", "vector"]

MOST_POINTS = 10_000  # of a trajectory
TEXT = "SU"  # NumPy's kinds of it


def vector(what: str, value, *shape: int, most: float = FARTHEST) -> np.ndarray:
    """A float64 copy of a finite array of the given shape (-1: any length).

    Raises:
        TargetError: Another shape, not numbers, not finite, or beyond `most`.
    """
    try:
        if np.asarray(value).dtype.kind in TEXT:  # NumPy would read numbers in it
            raise TypeError
        array = np.array(value, dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise TargetError(f"{what}: {quoted(value)} is not an array of numbers") from error
    if array.ndim != len(shape) or any(n not in (-1, m) for n, m in zip(shape, array.shape)):
        wanted = " x ".join("n" if n < 0 else str(n) for n in shape)
        raise TargetError(
            f"{what}: {wanted} numbers are expected, not {' x '.join(map(str, array.shape)) or 'one'}"
        )
    if not np.isfinite(array).all():
        raise TargetError(f"{what} is not finite")
    if array.size and np.abs(array).max() > most:
        raise TargetError(f"{what}: {np.abs(array).max():g} is too large; valid is up to {most:g}")
    return array


def instant(what: str, time: float) -> float:
    """The time of a target [s].

    Raises:
        TargetError: It is no finite number.
    """
    return float(vector(f"{what}: time", time, most=LATEST))


def unit_quaternion(what: str, value, *shape: int) -> np.ndarray:
    """Quaternions [x, y, z, w] with norm 1.

    Raises:
        TargetError: The norm is so far from 1 that it cannot be meant, or what `vector` refuses.
    """
    array = vector(what, value, *shape, 4)
    norm = np.linalg.norm(array, axis=-1, keepdims=True)
    if norm.size and np.abs(norm - 1.0).max() > NORM:
        raise TargetError(
            f"{what}: the norm {norm.ravel()[np.abs(norm - 1.0).argmax()]:.4g} is not that of an "
            f"orientation; valid is 1 within {NORM:g}"
        )
    return array / norm


class Target:
    """The reference of one task.

    Attributes:
        settings: The task with its limits; may be replaced at any time, and count from the next target on.
        timeout: A target pose is held where it is after this time [s]; 0: it is completed.
    """

    def __init__(self, settings: ControlTask, timeout: float = 0.0):
        prepare(entries.ENTRIES)
        self._own = References(t=1, k=0, capacity=CAPACITY)
        self.name = settings.name
        self.settings, self.timeout = settings, timeout

    @property
    def settings(self) -> ControlTask:
        """The task with its limits."""
        return self._settings

    @settings.setter
    def settings(self, settings: ControlTask) -> None:
        self._settings = settings
        self._own.take([(0, settings)])

    @property
    def timeout(self) -> float:
        """After this time a target pose is held where it is [s]; 0: it is completed."""
        return self._own.target_timeout

    @timeout.setter
    def timeout(self, timeout: float) -> None:
        self._own.target_timeout = timeout

    @property
    def program(self) -> np.ndarray:
        """(n, COLUMNS), what the tick samples, see `references`; a view that the next target changes."""
        return self._own.program(0)

    @property
    def stamp(self) -> float | None:
        """When the last target came [s]; None if the task holds since it was activated."""
        stamp = float(self._own.stamp[0])
        return None if np.isnan(stamp) else stamp

    @property
    def clipped(self) -> bool:
        """Was the last target too far or too fast, and changed?"""
        return bool(self._own.clipped[0])

    def reference(self, time: float) -> Motion:
        """Pose, twist and acceleration of the reference at an instant."""
        motion = np.empty(MOTION)
        entries.reference(time, motion, self._own.address)
        return Motion.of(motion)

    def is_stale(self, time: float) -> bool:
        """Has a target come, but too long ago?"""
        return self.stamp is not None and self.timeout > 0.0 and time - self.stamp > self.timeout

    def is_moving(self, time: float) -> bool:
        """Has a target come, and is the reference on its way to it?"""
        return self.stamp is not None and time < self.program[-1, END]

    def hold(self, now: Motion, time: float) -> None:
        """Restart from a pose and its velocity, and come to rest; no target has come yet."""
        self._insist(entries.rest_from(now.numbers(), time, self._own.address))

    def pose(self, position, quaternion, time: float) -> None:
        """Move to a pose with the least jerk; what is None stays as it is to be.

        Raises:
            TargetError: What `vector` and `unit_quaternion` refuse.
        """
        own, what, place, turned = self._own, 0, np.zeros(3), np.zeros(4)
        if position is not None and own.has_position[0]:
            what |= HAS_POSITION
            place = vector(f"{self.name}: target position", position, 3)
        if quaternion is not None and own.has_orientation[0]:
            what |= HAS_ORIENTATION
            unit_quaternion(f"{self.name}: target orientation", quaternion)
            turned = np.array(quaternion, float)
        self._insist(entries.aim_at(what, place, turned, time, own.address))

    def twist(self, twist, time: float, duration: float) -> None:
        """Move with a constant twist (6,), linear first, for `duration` [s] after `time`, then stop.

        Raises:
            TargetError: What `vector` refuses.
        """
        given = vector(f"{self.name}: target twist", twist, 6)
        self._insist(entries.drive_with(given, time, duration, self._own.address))

    def trajectory(self, times, positions, quaternions, time: float, twists=None) -> None:
        """Move through way points at `times` (n,) [s] after `time`, at rest at the last.

        Args:
            times: Rising; one of 0 is where the reference is.
            positions, quaternions: (n, 3) [m] and (n, 4) xyzw; None: as the reference has it now.
            time: When it starts [s].
            twists: (n, 6) velocity in each point, linear first, world axes; None: as is smooth.

        Raises:
            TargetError: What `vector` and `unit_quaternion` refuse, times that do not rise, a first point at time 0
                that is not where the reference is.
        """
        own, now, points = self._own, self.reference(time), self._points(times)
        n = len(points)
        points[:, 1:4], points[:, 4:8] = now.position, now.quaternion
        if positions is not None and own.has_position[0]:
            words = f"{self.name}: positions of the trajectory"
            points[:, 1:4] = vector(words, positions, n, 3)
        if quaternions is not None and own.has_orientation[0]:
            words = f"{self.name}: orientations of the trajectory"
            unit_quaternion(words, quaternions, n)
            points[:, 4:8] = quaternions
        if twists is not None:
            points[:, 8:] = vector(f"{self.name}: twists of the trajectory", twists, n, 6)
        if points[0, 0] == 0.0:
            self._check_start(now, points[0])
        if n + STOP > own.capacity:
            own = self._own = own.with_room(n + STOP)
        has_twists = int(twists is not None)
        self._insist(entries.follow_points(points.ravel(), has_twists, time, own.address))

    def _insist(self, status: int) -> None:
        if status != OK:
            raise TargetError(f"{self.name}: the target asks for a motion that is not finite")

    def _points(self, times) -> np.ndarray:
        """Way points (n, POINT) at these times."""
        times = vector(f"{self.name}: times of the trajectory", times, -1, most=LONGEST)
        if not 1 <= len(times) <= MOST_POINTS:
            raise TargetError(
                f"{self.name}: a trajectory has {len(times)} way points; valid are 1 to {MOST_POINTS}"
            )
        if times[0] < 0.0:
            raise TargetError(
                f"{self.name}: the first way point is {-times[0]:g} s before the start"
            )
        steps = np.diff(times, prepend=-1.0)
        if not (steps >= SHORTEST).all():
            k = int(np.argmin(steps))
            raise TargetError(
                f"{self.name}: times must rise by {SHORTEST:g} s or more: way point {k} comes at "
                f"{times[k]:g} s after one at {times[k - 1]:g} s"
            )
        if 0.0 < times[0] < SHORTEST:
            raise TargetError(
                f"{self.name}: the first way point comes at {times[0]:g} s; valid is 0, or "
                f"{SHORTEST:g} and more"
            )
        if times[-1] == 0.0:
            raise TargetError(f"{self.name}: a trajectory needs a way point after time 0")
        return np.column_stack([times, np.zeros((len(times), POINT - 1))])

    def _check_start(self, now: Motion, point: np.ndarray) -> None:
        distance = np.linalg.norm(point[1:4] - now.position)
        given = point[4:8] / np.linalg.norm(point[4:8])
        turned = quaternion_product(given, quaternion_conjugate(now.quaternion))
        angle = np.linalg.norm(quaternion_log(turned))
        if distance > NEAR or angle > NEAR_ANGLE:
            raise TargetError(
                f"{self.name}: the way point at time 0 is {distance:.3g} m, {angle:.3g} rad from the "
                f"present reference; it may be {NEAR:g} m and {NEAR_ANGLE:g} rad from it, or else needs "
                "a time to get there"
            )
