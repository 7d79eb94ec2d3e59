# SPDX-License-Identifier: Apache-2.0
"""Target twists: a change to a constant twist, which is kept for a while; then a stop."""

from __future__ import annotations

import math

from ...compiled.jit import integer, kernel, real, stage
from ...dynamics.so3 import rotation_rates
from ...dynamics.spatial import add, cross, dot, scale
from ...dynamics.state import REFUSED
from .poses import shortened
from .programs import polynomial, reference_at, sample
from .references import (
    ACCELERATION,
    AT,
    POSITION,
    RATE,
    RATE_CHANGE,
    ROTATION,
    VELOCITY,
    References,
)
from .rows import LATEST, is_meant, new_row, put_change, put_quintic, take
from .stops import SHORTEST, calm, plan_stop, time_to_reach

ZERO = (0.0, 0.0, 0.0)
SMALL = 1e-4  # [rad] below which a series is used: the quotient loses its digits


@kernel
def inverse_jacobian_times(r, w):
    """Jl(r)^-1 w = w - r x w / 2 + c r x (r x w)."""
    x = math.sqrt(dot(r, r))
    if x < SMALL:
        c = 1.0 / 12.0 + x * x / 720.0
    else:
        c = (1.0 - 0.5 * x / math.tan(0.5 * x)) / (x * x)
    across = cross(r, w)
    return add(w, add(scale(-0.5, across), scale(c, cross(r, across))))


@kernel
def rotation_end(r, rate, change):
    """r' and r'' at r that make the given angular velocity and acceleration."""
    dr = inverse_jacobian_times(r, rate)
    _, drift = rotation_rates(r, dr, ZERO)
    return dr, inverse_jacobian_times(r, add(change, scale(-1.0, drift)))


@kernel
def swing(draft, k, c, motion, w, T):
    """The angle by which one axis turns while its rate changes to w in the time T."""
    put_change(draft, k, ROTATION + 6 * c, 0.0, motion[RATE + c], motion[RATE_CHANGE + c], w, T)
    return polynomial(draft, k, ROTATION + 6 * c, T)[0]


@kernel
def put_change_of_twist(own, k, motion, v, w, T):
    """The row from a motion to a constant twist in the time T."""
    draft = own.draft
    turn = (
        swing(draft, k, 0, motion, w[0], T),
        swing(draft, k, 1, motion, w[1], T),
        swing(draft, k, 2, motion, w[2], T),
    )
    dr, ddr = rotation_end(turn, w, ZERO)
    for c in range(3):
        speed, change = motion[VELOCITY + c], motion[ACCELERATION + c]
        put_change(draft, k, POSITION + 6 * c, motion[AT + c], speed, change, v[c], T)
        rate, change = motion[RATE + c], motion[RATE_CHANGE + c]
        put_quintic(draft, k, ROTATION + 6 * c, 0.0, rate, change, turn[c], dr[c], ddr[c], T)


@stage(References, integer, real, real)
def drive(own, task, time, duration):
    """Move a task with `given_twist`, linear first, for a duration [s] after `time`, then stop."""
    twist, now, later, draft = own.given_twist, own.now, own.later, own.draft
    own.status = REFUSED
    own.drafted = 0
    if not (is_meant(twist, 0, 6) and abs(time) <= LATEST and 0.0 <= duration <= LATEST):
        return
    linear, angular = float(own.has_position[task]), float(own.has_orientation[task])
    v, is_slower = shortened(
        (linear * twist[0], linear * twist[1], linear * twist[2]), own.speed[task]
    )
    w, is_less = shortened(
        (angular * twist[3], angular * twist[4], angular * twist[5]), own.angular_speed[task]
    )
    reference_at(own, task, time, now)
    begin = calm(own, task, time, now)
    T = time_to_reach(own, task, now, (v, w))
    kept = max(time + duration - begin - T, SHORTEST)
    change = new_row(own, begin, begin + T, now)
    put_change_of_twist(own, change, now, v, w, T)
    sample(draft, change, T, 1.0, later)
    steady = new_row(own, begin + T, begin + T + kept, later)
    for c in range(3):
        draft[steady, POSITION + 6 * c] = later[AT + c]
        draft[steady, POSITION + 6 * c + 1] = v[c]
        draft[steady, ROTATION + 6 * c + 1] = w[c]
    sample(draft, steady, kept, 1.0, later)
    plan_stop(own, task, begin + T + kept, later)
    take(own, task, time, max(is_slower, is_less))
