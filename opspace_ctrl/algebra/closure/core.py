# SPDX-License-Identifier: Apache-2.0
"""The compiled core of closed chains: Omega_c, its factors, contact forces and accelerations; nothing allocates.

For rows w (k, 6) of the motion of frame 1 relative to frame 2, J_c = w (J_1 - J_2) and
    Omega_c = J_c H^-1 J_c^T = w (Omega_11 + Omega_22 - Omega_12 - Omega_21) w^T
    Omega_c f = alpha_2f - alpha_1f (+ what relative acceleration is wanted),  qdd = qdd_f + H^-1 J_c^T f
([Rodriguez1991] 5.1, 5.3). A row costs one tip-force correction, an O(n) sweep inward and outward. The sweep goes
through whatever the arms share, so a common base needs no case of its own; for arms on bases of their own the
cross terms vanish and Omega_c is Lambda_1^-1 + Lambda_2^-1.
"""

from ...compiled.jit import address, entry, kernel, vector, writable
from ...compiled.lanes import row
from ...compiled.workspace import workspace_at
from ...dynamics import aba
from ...dynamics.entries import move, place
from ...dynamics.frames import frame_point, point_acceleration, point_velocity
from ...dynamics.spatial import add, cross
from ...dynamics.state import OK, REFUSED, copy, is_usable
from ..recursions import kalman
from .fields import Chain

chain_at = workspace_at(Chain)
ILL_POSED = 2
RANK_TOLERANCE = 1e-10  # of a pivot in its own diagonal entry: beyond, forces have no correct digits worth having


@kernel
def _along(chain, r, linear, angular):
    """Row r of `selection` times a motion."""
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
    """Let a unit of row r act on frame f: its wrench, at the tree's origin, against its node's bias force in pA."""
    tree, s = chain.tree, chain.selection
    node, bias = tree.frame_node[f], tree.pA
    force, torque = (s[r, 0], s[r, 1], s[r, 2]), (s[r, 3], s[r, 4], s[r, 5])
    torque = add(torque, cross(frame_point(tree, f), force))
    if node < tree.n:
        for k in range(3):
            bias[node, k] -= sign * torque[k]
            bias[node, 3 + k] -= sign * force[k]


@kernel
def _correction(chain, r, f):
    """Row r of the acceleration of frame f for the body accelerations in tree.alpha, without velocity terms."""
    tree = chain.tree
    node, alpha = tree.frame_node[f], tree.alpha
    angular = (alpha[node, 0], alpha[node, 1], alpha[node, 2])
    linear = (alpha[node, 3], alpha[node, 4], alpha[node, 5])
    return _along(chain, r, add(linear, cross(angular, frame_point(tree, f))), angular)


@kernel
def effective_inertia_inv(chain):
    """Omega_c and H^-1 J_c^T: one tip-force correction a row ((18), lemma 4).

    Needs kinematics and articulated inertias. Writes Omega and response; spoils pA, eps and alpha of the tree.
    """
    tree, first, second = chain.tree, chain.first_frame, chain.second_frame
    for r in range(chain.m):
        aba.no_bias(tree)
        _push(chain, r, first[r], 1.0)
        _push(chain, r, second[r], -1.0)
        aba.innovations(tree, chain.no_force)
        aba.accelerations(tree, row(chain.response, r))
        for c in range(chain.m):
            chain.Omega[c, r] = _correction(chain, c, first[c]) - _correction(chain, c, second[c])


@kernel
def factorise(chain):
    """Omega_c = L D L^T. Needs Omega. Writes factor; False, and failed_row, if a row depends on those before it."""
    Omega, L = chain.Omega, chain.factor
    for i in range(chain.m):
        for j in range(i + 1):
            found = 0.5 * (Omega[i, j] + Omega[j, i])
            for k in range(j):
                found -= L[i, k] * L[k, k] * L[j, k]
            L[i, j] = found if i == j else found / L[j, j]
        if not L[i, i] > RANK_TOLERANCE * Omega[i, i]:
            chain.failed_row = i
            return False
    return True


