"""From row forces to joint torques, level by level: g = J^T w (+ h, or the posture's), less what the contacts supply.

For each level, tau_a = U (g - J_s^T f) with G^T f = S g, see `base`; all of it is linear, so levels add up and can be
scaled one by one.
"""

from __future__ import annotations

from ...compiled.jit import kernel, stage
from ...compiled.lanes import W
from ...osim.blocks import add_transposed
from ..fields import GRAVITY_MODE, RAW_MODE, V_MOTION, V_WRENCH, Law
from .base import contact_force, follow, prepare_shares, share_out
from .hierarchy import back_substitute, eliminate, project
from .stack import LIMIT_ROW, build

NO_LEVEL = -1


@kernel
def _push_base(law, sign):
    """GENERALISED += sign H S^T Z y, y the forces of the passive rows."""
    row, back, Z = law.stack_row, law.w, law.Z
    HB, g = law.H_base, law.generalised_force
    if law.passive_rows == 0:
        return
    x[V_MOTION, 0:W] = 0.0
    for i in range(law.stack_contact_rows, law.stack_contact_rows + law.passive_rows):
        for c in range(6):
            law.base_passive[c] += sign * back[i] * Z[c, -1 - row[i]]
    for i in range(law.space.tree.nv):
        for c in range(6):
            g[i] += HB[i, c] * law.base_passive[c]


@kernel
def _base_wrench(law):
    """Row V_WRENCH of BASE_VECTOR = S g, g with J^T of the rows in FULL."""
    g, JB, full = law.generalised_force, law.J_base, law.row_force
    found = g[0:W]
    for i in range(law.space.m):
        found = found + full[i] * JB[i, 0:W]
    x[V_WRENCH, 0:W] = found


@stage(Law)
def supply(law):
    """GENERALISED += sign J^T w for the F of a level; less what the contacts supply of it: the level's torque."""
    level = law.report_level
    weight, sign = law.set_weight, law.sign
    back_substitute(law, law.force_level)
    row, back = law.stack_row, law.w
    full, g, contacts = law.row_force, law.generalised_force, law.stack_contact_rows
    for i in range(0, law.space.m + 1, W):
        full[i : i + W] = 0.0
    for i in range(law.stack_rows):
        if row[i] >= 0:
            full[row[i]] = sign * back[i]
        elif row[i] <= LIMIT_ROW:
            g[law.joint_v[law.near_limit[LIMIT_ROW - row[i]]]] += sign * back[i]
    if law.base > 0:
        _push_base(law, sign)
        if contacts > 0:
            _base_wrench(law)
            share_out(law)
            supplied = law.level_contact_force
            for i in range(contacts):
                f = contact_force(law, i)
                full[row[i]] -= f
                supplied[level, row[i]] += weight * f
    add_transposed(law.space, law.space.J, full, g)
    torque = law.level_torque
    for j in range(law.k):
        torque[level, j] += weight * g[law.joint_v[j]]
    for c in range(law.base):
        law.base_residual = max(law.base_residual, abs(g[c]))


@kernel
def _supply_level(law, source, level, sign):
    """`supply` for the F of a level of the stack's report, into a level of LEVEL_TORQUE."""
    law.force_level, law.report_level, law.sign = source, level, sign
    supply(law)


@kernel
def _raw_tau0(law, g):
    """g = tau0 from outside."""
    tau0 = law.raw_tau0
    for c in range(law.base):
        g[c] = 0.0
    for j in range(law.k):
        g[law.joint_v[j]] = tau0[law.joint_command[j]]


@kernel
def _posture_force(law, g):
    """g = H (A + the base motion that goes with it)."""
    HA, HB = law.posture_force, law.H_base
    for i in range(law.space.tree.nv):
        g[i] = HA[i]
    if law.base == 0:
        return
    follow(law)
    if law.base_rank > 0:
        for i in range(law.space.tree.nv):
            for c in range(6):
                g[i] += HB[i, c] * law.base_follow[c]


@kernel
def _posture(law):
    """The last level: N^T H a, or N^T tau0 in raw mode."""
    row, x, g = law.stack_row, law.stack_posture, law.generalised_force
    raw = law.mode == RAW_MODE
    if raw:
        _raw_tau0(law, g)
    else:
        _posture_force(law, g)
    JB, Z, listed = law.J_base, law.Z, law.near_limit
    moved, X, a = law.row_posture, law.space.Jx, law.posture_acceleration
    for i in range(law.stack_rows):
        found = 0.0
        if row[i] >= 0:
            found = X[row[i]] if raw else moved[row[i]]
            if not raw and law.base > 0:
                for c in range(6):
                    found += JB[row[i], c] * law.base_follow[c]
        elif row[i] > LIMIT_ROW:
            for c in range(6):
                found += Z[c, -1 - row[i]] * g[c]
        else:
            place = LIMIT_ROW - row[i]
            found = a[law.joint_v[listed[place]]]
            if raw:
                found, response = 0.0, row(law.H_inv, place)
                for k in range(law.space.tree.nv):
                    found += response[k] * g[k]
        x[i] = found
    project(law, x)
    _supply_level(law, NO_LEVEL, law.L + 2, -1.0)


@stage(Law)
def solve(law):
    """Add WEIGHT times the torques and contact forces of row N_SET of SETS to LEVEL_TORQUE and LEVEL_CONTACT."""
    build(law)
    eliminate(law)
    levels, mode = law.L, law.mode
    if law.stack_contact_rows > 0 and law.base > 0:
        prepare_shares(law)
    g, h, nv = law.generalised_force, law.h_compensated, law.space.tree.nv
    added = 1.0 - law.bias_in_law
    for level in range(2 + levels if mode != GRAVITY_MODE else 1):
        if level == 1 and law.limit_rows == 0:
            continue
        for i in range(nv):
            g[i] = added * h[i] if level == 0 else 0.0
        _supply_level(law, level, level, 1.0)
    if mode != GRAVITY_MODE:
        _posture(law)
