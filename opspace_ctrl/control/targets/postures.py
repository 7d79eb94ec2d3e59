# SPDX-License-Identifier: Apache-2.0
"""The posture: joint positions that are approached with the least jerk."""

from __future__ import annotations

import math

from ...compiled.jit import kernel, real, stage
from ...dynamics.state import OK, REFUSED
from .poses import PEAK_SPEED, STRETCHES
from .programs import polynomial, present_row
from .references import END, FIRST_JOINT, START, References
from .rows import FARTHEST, LATEST, SAMPLES, put_change, put_quintic
from .stops import SHORTEST

LEAST_TIME = 0.1  # [s] of an approach
SLOWING = 0.2  # [s] in which a posture that was given a velocity comes to rest


@kernel
def rest_posture(own, q, time):
    """Let the joint positions of a configuration be the posture; joints without one number of their own are at 0."""
    table, joint_q = own.posture_table, own.joint_q
    table[0, START], table[0, END] = time, time + SHORTEST
    for j in range(own.k):
        for c in range(6):
            table[0, FIRST_JOINT + 6 * j + c] = 0.0
        if joint_q[j] >= 0:
            table[0, FIRST_JOINT + 6 * j] = q[joint_q[j]]
    own.posture_rows = 1
    own.posture_present = 0


@kernel
def start_posture(own, q, time):
    """Begin where the robot is, and approach the positions of the settings where they are given."""
    rest_posture(own, q, time)
    approach_settings(own, time)


@kernel
def approach_settings(own, time):
    """Approach the positions of the settings, where they are given."""
    some = 0
    for j in range(own.k):
        own.given_joint[j] = own.posture_given[j]
        own.given_position[j], own.given_speed[j] = own.posture_position[j], 0.0
        some = max(some, own.posture_given[j])
    if some == 1:
        approach(own, time)


@kernel
def find_goal(own, time):
    """Write where the posture is at an instant, and where its joints shall go, with which speed."""
    table, now, goal = own.posture_table, own.posture_now, own.posture_goal
    speed, lower, upper = own.posture_speed, own.joint_lower, own.joint_upper
    most, rows = own.joint_speed, own.posture_rows
    k, s, moving = present_row(table, 0, rows, 0, time)
    last = table[rows - 1, END] - table[rows - 1, START]
    for j in range(own.k):
        p, v, a = polynomial(table, k, FIRST_JOINT + 6 * j, s)
        now[0, j], now[1, j], now[2, j] = p, moving * v, moving * a
        goal[j], speed[j] = polynomial(table, rows - 1, FIRST_JOINT + 6 * j, last)[0], 0.0
        if own.given_joint[j] == 1:
            goal[j] = min(max(own.given_position[j], lower[j]), upper[j])
            speed[j] = min(max(own.given_speed[j], -most[j]), most[j])


@kernel
def put_approach(own, T):
    """Write the row to the goal in the time T; how many times a joint exceeds its largest speed, 1 at least."""
    table, now, goal, speed = (
        own.posture_table,
        own.posture_now,
        own.posture_goal,
        own.posture_speed,
    )
    excess = 1.0
    for j in range(own.k):
        column = FIRST_JOINT + 6 * j
        put_quintic(table, 0, column, now[0, j], now[1, j], now[2, j], goal[j], speed[j], 0.0, T)
        for n in range(SAMPLES + 1):
            _, v, _ = polynomial(table, 0, column, T * n / SAMPLES)
            excess = max(excess, abs(v) / own.joint_speed[j])
    return excess


@kernel
def is_posture(own):
    """Are the numbers that are given such as a posture has?"""
    for j in range(own.k):
        if own.given_joint[j] == 1:
            if not max(abs(own.given_position[j]), abs(own.given_speed[j])) <= FARTHEST:
                return False
    return True


@stage(References, real)
def approach(own, time):
    """Approach the posture of the joints that are given, to pass it with their speed; other joints go on as they do."""
    own.status = REFUSED
    if not (is_posture(own) and abs(time) <= LATEST):
        return
    find_goal(own, time)
    table, now, goal, speed = (
        own.posture_table,
        own.posture_now,
        own.posture_goal,
        own.posture_speed,
    )
    shortest = LEAST_TIME
    for j in range(own.k):
        shortest = max(shortest, PEAK_SPEED * (abs(goal[j] - now[0, j]) / own.joint_speed[j]))
    T, least = shortest, math.inf
    for stretch in STRETCHES:
        excess = put_approach(own, shortest * stretch)
        if excess < least:
            T, least = shortest * stretch, excess
    put_approach(own, T)
    table[0, START], table[0, END] = time, time + T
    table[1, START], table[1, END] = time + T, time + T + SLOWING
    for j in range(own.k):
        put_change(table, 1, FIRST_JOINT + 6 * j, goal[j], speed[j], 0.0, 0.0, SLOWING)
    own.posture_rows = 2
    own.posture_present = 0
    own.status = OK
