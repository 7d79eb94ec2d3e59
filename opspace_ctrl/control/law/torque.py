# SPDX-License-Identifier: Apache-2.0
"""From row forces to joint torques, level by level: g = J^T w (+ h, or the posture's), less what the contacts supply.

For each level, tau_a = U (g - J_s^T f) with G^T f = S g, see `base`; all of it is linear, so levels add up and can be
scaled one by one.
"""

from ...compiled.jit import integer, kernel, real, stage
from ...compiled.lanes import W, row
from ...dynamics.state import copy
from ...osim.blocks import add_transposed
from ..fields import GRAVITY_MODE, LIMIT_ROW, RAW_MODE, Law
from .base import base_motion_of_posture, contact_force, prepare_shares, share_base_wrench
from .hierarchy import back_substitute, eliminate, project
from .stack import build_stack


@kernel
def _push_base(law, sign):
    """`generalised_force` += sign H S^T Z y: force of the passive rows, y their part of w."""
    rows, w, Z = law.stack_row, law.w, law.Z
    H_base, g, motion = law.H_base, law.generalised_force, law.base_passive
    first = law.stack_contact_rows
    if law.passive_rows == 0:
        return
    motion[0:W] = 0.0
    for i in range(first, first + law.passive_rows):
        for c in range(6):
            motion[c] += sign * w[i] * Z[c, -1 - rows[i]]
    for i in range(law.nv):
        for c in range(6):
            g[i] += H_base[i, c] * motion[c]


@kernel
def _base_wrench(law):
    """Write `base_wrench` = S (g + J^T `row_force`): what the level needs at the base."""
    J_base, force, found = law.J_base, law.row_force, law.generalised_force[0:W]
    for i in range(law.m):
        found = found + force[i] * J_base[i, 0:W]
    law.base_wrench[0:W] = found


@kernel
def _take_rows(law, sign):
    """Write `row_force` = sign w of tasks and contacts; what the other rows exert is added to `generalised_force`."""
    rows, w, joint_v = law.stack_row, law.w, law.joint_v
    force, g, near_limit = law.row_force, law.generalised_force, law.near_limit
    for i in range(0, law.m + 1, W):
        force[i : i + W] = 0.0
    for i in range(law.stack_rows):
        if rows[i] >= 0:
            force[rows[i]] = sign * w[i]
        elif rows[i] <= LIMIT_ROW:
            g[joint_v[near_limit[LIMIT_ROW - rows[i]]]] += sign * w[i]
    if law.base > 0:
        _push_base(law, sign)


@kernel
def take_stack(law):
    """Write `generalised_force` = C^T w, C the rows of the stack. Needs `back_substitute`."""
    g = law.generalised_force
    for i in range(law.nv):
        g[i] = 0.0
    _take_rows(law, 1.0)
    add_transposed(law.space, law.space.J, law.row_force, g)


@stage(Law, integer, real)
def add_level_torque(law, level, weight):
    """Add weight times the torque of a reported level to `level_torque`, and its contact forces likewise.

    The torque is g + J^T w, w being its row forces and those that it needs above, less J_s^T f of the contact forces f
    that carry the base; g is what `generalised_force` holds before, and is spent. For the posture, L + 2, w is what the
    other levels take back, and is subtracted. Needs `eliminate`, and `prepare_shares` with a floating base.
    """
    rows, joint_v, torque = law.stack_row, law.joint_v, law.level_torque
    force, g, contacts = law.row_force, law.generalised_force, law.stack_contact_rows
    sign, F = 1.0, law.F
    if level > law.L + 1:
        sign, F = -1.0, law.F_posture
    back_substitute(law, F, level)
    _take_rows(law, sign)
    if law.base > 0 and contacts > 0:
        _base_wrench(law)
        share_base_wrench(law)
        supplied = law.level_contact_force
        for i in range(contacts):
            f = contact_force(law, i)
            force[rows[i]] -= f
            supplied[level, rows[i]] += weight * f
    add_transposed(law.space, law.space.J, force, g)
    for j in range(law.k):
        torque[level, j] += weight * g[joint_v[j]]
    for c in range(law.base):
        law.base_residual = max(law.base_residual, abs(g[c]))


@kernel
def _raw_tau0(law):
    """Write `generalised_force` = tau0 from outside."""
    g, tau0 = law.generalised_force, law.raw_tau0
    joint_v, joint_command = law.joint_v, law.joint_command
    for c in range(law.base):
        g[c] = 0.0
    for j in range(law.k):
        g[joint_v[j]] = tau0[joint_command[j]]


@kernel
def _posture_force(law):
    """Write `generalised_force` = H (a + the base motion that goes with it), a being `posture_acceleration`."""
    g, H_base, nv = law.generalised_force, law.H_base, law.nv
    copy(law.posture_force, g, nv)
    if law.base == 0:
        return
    base_motion_of_posture(law)
    if law.base_rank > 0:
        follow = law.base_follow
        for i in range(nv):
            for c in range(6):
                g[i] += H_base[i, c] * follow[c]


@kernel
def _posture_level(law, weight):
    """Add the last level: N^T H a, or N^T tau0 in raw mode. Writes `stack_posture`, what it makes of every row."""
    is_raw, has_base = law.present_mode == RAW_MODE, law.base > 0
    if is_raw:
        _raw_tau0(law)
    else:
        _posture_force(law)
    rows, x, g = law.stack_row, law.stack_posture, law.generalised_force
    J_base, Z, near_limit = law.J_base, law.Z, law.near_limit
    moved, follow, a = law.row_posture, law.base_follow, law.posture_acceleration
    Jx, H_inv, joint_v = law.space.Jx, law.H_inv, law.joint_v
    for i in range(law.stack_rows):
        r, found = rows[i], 0.0
        if r >= 0:
            found = Jx[r] if is_raw else moved[r]
            if has_base and not is_raw:
                for c in range(6):
                    found += J_base[r, c] * follow[c]
        elif r > LIMIT_ROW:
            for c in range(6):
                found += Z[c, -1 - r] * g[c]
        elif is_raw:
            response = row(H_inv, LIMIT_ROW - r)
            for k in range(law.nv):
                found += response[k] * g[k]
        else:
            found = a[joint_v[near_limit[LIMIT_ROW - r]]]
        x[i] = found
    project(law)
    add_level_torque(law, law.L + 2, weight)


@stage(Law, real)
def solve(law, weight):
    """Build and eliminate the stack of what is `chosen`, and add weight times every level's torque and contact forces.

    Needs `operational_space` and `desired_accelerations`.
    """
    build_stack(law)
    eliminate(law)
    mode, g, h = law.present_mode, law.generalised_force, law.h_compensated
    nv, added = law.nv, 1.0 - law.present_bias_in_law
    if law.stack_contact_rows > 0 and law.base > 0:
        prepare_shares(law)
    for level in range(2 + law.L if mode != GRAVITY_MODE else 1):
        if level == 1 and law.limit_rows == 0:
            continue
        for i in range(nv):
            g[i] = added * h[i] if level == 0 else 0.0
        add_level_torque(law, level, weight)
    if mode != GRAVITY_MODE:
        _posture_level(law, weight)
