# SPDX-License-Identifier: Apache-2.0
"""Trajectories: a program through way points.

Positions follow the quintic spline through the points (`splines`), or, where twists are given, quintics with these
velocities. Orientations turn from point to point along the geodesic (SLERP), with rates and accelerations made
continuous at the points. A trajectory that is faster than the limits of its task is followed slower: all times are
stretched by one factor, and twists lowered by it.
"""

from __future__ import annotations

import math

from ...compiled.jit import integer, kernel, real, stage
from ...dynamics.so3 import normalised
from ...dynamics.spatial import dot
from ...dynamics.state import REFUSED
from .poses import KEPT, NORM, quaternion_of_motion, turn_between
from .programs import reference_at, sample
from .references import (
    ACCELERATION,
    AT,
    END,
    POSITION,
    QUATERNION,
    RATE,
    RATE_CHANGE,
    ROTATION,
    START,
    STOP,
    VELOCITY,
    References,
)
from .rows import LATEST, length, new_row, put_quintic, row_excess, take
from .splines import (
    KNOT_ACCELERATION,
    KNOT_AT,
    KNOT_RATE,
    KNOT_RATE_CHANGE,
    KNOT_TIME,
    KNOT_TURN,
    KNOT_TURNED,
    KNOT_VELOCITY,
    least_jerk,
    mean_acceleration,
)
from .stops import SHORTEST, TOLERATED, plan_stop
from .twists import rotation_end

# Columns of a way point.
POINT_TIME, POINT_AT, POINT_TURNED, POINT_TWIST, POINT = 0, 1, 4, 8, 14
TRIES = 5  # at stretching the times
# [m], [rad] a way point at time 0 lies this close to the present reference
NEAR, NEAR_ANGLE = 1e-2, 5e-2
LONGEST = 1e6  # [s]


@kernel
def point_orientation(own, task, i):
    """Of a way point, or of the present reference where the task moves none."""
    point = own.point
    if own.has_orientation[task] == 0:
        return quaternion_of_motion(own.now)
    return normalised(
        (
            point[i, POINT_TURNED],
            point[i, POINT_TURNED + 1],
            point[i, POINT_TURNED + 2],
            point[i, POINT_TURNED + 3],
        )
    )


@kernel
def are_way_points(own):
    """Are there some, in rising times, with numbers that can be meant?"""
    point, count = own.point, own.given_points
    if not 1 <= count <= own.capacity - STOP:
        return False
    before = -1.0
    for i in range(count):
        time = point[i, POINT_TIME]
        if not (0.0 <= time <= LONGEST and time - before >= SHORTEST):
            return False
        if 0.0 < time < SHORTEST:
            return False
        before = time
        norm = 0.0
        for c in range(3):
            if not (abs(point[i, POINT_AT + c]) <= 1e6):
                return False
        for c in range(4):
            norm += point[i, POINT_TURNED + c] ** 2
        if not abs(math.sqrt(norm) - 1.0) <= NORM:
            return False
        for c in range(6):
            if not (abs(point[i, POINT_TWIST + c]) <= 1e6):
                return False
    return point[count - 1, POINT_TIME] > 0.0


@kernel
def is_near(own, task):
    """Is the first way point where the reference is?"""
    point, now = own.point, own.now
    distance = 0.0
    for c in range(3):
        distance += (point[0, POINT_AT + c] - now[AT + c]) ** 2
    turn = turn_between(quaternion_of_motion(now), point_orientation(own, task, 0))
    far = own.has_position[task] == 1 and not math.sqrt(distance) <= NEAR
    return not far and math.sqrt(dot(turn, turn)) <= NEAR_ANGLE


@kernel
def set_knots(own, task, first, stretch):
    """Write the knots up to their given rates; the first is `now`. Returns the last's number."""
    knot, point, now = own.knot, own.point, own.now
    last = own.given_points - first
    for i in range(last + 1):
        p = first + i - 1
        turned = quaternion_of_motion(now) if i == 0 else point_orientation(own, task, p)
        knot[i, KNOT_TIME] = 0.0 if i == 0 else stretch * point[p, POINT_TIME]
        for c in range(4):
            knot[i, KNOT_TURNED + c] = turned[c]
        for c in range(3):
            is_given = i > 0 and own.has_position[task] == 1
            knot[i, KNOT_AT + c] = point[p, POINT_AT + c] if is_given else now[AT + c]
            knot[i, KNOT_VELOCITY + c], knot[i, KNOT_RATE + c] = 0.0, 0.0
            knot[i, KNOT_ACCELERATION + c], knot[i, KNOT_RATE_CHANGE + c] = 0.0, 0.0
            if 0 < i < last and own.has_twists == 1:
                knot[i, KNOT_VELOCITY + c] = point[p, POINT_TWIST + c] / stretch
                knot[i, KNOT_RATE + c] = point[p, POINT_TWIST + 3 + c] / stretch
            if i == 0:
                knot[0, KNOT_VELOCITY + c] = now[VELOCITY + c]
                knot[0, KNOT_ACCELERATION + c] = now[ACCELERATION + c]
                knot[0, KNOT_RATE + c] = now[RATE + c]
                knot[0, KNOT_RATE_CHANGE + c] = now[RATE_CHANGE + c]
    return last


@kernel
def knot_orientation(own, i):
    """Of a knot."""
    knot = own.knot
    return (
        knot[i, KNOT_TURNED],
        knot[i, KNOT_TURNED + 1],
        knot[i, KNOT_TURNED + 2],
        knot[i, KNOT_TURNED + 3],
    )


