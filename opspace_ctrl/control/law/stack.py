# SPDX-License-Identifier: Apache-2.0
"""The stack of rows that the hierarchy eliminates, for one set of contacts and tasks: its order, Gram matrix and r.

`stack_row` tells what row i of the stack is, by its sign:
    r >= 0                row r of the operational space: J_r of a contact or a task
    LIMIT_ROW < r < 0     passive row p = -1 - r: a motion of the floating base, column p of Z, that no contact holds
    r <= LIMIT_ROW        the joint at place LIMIT_ROW - r of `near_limit`: the row e_j of its coordinate
With C all of these rows one below the other, `gram` is C H^-1 C^T: what acceleration each row gets from a unit force
along each other.
"""

import math

from ...compiled.jit import kernel, stage
from ...compiled.lanes import W, row
from ...osim.blocks import times_support
from ..fields import (
    GIVEN_KIND,
    GRAVITY_MODE,
    INERTIA_LAW,
    LIMIT_KIND,
    LIMIT_ROW,
    RAW_MODE,
    SOLVED_KIND,
    VELOCITY_MODE,
    Law,
)
from .base import free_motions


@kernel
def _add_row(law, r):
    """Put a row at the end of the stack; r as `stack_row` has it."""
    law.stack_row[law.stack_rows] = r
    law.stack_rows += 1


@kernel
def _add_block(law, b):
    """Put all rows of a block of the operational space at the end of the stack."""
    first = law.space.block_row[b]
    for r in range(first, first + law.space.block_rows[b]):
        _add_row(law, r)


@kernel
def _close_level(law, start, kind, report):
    """Make a level of the rows from `start` on, if there are any."""
    k, end = law.stack_levels, law.stack_rows
    if end > start:
        law.stack_level_start[k] = start
        law.stack_level_end[k] = end
        law.stack_level_kind[k] = kind
        law.stack_level_report[k] = report
        law.stack_levels = k + 1


@kernel
def _gram(law):
    """Write `gram` = J H^-1 J^T of the stack, and the typical response of its rows to `stack_scale`."""
    n, rows, A = law.stack_rows, law.stack_row, law.gram
    Lambda_inv, scale, typical = law.space.Lambda_inv, law.stack_scale, law.space.scale
    for i in range(n):
        A[i, n - n % W : n - n % W + W] = 0.0  # registers overrun the last column
    for i in range(n):
        r = rows[i]
        if r < 0:
            continue
        scale[i] = typical[r]
        # rows of the operational space rise along the stack: the upper triangle is enough
        for j in range(i, n):
            if rows[j] >= 0:
                found = Lambda_inv[r, rows[j]]
                A[i, j] = found
                A[j, i] = found
    for i in range(n):
        if LIMIT_ROW < rows[i] < 0:
            _passive_row(law, i, n)
    for i in range(n):
        if rows[i] <= LIMIT_ROW:
            _limit_row(law, i, n)


@kernel
def _passive_row(law, i, n):
    """Row and column i of `gram`, of passive row p: the row Z_p^T S H, S picking the base's six coordinates.

    H^-1 cancels against the H of that row, so that no solve is needed: with a task it is Z_p^T times the base columns
    of J_r, with another passive row Z_p^T (S H S^T) Z, with a contact zero, since Z is what contacts leave free, with a
    joint near its limit zero, since that is none of the base's. Writes also `stack_scale`.
    """
    rows, A, Z = law.stack_row, law.gram, law.Z
    J_base, H_base = law.J_base, law.H_base
    p, contacts = -1 - rows[i], law.stack_contact_rows
    for j in range(n):
        found, r = 0.0, rows[j]
        if r >= 0:
            if j >= contacts:  # Z is what the contacts leave free: with them it is zero
                for c in range(6):
                    found += Z[c, p] * J_base[r, c]
        elif r > LIMIT_ROW:
            for c in range(6):
                for d in range(6):
                    found += Z[c, p] * H_base[c, d] * Z[d, -1 - r]
        A[i, j], A[j, i] = found, found
    law.stack_scale[i] = math.sqrt(A[i, i])


