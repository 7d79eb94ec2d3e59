"""The compiled core of closed chains: Omega_c, its factors, contact forces and accelerations; nothing allocates.

For rows w (k, 6) of the motion of frame 1 relative to frame 2, J_c = w (J_1 - J_2) and
    Omega_c = J_c H^-1 J_c^T = w (Omega_11 + Omega_22 - Omega_12 - Omega_21) w^T
    Omega_c f = alpha_2f - alpha_1f (+ what relative acceleration is wanted),  qdd = qdd_f + H^-1 J_c^T f
([Rodriguez1991] 5.1, 5.3). A row costs one tip-force correction, an O(n) sweep inward and outward. The sweep goes
through whatever the arms share, so a common base needs no case of its own; for arms on bases of their own the
cross terms vanish and Omega_c is Lambda_1^-1 + Lambda_2^-1.
"""

from __future__ import annotations

from itertools import count as count_from

from numba.types import int64

from ...dynamics import aba
from ...dynamics import layout as dyn
from ...dynamics.entries import move, place
from ...dynamics.frames import frame_point, point_acceleration, point_velocity
from ...dynamics.layout import FIRST_FREE, count, floats, ints
from ...dynamics.spatial import add, cross
from ...dynamics.state import OK, REFUSED, copy, is_usable
from ...jit import entry, kernel
from ...vector import floats_of, is_vector, vector
from ..recursions import kalman

_slot = count_from(FIRST_FREE).__next__
M = _slot()  # count: rows of all closures
PAIR = _slot()  # (m, 2): the two frames of each row
SELECT = _slot()  # (m, 6): the row, linear first, world axes
OMEGA = _slot()  # (m, m)
FACTOR = _slot()  # (m, m): L below the diagonal and D on it
RESPONSE = _slot()  # (m, nv): H^-1 J_c^T, row by row
RHS = _slot()  # flat (m): what Omega_c f must be
F = _slot()  # flat (m): the forces
ROW = _slot()  # flat (1): the row that failed

ILL_POSED = 2
RANK_TOLERANCE = 1e-10  # of a pivot in its own diagonal entry: beyond, forces have no correct digits worth having


@kernel
def _along(w, r, linear, angular):
    """Row r of SELECT times a motion."""
    s = floats(w, SELECT)
    return (
        s[r, 0] * linear[0]
        + s[r, 1] * linear[1]
        + s[r, 2] * linear[2]
        + s[r, 3] * angular[0]
        + s[r, 4] * angular[1]
        + s[r, 5] * angular[2]
    )


@kernel
def _push(w, r, f, sign):
    """Let a unit of row r act on frame f: its wrench, at the tree's origin, against the bias force of the node."""
    node, PA, s = ints(w, dyn.FRAME_NODE)[f], floats(w, dyn.PA), floats(w, SELECT)
    force, torque = (s[r, 0], s[r, 1], s[r, 2]), (s[r, 3], s[r, 4], s[r, 5])
    torque = add(torque, cross(frame_point(w, f), force))
    if node < count(w, dyn.NODES):
        for k in range(3):
            PA[node, k] -= sign * torque[k]
            PA[node, 3 + k] -= sign * force[k]


@kernel
def _correction(w, r, f):
    """Row r of the acceleration that the bodies in FA give to frame f, velocities aside."""
    node, FA, p = ints(w, dyn.FRAME_NODE)[f], floats(w, dyn.FA), frame_point(w, f)
    angular = (FA[node, 0], FA[node, 1], FA[node, 2])
    return _along(w, r, add((FA[node, 3], FA[node, 4], FA[node, 5]), cross(angular, p)), angular)


@kernel
def effective_inertia_inv(w):
    """Omega_c and H^-1 J_c^T, after the articulated inertias: one tip-force correction a row ((18), lemma 4)."""
    m, nv, pair, response = count(w, M), count(w, dyn.NV), ints(w, PAIR), floats(w, RESPONSE)
    omega, none, qdd = floats(w, OMEGA), floats(w, dyn.W), floats(w, dyn.ACC)
    for i in range(nv):
        none[i] = 0.0
    for r in range(m):
        aba.no_bias(w)
        _push(w, r, pair[r, 0], 1.0)
        _push(w, r, pair[r, 1], -1.0)
        aba.innovations(w, none)
        aba.accelerations(w, qdd)
        for i in range(nv):
            response[r, i] = qdd[i]
        for c in range(m):
            omega[c, r] = _correction(w, c, pair[c, 0]) - _correction(w, c, pair[c, 1])


