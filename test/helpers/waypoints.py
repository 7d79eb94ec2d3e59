# SPDX-License-Identifier: Apache-2.0
"""Trajectories in NumPy and SciPy, literally: a program of segments through way points.

Positions follow the quintic spline through the points, which has the least jerk (integral of its square) of all curves
through them, or, where twists are given, quintics with these velocities. Orientations turn from point to point along
the geodesic (SLERP), with rates and accelerations made continuous at the points. A trajectory that is faster than the
limits of its task is followed slower.
"""

import numpy as np
from scipy.interpolate import CubicHermiteSpline, make_interp_spline
from scipy.spatial.transform import Rotation

from helpers import segments
from opspace_ctrl.control.targets.motion import Motion
from opspace_ctrl.errors import TargetError

__all__ = ["through"]

MOST = 10_000  # way points
TRIES = 5  # at stretching the times
# [m], [rad] a way point at time 0 lies this close to the present reference
NEAR, NEAR_ANGLE = (1e-2, 5e-2)


def through(
    now: Motion,
    times: np.ndarray,
    positions: np.ndarray,
    quaternions: np.ndarray,
    time: float,
    limits,
    twists: np.ndarray | None = None,
) -> tuple[np.ndarray, bool]:
    """A program (n, COLUMNS) from the present reference through n way points, at rest at the last.

    Where it would exceed the limits of the task, it follows the same way slower: all times are stretched by one factor
    (and twists lowered by it). A reference in motion may exceed them by `segments.TOLERATED`, as with a target pose;
    where stretching does not help, it comes to rest first.

    Args:
        now: Where the reference is.
        times: (n,) [s] after `time`, rising.
        positions, quaternions: (n, 3) [m] and (n, 4) xyzw of norm 1.
        time: When it starts.
        limits: The task, with its limits of speed and acceleration.
        twists: (n, 6) velocity in each point, linear first, world axes; the last one counts as zero.

    Returns:
        The program, and whether it had to be slowed down.

    Raises:
        TargetError: Times that do not rise, or a first point at time 0 that is not where the reference is.
    """
    _check_times(times)
    if times[0] == 0.0:
        _check_start(now, positions[0], quaternions[0])
        times, positions, quaternions = times[1:], positions[1:], quaternions[1:]
        twists = None if twists is None else twists[1:]
        if not len(times):
            raise TargetError("a trajectory needs a way point after time 0")
    program, stretch, kept = _stretched(now, times, positions, quaternions, time, limits, twists)
    if kept:
        return program, stretch > 1.0
    stop = segments.hold(now, time, limits)
    rest, end = segments.state_at(stop, np.inf), float(stop[-1, segments.END])
    return np.vstack(
        [stop, _stretched(rest, times, positions, quaternions, end, limits, twists)[0]]
    ), True


def _stretched(now: Motion, times, positions, quaternions, time: float, limits, twists):
    """The program, by what its times were stretched to keep the limits, and whether it keeps them."""
    is_moving = any(
        part.any() for part in (now.velocity, now.rate, now.acceleration, now.rate_change)
    )
    best, stretch = (np.inf, np.empty(0), 1.0), 1.0
    for _ in range(TRIES):  # from rest, the first try says what the second needs
        program = _rows(
            now,
            stretch * times,
            positions,
            quaternions,
            time,
            None if twists is None else twists / stretch,
        )
        speed, acceleration = segments.excess(program, limits)
        if max(speed, acceleration) < best[0]:
            best = max(speed, acceleration), program, stretch
        if best[0] <= segments.KEPT:
            break
        stretch *= max(speed, acceleration**0.5, 1.001)
    return best[1], best[2], best[0] <= (segments.TOLERATED if is_moving else np.inf)


def _rows(now: Motion, times, positions, quaternions, time: float, twists) -> np.ndarray:
    """The program through way points at these times."""
    knots = np.concatenate([[0.0], times])
    linear = _positions(
        now, knots, np.vstack([now.position, positions]), None if twists is None else twists[:, :3]
    )
    starts, angular = _rotations(now, knots, quaternions, None if twists is None else twists[:, 3:])
    return segments.rows(time + knots, linear, starts, angular)