@kernel
def solve(chain):
    """f = Omega_c^-1 rhs. Needs factor and rhs. Writes f."""
    m, L, f = chain.m, chain.factor, chain.f
    for i in range(m):
        f[i] = chain.rhs[i]
        for k in range(i):
            f[i] -= L[i, k] * f[k]
    for i in range(m):
        f[i] /= L[i, i]
    for i in range(m - 1, -1, -1):
        for k in range(i + 1, m):
            f[i] -= L[k, i] * f[k]


@kernel
def add_response(chain, out):
    """out += H^-1 J_c^T f. Needs response and f."""
    for r in range(chain.m):
        for i in range(chain.nv):
            out[i] += chain.response[r, i] * chain.f[r]


@kernel
def _accelerate_freely(chain):
    """Accelerations with the loops open: qdd_f into tree.qdd, alpha_2f - alpha_1f into rhs."""
    tree = chain.tree
    kalman.kalman(tree)
    g = tree.gravity
    for b in range(tree.n):
        for k in range(3):
            tree.acceleration[k, b] = tree.alpha[b, k]
            tree.acceleration[3 + k, b] = tree.alpha[b, 3 + k] - g[k]
    first, second = chain.first_frame, chain.second_frame
    for r in range(chain.m):
        chain.rhs[r] = _free(chain, r, second[r]) - _free(chain, r, first[r])


@kernel
def _free(chain, r, f):
    """Row r of the acceleration of frame f while the loops are open. Needs velocity, acceleration of the tree."""
    tree = chain.tree
    node, acceleration = tree.frame_node[f], tree.acceleration
    angular = (acceleration[0, node], acceleration[1, node], acceleration[2, node])
    return _along(chain, r, point_acceleration(tree, node, frame_point(tree, f)), angular)


@kernel
def _speed(chain, r, f):
    """Row r of the velocity of frame f. Needs velocity of the tree."""
    tree = chain.tree
    node, velocity = tree.frame_node[f], tree.velocity
    angular = (velocity[0, node], velocity[1, node], velocity[2, node])
    return _along(chain, r, point_velocity(tree, node, frame_point(tree, f)), angular)


@kernel
def _relative_speed(chain, r):
    """Row r of J_c v."""
    return _speed(chain, r, chain.first_frame[r]) - _speed(chain, r, chain.second_frame[r])


@entry(vector, vector, vector, vector, writable, address)
def forward(q, v, tau, wanted, out, address):
    """Accelerations of the closed chain; `wanted` (m,) is the relative acceleration of the frames' rows."""
    chain = chain_at(address)
    tree, nv, m = chain.tree, chain.nv, chain.m
    if not (len(out) == nv and is_usable(tau, nv) and is_usable(v, nv) and is_usable(wanted, m)):
        return REFUSED
    if not place(tree, q):
        return REFUSED
    copy(v, tree.v, nv)
    copy(tau, tree.tau, nv)
    _accelerate_freely(chain)
    copy(tree.qdd, out, nv)
    effective_inertia_inv(chain)
    if not factorise(chain):
        return ILL_POSED
    for r in range(m):
        chain.rhs[r] += wanted[r]
    solve(chain)
    add_response(chain, out)
    return OK


@entry(vector, vector, vector, writable, address)
def close_velocity(q, v, wanted, out, address):
    """out = v + H^-1 J_c^T Omega_c^-1 (wanted - J_c v): the impulse that brings the loop's velocity to `wanted`."""
    chain = chain_at(address)
    tree = chain.tree
    if not (is_usable(wanted, chain.m) and move(tree, q, v)):
        return REFUSED
    aba.articulated_inertias(tree)
    effective_inertia_inv(chain)
    if not factorise(chain):
        return ILL_POSED
    for r in range(chain.m):
        chain.rhs[r] = wanted[r] - _relative_speed(chain, r)
    solve(chain)
    copy(v, out, chain.nv)
    add_response(chain, out)
    return OK


@entry(vector, vector, writable, address)
def relative_velocity(q, v, out, address):
    """out = J_c v (m,)."""
    chain = chain_at(address)
    if not move(chain.tree, q, v):
        return REFUSED
    for r in range(chain.m):
        out[r] = _relative_speed(chain, r)
    return OK
