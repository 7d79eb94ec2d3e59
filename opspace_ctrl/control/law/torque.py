"""From row forces to joint torques, level by level: g = J^T w (+ h, or the posture's), less what the contacts supply.

For each level, tau_a = U (g - J_s^T f) with G^T f = S g, see `base`; all of it is linear, so levels add up and can be
scaled one by one.
"""

from __future__ import annotations

from ...dynamics import layout as dyn
from ...dynamics.layout import count, floats, ints, stage
from ...jit import kernel
from ...lanes import WIDTH, load, splat, store
from ...osim import layout as osim
from ...osim.blocks import add_transposed
from .. import layout as at
from .base import contact_force, follow, prepare_shares, share_out
from .hierarchy import back_substitute, eliminate, project
from .joints import row_of
from .stack import LIMIT_ROW, build

NO_LEVEL = -1


@kernel
def _push_base(w, sign):
    """GENERALISED += sign H S^T Z y, y the forces of the passive rows."""
    number, row, back, Z = (
        ints(w, at.NUMBERS),
        ints(w, at.STACK_ROW),
        floats(w, at.BACK),
        floats(w, at.Z),
    )
    x, HB, g = floats(w, at.BASE_VECTOR), floats(w, at.HB), floats(w, at.GENERALISED)
    if number[at.N_PASSIVE] == 0:
        return
    store(x, at.V_MOTION, 0, splat(0.0))
    for i in range(number[at.N_CONTACT_ROWS], number[at.N_CONTACT_ROWS] + number[at.N_PASSIVE]):
        for c in range(6):
            x[at.V_MOTION, c] += sign * back[i] * Z[c, -1 - row[i]]
    for i in range(count(w, dyn.NV)):
        for c in range(6):
            g[i] += HB[i, c] * x[at.V_MOTION, c]


@kernel
def _base_wrench(w):
    """Row V_WRENCH of BASE_VECTOR = S g, g with J^T of the rows in FULL."""
    x, g, JB, full = (
        floats(w, at.BASE_VECTOR),
        floats(w, at.GENERALISED),
        floats(w, at.JB),
        floats(w, at.FULL),
    )
    found = load(g, 0, 0)
    for i in range(count(w, osim.M)):
        found = found + full[i] * load(JB, i, 0)
    store(x, at.V_WRENCH, 0, found)


@stage(at.SUPPLY)
def supply(w):
    """GENERALISED += sign J^T w for the F of a level; less what the contacts supply of it: the level's torque."""
    level, state = ints(w, at.NUMBERS)[at.N_REPORT], floats(w, at.STATE)
    weight, sign = state[at.WEIGHT], state[at.SIGN]
    back_substitute(w, ints(w, at.NUMBERS)[at.N_START])
    number, row, back = ints(w, at.NUMBERS), ints(w, at.STACK_ROW), floats(w, at.BACK)
    full, g, contacts = floats(w, at.FULL), floats(w, at.GENERALISED), number[at.N_CONTACT_ROWS]
    for i in range(0, count(w, osim.M) + 1, WIDTH):
        store(full, 0, i, splat(0.0))
    for i in range(number[at.N_ROWS]):
        if row[i] >= 0:
            full[row[i]] = sign * back[i]
        elif row[i] <= LIMIT_ROW:
            g[ints(w, at.JOINT)[ints(w, at.LIMITED_JOINT)[LIMIT_ROW - row[i]], at.J_V]] += (
                sign * back[i]
            )
    if count(w, at.BASE) > 0:
        _push_base(w, sign)
        if contacts > 0:
            _base_wrench(w)
            share_out(w)
            supplied = floats(w, at.LEVEL_CONTACT)
            for i in range(contacts):
                f = contact_force(w, i)
                full[row[i]] -= f
                supplied[level, row[i]] += weight * f
    add_transposed(w, floats(w, osim.J), full, g)
    torque, joint, residual = (
        floats(w, at.LEVEL_TORQUE),
        ints(w, at.JOINT),
        floats(w, at.REPORT_SLOT),
    )
    for j in range(count(w, at.JOINTS)):
        torque[level, j] += weight * g[joint[j, at.J_V]]
    for c in range(count(w, at.BASE)):
        residual[at.BASE_RESIDUAL] = max(residual[at.BASE_RESIDUAL], abs(g[c]))