@kernel
def factorise(w):
    """Omega_c = L D L^T; False, and the row in ROW, if a row depends on those before it."""
    m, omega, L = count(w, M), floats(w, OMEGA), floats(w, FACTOR)
    for i in range(m):
        for j in range(i + 1):
            found = 0.5 * (omega[i, j] + omega[j, i])
            for k in range(j):
                found -= L[i, k] * L[k, k] * L[j, k]
            L[i, j] = found if i == j else found / L[j, j]
        if not L[i, i] > RANK_TOLERANCE * omega[i, i]:
            floats(w, ROW)[0] = i
            return False
    return True


@kernel
def solve(w):
    """F = Omega_c^-1 RHS."""
    m, L, f, rhs = count(w, M), floats(w, FACTOR), floats(w, F), floats(w, RHS)
    for i in range(m):
        f[i] = rhs[i]
        for k in range(i):
            f[i] -= L[i, k] * f[k]
    for i in range(m):
        f[i] /= L[i, i]
    for i in range(m - 1, -1, -1):
        for k in range(i + 1, m):
            f[i] -= L[k, i] * f[k]


@kernel
def add_response(w, out):
    """out += H^-1 J_c^T F."""
    response, f = floats(w, RESPONSE), floats(w, F)
    for r in range(count(w, M)):
        for i in range(count(w, dyn.NV)):
            out[i] += response[r, i] * f[r]


@kernel
def _accelerate_freely(w, tau, out):
    """qdd_f into `out`, and alpha_2f - alpha_1f into RHS."""
    kalman.kalman(w, tau, out)
    acc, FA, g = floats(w, dyn.ACCELERATION), floats(w, dyn.FA), floats(w, dyn.GRAVITY)
    for b in range(count(w, dyn.NODES)):
        for k in range(3):
            acc[k, b] = FA[b, k]
            acc[3 + k, b] = FA[b, 3 + k] - g[k]
    pair, rhs = ints(w, PAIR), floats(w, RHS)
    for r in range(count(w, M)):
        rhs[r] = _free(w, r, pair[r, 1]) - _free(w, r, pair[r, 0])


@kernel
def _free(w, r, f):
    """Row r of the classical acceleration of frame f."""
    node, acc = ints(w, dyn.FRAME_NODE)[f], floats(w, dyn.ACCELERATION)
    return _along(
        w,
        r,
        point_acceleration(w, node, frame_point(w, f)),
        (acc[0, node], acc[1, node], acc[2, node]),
    )


@kernel
def _speed(w, r, f):
    """Row r of the velocity of frame f."""
    node, vel = ints(w, dyn.FRAME_NODE)[f], floats(w, dyn.VELOCITY)
    return _along(
        w, r, point_velocity(w, node, frame_point(w, f)), (vel[0, node], vel[1, node], vel[2, node])
    )


@entry(int64(vector, vector, vector, vector, vector, int64))
def forward(q, v, tau, wanted, out, w):
    """Accelerations of the closed chain; `wanted` (m,) is the relative acceleration of the frames' rows."""
    nv, m = count(w, dyn.NV), count(w, M)
    writable = is_vector(out, nv, count(w, dyn.NDARRAY), count(w, dyn.FLOAT64))
    if not (
        writable
        and is_usable(w, tau, nv)
        and is_usable(w, v, nv)
        and is_usable(w, wanted, m)
        and place(w, q)
    ):
        return REFUSED
    copy(floats_of(v), floats(w, dyn.V), nv)
    _accelerate_freely(w, floats_of(tau), floats_of(out))
    effective_inertia_inv(w)
    if not factorise(w):
        return ILL_POSED
    rhs, extra = floats(w, RHS), floats_of(wanted)
    for r in range(m):
        rhs[r] += extra[r]
    solve(w)
    add_response(w, floats_of(out))
    return OK


@entry(int64(vector, vector, vector, vector, int64))
def close_velocity(q, v, wanted, out, w):
    """out = v + H^-1 J_c^T Omega_c^-1 (wanted - J_c v): the impulse that brings the loop's velocity to `wanted`."""
    if not (is_usable(w, wanted, count(w, M)) and move(w, q, v)):
        return REFUSED
    aba.articulated_inertias(w)
    effective_inertia_inv(w)
    if not factorise(w):
        return ILL_POSED
    rhs, pair, extra = floats(w, RHS), ints(w, PAIR), floats_of(wanted)
    for r in range(count(w, M)):
        rhs[r] = extra[r] - _speed(w, r, pair[r, 0]) + _speed(w, r, pair[r, 1])
    solve(w)
    copy(floats_of(v), floats_of(out), count(w, dyn.NV))
    add_response(w, floats_of(out))
    return OK


@entry(int64(vector, vector, vector, int64))
def relative_velocity(q, v, out, w):
    """out = J_c v (m,)."""
    if not move(w, q, v):
        return REFUSED
    pair, found = ints(w, PAIR), floats_of(out)
    for r in range(count(w, M)):
        found[r] = _speed(w, r, pair[r, 0]) - _speed(w, r, pair[r, 1])
    return OK
