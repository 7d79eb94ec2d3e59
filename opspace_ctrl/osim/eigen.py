# SPDX-License-Identifier: Apache-2.0
"""Eigenvalues and eigenvectors of a small symmetric matrix without allocation: Householder, then implicit QL.

The classical pair tred2 and tql2 ([Wilkinson1971]), written by rows: eigenvectors are rows of Z, so that reflections
and rotations run along registers.
"""

import math

from ..compiled.jit import kernel
from ..compiled.lanes import W, splat, total

SWEEPS = 60  # QL needs two or three a value


@kernel
def tridiagonalise(A, m, d, e, Z):
    """Z A Z^T = tridiagonal with diagonal d and off-diagonal e. Spoils A, whose rows m and m + 1 are scratch."""
    v, p = m, m + 1
    for i in range(m):
        for j in range(0, m, W):
            Z[i, j : j + W] = 0.0
        Z[i, i] = 1.0
    for k in range(m - 2):
        tail = 0.0
        for j in range(0, m, W):
            A[v, j : j + W] = 0.0
            A[p, j : j + W] = 0.0
        for j in range(k + 1, m):
            A[v, j] = A[k, j]
        for j in range(k + 2, m):
            tail += A[k, j] * A[k, j]
        head = A[k, k + 1]
        e[k] = head
        if tail > 0.0:
            e[k] = -math.copysign(math.sqrt(head * head + tail), head)
            A[v, k + 1] = head - e[k]
            _reflect(A, m, k, v, p, 2.0 / (tail + A[v, k + 1] ** 2), Z)
    for i in range(m):
        d[i] = A[i, i]
    e[m - 1] = 0.0
    if m > 1:
        e[m - 2] = A[m - 2, m - 1]


@kernel
def _reflect(A, m, k, v, p, beta, Z):
    """A and Z after the reflection 1 - beta v v^T, which touches rows and columns past k."""
    start, dot = (k + 1) - (k + 1) % W, 0.0
    for i in range(k + 1, m):
        found = splat(0.0)
        for j in range(start, m, W):
            found = found + A[i, j : j + W] * A[v, j : j + W]
        A[p, i] = beta * total(found)
        dot += A[p, i] * A[v, i]
    half = 0.5 * beta * dot
    for j in range(start, m, W):
        A[p, j : j + W] = A[p, j : j + W] - half * A[v, j : j + W]
    for i in range(k + 1, m):
        a, b = A[v, i], A[p, i]
        for j in range(start, m, W):
            A[i, j : j + W] = A[i, j : j + W] - (a * A[p, j : j + W] + b * A[v, j : j + W])
    for j in range(0, m, W):
        found = splat(0.0)
        for i in range(k + 1, m):
            found = found + A[v, i] * Z[i, j : j + W]
        found = beta * found
        for i in range(k + 1, m):
            Z[i, j : j + W] = Z[i, j : j + W] - A[v, i] * found


@kernel
def diagonalise(m, d, e, Z):
    """Rotate d, e to the eigenvalues d and the rows of Z to their eigenvectors (QL with implicit shifts)."""
    for l in range(m):
        for _ in range(SWEEPS):
            end = l
            while end < m - 1 and abs(e[end]) > 2.3e-16 * (abs(d[end]) + abs(d[end + 1])):
                end += 1
            if end == l:
                break
            _sweep(l, end, m, d, e, Z)


@kernel
def _sweep(l, end, m, d, e, Z):
    """One QL step on entries l to `end` of the tridiagonal matrix: rotations from the end up, which Z's rows follow."""
    g = (d[l + 1] - d[l]) / (2.0 * e[l])
    g = d[end] - d[l] + e[l] / (g + math.copysign(math.sqrt(g * g + 1.0), g))
    s, c, p = 1.0, 1.0, 0.0
    for i in range(end - 1, l - 1, -1):
        f, b = s * e[i], c * e[i]
        r = math.sqrt(f * f + g * g)
        e[i + 1] = r
        if r == 0.0:  # the rotation has split the matrix: start again
            d[i + 1] -= p
            e[end] = 0.0
            return
        s, c = f / r, g / r
        g = d[i + 1] - p
        r = (d[i] - g) * s + 2.0 * c * b
        p = s * r
        d[i + 1] = g + p
        g = c * r - b
        for j in range(0, m, W):
            upper, lower = Z[i + 1, j : j + W], Z[i, j : j + W]
            Z[i + 1, j : j + W] = s * lower + c * upper
            Z[i, j : j + W] = c * lower - s * upper
    d[l] -= p
    e[l] = g
    e[end] = 0.0
