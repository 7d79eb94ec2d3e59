# SPDX-License-Identifier: Apache-2.0
"""Velocities and accelerations at the knots of a trajectory.

The quintic spline through the points has the least jerk (integral of its square) of all curves through them: its third
and fourth derivatives are continuous at every knot. Between the knots i - 1, i and i + 1, g and h apart, with the
unknowns u = (v, a), that is A u_(i-1) + B u_i + C u_(i+1) = d:

    third    [-24/g^2  -3/g] u_(i-1) + [36/h^2 - 36/g^2    9/g + 9/h] u_i + [24/h^2  -3/h] u_(i+1)
             = 60 (x_(i+1) - x_i) / h^3 - 60 (x_i - x_(i-1)) / g^3
    fourth   [-168/g^3  -24/g^2] u_(i-1) + [-192/g^3 - 192/h^3    36/g^2 - 36/h^2] u_i + [-168/h^3  24/h^2] u_(i+1)
             = -360 (x_(i+1) - x_i) / h^4 - 360 (x_i - x_(i-1)) / g^4

They are the stationarity of a convex integral, so blocks of two are eliminated one after the other without pivoting.
"""

from __future__ import annotations

from ...compiled.jit import kernel

# Columns of a knot.
KNOT_TIME, KNOT_AT, KNOT_VELOCITY, KNOT_ACCELERATION = 0, 1, 4, 7
KNOT_TURNED, KNOT_TURN, KNOT_RATE, KNOT_RATE_CHANGE = 10, 14, 17, 20


@kernel
def _eliminate(own, i):
    """Row i of the elimination: C' = (B - A C')^-1 C and d' = (B - A C')^-1 (d - A d'), d of three axes."""
    knot, w = own.knot, own.spline
    g = knot[i, KNOT_TIME] - knot[i - 1, KNOT_TIME]
    h = knot[i + 1, KNOT_TIME] - knot[i, KNOT_TIME]
    a00, a01, a10, a11 = -24.0 / g**2, -3.0 / g, -168.0 / g**3, -24.0 / g**2
    b00 = 36.0 / h**2 - 36.0 / g**2 - (a00 * w[i - 1, 0] + a01 * w[i - 1, 2])
    b01 = 9.0 / g + 9.0 / h - (a00 * w[i - 1, 1] + a01 * w[i - 1, 3])
    b10 = -192.0 / g**3 - 192.0 / h**3 - (a10 * w[i - 1, 0] + a11 * w[i - 1, 2])
    b11 = 36.0 / g**2 - 36.0 / h**2 - (a10 * w[i - 1, 1] + a11 * w[i - 1, 3])
    det = b00 * b11 - b01 * b10
    c00, c01, c10, c11 = 24.0 / h**2, -3.0 / h, -168.0 / h**3, 24.0 / h**2
    w[i, 0] = (b11 * c00 - b01 * c10) / det
    w[i, 1] = (b11 * c01 - b01 * c11) / det
    w[i, 2] = (b00 * c10 - b10 * c00) / det
    w[i, 3] = (b00 * c11 - b10 * c01) / det
    for c in range(3):
        before = knot[i, KNOT_AT + c] - knot[i - 1, KNOT_AT + c]
        after = knot[i + 1, KNOT_AT + c] - knot[i, KNOT_AT + c]
        d0 = 60.0 * after / h**3 - 60.0 * before / g**3
        d1 = -360.0 * after / h**4 - 360.0 * before / g**4
        d0 -= a00 * w[i - 1, 4 + c] + a01 * w[i - 1, 7 + c]
        d1 -= a10 * w[i - 1, 4 + c] + a11 * w[i - 1, 7 + c]
        w[i, 4 + c] = (b11 * d0 - b01 * d1) / det
        w[i, 7 + c] = (b00 * d1 - b10 * d0) / det


@kernel
def least_jerk(own, last):
    """Write velocity and acceleration of the knots 1 .. last - 1; those of the first and the last are given."""
    knot, w = own.knot, own.spline
    for c in range(4):
        w[0, c] = 0.0
    for c in range(3):
        w[0, 4 + c] = knot[0, KNOT_VELOCITY + c]
        w[0, 7 + c] = knot[0, KNOT_ACCELERATION + c]
    for i in range(1, last):
        _eliminate(own, i)
    for i in range(last - 1, 0, -1):
        for c in range(3):
            v, a = knot[i + 1, KNOT_VELOCITY + c], knot[i + 1, KNOT_ACCELERATION + c]
            knot[i, KNOT_VELOCITY + c] = w[i, 4 + c] - (w[i, 0] * v + w[i, 1] * a)
            knot[i, KNOT_ACCELERATION + c] = w[i, 7 + c] - (w[i, 2] * v + w[i, 3] * a)


@kernel
def _cubic_ends(step, v0, v1, h):
    """Acceleration at both ends of the cubic that goes a step in the time h, with these velocities."""
    return (
        (6.0 * step - (4.0 * v0 + 2.0 * v1) * h) / (h * h),
        (-6.0 * step + (2.0 * v0 + 4.0 * v1) * h) / (h * h),
    )


@kernel
def mean_acceleration(own, i, before, after, speed, c):
    """At knot i: the mean of what cubics on both sides would have, which go the steps `before` and `after`.

    `speed` is the first column of the velocities; c is the axis.
    """
    knot = own.knot
    g = knot[i, KNOT_TIME] - knot[i - 1, KNOT_TIME]
    h = knot[i + 1, KNOT_TIME] - knot[i, KNOT_TIME]
    v = knot[i, speed + c]
    _, left = _cubic_ends(before, knot[i - 1, speed + c], v, g)
    right, _ = _cubic_ends(after, v, knot[i + 1, speed + c], h)
    return 0.5 * (left + right)