def _check_times(times: np.ndarray) -> None:
    if not 1 <= len(times) <= MOST:
        raise TargetError(f"a trajectory has {len(times)} way points; valid are 1 to {MOST}")
    if times[0] < 0.0:
        raise TargetError(f"the first way point is {-times[0]:g} s before the start")
    steps = np.diff(times, prepend=-1.0)
    if not (steps >= segments.SHORTEST).all():
        k = int(np.argmin(steps))
        raise TargetError(
            f"times must rise by {segments.SHORTEST:g} s or more: way point {k} comes at {times[k]:g} s "
            f"after one at {times[k - 1]:g} s"
        )
    if 0.0 < times[0] < segments.SHORTEST:
        raise TargetError(
            f"the first way point comes at {times[0]:g} s; valid is 0, or {segments.SHORTEST:g} and more"
        )


def _check_start(now: Motion, position: np.ndarray, quaternion: np.ndarray) -> None:
    distance = np.linalg.norm(position - now.position)
    angle = (Rotation.from_quat(quaternion) * Rotation.from_quat(now.quaternion).inv()).magnitude()
    if distance > NEAR or angle > NEAR_ANGLE:
        raise TargetError(
            f"the way point at time 0 is {distance:.3g} m, {angle:.3g} rad from the present reference; "
            f"it may be {NEAR:g} m and {NEAR_ANGLE:g} rad from it, or else needs a time to get there"
        )


def _positions(
    now: Motion, knots: np.ndarray, points: np.ndarray, velocities: np.ndarray | None
) -> np.ndarray:
    """Coefficients (n, 3, 6) of every segment."""
    zero = np.zeros(3)
    if velocities is None:
        spline = make_interp_spline(
            knots,
            points,
            k=5,
            bc_type=([(1, now.velocity), (2, now.acceleration)], [(1, zero), (2, zero)]),
        )
        rates, changes = spline(knots, nu=1), spline(knots, nu=2)
        rates[0], changes[0], rates[-1], changes[-1] = now.velocity, now.acceleration, zero, zero
    else:
        rates = np.vstack([now.velocity, velocities[:-1], zero])
        changes = _accelerations(knots, points, rates, now.acceleration)
    return segments.quintic(
        points[:-1],
        rates[:-1],
        changes[:-1],
        points[1:],
        rates[1:],
        changes[1:],
        np.diff(knots)[:, None],
    )


def _rotations(now: Motion, knots: np.ndarray, quaternions: np.ndarray, rates: np.ndarray | None):
    """Orientation (n, 4) at the start and coefficients (n, 3, 6) of every segment."""
    turns = Rotation.from_quat(np.vstack([now.quaternion, quaternions]))
    steps = (turns[1:] * turns[:-1].inv()).as_rotvec()
    gaps = np.diff(knots)
    slopes = steps / gaps[:, None]
    inner = _mean(gaps, slopes) if rates is None else rates[:-1]
    rates = np.vstack([now.rate, inner, np.zeros(3)])
    changes = _accelerations(
        knots, np.vstack([np.zeros(3), np.cumsum(steps, axis=0)]), rates, now.rate_change
    )
    angular = segments.quintic(
        np.zeros_like(steps),
        rates[:-1],
        changes[:-1],
        steps,
        *segments.rotation_end(steps, rates[1:], changes[1:]),
        gaps[:, None],
    )
    return turns.as_quat()[:-1], angular


def _mean(gaps: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """Rate (n - 1, 3) in the inner points: of the parabola through a point and its neighbours."""
    before, after = gaps[:-1, None], gaps[1:, None]
    return (after * slopes[:-1] + before * slopes[1:]) / (before + after)


def _accelerations(
    knots: np.ndarray, points: np.ndarray, rates: np.ndarray, first: np.ndarray
) -> np.ndarray:
    """Acceleration (n + 1, 3) in the points: the mean of what cubics on both sides would have; the last one rests."""
    cubic = CubicHermiteSpline(knots, points, rates)
    second = cubic.derivative(2)
    before = second.c[0, :-1] * np.diff(knots)[:-1, None] + second.c[1, :-1]
    return np.vstack([first, 0.5 * (before + second.c[1, 1:]), np.zeros(3)])
