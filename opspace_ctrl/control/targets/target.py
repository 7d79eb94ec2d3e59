"""The reference of one task: how targets from outside become a program that the tick samples.

A new target starts from where the reference is, with its velocity and acceleration, so that it never jumps. All
quantities are in world axes, or in those of the frame the task is relative to.
"""

from __future__ import annotations

import numpy as np

from ...errors import TargetError, quoted
from ...model.rotations import quaternion_conjugate, quaternion_log, quaternion_product
from ..tasks import ControlTask
from . import segments
from .segments import Motion

__all__ = ["Target", "unit_quaternion", "vector"]

FARTHEST = 1e6  # [m]
LONGEST = 1e6  # [s]
LATEST = 1e11  # [s] some thousand years: a time beyond it is in another unit
NORM = 0.1  # a quaternion's norm may differ from 1 by this; it is normalised
HALF_TURN = np.pi - 0.1  # [rad] beyond this angle the way round follows the present rotation


def vector(what: str, value, *shape: int, most: float = FARTHEST) -> np.ndarray:
    """A float64 copy of a finite array of the given shape (-1: any length).

    Raises:
        TargetError: Another shape, not numbers, not finite, or beyond `most`.
    """
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError) as error:
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
        program: (n, segments.COLUMNS), what the tick samples.
        stamp: When the last target came [s]; None if the task holds since it was activated.
        clipped: Was the last target too far or too fast, and changed?
    """

    def __init__(self, settings: ControlTask, timeout: float = 0.0):
        self.settings, self.timeout = settings, timeout
        self.name, selection = settings.name, settings.task().selection()
        self._has_position = bool(selection[:, :3].any())
        self._has_orientation = bool(selection[:, 3:].any())
        self.program = segments.hold(
            segments.at_rest(np.zeros(3), (0.0, 0.0, 0.0, 1.0)), 0.0, settings
        )
        self.stamp: float | None = None
        self.clipped = False

    def reference(self, time: float) -> Motion:
        """Pose, twist and acceleration of the reference at an instant."""
        return segments.state_at(self.program, time)

    def is_stale(self, time: float) -> bool:
        """Has a target come, but too long ago?"""
        return self.stamp is not None and self.timeout > 0.0 and time - self.stamp > self.timeout

    def hold(self, now: Motion, time: float) -> None:
        """Restart from a pose and its velocity, and come to rest; no target has come yet."""
        self.program = segments.hold(now, time, self.settings)
        self.stamp, self.clipped = None, False

    def pose(self, position, quaternion, time: float) -> None:
        """Move to a pose with the least jerk; what is None stays as it is to be.

        Raises:
            TargetError: What `vector` and `unit_quaternion` refuse.
        """
        now, goal = self.reference(time), segments.state_at(self.program, np.inf)
        position = (
            goal.position
            if position is None or not self._has_position
            else vector(f"{self.name}: target position", position, 3)
        )
        quaternion = (
            goal.quaternion
            if quaternion is None or not self._has_orientation
            else unit_quaternion(f"{self.name}: target orientation", quaternion)
        )
        step, turn = position - now.position, _turn(now, quaternion)
        clipped_step, clipped_turn = (
            _shortened(step, self.settings.jump or np.inf),
            _shortened(turn, self.settings.jump_angle or np.inf),
        )
        self.clipped = clipped_step is not step or clipped_turn is not turn
        program = segments.minimum_jerk(
            now, now.position + clipped_step, clipped_turn, time, self.settings
        )
        self._take(self._cut(program, time), time)

    def twist(self, twist, time: float, duration: float) -> None:
        """Move with a constant twist (6,), linear first, for `duration` [s] after `time`, then stop.

        Raises:
            TargetError: What `vector` refuses.
        """
        twist, limits = vector(f"{self.name}: target twist", twist, 6), self.settings
        velocity, rate = twist[:3] * self._has_position, twist[3:] * self._has_orientation
        slow, slow_turn = _shortened(velocity, limits.speed), _shortened(rate, limits.angular_speed)
        self.clipped = slow is not velocity or slow_turn is not rate
        self._take(
            segments.twist(self.reference(time), slow, slow_turn, time, duration, limits), time
        )

    def trajectory(self, times, positions, quaternions, time: float, twists=None) -> None:
        """Move through way points at `times` (n,) [s] after `time`; positions (n, 3), quaternions (n, 4) or None.

        What is faster than the task's limits is followed slower, and `clipped`.

        Raises:
            TargetError: What `vector`, `unit_quaternion` and `waypoints.through` refuse.
        """
        from . import waypoints  # here: SciPy's splines would make every start a fifth longer

        now = self.reference(time)
        times = vector(f"{self.name}: times of the trajectory", times, -1, most=LONGEST)
        n = len(times)
        positions = (
            np.tile(now.position, (n, 1))
            if positions is None or not self._has_position
            else vector(f"{self.name}: positions of the trajectory", positions, n, 3)
        )
        quaternions = (
            np.tile(now.quaternion, (n, 1))
            if quaternions is None or not self._has_orientation
            else (unit_quaternion(f"{self.name}: orientations of the trajectory", quaternions, n))
        )
        if twists is not None:
            twists = vector(f"{self.name}: twists of the trajectory", twists, n, 6)
        try:
            program, slowed = waypoints.through(
                now, times, positions, quaternions, time, self.settings, twists
            )
        except TargetError as error:
            raise TargetError(f"{self.name}: {error}") from error
        self._take(program, time)
        self.clipped = slowed

    def _take(self, program: np.ndarray, time: float) -> None:
        if not np.isfinite(program).all():
            raise TargetError(f"{self.name}: the target asks for a motion that is not finite")
        self.program, self.stamp = program, time

    def _cut(self, program: np.ndarray, time: float) -> np.ndarray:
        """The program with its end when the target goes stale: from there it comes to rest."""
        end = time + self.timeout
        if self.timeout == 0.0 or program[-1, segments.END] <= end:
            return program
        stop = segments.hold(segments.state_at(program, end), end, self.settings)
        program[-1, segments.END] = end
        return np.vstack([program, stop])


def _turn(now: Motion, quaternion: np.ndarray) -> np.ndarray:
    """Rotation vector (3,) from the present orientation to the target, the short way.

    Close to half a turn both ways are alike: then the one that the reference is already turning.
    """
    turn = quaternion_log(quaternion_product(quaternion, quaternion_conjugate(now.quaternion)))
    angle = float(np.linalg.norm(turn))
    if angle > HALF_TURN and turn @ now.rate < 0.0:
        turn = turn * (1.0 - 2.0 * np.pi / angle)
    return turn


def _shortened(value: np.ndarray, limit: float) -> np.ndarray:
    """The vector itself, or a shorter one in its direction."""
    length = float(np.linalg.norm(value))
    return value if length <= limit else value * (limit / length)
