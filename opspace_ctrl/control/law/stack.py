"""The stack of rows that the hierarchy eliminates, for one set of contacts and tasks: its order, Gram matrix and r."""

from __future__ import annotations

import math

from ...dynamics import layout as dyn
from ...dynamics.layout import count, floats, ints, stage
from ...jit import kernel
from ...lanes import WIDTH, splat, store
from ...osim import layout as osim
from ...osim.blocks import times_support
from .. import layout as at
from .base import free_motions
from .joints import row_of

LIMIT_ROW = -100  # STACK_ROW of the first listed joint; the next are below


@kernel
def _add_row(w, row):
    number = ints(w, at.NUMBERS)
    ints(w, at.STACK_ROW)[number[at.N_ROWS]] = row
    number[at.N_ROWS] += 1


@kernel
def _add_block(w, b):
    block = ints(w, osim.BLOCK)
    for r in range(block[b, osim.B_ROWS]):
        _add_row(w, block[b, osim.B_ROW] + r)


@kernel
def _close_level(w, start, kind, report):
    """Make a level of the rows from `start` on, if there are any."""
    number, level = ints(w, at.NUMBERS), ints(w, at.STACK_LEVEL)
    k, end = number[at.N_LEVELS], number[at.N_ROWS]
    if end > start:
        level[k, at.S_START], level[k, at.S_END], level[k, at.S_KIND], level[k, at.S_LEVEL] = (
            start,
            end,
            kind,
            report,
        )
        number[at.N_LEVELS] = k + 1


@kernel
def _gram(w):
    """GRAM = J H^-1 J^T of the stack, and the typical response of its rows."""
    n, row, A = ints(w, at.NUMBERS)[at.N_ROWS], ints(w, at.STACK_ROW), floats(w, at.GRAM)
    LI, scale, typical = floats(w, osim.LI), floats(w, at.ROW_SCALE), floats(w, osim.SCALE)
    for i in range(n):
        store(A, i, n - n % WIDTH, splat(0.0))  # registers overrun the last column
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
            _passive_row(w, i, n)
    for i in range(n):
        if row[i] <= LIMIT_ROW:
            _limit_row(w, i, n)


@kernel
def _passive_row(w, i, n):
    """Row Z^T S H of the stack: base columns with tasks, the base's inertia with itself, nothing with the others."""
    row, A, Z, JB, HB = (
        ints(w, at.STACK_ROW),
        floats(w, at.GRAM),
        floats(w, at.Z),
        floats(w, at.JB),
        floats(w, at.HB),
    )
    p, contacts = -1 - row[i], ints(w, at.NUMBERS)[at.N_CONTACT_ROWS]
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
    floats(w, at.ROW_SCALE)[i] = math.sqrt(A[i, i])


@kernel
def _limit_row(w, i, n):
    """Row e_j of a joint: its responses to the others, H^-1 e_j."""
    row, A, joint, listed = (
        ints(w, at.STACK_ROW),
        floats(w, at.GRAM),
        ints(w, at.JOINT),
        ints(w, at.LIMITED_JOINT),
    )
    response, out = row_of(w, at.H_INV, LIMIT_ROW - row[i]), floats(w, at.FULL)
    times_support(w, floats(w, osim.J), response, out)
    for j in range(n):
        found = 0.0
        if row[j] >= 0:
            found = out[row[j]]
        elif row[j] <= LIMIT_ROW:
            found = response[joint[listed[LIMIT_ROW - row[j]], at.J_V]]
        A[i, j], A[j, i] = found, found
    floats(w, at.ROW_SCALE)[i] = math.sqrt(A[i, i])


@kernel
def _right(w):
    """RIGHT: acceleration that each row still needs when nothing but the bias acts; a force where that is given."""
    number, row, right, option = (
        ints(w, at.NUMBERS),
        ints(w, at.STACK_ROW),
        floats(w, at.RIGHT),
        floats(w, at.OPTION),
    )
    wanted, drift, beta = floats(w, at.WANTED), floats(w, osim.JDOT_V), option[at.BETA]
    bias, h, Z = floats(w, at.ROW_BIAS), floats(w, at.H_SELECTED), floats(w, at.Z)
    repulse, listed = floats(w, at.REPULSE), ints(w, at.LIMITED_JOINT)
    for i in range(number[at.N_ROWS]):
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
                response = row_of(w, at.H_INV, place)
                for k in range(count(w, dyn.NV)):
                    right[i] += response[k] * h[k]
    level = ints(w, at.STACK_LEVEL)
    for l in range(number[at.N_LEVELS]):
        if level[l, at.S_KIND] == at.GIVEN_KIND:
            for i in range(level[l, at.S_START], level[l, at.S_END]):
                right[i] = wanted[row[i]]


@stage(at.BUILD)
def build(w):
    """STACK_ROW, STACK_LEVEL, GRAM, ROW_SCALE and RIGHT for row N_SET of SETS."""
    number = ints(w, at.NUMBERS)
    which = number[at.N_SET]
    sets, contact, task = floats(w, at.SETS), ints(w, at.CONTACT), ints(w, at.TASK)
    number[at.N_LEVELS], number[at.N_ROWS] = 0, 0
    for c in range(count(w, at.CONTACTS)):
        if sets[which, c] > 0.0:
            _add_block(w, contact[c, at.C_BLOCK])
    number[at.N_CONTACT_ROWS] = number[at.N_ROWS]
    _close_level(w, 0, at.SOLVED_KIND, 0)
    number[at.N_PASSIVE] = 0
    if count(w, at.BASE) > 0:
        free_motions(w)
        start = number[at.N_ROWS]
        for p in range(number[at.N_PASSIVE]):
            _add_row(w, -1 - p)
        _close_level(w, start, at.SOLVED_KIND, 0)
    for l in range(number[at.N_LIMITED]):
        _add_row(w, LIMIT_ROW - l)
        _close_level(w, number[at.N_ROWS] - 1, at.LIMIT_KIND, 1)
    mode, start = floats(w, at.OPTION)[at.MODE], number[at.N_ROWS]
    place, order = ints(w, at.LEVEL), ints(w, at.ORDER)
    for l in range(count(w, at.LEVELS) if mode != at.GRAVITY_MODE else 0):
        if mode == at.TASKS_MODE:
            start = number[at.N_ROWS]
        for k in range(place[l, 0], place[l, 0] + place[l, 1]):
            if sets[which, count(w, at.CONTACTS) + order[k]] > 0.0:
                _add_block(w, task[order[k], at.T_BLOCK])
        if mode == at.TASKS_MODE:
            law = task[order[place[l, 0]], at.T_LAW]
            _close_level(
                w, start, at.SOLVED_KIND if law == at.INERTIA_LAW else at.GIVEN_KIND, 2 + l
            )
    if mode == at.RAW_MODE:
        _close_level(w, start, at.GIVEN_KIND, 2)
    _gram(w)
    _right(w)
