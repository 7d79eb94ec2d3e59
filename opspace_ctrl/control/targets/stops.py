# SPDX-License-Identifier: Apache-2.0
"""Stops: from any motion to rest, as the acceleration limits of a task allow."""

from __future__ import annotations

import math

from ...compiled.jit import kernel
from ...dynamics.spatial import dot
from .programs import sample
from .references import (
    ACCELERATION,
    AT,
    POSITION,
    RATE,
    RATE_CHANGE,
    ROTATION,
    VELOCITY,
)
from .rows import length, new_row, put_change, take

SHORTEST = 1e-3  # [s] no segment is shorter
FADING = 0.02  # [s] in which an acceleration beyond its limit fades
LONGEST_STOP = 2.0  # [s] even where a trajectory was faster than the limits
TOLERATED = 1.25  # times a limit that a target in mid-motion may cause


@kernel
def calm(own, task, time, motion):
    """Where the acceleration is far beyond its limits, a row in which it fades; the motion, and the time, after it."""
    most, most_angular = own.acceleration[task], own.angular_acceleration[task]
    if not (
        length(motion, ACCELERATION) > TOLERATED * most
        or length(motion, RATE_CHANGE) > TOLERATED * most_angular
    ):
        return time
    draft, k = own.draft, new_row(own, time, time + FADING, motion)
    for c in range(3):
        for column, x, v, a in (
            (POSITION, motion[AT + c], motion[VELOCITY + c], motion[ACCELERATION + c]),
            (ROTATION, 0.0, motion[RATE + c], motion[RATE_CHANGE + c]),
        ):
            draft[k, column + 6 * c] = x
            draft[k, column + 6 * c + 1] = v
            draft[k, column + 6 * c + 2] = 0.5 * a
            draft[k, column + 6 * c + 3] = a / (-6.0 * FADING)
    sample(draft, k, FADING, 1.0, motion)
    return time + FADING


@kernel
def settling(dv, a, limit):
    """Time in which a change of speed dv, while accelerating with a, needs about the acceleration limit."""
    return min(LONGEST_STOP, (1.5 * dv + 0.1 * a) / limit)


@kernel
def time_to_reach(own, task, motion, twist):
    """How long a change to a twist (two triples) takes [s]."""
    v, w = twist
    dv = (motion[VELOCITY] - v[0], motion[VELOCITY + 1] - v[1], motion[VELOCITY + 2] - v[2])
    dw = (motion[RATE] - w[0], motion[RATE + 1] - w[1], motion[RATE + 2] - w[2])
    linear = settling(math.sqrt(dot(dv, dv)), length(motion, ACCELERATION), own.acceleration[task])
    angular = settling(
        math.sqrt(dot(dw, dw)), length(motion, RATE_CHANGE), own.angular_acceleration[task]
    )
    return max(SHORTEST, linear, angular)


@kernel
def plan_stop(own, task, time, motion):
    """Rows that bring a motion to rest as the acceleration limits allow; returns when it is there."""
    time = calm(own, task, time, motion)
    zero = (0.0, 0.0, 0.0)
    T = time_to_reach(own, task, motion, (zero, zero))
    draft, k = own.draft, new_row(own, time, time + T, motion)
    for c in range(3):
        v, a = motion[VELOCITY + c], motion[ACCELERATION + c]
        put_change(draft, k, POSITION + 6 * c, motion[AT + c], v, a, 0.0, T)
        put_change(
            draft, k, ROTATION + 6 * c, 0.0, motion[RATE + c], motion[RATE_CHANGE + c], 0.0, T
        )
    return time + T


@kernel
def rest(own, task, time):
    """Let a task come to rest from the motion `now`; no target has come yet."""
    own.drafted = 0
    plan_stop(own, task, time, own.now)
    take(own, task, math.nan, 0)
