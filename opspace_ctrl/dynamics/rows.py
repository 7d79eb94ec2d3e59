"""6 x 6 matrices in registers: row (or column) r of the k-th matrix of an array is the lanes of its row 6 k + r."""

from __future__ import annotations

from ..compiled.jit import kernel
from ..compiled.lanes import W


@kernel
def load_rows(K, k):
    """The six columns of the k-th row matrix."""
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
    """Write the six columns of the k-th row matrix."""
    K[6 * k, 0:W] = x[0]
    K[6 * k + 1, 0:W] = x[1]
    K[6 * k + 2, 0:W] = x[2]
    K[6 * k + 3, 0:W] = x[3]
    K[6 * k + 4, 0:W] = x[4]
    K[6 * k + 5, 0:W] = x[5]


@kernel
def row_sum(x, s, i):
    """X S_i: six columns times the motion subspace of node i."""
    return (
        x[0] * s[0, i]
        + x[1] * s[1, i]
        + x[2] * s[2, i]
        + x[3] * s[3, i]
        + x[4] * s[4, i]
        + x[5] * s[5, i]
    )


@kernel
def add_rows(out, k, x):
    """Add to the k-th 6 x 6 block of `out`."""
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
