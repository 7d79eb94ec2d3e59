# SPDX-License-Identifier: Apache-2.0
"""The conditions of `contact` solved exactly: every point is open, sticks or slides, and a linear system says how hard.

f is the impulse on a point, u = A f + b its velocity after the step: one normal component (n), two tangential ones (t).
mu is the coefficient of friction, d a unit vector along the tangents, against the motion.
    open     f = 0                                  fine if u_n >= 0
    sticks   u = 0                                  fine if f_n >= 0 and |f_t| <= mu f_n
    slides   u_n = 0, f_t = mu f_n d                fine if f_n >= 0 and u_t = -a d with a >= 0
Points that are not fine change, and the system is solved again. Four corners of a foot are more than its motion can
tell apart: A gets a billionth of its diagonal, which chooses the smallest forces. From the modes of the step before,
one solve is enough nearly always; where the modes go round in circles, the sweeps of `contact` take over.
"""

import math

from ...compiled.jit import kernel
from ...compiled.lanes import W

OPEN, STICKS, SLIDES = 0, 1, 2
ROUNDS = 12
COMPLIANCE = 1e-9  # of the diagonal
SPEED = 1e-10  # [m/s]: slower is no motion
ASTRAY = 1e-5  # [rad]: by how much friction may miss the direction of sliding


@kernel
def solve_modes(engine, A, b, f):
    """Find the impulses f of the active points for A and b; False if the modes did not settle, or A is singular.

    In turns: solve for f as if the modes were right, look at f and u, and change the modes of points that are not fine.
    Starts from mode and slide_direction, and writes them, contact_velocity and mode_rounds.
    """
    for n in range(ROUNDS):
        engine.mode_rounds = n + 1
        size = _gather(engine, A, b)
        if not _eliminate(engine.mode_matrix, engine.mode_solution, size):
            return False
        _scatter(engine, f)
        velocities(engine, A, b, f)
        if not _change_modes(engine, f):
            return True
    return False


@kernel
def _gather(engine, A, b):
    """Set the linear system up over the rows that points in their modes have; returns how many these are.

    Writes mode_matrix, mode_solution (the right-hand side) and picked_row; points that are not active become OPEN.
    """
    K, x, pick = engine.mode_matrix, engine.mode_solution, engine.picked_row
    mode, d = engine.mode, engine.slide_direction
    n = 0
    for p in range(engine.points):
        if engine.active[p] == 0:
            mode[p] = OPEN
        for k in range(3 if mode[p] == STICKS else 1 if mode[p] == SLIDES else 0):
            pick[n] = 3 * p + k
            n += 1
    for i in range(n):
        row = pick[i]
        for j in range(n):
            c = pick[j]
            p = c // 3
            K[i, j] = A[row, c]
            if mode[p] == SLIDES:
                K[i, j] += engine.mu * (A[row, c + 1] * d[p, 0] + A[row, c + 2] * d[p, 1])
        K[i, i] += COMPLIANCE * A[row, row]
        x[i] = -b[row]
    return n


@kernel
def _eliminate(K, x, n):
    """x becomes K^-1 x, without pivoting; False if a pivot is not positive."""
    for k in range(n):
        pivot = K[k, k]
        if not pivot > 0.0:
            return False
        inverse = 1.0 / pivot
        for i in range(k + 1, n):
            factor = inverse * K[i, k]
            for j in range(k - k % W, n, W):
                K[i, j : j + W] = K[i, j : j + W] - factor * K[k, j : j + W]
            x[i] -= factor * x[k]
    for k in range(n - 1, -1, -1):
        found = x[k]
        for j in range(k + 1, n):
            found -= K[k, j] * x[j]
        x[k] = found / K[k, k]
    return True


@kernel
def _scatter(engine, f):
    """Write f from mode_solution, each point by its mode."""
    x, mode, d = engine.mode_solution, engine.mode, engine.slide_direction
    n = 0
    for p in range(engine.points):
        r = 3 * p
        if mode[p] == OPEN:
            f[r], f[r + 1], f[r + 2] = 0.0, 0.0, 0.0
        elif mode[p] == STICKS:
            f[r], f[r + 1], f[r + 2] = x[n], x[n + 1], x[n + 2]
            n += 3
        else:
            f[r], f[r + 1], f[r + 2] = x[n], engine.mu * x[n] * d[p, 0], engine.mu * x[n] * d[p, 1]
            n += 1


@kernel
def velocities(engine, A, b, f):
    """Write contact_velocity = A f + b over the rows of the points."""
    u, m = engine.contact_velocity, 3 * engine.points
    for j in range(0, m, W):
        u[j : j + W] = b[j : j + W]
    for r in range(m):
        if f[r] != 0.0:
            for j in range(0, m, W):
                u[j : j + W] = u[j : j + W] + f[r] * A[r, j : j + W]


@kernel
def _change_modes(engine, f):
    """Give every active point that is not fine another mode; True if there was one."""
    u, changed = engine.contact_velocity, False
    mode, d = engine.mode, engine.slide_direction
    for p in range(engine.points):
        r = 3 * p
        if engine.active[p] == 0:
            continue
        if mode[p] == OPEN:
            if u[r] < -SPEED:
                mode[p], changed = STICKS, True
        elif f[r] < 0.0:
            mode[p], changed = OPEN, True
        elif mode[p] == STICKS:
            size = math.sqrt(f[r + 1] ** 2 + f[r + 2] ** 2)
            if size > engine.mu * f[r] * (1.0 + 1e-9):
                mode[p], changed = SLIDES, True
                d[p, 0], d[p, 1] = f[r + 1] / size, f[r + 2] / size
        else:
            changed = _turn(u, r, mode, d, p) or changed
    return changed


@kernel
def _turn(u, r, mode, d, p):
    """A point that slides: stick if friction would drive it, else let friction point against the motion."""
    size, along = math.sqrt(u[r + 1] ** 2 + u[r + 2] ** 2), u[r + 1] * d[p, 0] + u[r + 2] * d[p, 1]
    if size < SPEED:
        return False
    if along > 0.0:
        mode[p] = STICKS
        return True
    x, y = -u[r + 1] / size, -u[r + 2] / size
    astray = abs(x - d[p, 0]) + abs(y - d[p, 1]) > ASTRAY
    d[p, 0], d[p, 1] = x, y
    return astray


@kernel
def modes_of(engine, f):
    """Write mode and slide_direction that impulses found otherwise stand for."""
    mode, d, mu = engine.mode, engine.slide_direction, engine.mu
    for p in range(engine.points):
        r = 3 * p
        size = math.sqrt(f[r + 1] ** 2 + f[r + 2] ** 2)
        mode[p] = OPEN if f[r] == 0.0 else SLIDES if size >= mu * f[r] * (1.0 - 1e-9) else STICKS
        if mode[p] == SLIDES and size > 0.0:
            d[p, 0], d[p, 1] = f[r + 1] / size, f[r + 2] / size