@kernel
def set_rates(own, last):
    """Write turns, velocities, rates and accelerations of the knots between the first and the last."""
    knot = own.knot
    for i in range(last):
        turn = turn_between(knot_orientation(own, i), knot_orientation(own, i + 1))
        for c in range(3):
            knot[i, KNOT_TURN + c] = turn[c]
    if own.has_twists == 0:
        least_jerk(own, last)
        for i in range(1, last):
            g = knot[i, KNOT_TIME] - knot[i - 1, KNOT_TIME]
            h = knot[i + 1, KNOT_TIME] - knot[i, KNOT_TIME]
            for c in range(3):  # the parabola through a point and its neighbours
                before, after = knot[i - 1, KNOT_TURN + c] / g, knot[i, KNOT_TURN + c] / h
                knot[i, KNOT_RATE + c] = (h * before + g * after) / (g + h)
    for i in range(1, last):
        for c in range(3):
            before, after = knot[i - 1, KNOT_TURN + c], knot[i, KNOT_TURN + c]
            change = mean_acceleration(own, i, before, after, KNOT_RATE, c)
            knot[i, KNOT_RATE_CHANGE + c] = change
            if own.has_twists == 1:
                before = knot[i, KNOT_AT + c] - knot[i - 1, KNOT_AT + c]
                after = knot[i + 1, KNOT_AT + c] - knot[i, KNOT_AT + c]
                change = mean_acceleration(own, i, before, after, KNOT_VELOCITY, c)
                knot[i, KNOT_ACCELERATION + c] = change


@kernel
def put_rows(own, last, time):
    """Write a row from each knot to the next."""
    draft, knot = own.draft, own.knot
    for i in range(last):
        T = knot[i + 1, KNOT_TIME] - knot[i, KNOT_TIME]
        k = new_row(own, time + knot[i, KNOT_TIME], time + knot[i + 1, KNOT_TIME], own.now)
        for c in range(4):
            draft[k, QUATERNION + c] = knot[i, KNOT_TURNED + c]
        turn = (knot[i, KNOT_TURN], knot[i, KNOT_TURN + 1], knot[i, KNOT_TURN + 2])
        rate = (knot[i + 1, KNOT_RATE], knot[i + 1, KNOT_RATE + 1], knot[i + 1, KNOT_RATE + 2])
        change = (
            knot[i + 1, KNOT_RATE_CHANGE],
            knot[i + 1, KNOT_RATE_CHANGE + 1],
            knot[i + 1, KNOT_RATE_CHANGE + 2],
        )
        dr, ddr = rotation_end(turn, rate, change)
        for c in range(3):
            put_quintic(
                draft, k, POSITION + 6 * c,
                knot[i, KNOT_AT + c], knot[i, KNOT_VELOCITY + c], knot[i, KNOT_ACCELERATION + c],
                knot[i + 1, KNOT_AT + c], knot[i + 1, KNOT_VELOCITY + c],
                knot[i + 1, KNOT_ACCELERATION + c], T,
            )  # fmt: skip
            put_quintic(
                draft, k, ROTATION + 6 * c, 0.0, knot[i, KNOT_RATE + c],
                knot[i, KNOT_RATE_CHANGE + c], turn[c], dr[c], ddr[c], T,
            )  # fmt: skip


@kernel
def put_trajectory(own, task, first, stretch, time):
    """Rows through the way points with their times stretched; by how much they exceed speed and acceleration."""
    begin = own.drafted
    last = set_knots(own, task, first, stretch)
    set_rates(own, last)
    put_rows(own, last, time)
    speed, change = 0.0, 0.0
    for k in range(begin, own.drafted):
        fast, hard = row_excess(own, task, own.draft, k)
        speed, change = max(speed, fast), max(change, hard)
    return speed, change


@kernel
def try_trajectory(own, task, first, time):
    """The trajectory, stretched until it keeps the limits; its least excess, and the stretch of that."""
    begin, stretch = own.drafted, 1.0
    least, best = math.inf, 1.0
    for _ in range(TRIES):  # from rest, the first try says what the second needs
        own.drafted = begin
        speed, change = put_trajectory(own, task, first, stretch, time)
        most = max(speed, change)
        if most < least:
            least, best = most, stretch
        if least <= KEPT:
            break
        stretch *= max(speed, math.sqrt(change), KEPT)
    own.drafted = begin
    put_trajectory(own, task, first, best, time)
    return least, best


@stage(References, integer, real)
def follow(own, task, time):
    """Move a task through the way points that are given, at rest at the last.

    A reference in motion may exceed the limits by TOLERATED; where stretching does not help, it comes to rest first.
    """
    now, draft = own.now, own.draft
    own.status = REFUSED
    own.drafted = 0
    if not (abs(time) <= LATEST and are_way_points(own)):
        return
    reference_at(own, task, time, now)
    first = 1 if own.point[0, POINT_TIME] == 0.0 else 0
    if first == 1 and not is_near(own, task):
        return
    moves = length(now, VELOCITY) + length(now, RATE)
    moves += length(now, ACCELERATION) + length(now, RATE_CHANGE)
    least, stretch = try_trajectory(own, task, first, time)
    slowed = 1 if stretch > 1.0 else 0
    if moves > 0.0 and not least <= TOLERATED:
        own.drafted = 0
        end = plan_stop(own, task, time, now)
        last = own.drafted - 1
        sample(draft, last, draft[last, END] - draft[last, START], 0.0, now)
        try_trajectory(own, task, first, end)
        slowed = 1
    take(own, task, time, slowed)
