# SPDX-License-Identifier: Apache-2.0
"""Integral action of the tasks: what friction and wrong masses hold back is taken up, and nothing else.

Kp (e + y) takes the place of Kp e, with dy/dt = `task_integral` e in the task's axes: y counts as an error, so that an
axis without stiffness, or one of force, has none. |y| is at most `task_integral_clip`, and a load that it can carry
holds the task back by no more; so an error above that is of another cause (a wall, a push, a reference too fast), and y
stands still. Inside `task_integral_tolerance` it stands still, too: a joint that friction holds there is not driven to
and fro. Friction that lets go with a jerk can drive it beyond: when the error has turned round more than PATIENCE
times, each further turn makes the tolerance WIDER, up to how far it swung, until the reference moves again: no such
cycle goes on, and small turns that the creep of other joints makes leave no large error.
While a torque is cut, the ramp or a fade runs, or a contact would slip or lift, all stand still.

Along directions that the level has given up, y does not grow: with P of `inverse`, S P e is what of e the level still
has, exactly e where it is regular. A joint at its limit is a level above; one that takes a direction from the task
makes it singular there, and one that does not leaves the task what it asks for. Where it does not count (task out,
integral off, another mode) y fades out, as tasks do.
"""

import math

from ...compiled.jit import kernel
from ...compiled.lanes import W, splat, total
from ...dynamics.rows import clear
from ...dynamics.spatial import add, dot, row_times, scale, sub
from ..fields import TASKS_MODE
from .demands import shortened_to, task_axes, three
from .rows import rows_of

PATIENCE = 8.0  # turns of an error that may still be coming to rest
WIDER = 1.5  # tolerance after each further one, in those of the turn before
REST = 1.0  # [s] without growth; a cycle grows again as soon as friction has caught what it let go


@kernel
def grow_integrals(law, dt):
    """Let `error_integral` of every task grow by dt [s], after the tick that says what is limited."""
    reports, damped, scale = law.stack_level_report, law.level_damped, law.level_scale
    first, count, order = law.level_first, law.level_tasks, law.task_order
    at_rest = law.integral_rest
    if law.mode == TASKS_MODE and _stands_still(law):
        return
    for level in range(law.L):
        for place in range(first[level], first[level] + count[level]):
            is_alone = at_rest[level] >= REST
            _find_growth(law, order[place], dt if scale[2 + level] >= 1.0 else 0.0, is_alone)
    for l in range(law.stack_levels):
        if reports[l] >= 2 and damped[reports[l]] > 0.0:
            _keep_what_acts(law, l)
    was_at_rest = at_rest[law.L] >= REST
    at_rest[0] += dt
    for level in range(law.L):
        at_rest[level + 1] = min(at_rest[level + 1] + dt, at_rest[level])
        for place in range(first[level], first[level] + count[level]):
            if _grow(law, order[place], dt):
                at_rest[level + 1] = 0.0
    if was_at_rest and at_rest[law.L] == 0.0:
        forget_turns(law)


@kernel
def forget_turns(law):
    """Begin to count the turns of all errors."""
    clear(law.turns, law.t, 2)
    clear(law.turned_error, law.t, 6)
    clear(law.swing, law.t, 2)
    clear(law.last_swing, law.t, 2)


@kernel
def _stands_still(law):
    """Is something active that lets no integral grow?"""
    is_cut = law.not_finite == 1 or law.clipped > 0 or law.rate_limited < 1.0
    is_coming = law.ramped < 1.0 or law.faded < 1.0 or law.passed < 1.0
    return is_cut or is_coming or law.worst_margin < 0.0


@kernel
def _find_growth(law, i, dt, is_alone):
    """Write `row_growth` of task i: what its error adds in the time dt. Are the levels above at rest?"""
    b, error, rate = law.task_block[i], law.error, dt * law.task_integral[i]
    growth = splat(0.0)
    if rate > 0.0:
        rows = rows_of(law, b, 0, three(error, i, 0)) + rows_of(law, b, 3, three(error, i, 3))
        for half in range(2):
            e = _components(law, i, 3 * half, rows)
            if _counts(law, i, half, e, is_alone):
                growth = growth + rows_of(law, b, 3 * half, scale(rate, e))
    r = law.space.block_row[b]
    law.row_growth[r : r + W] = growth


