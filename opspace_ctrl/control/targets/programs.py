# SPDX-License-Identifier: Apache-2.0
"""Sampling of programs: what a reference asks for at an instant."""

from __future__ import annotations

from ...compiled.jit import kernel
from ...dynamics.so3 import normalised, quaternion_exp, quaternion_product, rotation_rates
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
    TURNED,
    VELOCITY,
)


@kernel
def present_row(table, first, rows, k, time):
    """The row of a program that `time` falls in, and the time in it; outside the program a row's end, at rest.

    Args:
        table: Where the program is, from row `first` on, `rows` rows of it.
        k: Where the last search ended: time moves on, so this one begins there.
        time: [s].

    Returns:
        Row of the program, time since its start, and 1.0 in the program or 0.0 outside.
    """
    last = rows - 1
    while k > 0 and time < table[first + k, START]:
        k -= 1
    while k < last and time >= table[first + k + 1, START]:
        k += 1
    start, end = table[first + k, START], table[first + k, END]
    moving = 1.0 if table[first, START] <= time < table[first + last, END] else 0.0
    return k, min(max(time, start), end) - start, moving


@kernel
def polynomial(table, k, column, s):
    """Value, first and second derivative of the polynomial whose six coefficients start at a column of row k."""
    c0, c1, c2 = table[k, column], table[k, column + 1], table[k, column + 2]
    c3, c4, c5 = table[k, column + 3], table[k, column + 4], table[k, column + 5]
    return (
        c0 + s * (c1 + s * (c2 + s * (c3 + s * (c4 + s * c5)))),
        c1 + s * (2.0 * c2 + s * (3.0 * c3 + s * (4.0 * c4 + s * 5.0 * c5))),
        2.0 * c2 + s * (6.0 * c3 + s * (12.0 * c4 + s * 20.0 * c5)),
    )


@kernel
def sample(table, k, s, moving, motion):
    """Write the motion of row k, s after its start; its twist and acceleration times `moving`."""
    for c in range(3):
        p, v, a = polynomial(table, k, POSITION + 6 * c, s)
        motion[AT + c], motion[VELOCITY + c], motion[ACCELERATION + c] = p, moving * v, moving * a
    x, dx, ddx = polynomial(table, k, ROTATION, s)
    y, dy, ddy = polynomial(table, k, ROTATION + 6, s)
    z, dz, ddz = polynomial(table, k, ROTATION + 12, s)
    start = (
        table[k, QUATERNION],
        table[k, QUATERNION + 1],
        table[k, QUATERNION + 2],
        table[k, QUATERNION + 3],
    )
    turned = normalised(quaternion_product(quaternion_exp((x, y, z)), start))
    rate, change = rotation_rates((x, y, z), (dx, dy, dz), (ddx, ddy, ddz))
    for c in range(4):
        motion[TURNED + c] = turned[c]
    for c in range(3):
        motion[RATE + c], motion[RATE_CHANGE + c] = moving * rate[c], moving * change[c]


@kernel
def reference_at(own, task, time, motion):
    """Write the motion of a task's reference at an instant; before and after its program it rests."""
    first = task * own.capacity
    k, s, moving = present_row(own.table, first, own.rows[task], 0, time)
    sample(own.table, first + k, s, moving, motion)
