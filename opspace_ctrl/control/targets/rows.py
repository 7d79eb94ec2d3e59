# SPDX-License-Identifier: Apache-2.0
"""Rows of the draft: how a program is made, row by row, and taken when it is whole."""

from __future__ import annotations

import math

from ...compiled.jit import kernel
from ...dynamics.state import OK, REFUSED
from .programs import polynomial
from .references import COLUMNS, END, POSITION, QUATERNION, ROTATION, START, TURNED

SAMPLES = 16  # steps in which a row is looked at
FARTHEST = 1e6  # [m, m/s, rad/s] of what is given
LATEST = 1e11  # [s] some thousand years: a time beyond it is in another unit


@kernel
def put_quintic(table, k, column, x0, v0, a0, x1, v1, a1, T):
    """Coefficients of the quintic with the given ends, in rising powers of s in 0 .. T."""
    d = x1 - x0 - v0 * T - 0.5 * a0 * T * T
    dv = (v1 - v0 - a0 * T) * T
    da = (a1 - a0) * T * T
    table[k, column] = x0
    table[k, column + 1] = v0
    table[k, column + 2] = 0.5 * a0
    table[k, column + 3] = (10.0 * d - 4.0 * dv + 0.5 * da) / (T * T * T)
    table[k, column + 4] = (-15.0 * d + 7.0 * dv - da) / (T * T * T * T)
    table[k, column + 5] = (6.0 * d - 3.0 * dv + 0.5 * da) / (T * T * T * T * T)


@kernel
def put_change(table, k, column, x0, v0, a0, v1, T):
    """Those of a change to the constant velocity v1 that ends wherever it ends, degree four."""
    third = -(v0 - v1 + 2.0 / 3.0 * a0 * T) / (T * T)
    table[k, column] = x0
    table[k, column + 1] = v0
    table[k, column + 2] = 0.5 * a0
    table[k, column + 3] = third
    table[k, column + 4] = -(a0 + 6.0 * third * T) / (12.0 * T * T)
    table[k, column + 5] = 0.0


@kernel
def new_row(own, start, end, motion):
    """Begin a row of the draft, at rest in the orientation of a motion; returns its number."""
    k, draft = own.drafted, own.draft
    own.drafted = k + 1
    for c in range(COLUMNS):
        draft[k, c] = 0.0
    draft[k, START], draft[k, END] = start, end
    for c in range(4):
        draft[k, QUATERNION + c] = motion[TURNED + c]
    return k


@kernel
def length(motion, first):
    """Of three numbers of a motion."""
    x, y, z = motion[first], motion[first + 1], motion[first + 2]
    return math.sqrt(x * x + y * y + z * z)


@kernel
def row_excess(own, task, table, k):
    """How many times a row exceeds its task's limits of speed and of acceleration, linear or angular."""
    T = table[k, END] - table[k, START]
    fastest, hardest = 0.0, 0.0
    for n in range(SAMPLES + 1):
        s = T * n / SAMPLES
        v, a, w, dw = 0.0, 0.0, 0.0, 0.0
        for c in range(3):
            _, first, second = polynomial(table, k, POSITION + 6 * c, s)
            v += first * first
            a += second * second
            _, first, second = polynomial(table, k, ROTATION + 6 * c, s)
            w += first * first
            dw += second * second
        speed = max(math.sqrt(v) / own.speed[task], math.sqrt(w) / own.angular_speed[task])
        change = max(
            math.sqrt(a) / own.acceleration[task], math.sqrt(dw) / own.angular_acceleration[task]
        )
        fastest, hardest = max(fastest, speed), max(hardest, change)
    return fastest, hardest


@kernel
def take(own, task, time, clipped):
    """Let the draft be the program of a task, as an answer to the target that came at `time` [s].

    `clipped` is 1 if the target was too far or too fast and was changed. Writes the task's part of `table` and its
    `rows`, `stamp`, `clipped` and `present` (0: the search for the row of a tick begins at the first), and `status`:
    OK, or REFUSED if a number of the draft is not finite, and then nothing else.
    """
    draft, table, first = own.draft, own.table, task * own.capacity
    own.status = REFUSED
    for k in range(own.drafted):
        for c in range(COLUMNS):
            if not math.isfinite(draft[k, c]):
                return
    for k in range(own.drafted):
        for c in range(COLUMNS):
            table[first + k, c] = draft[k, c]
    own.rows[task], own.present[task] = own.drafted, 0
    own.stamp[task], own.clipped[task] = time, clipped
    own.status = OK


@kernel
def is_meant(x, first, count):
    """Are so many numbers that are given finite, and not beyond FARTHEST?"""
    for c in range(first, first + count):
        if not abs(x[c]) <= FARTHEST:
            return False
    return True
