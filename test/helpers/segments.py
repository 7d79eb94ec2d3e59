# SPDX-License-Identifier: Apache-2.0
"""The kernels of references in NumPy, literally: polynomials of degree five in time for position and rotation vector.

A *program* is an array of rows in time order, one row a segment, which the control tick samples (`law.reference`):

    position     p(s) = sum c_k s^k,   s = t - t0
    orientation  R(s) = exp([r(s)]) R0, world axes,   w = Jl(r) r',   dw/dt = Jl(r) r'' + d/dt(Jl(r)) r'

At r = 0 these are w = r' and dw/dt = r'', so that a segment begins with any rate and acceleration; the norm of Jl is at
most 1, so that a limit on r' limits w. Rotation about a fixed axis is SLERP.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from opspace_ctrl.control.targets.motion import Motion
from opspace_ctrl.model.rotations import (
    left_jacobian,
    quaternion_conjugate,
    quaternion_exp,
    quaternion_log,
    quaternion_product,
)

__all__ = [
    "COLUMNS",
    "Motion",
    "at_rest",
    "excess",
    "hold",
    "minimum_jerk",
    "quintic",
    "rotation_end",
    "row",
    "rows",
    "sample",
    "state_at",
    "twist",
]

# Columns of a row.
START, END = 0, 1
POSITION = slice(2, 20)  # (3, 6), axis after axis
QUATERNION = slice(20, 24)
ROTATION = slice(24, 42)  # (3, 6)
COLUMNS = 42
# of a minimum-jerk motion over unit distance in unit time
PEAK_SPEED, PEAK_ACCELERATION = (1.875, 10.0 / sqrt(3.0))
SHORTEST = 1e-3  # [s] no segment is shorter
FADING = 0.02  # [s] in which an acceleration beyond its limit fades
LONGEST_STOP = 2.0  # [s] even where a trajectory was faster than the limits
TOLERATED = 1.25  # times a limit that a target in mid-motion may cause
KEPT = 1.001  # times a limit that counts as within it
_NEXT = np.array([1, 2, 0])  # y, z, x
_SAMPLES = np.linspace(0.0, 1.0, 17)


def at_rest(position, quaternion) -> Motion:
    """A pose without motion."""
    zero = np.zeros(3)
    return Motion(np.array(position, float), np.array(quaternion, float), zero, zero, zero, zero)


def stopped(motion: Motion) -> Motion:
    """The same pose at rest."""
    return at_rest(motion.position, motion.quaternion)


def quintic(x0, v0, a0, x1, v1, a1, duration) -> np.ndarray:
    """Coefficients (3, 6) of the quintic with the given ends, in rising powers of s in 0..duration.

    Likewise (n, 3, 6) of n at once, for ends (n, 3) and durations (n, 1).
    """
    T = duration
    d, dv, da = x1 - x0 - v0 * T - 0.5 * a0 * T * T, (v1 - v0 - a0 * T) * T, (a1 - a0) * T * T
    return np.stack(
        [
            x0,
            v0,
            0.5 * a0,
            (10.0 * d - 4.0 * dv + 0.5 * da) / T**3,
            (-15.0 * d + 7.0 * dv - da) / T**4,
            (6.0 * d - 3.0 * dv + 0.5 * da) / T**5,
        ],
        axis=-1,
    )


def brake(x0, v0, a0, duration: float, v1=0.0) -> np.ndarray:
    """Coefficients (3, 6) of a change to the constant velocity v1 that ends wherever it ends, degree four."""
    T, dv = duration, v0 - v1
    third = -(dv + 2.0 / 3.0 * a0 * T) / T**2
    zero = np.zeros_like(third)
    return np.stack(
        [x0, v0, 0.5 * a0, third, -(a0 + 6.0 * third * T) / (12.0 * T * T), zero], axis=-1
    )


def evaluate(coefficients: np.ndarray, s: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Value, first and second derivative (3,) of coefficients (3, 6) at s."""
    power = np.array([1.0, s, s * s, s**3, s**4, s**5])
    first = np.array([0.0, 1.0, 2.0 * s, 3.0 * s * s, 4.0 * s**3, 5.0 * s**4])
    second = np.array([0.0, 0.0, 2.0, 6.0 * s, 12.0 * s * s, 20.0 * s**3])
    return coefficients @ power, coefficients @ first, coefficients @ second


def row(
    t0: float, t1: float, position: np.ndarray, quaternion: np.ndarray, rotation: np.ndarray
) -> np.ndarray:
    """One row (COLUMNS,) of a program."""
    return rows(np.array([t0, t1]), position[None], quaternion, rotation[None])[0]


def rows(
    times: np.ndarray, position: np.ndarray, quaternion: np.ndarray, rotation: np.ndarray
) -> np.ndarray:
    """Rows (n, COLUMNS) that follow each other at times (n + 1,); (n, 3, 6), (n, 4) and (n, 3, 6)."""
    out = np.zeros((len(times) - 1, COLUMNS))
    out[:, START], out[:, END], out[:, QUATERNION] = times[:-1], times[1:], quaternion
    out[:, POSITION], out[:, ROTATION] = position.reshape(-1, 18), rotation.reshape(-1, 18)
    return out