@kernel
def _limit_row(law, i, n):
    """Row and column i of `gram`, of a joint near its limit: its response H^-1 e_j along the other rows.

    `H_inv` holds the response, by place in `near_limit`. With a passive row it is zero, see there. Writes also
    `stack_scale` and, on the way, `row_response`.
    """
    rows, A, near_limit = law.stack_row, law.gram, law.near_limit
    joint_v, out = law.joint_v, law.row_response
    response = row(law.H_inv, LIMIT_ROW - rows[i])
    times_support(law.space, law.space.J, response, out)
    for j in range(n):
        found, r = 0.0, rows[j]
        if r >= 0:
            found = out[r]
        elif r <= LIMIT_ROW:
            found = response[joint_v[near_limit[LIMIT_ROW - r]]]
        A[i, j], A[j, i] = found, found
    law.stack_scale[i] = math.sqrt(A[i, i])


@kernel
def _right_hand_side(law):
    """Write r: what is left of each row's desired acceleration after Jdot v and the bias that is not compensated.

    For levels of impedance and of raw mode it is the given force, in mode velocity the desired velocity.
    """
    rows, right, desired = law.stack_row, law.r, law.row_desired
    drift, bias, h = law.space.Jdot_v, law.row_bias, law.h_compensated
    Z, bound, near_limit = law.Z, law.acceleration_bound, law.near_limit
    H_inv, bias_in_law = law.H_inv, law.present_bias_in_law == 1
    is_velocity = law.present_mode == VELOCITY_MODE
    for i in range(law.stack_rows):
        r = rows[i]
        if r >= 0:
            right[i] = desired[r] if is_velocity else desired[r] - drift[r]
            if bias_in_law:
                right[i] += bias[r]
        elif r > LIMIT_ROW:
            found = 0.0
            for c in range(6):
                found -= Z[c, -1 - r] * h[c]
            right[i] = 0.0 if bias_in_law else found
        else:
            right[i] = bound[near_limit[LIMIT_ROW - r]]
            if bias_in_law:
                response = row(H_inv, LIMIT_ROW - r)
                for k in range(law.nv):
                    right[i] += response[k] * h[k]
    starts, ends, kinds = law.stack_level_start, law.stack_level_end, law.stack_level_kind
    for l in range(law.stack_levels):
        if kinds[l] == GIVEN_KIND:
            for i in range(starts[l], ends[l]):
                right[i] = desired[rows[i]]


@stage(Law)
def build_stack(law):
    """Stack the contacts and tasks that are `chosen`: rows, levels, `gram`, `stack_scale` and r.

    Needs `operational_space` and `desired_accelerations`. Writes also what `free_motions` does.
    """
    chosen, order, block = law.chosen, law.task_order, law.task_block
    contacts, mode = law.c, law.present_mode
    law.stack_levels = 0
    law.stack_rows = 0
    for c in range(contacts):
        if chosen[c] > 0.0:
            _add_block(law, law.contact_block[c])
    law.stack_contact_rows = law.stack_rows
    _close_level(law, 0, SOLVED_KIND, 0)
    law.passive_rows = 0
    if law.base > 0:
        free_motions(law)
        start = law.stack_rows
        for p in range(law.passive_rows):
            _add_row(law, -1 - p)
        _close_level(law, start, SOLVED_KIND, 0)
    for p in range(law.limit_rows):
        _add_row(law, LIMIT_ROW - p)
        _close_level(law, law.stack_rows - 1, LIMIT_KIND, 1)
    start = law.stack_rows
    for l in range(law.L if mode != GRAVITY_MODE else 0):
        first = law.level_first[l]
        for k in range(first, first + law.level_tasks[l]):
            if chosen[contacts + order[k]] > 0.0:
                _add_block(law, block[order[k]])
        if mode != RAW_MODE:
            is_solved = law.task_law[order[first]] == INERTIA_LAW
            _close_level(law, start, SOLVED_KIND if is_solved else GIVEN_KIND, 2 + l)
            start = law.stack_rows
    if mode == RAW_MODE:
        _close_level(law, start, GIVEN_KIND, 2)
    _gram(law)
    _right_hand_side(law)