@kernel
def _supply_level(w, source, level, sign):
    """`supply` for the F of a level of the stack's report, into a level of LEVEL_TORQUE."""
    number = ints(w, at.NUMBERS)
    number[at.N_START], number[at.N_REPORT], floats(w, at.STATE)[at.SIGN] = source, level, sign
    supply(w)


@kernel
def _raw_tau0(w, g):
    """g = tau0 from outside."""
    joint, tau0 = ints(w, at.JOINT), floats(w, at.RAW_TAU0)
    for c in range(count(w, at.BASE)):
        g[c] = 0.0
    for j in range(count(w, at.JOINTS)):
        g[joint[j, at.J_V]] = tau0[joint[j, at.J_COMMAND]]


@kernel
def _posture_force(w, g):
    """g = H (A + the base motion that goes with it)."""
    HA, HB, fill = floats(w, at.HA_POSTURE), floats(w, at.HB), floats(w, at.BASE_VECTOR)
    for i in range(count(w, dyn.NV)):
        g[i] = HA[i]
    if count(w, at.BASE) == 0:
        return
    follow(w)
    if ints(w, at.NUMBERS)[at.N_RANK] > 0:
        for i in range(count(w, dyn.NV)):
            for c in range(6):
                g[i] += HB[i, c] * fill[at.V_FILL, c]


@kernel
def _posture(w):
    """The last level: N^T H a, or N^T tau0 in raw mode."""
    number, row, x, g = (
        ints(w, at.NUMBERS),
        ints(w, at.STACK_ROW),
        floats(w, at.RIGHT),
        floats(w, at.GENERALISED),
    )
    raw = floats(w, at.OPTION)[at.MODE] == at.RAW_MODE
    if raw:
        _raw_tau0(w, g)
    else:
        _posture_force(w, g)
    JB, fill, Z, listed = (
        floats(w, at.JB),
        floats(w, at.BASE_VECTOR),
        floats(w, at.Z),
        ints(w, at.LIMITED_JOINT),
    )
    moved, X, a, joint = (
        floats(w, at.ROW_POSTURE),
        floats(w, osim.X),
        floats(w, dyn.A),
        ints(w, at.JOINT),
    )
    for i in range(number[at.N_ROWS]):
        found = 0.0
        if row[i] >= 0:
            found = X[row[i]] if raw else moved[row[i]]
            if not raw and count(w, at.BASE) > 0:
                for c in range(6):
                    found += JB[row[i], c] * fill[at.V_FILL, c]
        elif row[i] > LIMIT_ROW:
            for c in range(6):
                found += Z[c, -1 - row[i]] * g[c]
        else:
            place = LIMIT_ROW - row[i]
            found = a[joint[listed[place], at.J_V]]
            if raw:
                found, response = 0.0, row_of(w, at.H_INV, place)
                for k in range(count(w, dyn.NV)):
                    found += response[k] * g[k]
        x[i] = found
    project(w, x)
    _supply_level(w, NO_LEVEL, count(w, at.LEVELS) + 2, -1.0)


@stage(at.SOLVE)
def solve(w):
    """Add WEIGHT times the torques and contact forces of row N_SET of SETS to LEVEL_TORQUE and LEVEL_CONTACT."""
    build(w)
    eliminate(w)
    number, levels, mode = ints(w, at.NUMBERS), count(w, at.LEVELS), floats(w, at.OPTION)[at.MODE]
    if number[at.N_CONTACT_ROWS] > 0 and count(w, at.BASE) > 0:
        prepare_shares(w)
    g, h, nv = floats(w, at.GENERALISED), floats(w, at.H_SELECTED), count(w, dyn.NV)
    added = 1.0 - floats(w, at.OPTION)[at.BETA]
    for level in range(2 + levels if mode != at.GRAVITY_MODE else 1):
        if level == 1 and number[at.N_LIMITED] == 0:
            continue
        for i in range(nv):
            g[i] = added * h[i] if level == 0 else 0.0
        _supply_level(w, level, level, 1.0)
    if mode != at.GRAVITY_MODE:
        _posture(w)