def state_at(program: np.ndarray, time: float) -> Motion:
    """The reference at an instant; before the program and after it, its first and last pose at rest."""
    k = max(0, int(np.searchsorted(program[:, START], time, side="right")) - 1)
    start, end = program[k, START], program[k, END]
    motion = sample(program[k], min(max(time, start), end) - start)
    return motion if program[0, START] <= time < program[-1, END] else stopped(motion)


def sample(segment: np.ndarray, s: float) -> Motion:
    """The reference s seconds after the start of a row."""
    p, v, a = evaluate(segment[POSITION].reshape(3, 6), s)
    r, dr, ddr = evaluate(segment[ROTATION].reshape(3, 6), s)
    Jl = left_jacobian(r)
    quaternion = quaternion_product(quaternion_exp(r), segment[QUATERNION])
    return Motion(
        p, quaternion / np.linalg.norm(quaternion), v, Jl @ dr, a, Jl @ ddr + _drift(r, dr)
    )


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a x b (..., 3); NumPy's own takes several times as long for one vector."""
    return (a * b.take(_NEXT, axis=-1) - a.take(_NEXT, axis=-1) * b).take(_NEXT, axis=-1)


def _drift(r: np.ndarray, dr: np.ndarray) -> np.ndarray:
    """d/dt(Jl(r)) r' (..., 3) for Jl = 1 + b [r] + c [r]^2, b = (1 - cos x) / x^2, c = (x - sin x) / x^3, x = |r|."""
    size = np.sqrt((r * r).sum(axis=-1, keepdims=True))
    is_small = size < 1e-3  # series: the quotients lose all digits
    x = np.where(is_small, 1.0, size)
    b, c = (1.0 - np.cos(x)) / x**2, (x - np.sin(x)) / x**3
    db = np.where(is_small, -1.0 / 12.0 + size * size / 180.0, (np.sin(x) / x - 2.0 * b) / x**2)
    dc = np.where(is_small, -1.0 / 60.0, (b - 3.0 * c) / x**2)
    c = np.where(is_small, 1.0 / 6.0 - size * size / 120.0, c)
    along, across = (r * dr).sum(axis=-1, keepdims=True), _cross(r, dr)
    return along * (db * across + dc * _cross(r, across)) + c * _cross(dr, across)