@kernel
def _counts(law, i, half, e, is_alone):
    """Does the error e count for the integral of task i, linear (half 0) or angular (1)? Counts `turns` if alone."""
    turns, mark, c = law.turns, law.turned_error, 3 * half
    swing, last_swing = law.swing, law.last_swing
    least, most = law.task_integral_tolerance[i], law.task_integral_clip[i]
    if half == 1:
        least, most = law.task_integral_tolerance_angle[i], law.task_integral_clip_angle[i]
    length, wanted = math.sqrt(dot(e, e)), three(law.target_velocity, i, c)
    if length > most or dot(wanted, wanted) > 0.0:
        turns[i, half], swing[i, half], last_swing[i, half] = 0.0, 0.0, 0.0
        mark[i, c], mark[i, c + 1], mark[i, c + 2] = 0.0, 0.0, 0.0
        return length <= most
    swing[i, half] = max(swing[i, half], length)
    if length <= _tolerance(turns[i, half], least, last_swing[i, half]):
        return False
    along = dot(e, three(mark, i, c))
    if along < 0.0:
        turns[i, half] += 1.0 if is_alone else 0.0
        last_swing[i, half] = swing[i, half]
        swing[i, half] = length
    if not along > 0.0:
        mark[i, c], mark[i, c + 1], mark[i, c + 2] = e
    return True


@kernel
def _tolerance(turns, least, swing):
    """The error that is left as it is after so many turns, the last as far as `swing`; at least `least`."""
    tolerance, turn = least, PATIENCE
    while turn < turns:
        tolerance *= WIDER
        turn += 1.0
    return max(least, min(tolerance, swing))


@kernel
def _components(law, i, c, rows):
    """Three components from c on of the shortest six-vector that has these rows in task i."""
    S = law.selection_inverse
    return (
        total(S[6 * i + c, 0:W] * rows),
        total(S[6 * i + c + 1, 0:W] * rows),
        total(S[6 * i + c + 2, 0:W] * rows),
    )


@kernel
def _keep_what_acts(law, l):
    """`row_growth` := S P `row_growth` for the rows of level l of the stack. Needs `eliminate`; spoils `F_posture`."""
    start, end = law.stack_level_start[l], law.stack_level_end[l]
    S, P, rows = law.gram, law.P, law.stack_row
    growth, x = law.row_growth, law.F_posture
    for i in range(start, end):
        found = 0.0
        for j in range(start, end):
            found += P[i, j] * growth[rows[j]]
        x[i] = found
    for i in range(start, end):
        found = 0.0
        for j in range(start, end):
            found += S[i, j] * x[j]
        growth[rows[i]] = found


@kernel
def _grow(law, i, dt):
    """Add `row_growth` to `error_integral` of task i, within its clip; or let it fade out where it does not count.

    Returns: Does it grow? At its clip it does not, whatever is added.
    """
    y, free = law.error_integral, law.task_force_axes
    if law.mode != TASKS_MODE or law.task_weight[i] == 0.0 or law.task_integral[i] == 0.0:
        left = 1.0 - dt / law.fade if dt < law.fade else 0.0
        for c in range(6):
            y[i, c] *= left
        return False
    a0, a1, a2 = task_axes(law, i)
    r = law.space.block_row[law.task_block[i]]
    rows = law.row_growth[r : r + W]
    grows = False
    for half in range(2):
        c = 3 * half
        most = law.task_integral_clip[i] if half == 0 else law.task_integral_clip_angle[i]
        old, more = three(y, i, c), row_times(_components(law, i, c, rows), a0, a1, a2)
        more = _without(free, i, c, more)
        grown, _ = shortened_to(add(old, more), most)
        y[i, c], y[i, c + 1], y[i, c + 2] = _without(free, i, c, grown)
        change = sub(grown, old)
        grows |= dot(change, change) > 0.25 * dot(more, more)
    return grows


@kernel
def _without(axes, i, c, vector):
    """The vector without its components along these axes (1) of task i, three from c on."""
    x, y, z = vector
    return (1.0 - axes[i, c]) * x, (1.0 - axes[i, c + 1]) * y, (1.0 - axes[i, c + 2]) * z
