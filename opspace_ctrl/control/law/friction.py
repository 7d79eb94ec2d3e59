# SPDX-License-Identifier: Apache-2.0
"""Compensation of joint friction, d v + f tanh(v / `compensation_friction_speed`).

For the velocity v that the targets ask of a joint: v = v_p + H^-1 C^T w, v_p the posture's, w such that every level of
the stack has the velocity of its targets, as far as those above leave it that. So at rest there is none, and it turns
where the reference does, not when the joint has come to rest; and what a velocity compensates is not fed back to it.
A measured velocity is: with more compensation than there is damping, each start and turn of a joint is a step, which
shakes the others. Modes without targets, raw and gravity, have no other.
"""

from ...compiled.jit import kernel
from ...compiled.lanes import W
from ...osim.blocks import times_support
from ..fields import LIMIT_ROW, TASKS_MODE
from .demands import three
from .hierarchy import back_substitute, project
from .joints import friction_torque, inertia_solve
from .rows import rows_of
from .torque import take_stack


@kernel
def add_friction(law):
    """Add the friction of the joints' references to level 0 and to `h_compensated`. Needs `eliminate` and the targets.

    A reference counts as no faster than the joint's velocity limit.
    """
    if law.compensation_friction == 0.0 or law.present_mode != TASKS_MODE:
        return
    if not _wanted_velocity(law):
        return
    _solve_velocity(law)
    v, torque, h = law.joint_reference, law.level_torque, law.h_compensated
    joint_v, fastest = law.joint_v, law.velocity_limits
    for j in range(law.k):
        i = joint_v[j]
        friction = friction_torque(law, j, min(max(v[i], -fastest[j]), fastest[j]))
        torque[0, j] += friction
        h[i] += friction


@kernel
def _wanted_velocity(law):
    """Write `row_reference`, zero for contacts, and `joint_reference` = v_p. Returns whether anything moves."""
    wanted, weight, block_row = law.target_velocity, law.task_weight, law.space.block_row
    order, block, rows = law.task_order, law.task_block, law.row_reference
    joint_v, posture, v = law.joint_v, law.posture_target_velocity, law.joint_reference
    most = 0.0
    for r in range(0, law.contact_rows, W):
        rows[r : r + W] = 0.0
    for place in range(law.t):
        i = order[place]
        r, b = block_row[block[i]], block[i]
        asked = rows_of(law, b, 0, three(wanted, i, 0)) + rows_of(law, b, 3, three(wanted, i, 3))
        rows[r : r + W] = weight[i] * asked
        for c in range(6):
            most = max(most, weight[i] * abs(wanted[i, c]))
    for c in range(law.base):
        v[c] = 0.0
    for j in range(law.k):
        v[joint_v[j]] = posture[j]
        most = max(most, abs(posture[j]))
    return most > 0.0


@kernel
def _solve_velocity(law):
    """`joint_reference` += H^-1 C^T w, so that the rows of the stack have the velocity of `row_reference`.

    By `project` and `back_substitute`, which do with velocities what they do with the posture's accelerations. Spoils
    `stack_posture`, `F_posture`, w, `row_force`, `row_response` and `generalised_force`.
    """
    rows, x, v = law.stack_row, law.stack_posture, law.joint_reference
    wanted, moved, H_base, Z = law.row_reference, law.row_response, law.H_base, law.Z
    joint_v, near_limit, g = law.joint_v, law.near_limit, law.generalised_force
    times_support(law.space, law.space.J, v, moved)
    for i in range(law.stack_rows):
        r, found = rows[i], 0.0
        if r >= 0:
            found = wanted[r] - moved[r]
        elif r > LIMIT_ROW:
            for k in range(law.nv):
                for c in range(6):
                    found -= Z[c, -1 - r] * H_base[k, c] * v[k]
        else:
            found = -v[joint_v[near_limit[LIMIT_ROW - r]]]
        x[i] = found
    project(law)
    back_substitute(law, law.F_posture, law.L + 2)
    take_stack(law)
    inertia_solve(law, g)
    for i in range(law.nv):
        v[i] += g[i]