def rotation_end(
    r: np.ndarray, rate: np.ndarray, rate_change: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """r' and r'' (..., 3) at r that make the given angular velocity and acceleration."""
    size = np.sqrt((r * r).sum(axis=-1, keepdims=True))
    x = np.where(size < 1e-4, 1.0, size)
    c = np.where(
        size < 1e-4, 1.0 / 12.0 + size * size / 720.0, (1.0 - 0.5 * x / np.tan(0.5 * x)) / x**2
    )

    def inverse(w):  # Jl(r)^-1 w
        across = _cross(r, w)
        return w - 0.5 * across + c * _cross(r, across)

    dr = inverse(rate)
    return dr, inverse(rate_change - _drift(r, dr))


def hold(now: Motion, time: float, limits) -> np.ndarray:
    """A program (n, COLUMNS) that brings the motion to rest as the acceleration limits allow."""
    rows, now, time = _calmed(now, time, limits)
    T = max(
        SHORTEST,
        _settling(now.velocity, now.acceleration, limits.acceleration),
        _settling(now.rate, now.rate_change, limits.angular_acceleration),
    )
    rows.append(
        row(
            time,
            time + T,
            brake(now.position, now.velocity, now.acceleration, T),
            now.quaternion,
            brake(np.zeros(3), now.rate, now.rate_change, T),
        )
    )
    return np.stack(rows)


def twist(
    now: Motion, velocity: np.ndarray, rate: np.ndarray, time: float, duration: float, limits
) -> np.ndarray:
    """A program (n, COLUMNS): change to a constant twist, keep it until time + duration, stop."""
    end = time + duration
    rows, now, time = _calmed(now, time, limits)
    T = max(
        SHORTEST,
        _settling(now.velocity - velocity, now.acceleration, limits.acceleration),
        _settling(now.rate - rate, now.rate_change, limits.angular_acceleration),
    )
    zero, kept = np.zeros(3), max(end - time - T, SHORTEST)
    turn = evaluate(brake(zero, now.rate, now.rate_change, T, rate), T)[0]
    angular = quintic(zero, now.rate, now.rate_change, turn, *rotation_end(turn, rate, zero), T)
    change = row(
        time,
        time + T,
        brake(now.position, now.velocity, now.acceleration, T, velocity),
        now.quaternion,
        angular,
    )
    middle = sample(change, T)
    steady = row(
        time + T,
        time + T + kept,
        _linear(middle.position, velocity),
        middle.quaternion,
        _linear(zero, rate),
    )
    return np.vstack([*rows, change, steady, hold(sample(steady, kept), time + T + kept, limits)])


def minimum_jerk(
    now: Motion, position: np.ndarray, turn: np.ndarray, time: float, limits
) -> np.ndarray:
    """A program (n, COLUMNS) from the present motion to a pose at rest, the orientation turned by `turn` (3,) [rad].

    Its time is at least `limits.time`, and so long that a motion from rest keeps `speed`, `angular_speed`,
    `acceleration` and `angular_acceleration`; where the present motion makes it exceed them, longer. Where no time
    helps, the present motion is stopped first.
    """
    distance, angle = np.linalg.norm(position - now.position), np.linalg.norm(turn)
    T = max(
        SHORTEST,
        limits.time,
        PEAK_SPEED * distance / limits.speed,
        PEAK_SPEED * angle / limits.angular_speed,
        sqrt(PEAK_ACCELERATION * distance / limits.acceleration),
        sqrt(PEAK_ACCELERATION * angle / limits.angular_acceleration),
    )
    zero = np.zeros(3)
    best: tuple[float, float, tuple[np.ndarray, np.ndarray] | None] = (np.inf, T, None)
    for stretch in (1.0, 1.2, 1.5, 2.0, 3.0):
        linear = quintic(
            now.position, now.velocity, now.acceleration, position, zero, zero, stretch * T
        )
        angular = quintic(zero, now.rate, now.rate_change, turn, zero, zero, stretch * T)
        most = max(
            *excess_of(linear, stretch * T, limits.speed, limits.acceleration),
            *excess_of(angular, stretch * T, limits.angular_speed, limits.angular_acceleration),
        )
        if most < best[0]:
            best = most, stretch * T, (linear, angular)
        if most <= KEPT:
            break
    most, T, polynomials = best
    if polynomials is not None and most <= TOLERATED:
        return row(time, time + T, polynomials[0], now.quaternion, polynomials[1])[None]
    stop = hold(now, time, limits)
    rest = state_at(stop, np.inf)
    goal = quaternion_product(quaternion_exp(turn), now.quaternion)
    turn = quaternion_log(quaternion_product(goal, quaternion_conjugate(rest.quaternion)))
    return np.vstack([stop, minimum_jerk(rest, position, turn, float(stop[-1, END]), limits)])


def _calmed(now: Motion, time: float, limits) -> tuple[list[np.ndarray], Motion, float]:
    """Where the acceleration is far beyond its limits, a row in which it fades; then the motion and time after it."""
    if not (
        np.linalg.norm(now.acceleration) > TOLERATED * limits.acceleration
        or np.linalg.norm(now.rate_change) > TOLERATED * limits.angular_acceleration
    ):
        return [], now, time
    fading = [
        np.stack([start, speed, 0.5 * change, change / (-6.0 * FADING), zero, zero], axis=-1)
        for zero in [np.zeros(3)]
        for start, speed, change in (
            (now.position, now.velocity, now.acceleration),
            (zero, now.rate, now.rate_change),
        )
    ]
    calm = row(time, time + FADING, fading[0], now.quaternion, fading[1])
    return [calm], sample(calm, FADING), time + FADING


def _settling(velocity: np.ndarray, acceleration: np.ndarray, limit: float) -> float:
    """Time in which a change of velocity needs about the acceleration limit (1.5 dv / T at its peak)."""
    time = (
        1.5 * float(np.linalg.norm(velocity)) + 0.1 * float(np.linalg.norm(acceleration))
    ) / limit
    return min(LONGEST_STOP, time)


def excess_of(
    coefficients: np.ndarray, durations, speed: float, acceleration: float
) -> tuple[float, float]:
    """How many times segments (..., 3, 6) of some durations (...) exceed limits of speed and of acceleration."""
    s = np.asarray(durations)[..., None] * _SAMPLES
    first = coefficients[..., 1:] * np.arange(1, 6)
    second = first[..., 1:] * np.arange(1, 5)
    found = []
    for polynomial, limit in ((first, speed), (second, acceleration)):
        powers = s[..., None, :] ** np.arange(polynomial.shape[-1])[:, None]
        found.append(float(np.sqrt(np.square(polynomial @ powers).sum(axis=-2).max())) / limit)
    return found[0], found[1]


def excess(program: np.ndarray, limits) -> tuple[float, float]:
    """How many times a program exceeds its limits of speed and of acceleration, linear or angular."""
    durations, shape = program[:, END] - program[:, START], (len(program), 3, 6)
    linear = excess_of(
        program[:, POSITION].reshape(shape), durations, limits.speed, limits.acceleration
    )
    angular = excess_of(
        program[:, ROTATION].reshape(shape),
        durations,
        limits.angular_speed,
        limits.angular_acceleration,
    )
    return max(linear[0], angular[0]), max(linear[1], angular[1])


def _linear(start: np.ndarray, slope: np.ndarray) -> np.ndarray:
    out = np.zeros((3, 6))
    out[:, 0], out[:, 1] = start, slope
    return out
