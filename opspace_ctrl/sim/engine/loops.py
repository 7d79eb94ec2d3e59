# SPDX-License-Identifier: Apache-2.0
"""Loop closures: how far they are open, and their part of the Delassus matrix eliminated.

A closure is a relative task of `osim`: the first frame seen from the second's moving axes. With b its rows and c those
of the contacts, A the Delassus matrix of both (its block b: Omega_c of `algebra.closure.core`, shared inertia and all):
    A_bb f_b + A_bc f_c + v_b = 0                          (the frames' relative velocity after the step)
    A' = A_cc - A_cb A_bb^-1 A_bc,  b' = v_c - A_cb A_bb^-1 v_b          (what the contacts feel)
so closures are met exactly whatever the contacts do. Rows that depend on each other (a loop that is closed more often
than it can move) share their force: A_bb gets a little of its diagonal.
"""

import numpy as np

from ...compiled.jit import kernel
from ...compiled.lanes import W
from ...dynamics.frames import frame_pose
from ...dynamics.so3 import quaternion_log, quaternion_of
from ...dynamics.spatial import dot

POSE, POSITION, ORIENTATION = range(3)
SHARED = 1e-11  # of the diagonal


@kernel
def _column(pose, k):
    """Axis k of an orientation (row major)."""
    return pose[k], pose[3 + k], pose[6 + k]


@kernel
def add_errors(engine, b):
    """Turn displacements b of the closures' rows into `correction` times how far each closure is open after them.

    In the second frame's axes. Needs the kinematics and closure_rotation.
    """
    tree, share = engine.tree, engine.correction
    first, second = engine.first_pose, engine.second_pose
    for c in range(engine.closures):
        frame_pose(tree, engine.closure_first[c], first)
        frame_pose(tree, engine.closure_second[c], second)
        r, kind = engine.closure_row[c], engine.closure_kind[c]
        if kind != ORIENTATION:
            d = (first[9] - second[9], first[10] - second[10], first[11] - second[11])
            for k in range(3):
                b[r + k] = share * (b[r + k] + dot(_column(second, k), d))
        if kind != POSITION:
            angle = _turned(first, second, engine.closure_rotation, c)
            r += 3 if kind == POSE else 0
            for k in range(3):
                b[r + k] = share * (b[r + k] + angle[k])


@kernel
def _turned(first, second, turn, c):
    """Rotation vector, in the second frame's axes, that takes R_2 T to R_1: log(R_2^T R_1 T^T)."""
    r0 = _relative(first, second, turn, c, 0)
    r1 = _relative(first, second, turn, c, 1)
    r2 = _relative(first, second, turn, c, 2)
    return quaternion_log(quaternion_of(r0, r1, r2))


@kernel
def _relative(first, second, turn, c, i):
    """Row i of R_2^T R_1 T^T."""
    a = _column(second, i)
    row = (dot(a, _column(first, 0)), dot(a, _column(first, 1)), dot(a, _column(first, 2)))
    return (
        dot(row, (turn[c, 0], turn[c, 1], turn[c, 2])),
        dot(row, (turn[c, 3], turn[c, 4], turn[c, 5])),
        dot(row, (turn[c, 6], turn[c, 7], turn[c, 8])),
    )


@kernel
def eliminate(engine, A):
    """Factorise A_bb = L L^T and take the closures out of the contacts' rows.

    Writes L to closure_factor, X = L^-1 A_bc to closure_coupling, and A' = A_cc - X^T X to contact_matrix.
    """
    c, n = 3 * engine.points, engine.closure_rows
    L, X = engine.closure_factor, engine.closure_coupling
    for i in range(n):
        for j in range(i + 1):
            found = A[c + i, c + j] * (1.0 + SHARED if i == j else 1.0)
            for k in range(j):
                found -= L[i, k] * L[j, k]
            L[i, j] = np.sqrt(found) if i == j else found / L[j, j]
    for i in range(n):
        for j in range(0, c, W):
            found = A[c + i, j : j + W]
            for k in range(i):
                found = found - L[i, k] * X[k, j : j + W]
            X[i, j : j + W] = (1.0 / L[i, i]) * found
    for i in range(c):
        for j in range(0, c, W):
            found = A[i, j : j + W]
            for k in range(n):
                found = found - X[k, i] * X[k, j : j + W]
            engine.contact_matrix[i, j : j + W] = found


@kernel
def forward_substitute(engine, b, x):
    """Write x = L^-1 v_b for the closures' rows of b, into theirs of x; the contacts' rows of b become b'.

    So b is good for one solve. Needs `eliminate`.
    """
    c, n = 3 * engine.points, engine.closure_rows
    L, X = engine.closure_factor, engine.closure_coupling
    for i in range(n):
        found = b[c + i]
        for k in range(i):
            found -= L[i, k] * x[c + k]
        x[c + i] = found / L[i, i]
        for j in range(c):
            b[j] -= X[i, j] * x[c + i]


@kernel
def back_substitute(engine, f):
    """Write f_b = -L^-T (x + X f_c) in place: the closures' rows of f hold x before. Needs `eliminate`."""
    c, n = 3 * engine.points, engine.closure_rows
    L, X = engine.closure_factor, engine.closure_coupling
    for i in range(n - 1, -1, -1):
        found = f[c + i]
        for j in range(c):
            found += X[i, j] * f[j]
        found = -found
        for k in range(i + 1, n):
            found -= L[k, i] * f[c + k]
        f[c + i] = found / L[i, i]
