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

from ...compiled.jit import entry, kernel
from ...dynamics import aba
from ...dynamics.entries import move, place
from ...dynamics.fields import FIRST_FREE
from ...dynamics.frames import frame_point, point_acceleration, point_velocity
from ...dynamics.spatial import add, cross
from ...dynamics.state import OK, REFUSED, copy, is_usable
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
def _along(chain, r, linear, angular):
    """Row r of SELECT times a motion."""
    s = chain.selection
    return (
        s[r, 0] * linear[0]
        + s[r, 1] * linear[1]
        + s[r, 2] * linear[2]
        + s[r, 3] * angular[0]
        + s[r, 4] * angular[1]
        + s[r, 5] * angular[2]
    )


@kernel
def _push(chain, r, f, sign):
    """Let a unit of row r act on frame f: its wrench, at the tree's origin, against the bias force of the node."""
    node, PA, s = chain.tree.frame_node[f], chain.tree.pA, chain.selection
    force, torque = (s[r, 0], s[r, 1], s[r, 2]), (s[r, 3], s[r, 4], s[r, 5])
    torque = add(torque, cross(frame_point(chain.tree, f), force))
    if node < chain.tree.n:
        for k in range(3):
            PA[node, k] -= sign * torque[k]
            PA[node, 3 + k] -= sign * force[k]


@kernel
def _correction(chain, r, f):
    """Row r of the acceleration that the bodies in FA give to frame f, velocities aside."""
    node, FA, p = chain.tree.frame_node[f], chain.tree.alpha, frame_point(chain.tree, f)
    angular = (FA[node, 0], FA[node, 1], FA[node, 2])
    return _along(
        chain, r, add((FA[node, 3], FA[node, 4], FA[node, 5]), cross(angular, p)), angular
    )


@kernel
def effective_inertia_inv(chain):
    """Omega_c and H^-1 J_c^T, after the articulated inertias: one tip-force correction a row ((18), lemma 4)."""
    m, nv, response = chain.m, chain.tree.nv, chain.response
    omega, none, qdd = chain.Omega, chain.no_force, chain.tree.qdd
    for i in range(nv):
        none[i] = 0.0
    for r in range(m):
        aba.no_bias(chain.tree)
        _push(chain, r, chain.first_frame[r], 1.0)
        _push(chain, r, chain.second_frame[r], -1.0)
        aba.innovations(chain.tree, none)
        aba.accelerations(chain.tree, qdd)
        for i in range(nv):
            response[r, i] = qdd[i]
        for c in range(m):
            omega[c, r] = _correction(chain, c, chain.first_frame[c]) - _correction(
                chain, c, chain.second_frame[c]
            )


@kernel
def factorise(chain):
    """Omega_c = L D L^T; False, and the row in ROW, if a row depends on those before it."""
    m, omega, L = chain.m, chain.Omega, chain.factor
    for i in range(m):
        for j in range(i + 1):
            found = 0.5 * (omega[i, j] + omega[j, i])
            for k in range(j):
                found -= L[i, k] * L[k, k] * L[j, k]
            L[i, j] = found if i == j else found / L[j, j]
        if not L[i, i] > RANK_TOLERANCE * omega[i, i]:
            chain.failed_row = i
            return False
    return True


@kernel
def solve(chain):
    """F = Omega_c^-1 RHS."""
    m = chain.m
    L = chain.factor
    f = chain.f
    rhs = chain.rhs
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
def add_response(chain, out):
    """out += H^-1 J_c^T F."""
    response, f = chain.response, chain.f
    for r in range(chain.m):
        for i in range(chain.tree.nv):
            out[i] += response[r, i] * f[r]


@kernel
def _accelerate_freely(chain, tau, out):
    """qdd_f into `out`, and alpha_2f - alpha_1f into RHS."""
    kalman.kalman(chain.tree, tau, out)
    acc, FA, g = chain.tree.acceleration, chain.tree.alpha, chain.tree.gravity
    for b in range(chain.tree.n):
        for k in range(3):
            acc[k, b] = FA[b, k]
            acc[3 + k, b] = FA[b, 3 + k] - g[k]
    rhs = chain.rhs
    for r in range(chain.m):
        rhs[r] = _free(chain, r, chain.second_frame[r]) - _free(chain, r, chain.first_frame[r])


@kernel
def _free(chain, r, f):
    """Row r of the classical acceleration of frame f."""
    node, acc = chain.tree.frame_node[f], chain.tree.acceleration
    return _along(
        chain,
        r,
        point_acceleration(chain.tree, node, frame_point(chain.tree, f)),
        (acc[0, node], acc[1, node], acc[2, node]),
    )


@kernel
def _speed(chain, r, f):
    """Row r of the velocity of frame f."""
    node, vel = chain.tree.frame_node[f], chain.tree.velocity
    return _along(
        chain,
        r,
        point_velocity(chain.tree, node, frame_point(chain.tree, f)),
        (vel[0, node], vel[1, node], vel[2, node]),
    )


@entry(int64(vector, vector, vector, vector, vector, int64))
def forward(q, v, tau, wanted, out, chain):
    """Accelerations of the closed chain; `wanted` (m,) is the relative acceleration of the frames' rows."""
    nv, m = chain.tree.nv, chain.m
    writable = is_vector(out, nv, chain.tree.NDARRAY, chain.tree.FLOAT64)
    if not (
        writable
        and is_usable(chain.tree, tau, nv)
        and is_usable(chain.tree, v, nv)
        and is_usable(chain.tree, wanted, m)
        and place(chain.tree, q)
    ):
        return REFUSED
    copy(floats_of(v), chain.tree.v, nv)
    _accelerate_freely(chain, floats_of(tau), floats_of(out))
    effective_inertia_inv(chain)
    if not factorise(chain):
        return ILL_POSED
    rhs, extra = chain.rhs, floats_of(wanted)
    for r in range(m):
        rhs[r] += extra[r]
    solve(chain)
    add_response(chain, floats_of(out))
    return OK


@entry(int64(vector, vector, vector, vector, int64))
def close_velocity(q, v, wanted, out, chain):
    """out = v + H^-1 J_c^T Omega_c^-1 (wanted - J_c v): the impulse that brings the loop's velocity to `wanted`."""
    if not (is_usable(chain.tree, wanted, chain.m) and move(chain.tree, q, v)):
        return REFUSED
    aba.articulated_inertias(chain.tree)
    effective_inertia_inv(chain)
    if not factorise(chain):
        return ILL_POSED
    rhs, extra = chain.rhs, floats_of(wanted)
    for r in range(chain.m):
        rhs[r] = (
            extra[r]
            - _speed(chain, r, chain.first_frame[r])
            + _speed(chain, r, chain.second_frame[r])
        )
    solve(chain)
    copy(floats_of(v), floats_of(out), chain.tree.nv)
    add_response(chain, floats_of(out))
    return OK


@entry(int64(vector, vector, vector, int64))
def relative_velocity(q, v, out, chain):
    """out = J_c v (m,)."""
    if not move(chain.tree, q, v):
        return REFUSED
    found = floats_of(out)
    for r in range(chain.m):
        found[r] = _speed(chain, r, chain.first_frame[r]) - _speed(chain, r, chain.second_frame[r])
    return OK
