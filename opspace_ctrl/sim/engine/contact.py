# SPDX-License-Identifier: Apache-2.0
"""Unilateral contact with the ground and Coulomb friction.

For every point, with the normal impulse f_n, the tangential one f_t and the velocity u = A f + b after the step:
    0 <= f_n  and  u_n >= 0, one of them zero
    |f_t| <= mu f_n,  and f_t = -mu f_n u_t / |u_t| where the point slides
b_n holds gap / dt as long as there is one, so that a point arrives at the ground in the step and does not fall
through it; there is no restitution. A is the Delassus matrix J H^-1 J^T. `active_set` solves this exactly; where it
fails, points are brought to agreement in turn, f_t = projection of f_t - u_t / a on the disc (projected Gauss-Seidel),
until no velocity changes by more than TOLERANCE.
"""

import math

from ...compiled.jit import kernel
from ...compiled.lanes import W
from ...dynamics.spatial import add, dot
from ...osim.jacobian import task_point
from .active_set import modes_of, solve_modes, velocities

TOLERANCE = 1e-10  # [m/s]
MARGIN = 1e-3  # [m]: points so near take part although they are not about to touch
FASTEST = 100.0  # [m/s]: points farther than a step of this are not looked at
SLOP = 1e-6  # [m]: depth that is not corrected


@kernel
def gaps(engine):
    """Write gap, the height of every point above the ground; True if one is near. Needs the kinematics.

    The points are the first blocks of space, so a point's number is its block's.
    """
    space, ground = engine.space, engine.ground_axes
    origin, tree_number, level = engine.tree.origin, engine.tree.tree_number, engine.ground_height
    normal = (ground[0, 0], ground[0, 1], ground[0, 2])
    reach, near = FASTEST * engine.dt, False
    for p in range(engine.points):
        x, t = task_point(space, p), tree_number[space.leg_end[space.block_leg[p]]]
        height = dot(normal, add(x, (origin[t, 0], origin[t, 1], origin[t, 2]))) - level
        engine.gap[p] = height
        near = near or height < reach
    return near


@kernel
def activate(engine):
    """Choose the points that take part: near the ground, or through it by the end of the step. True if there is one.

    Needs gap, and the velocities without impulses in row_velocity: those of the normals of active points get gap / dt
    added. Writes active; the impulses of all other points become zero.
    """
    gap = engine.gap
    b, f, found = engine.row_velocity, engine.impulse, False
    for p in range(engine.points):
        r = 3 * p
        if gap[p] < MARGIN or gap[p] + engine.dt * b[r] < 0.0:
            engine.active[p], found = 1, True
            b[r] += max(gap[p], 0.0) / engine.dt
        else:
            engine.active[p] = 0
            f[r], f[r + 1], f[r + 2] = 0.0, 0.0, 0.0
    return found


@kernel
def is_touching(engine):
    """Is a point at the ground, or about to be with the velocities in row_velocity?"""
    v = engine.row_velocity
    for p in range(engine.points):
        if engine.gap[p] < MARGIN or engine.gap[p] + 2.0 * engine.dt * v[3 * p] < 0.0:
            return True
    return False


@kernel
def sweep(engine, A, b, f, sweeps):
    """Find the impulses f of the active points for A and b by Gauss-Seidel, from the f at hand.

    Writes contact_velocity.
    """
    velocities(engine, A, b, f)
    change, n = math.inf, 0
    while n < sweeps and change > TOLERANCE:
        change = _sweep(engine, A, f)
        n += 1


@kernel
def solve(engine, A, b, f, sweeps):
    """Find the impulses f of the active points for A and b: by modes, or by sweeps where these do not settle."""
    if engine.points > 0 and not solve_modes(engine, A, b, f):
        _into_cones(engine, f)
        sweep(engine, A, b, f, sweeps)
        modes_of(engine, f)


@kernel
def _into_cones(engine, f):
    """Make impulses possible ones, for the sweeps to start from; what is not a number becomes zero."""
    mu = engine.mu
    for p in range(engine.points):
        r = 3 * p
        size = math.sqrt(f[r + 1] ** 2 + f[r + 2] ** 2)
        if not (f[r] > 0.0 and size < math.inf):
            f[r], f[r + 1], f[r + 2] = 0.0, 0.0, 0.0
        elif size > mu * f[r]:
            f[r + 1] *= mu * f[r] / size
            f[r + 2] *= mu * f[r] / size


@kernel
def _sweep(engine, A, f):
    """Bring every active point to agreement once, in f and contact_velocity; returns the largest change of velocity."""
    mu, largest = engine.mu, 0.0
    u, m = engine.contact_velocity, 3 * engine.points
    for p in range(engine.points):
        if engine.active[p] == 0:
            continue
        r = 3 * p
        a_n, a_x, a_y, a_xy = A[r, r], A[r + 1, r + 1], A[r + 2, r + 2], A[r + 1, r + 2]
        # the largest eigenvalue of the two tangential rows
        a_t = 0.5 * (a_x + a_y + math.sqrt((a_x - a_y) ** 2 + 4.0 * a_xy**2))
        normal = max(f[r] - u[r] / a_n, 0.0)
        d = normal - f[r]
        x = f[r + 1] - (u[r + 1] + d * A[r, r + 1]) / a_t
        y = f[r + 2] - (u[r + 2] + d * A[r, r + 2]) / a_t
        size = math.sqrt(x * x + y * y)
        if size > mu * normal:
            x, y = x * mu * normal / size, y * mu * normal / size
        d_x, d_y = x - f[r + 1], y - f[r + 2]
        f[r], f[r + 1], f[r + 2] = normal, x, y
        largest = max(largest, abs(d) * a_n, abs(d_x) * a_t, abs(d_y) * a_t)
        for j in range(0, m, W):
            change = d * A[r, j : j + W] + d_x * A[r + 1, j : j + W] + d_y * A[r + 2, j : j + W]
            u[j : j + W] = u[j : j + W] + change
    return largest


@kernel
def depths(engine, b):
    """Turn the displacements b of this step [m] into the b of u = A f + b for the correction; True if a point is deep.

    Three rows a point: normal (up is positive), two tangents. The pseudo impulses f then leave no active point with a
    normal of u below zero. So b of an active point deeper than SLOP becomes -`correction` times its depth, which f
    takes away; of any other point the height that it has left, by which it may be lowered, or 0 if it has none.
    Tangents become zero: the correction lets nothing slip. Needs gap, active and correction.
    """
    found = False
    for p in range(engine.points):
        r = 3 * p
        after = engine.gap[p] + b[r]
        b[r], b[r + 1], b[r + 2] = max(after, 0.0), 0.0, 0.0
        if engine.active[p] == 1 and after < -SLOP:
            b[r], found = engine.correction * after, True
    return found
