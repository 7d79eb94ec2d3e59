"""The stack of rows that the hierarchy eliminates, for one set of contacts and tasks: its order, Gram matrix and r."""

from __future__ import annotations

import math

from ...compiled.jit import kernel, stage
from ...compiled.lanes import W
from ...osim.blocks import times_support
from ..fields import (
    GIVEN_KIND,
    GRAVITY_MODE,
    INERTIA_LAW,
    LIMIT_KIND,
    RAW_MODE,
    SOLVED_KIND,
    TASKS_MODE,
    Law,
)
from .base import free_motions

LIMIT_ROW = -100  # STACK_ROW of the first listed joint; the next are below


@kernel
def _add_row(law, row):
    law.stack_row[law.stack_rows] = row
    law.stack_rows += 1


@kernel
def _add_block(law, b):
    for r in range(law.space.block_rows[b]):
        _add_row(law, law.space.block_row[b] + r)


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
    """GRAM = J H^-1 J^T of the stack, and the typical response of its rows."""
    n, row, A = law.stack_rows, law.stack_row, law.gram
    LI, scale, typical = law.space.Lambda_inv, law.stack_scale, law.space.scale
    for i in range(n):
        A[i, n - n % W : n - n % W + W] = 0.0  # registers overrun the last column
    for i in range(n):
        if row[i] < 0:
            continue
        scale[i] = typical[row[i]]
        # rows of the operational space rise along the stack: the upper triangle is enough
        for j in range(i, n):
            if row[j] >= 0:
                A[i, j] = LI[row[i], row[j]]
                A[j, i] = A[i, j]
    for i in range(n):
        if LIMIT_ROW < row[i] < 0:
            _passive_row(law, i, n)
    for i in range(n):
        if row[i] <= LIMIT_ROW:
            _limit_row(law, i, n)


@kernel
def _passive_row(law, i, n):
    """Row Z^T S H of the stack: base columns with tasks, the base's inertia with itself, nothing with the others."""
    row = law.stack_row
    A = law.gram
    Z = law.Z
    JB = law.J_base
    HB = law.H_base
    p, contacts = -1 - row[i], law.stack_contact_rows
    for j in range(n):
        found = 0.0
        if row[j] >= 0:
            if j >= contacts:  # Z is what the contacts leave free: with them it is zero
                for c in range(6):
                    found += Z[c, p] * JB[row[j], c]
        elif row[j] > LIMIT_ROW:
            for c in range(6):
                for d in range(6):
                    found += Z[c, p] * HB[c, d] * Z[d, -1 - row[j]]
        A[i, j], A[j, i] = found, found
    law.stack_scale[i] = math.sqrt(A[i, i])


@kernel
def _limit_row(law, i, n):
    """Row e_j of a joint: its responses to the others, H^-1 e_j."""
    row, A, listed = law.stack_row, law.gram, law.near_limit
    response, out = row(law.H_inv, LIMIT_ROW - row[i]), law.row_response
    times_support(law.space, law.space.J, response, out)
    for j in range(n):
        found = 0.0
        if row[j] >= 0:
            found = out[row[j]]
        elif row[j] <= LIMIT_ROW:
            found = response[law.joint_v[listed[LIMIT_ROW - row[j]]]]
        A[i, j], A[j, i] = found, found
    law.stack_scale[i] = math.sqrt(A[i, i])


@kernel
def _right(law):
    """RIGHT: acceleration that each row still needs when nothing but the bias acts; a force where that is given."""
    row, right = law.stack_row, law.r
    wanted, drift, beta = law.row_desired, law.space.Jdot_v, law.bias_in_law
    bias, h, Z = law.row_bias, law.h_compensated, law.Z
    repulse, listed = law.acceleration_bound, law.near_limit
    for i in range(law.stack_rows):
        if row[i] >= 0:
            right[i] = wanted[row[i]] - drift[row[i]] + beta * bias[row[i]]
        elif row[i] > LIMIT_ROW:
            found = 0.0
            for c in range(6):
                found -= Z[c, -1 - row[i]] * h[c]
            right[i] = (1.0 - beta) * found
        else:
            place = LIMIT_ROW - row[i]
            right[i] = repulse[listed[place]]
            if beta == 1.0:
                response = row(law.H_inv, place)
                for k in range(law.space.tree.nv):
                    right[i] += response[k] * h[k]
    for l in range(law.stack_levels):
        if law.stack_level_kind[l] == GIVEN_KIND:
            for i in range(law.stack_level_start[l], law.stack_level_end[l]):
                right[i] = wanted[row[i]]


@stage(Law)
def build(law):
    """STACK_ROW, STACK_LEVEL, GRAM, ROW_SCALE and RIGHT for row N_SET of SETS."""
    which = law.which_set
    sets = law.included
    law.stack_levels, law.stack_rows = 0, 0
    for c in range(law.c):
        if sets[which, c] > 0.0:
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
    for l in range(law.limit_rows):
        _add_row(law, LIMIT_ROW - l)
        _close_level(law, law.stack_rows - 1, LIMIT_KIND, 1)
    mode, start = law.mode, law.stack_rows
    order = law.task_order
    for l in range(law.L if mode != GRAVITY_MODE else 0):
        if mode == TASKS_MODE:
            start = law.stack_rows
        for k in range(law.level_first[l], law.level_first[l] + law.level_tasks[l]):
            if sets[which, law.c + order[k]] > 0.0:
                _add_block(law, law.task_block[order[k]])
        if mode == TASKS_MODE:
            law = law.task_law[order[law.level_first[l]]]
            _close_level(law, start, SOLVED_KIND if law == INERTIA_LAW else GIVEN_KIND, 2 + l)
    if mode == RAW_MODE:
        _close_level(law, start, GIVEN_KIND, 2)
    _gram(law)
    _right(law)
