# SPDX-License-Identifier: Apache-2.0
"""Target poses: a motion with the least jerk, within the limits of a task, to a pose at rest.

A new target starts from where the reference is, with its velocity and acceleration, so that it never jumps.
"""

from __future__ import annotations

import math

from ...compiled.jit import integer, kernel, real, stage
from ...dynamics.so3 import normalised, quaternion_exp, quaternion_log, quaternion_product
from ...dynamics.spatial import dot, scale
from ...dynamics.state import REFUSED
from .programs import reference_at, sample
from .references import (
    ACCELERATION,
    AT,
    END,
    HAS_ORIENTATION,
    HAS_POSITION,
    POSITION,
    RATE,
    RATE_CHANGE,
    ROTATION,
    START,
    TURNED,
    VELOCITY,
    References,
)
from .rows import LATEST, is_meant, new_row, put_quintic, row_excess, take
from .stops import SHORTEST, TOLERATED, plan_stop

# of a minimum-jerk motion over unit distance in unit time
PEAK_SPEED = 1.875
PEAK_ACCELERATION = 10.0 / math.sqrt(3.0)
KEPT = 1.001  # times a limit that counts as within it
STRETCHES = (1.0, 1.2, 1.5, 2.0, 3.0)  # of the least time: a reference in motion may need more
HALF_TURN = math.pi - 0.1  # [rad] beyond this angle the way round follows the present rotation
NORM = 0.1  # a quaternion's norm may differ from 1 by this; it is normalised


@kernel
def put_move(own, k, motion, goal, turn, T):
    """The row from a motion to a position at rest, the orientation turned by `turn`, in the time T."""
    draft = own.draft
    draft[k, END] = draft[k, START] + T
    for c in range(3):
        v, a = motion[VELOCITY + c], motion[ACCELERATION + c]
        put_quintic(draft, k, POSITION + 6 * c, motion[AT + c], v, a, goal[c], 0.0, 0.0, T)
        w, dw = motion[RATE + c], motion[RATE_CHANGE + c]
        put_quintic(draft, k, ROTATION + 6 * c, 0.0, w, dw, turn[c], 0.0, 0.0, T)


@kernel
def least_time(own, task, distance, angle):
    """In which a motion from rest keeps all limits, and not below that of the settings [s]."""
    return max(
        max(SHORTEST, own.time[task]),
        max(
            PEAK_SPEED * distance / own.speed[task],
            PEAK_SPEED * angle / own.angular_speed[task],
        ),
        max(
            math.sqrt(PEAK_ACCELERATION * distance / own.acceleration[task]),
            math.sqrt(PEAK_ACCELERATION * angle / own.angular_acceleration[task]),
        ),
    )


@kernel
def try_move(own, task, motion, goal, turn, time):
    """A row from a motion to a pose at rest, in the least of STRETCHES that keeps the limits; its excess."""
    step = (goal[0] - motion[AT], goal[1] - motion[AT + 1], goal[2] - motion[AT + 2])
    T = least_time(own, task, math.sqrt(dot(step, step)), math.sqrt(dot(turn, turn)))
    k = new_row(own, time, time + T, motion)
    best, least = 1.0, math.inf
    for stretch in STRETCHES:
        put_move(own, k, motion, goal, turn, stretch * T)
        speed, change = row_excess(own, task, own.draft, k)
        most = max(speed, change)
        if most < least:
            best, least = stretch, most
        if most <= KEPT:
            break
    put_move(own, k, motion, goal, turn, best * T)
    return least


@kernel
def plan_move(own, task, goal, turn, time):
    """Rows from `now` to a pose at rest. Where no time keeps the limits, the present motion is stopped first."""
    now = own.now
    if try_move(own, task, now, goal, turn, time) <= TOLERATED:
        return
    turned = quaternion_of_motion(now)
    own.drafted = 0
    end = plan_stop(own, task, time, now)
    last = own.drafted - 1
    sample(own.draft, last, own.draft[last, END] - own.draft[last, START], 0.0, now)
    final = quaternion_product(quaternion_exp(turn), turned)
    try_move(own, task, now, goal, turn_between(quaternion_of_motion(now), final), end)


@kernel
def quaternion_of_motion(motion):
    """Its orientation."""
    return motion[TURNED], motion[TURNED + 1], motion[TURNED + 2], motion[TURNED + 3]


@kernel
def turn_between(start, end):
    """Rotation vector from one orientation to another, the short way."""
    x, y, z, s = quaternion_product(end, (-start[0], -start[1], -start[2], start[3]))
    if s < 0.0:  # q and -q are the same rotation
        return quaternion_log((-x, -y, -z, -s))
    return quaternion_log((x, y, z, s))


@kernel
def shortened(x, limit):
    """A triple, or a shorter one in its direction; and 1 if it is shorter."""
    size = math.sqrt(dot(x, x))
    if size <= limit:
        return x, 0
    return scale(limit / size, x), 1


@kernel
def cut(own, task, time):
    """End the draft when its target goes stale: from there it comes to rest."""
    draft, last = own.draft, own.drafted - 1
    end = time + own.target_timeout
    if own.target_timeout == 0.0 or draft[last, END] <= end:
        return
    while last > 0 and end < draft[last, START]:
        last -= 1
    own.drafted = last + 1
    sample(draft, last, max(end - draft[last, START], 0.0), 1.0, own.later)
    draft[last, END] = max(end, draft[last, START])
    plan_stop(own, task, draft[last, END], own.later)


@stage(References, integer, integer, real)
def aim(own, task, what, time):
    """Move a task to the pose that is `given`, with the least jerk; what it does not tell stays as it is to be."""
    given, now, later = own.given, own.now, own.later
    own.status = REFUSED
    own.drafted = 0
    reference_at(own, task, time, now)
    reference_at(own, task, math.inf, later)
    goal = (later[AT], later[AT + 1], later[AT + 2])
    final = quaternion_of_motion(later)
    if not abs(time) <= LATEST:
        return
    if what & HAS_POSITION:
        if not is_meant(given, 0, 3):
            return
        if own.has_position[task] == 1:
            goal = (given[0], given[1], given[2])
    if what & HAS_ORIENTATION:
        norm = math.sqrt(given[3] ** 2 + given[4] ** 2 + given[5] ** 2 + given[6] ** 2)
        if not abs(norm - 1.0) <= NORM:
            return
        if own.has_orientation[task] == 1:
            final = normalised((given[3], given[4], given[5], given[6]))
    step = (goal[0] - now[AT], goal[1] - now[AT + 1], goal[2] - now[AT + 2])
    turn = turn_between(quaternion_of_motion(now), final)
    angle = math.sqrt(dot(turn, turn))
    # close to half a turn both ways are alike: then the one that the reference is already turning
    if angle > HALF_TURN and dot(turn, (now[RATE], now[RATE + 1], now[RATE + 2])) < 0.0:
        turn = scale(1.0 - 2.0 * math.pi / angle, turn)
    jump = own.jump[task] if own.jump[task] > 0.0 else math.inf
    jump_angle = own.jump_angle[task] if own.jump_angle[task] > 0.0 else math.inf
    step, is_shorter = shortened(step, jump)
    turn, is_smaller = shortened(turn, jump_angle)
    goal = (now[AT] + step[0], now[AT + 1] + step[1], now[AT + 2] + step[2])
    plan_move(own, task, goal, turn, time)
    cut(own, task, time)
    take(own, task, time, max(is_shorter, is_smaller))
