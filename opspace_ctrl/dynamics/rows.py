# SPDX-License-Identifier: Apache-2.0
"""Six registers at a time: the k-th matrix of an array is its rows 6 k to 6 k + 5, and each of these one register.

What lanes and registers stand for depends on the array. Of a 6 x 6 matrix (IA, Omega) register r is row r. Task rows X
(up to six rows of a block, by six components) lie the other way round: a lane is a task row, register c its component c
(angular first), so that what is done to one row is done to all of a block at once.
"""

import math

from ..compiled.jit import kernel
from ..compiled.lanes import W, splat


@kernel
def load_rows(K, k):
    """The six registers of the k-th matrix of K."""
    return (
        K[6 * k, 0:W],
        K[6 * k + 1, 0:W],
        K[6 * k + 2, 0:W],
        K[6 * k + 3, 0:W],
        K[6 * k + 4, 0:W],
        K[6 * k + 5, 0:W],
    )


@kernel
def store_rows(K, k, x):
    """Write the six registers of the k-th matrix of K."""
    K[6 * k, 0:W] = x[0]
    K[6 * k + 1, 0:W] = x[1]
    K[6 * k + 2, 0:W] = x[2]
    K[6 * k + 3, 0:W] = x[3]
    K[6 * k + 4, 0:W] = x[4]
    K[6 * k + 5, 0:W] = x[5]


@kernel
def row_sum(x, s, i):
    """X S_i for task rows X: one register, a lane a task row; S_i is the motion subspace of node i."""
    return (
        x[0] * s[0, i]
        + x[1] * s[1, i]
        + x[2] * s[2, i]
        + x[3] * s[3, i]
        + x[4] * s[4, i]
        + x[5] * s[5, i]
    )


@kernel
def combination(A, r, x):
    """Six registers weighed by the first six numbers of row r of A."""
    return (
        A[r, 0] * x[0]
        + A[r, 1] * x[1]
        + A[r, 2] * x[2]
        + A[r, 3] * x[3]
        + A[r, 4] * x[4]
        + A[r, 5] * x[5]
    )


@kernel
def add_scaled(x, A, r, y):
    """X + a y^T: six rows plus a register y times the first six numbers a of row r of A."""
    return (
        x[0] + A[r, 0] * y,
        x[1] + A[r, 1] * y,
        x[2] + A[r, 2] * y,
        x[3] + A[r, 3] * y,
        x[4] + A[r, 4] * y,
        x[5] + A[r, 5] * y,
    )


@kernel
def subtract_outer(x, S, i, y):
    """X - S_i y^T: six rows less a register y times the motion subspace of node i."""
    return (
        x[0] - S[0, i] * y,
        x[1] - S[1, i] * y,
        x[2] - S[2, i] * y,
        x[3] - S[3, i] * y,
        x[4] - S[4, i] * y,
        x[5] - S[5, i] * y,
    )


@kernel
def zero_rows():
    """Six registers of zeros."""
    return splat(0.0), splat(0.0), splat(0.0), splat(0.0), splat(0.0), splat(0.0)


@kernel
def add_rows(out, k, x):
    """Add six registers to the k-th matrix of `out`."""
    z = load_rows(out, k)
    store_rows(
        out, k, (z[0] + x[0], z[1] + x[1], z[2] + x[2], z[3] + x[3], z[4] + x[4], z[5] + x[5])
    )


@kernel
def subtract_square(x, u, U, i, scale):
    """X - scale u u^T, with u also as row i of U."""
    s = scale * u
    return (
        x[0] - U[i, 0] * s,
        x[1] - U[i, 1] * s,
        x[2] - U[i, 2] * s,
        x[3] - U[i, 3] * s,
        x[4] - U[i, 4] * s,
        x[5] - U[i, 5] * s,
    )


@kernel
def invert(A, k):
    """The k-th block of A, symmetric positive definite, becomes its inverse (Gauss-Jordan)."""
    for c in range(6):
        pivot = 1.0 / A[6 * k + c, c]
        row = A[6 * k + c, 0:W] * pivot
        for r in range(6):
            if r != c:
                factor = A[6 * k + r, c]
                A[6 * k + r, 0:W] = A[6 * k + r, 0:W] - factor * row
                A[6 * k + r, c] = -factor * pivot
        A[6 * k + c, 0:W] = row
        A[6 * k + c, c] = pivot


@kernel
def solve(A, k):
    """Gauss-Jordan on the k-th block, symmetric positive definite, with a right-hand side in lane 6: solved there."""
    for c in range(6):
        row = A[6 * k + c, 0:W] * (1.0 / A[6 * k + c, c])
        for r in range(6):
            if r != c:
                A[6 * k + r, 0:W] = A[6 * k + r, 0:W] - A[6 * k + r, c] * row
        A[6 * k + c, 0:W] = row


@kernel
def clear(a, rows, columns):
    """Zeros into the first rows and columns of a matrix."""
    for i in range(rows):
        for j in range(columns):
            a[i, j] = 0.0


@kernel
def cholesky(A, n):
    """The lower triangle of A becomes L with A = L L^T."""
    for j in range(n):
        root = math.sqrt(A[j, j])
        A[j, j] = root
        for i in range(j + 1, n):
            A[i, j] /= root
        for i in range(j + 1, n):
            for k in range(j + 1, i + 1):
                A[i, k] -= A[i, j] * A[k, j]
