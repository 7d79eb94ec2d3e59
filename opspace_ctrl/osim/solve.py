"""From Lambda^-1 to Lambda: a factorisation, solves, Jbar and N.

The regular path is Lambda^-1 = U^T D U without pivoting; `regular` tells from the factor whether it may be taken.
"""

from __future__ import annotations

import math

from ..dynamics import layout as dyn
from ..dynamics.layout import count, floats, ints
from ..jit import kernel
from ..lanes import WIDTH, from_lane, load, splat, store, total
from . import layout as at
from .blocks import add_transposed, add_transposed_times, mirror, transpose


@kernel
def factorise(w):
    """U^T D U of LI into FACTOR (unit U above the diagonal, 1/D on it); returns the smallest pivot.

    SOLUTION becomes D^-1 U^-T X on the way; `back_substitute` makes Lambda X of it. Two rows at a time, which share
    what they read of those above: row i of D U = row i of LI - sum U_ki (D U)_k. The pairs start at even rows, so that
    both start in the same register; D U is kept in VECTORS.
    """
    m, U, DU, smallest = count(w, at.M), floats(w, at.FACTOR), floats(w, at.VECTORS), math.inf
    LI, X, rest = floats(w, at.LI), floats(w, at.X), floats(w, at.OFF_DIAGONAL)
    for j in range(0, m, WIDTH):
        store(rest, 0, j, load(X, 0, j))
    for i in range(0, m, 2):
        for j in range(i - i % WIDTH, m, WIDTH):
            a, b, c, d = load(LI, i, j), load(LI, i + 1, j), splat(0.0), splat(0.0)
            # two sums of each, so that one waits for the other half as often
            for k in range(0, i, 2):
                row, next_row = load(DU, k, j), load(DU, k + 1, j)
                a, b = a - U[k, i] * row, b - U[k, i + 1] * row
                c, d = c - U[k + 1, i] * next_row, d - U[k + 1, i + 1] * next_row
            store(DU, i, j, a + c)
            store(DU, i + 1, j, b + d)
        first, det = DU[i, i], DU[i, i] * DU[i + 1, i + 1] - DU[i, i + 1] * DU[i, i + 1]
        inverse, inverse_1 = 1.0 / first, 0.0
        if not first > smallest:  # written so that NaN counts
            smallest = first
        # the second pivot is det / first, which need not wait for the division by the first
        if i + 1 < m:
            inverse_1 = first / det
            if not inverse * det > smallest:
                smallest = inverse * det
        _finish_two(w, rest, i, inverse, inverse_1)
    return smallest


@kernel
def _finish_two(w, rest, i, inverse, inverse_1):
    """Row i + 1 less its share of row i; both scaled into U; what is left of X without its part along the two."""
    U, DU, x = floats(w, at.FACTOR), floats(w, at.VECTORS), floats(w, at.SOLUTION)
    start, factor = i - i % WIDTH, inverse * DU[i, i + 1]
    x_i = inverse * rest[i]
    x_1 = inverse_1 * (rest[i + 1] - factor * rest[i])
    for j in range(start, count(w, at.M), WIDTH):
        a = load(DU, i, j)
        b = load(DU, i + 1, j) - factor * a
        store(DU, i + 1, j, b)
        if j == start:
            a, b = from_lane(a, i + 1 - j), from_lane(b, i + 2 - j)
        store(U, i, j, inverse * a)
        store(U, i + 1, j, inverse_1 * b)
        store(rest, 0, j, load(rest, 0, j) - x_i * a - x_1 * b)
    U[i, i], U[i + 1, i + 1], x[i], x[i + 1] = inverse, inverse_1, x_i, x_1


@kernel
def back_substitute(w, x):
    """x becomes U^-1 x, a register of rows at a time: what it needs from later ones first, then its own triangle."""
    m, U = count(w, at.M), floats(w, at.FACTOR)
    for start in range((m - 1) - (m - 1) % WIDTH, -1, -WIDTH):
        for i in range(start, start + WIDTH if start + WIDTH < m else start):
            found = splat(0.0)
            for j in range(start + WIDTH, m, WIDTH):
                found = found + load(U, i, j) * load(x, 0, j)
            x[i] -= total(found)
        _triangle(U, x, start)


@kernel
def _triangle(U, x, i):
    """Eight entries of U^-1 x from the triangle of U on the diagonal; all in registers, what was found last comes last.

    Rows and columns beyond the last are zero in U.
    """
    b, c, d, e, f, g, h = i + 1, i + 2, i + 3, i + 4, i + 5, i + 6, i + 7
    x7 = x[h]
    x6 = x[g] - U[g, h] * x7
    x5 = x[f] - U[f, h] * x7 - U[f, g] * x6
    x4 = x[e] - U[e, h] * x7 - U[e, g] * x6 - U[e, f] * x5
    x3 = x[d] - U[d, h] * x7 - U[d, g] * x6 - U[d, f] * x5 - U[d, e] * x4
    x2 = x[c] - U[c, h] * x7 - U[c, g] * x6 - U[c, f] * x5 - U[c, e] * x4 - U[c, d] * x3
    x1 = (
        x[b]
        - U[b, h] * x7
        - U[b, g] * x6
        - U[b, f] * x5
        - U[b, e] * x4
        - U[b, d] * x3
        - U[b, c] * x2
    )
    x0 = (
        x[i]
        - U[i, h] * x7
        - U[i, g] * x6
        - U[i, f] * x5
        - U[i, e] * x4
        - U[i, d] * x3
        - U[i, c] * x2
        - U[i, b] * x1
    )
    x[i], x[b], x[c], x[d], x[e], x[f], x[g] = x0, x1, x2, x3, x4, x5, x6


@kernel
def invert(w, out):
    """out = Lambda = U^-1 D^-1 U^-T, after `factorise`: two rows at a time, which share what they read of the others.

    The pairs start at even rows, so that both end in the same register. Left of the diagonal is enough.
    """
    m, U, one = count(w, at.M), floats(w, at.FACTOR), splat(1.0)
    for i in range(0, m, 2):  # U^-T, lower triangular: row i = 1_i - sum U_ki row k
        for j in range(0, i + 1, WIDTH):
            x = from_lane(one, i - j) - from_lane(one, i - j + 1)
            y = from_lane(one, i - j + 1) - from_lane(one, i - j + 2)
            for k in range(j, i):
                row = load(out, k, j)
                x, y = x - U[k, i] * row, y - U[k, i + 1] * row
            store(out, i, j, x)
            store(out, i + 1, j, y - U[i, i + 1] * x)  # beyond the last row of an odd m: never read
    if m % 2 == 1:
        for j in range(0, m, WIDTH):
            store(out, m - 1, j, U[m - 1, m - 1] * load(out, m - 1, j))
    # row k = D^-1 row k - sum U_ki row i; what was found last comes last
    for k in range(m - m % 2 - 2, -1, -2):
        for j in range(0, k + 1, WIDTH):
            x, y = U[k, k] * load(out, k, j), U[k + 1, k + 1] * load(out, k + 1, j)
            for i in range(m - 1, k + 1, -1):
                row = load(out, i, j)
                x, y = x - U[k, i] * row, y - U[k + 1, i] * row
            store(out, k + 1, j, y)
            store(out, k, j, x - U[k, k + 1] * y)
    mirror(out, m, True)


@kernel
def dynamically_consistent_inverse(w, Lambda, by_ltl):
    """Jbar = L_d^-1 (Y_D^T Lambda), (33), or L^-1 (Y^T Lambda), (32), into JBAR; needs H factored so, and Y_D or Y."""
    m, nv, Jbar = count(w, at.M), count(w, dyn.NV), floats(w, at.JBAR)
    _clear(Jbar, nv, m)
    add_transposed_times(w, floats(w, at.YD), Lambda, Jbar, m, 1.0)
    L, path, depth, lam = (
        floats(w, dyn.H),
        ints(w, dyn.PATH_E),
        ints(w, dyn.DEPTH_E),
        ints(w, dyn.LAMBDA_E),
    )
    dinv, k = floats(w, dyn.DINV), 0
    while k < nv:
        two = k + 1 < nv and lam[k + 1] == k
        scale, scale_1 = 1.0, 1.0  # L_d has ones on its diagonal
        if by_ltl:
            scale, scale_1 = dinv[k], dinv[k + 1]
        for j in range(0, m, WIDTH):
            if two:
                _substitute_two(Jbar, L, path, k, depth[k], j, scale, scale_1)
            else:
                _substitute(Jbar, L, path, k, depth[k], j, scale)
        k += 2 if two else 1


@kernel
def _substitute(x, L, path, k, end, j, scale):
    """A register of row k of L^-1 x, the rows of its ancestors being found."""
    found = load(x, k, j)
    for c in range(end):
        found = found - L[k, c] * load(x, path[k, c], j)
    store(x, k, j, scale * found)


@kernel
def _substitute_two(x, L, path, k, end, j, scale, scale_1):
    """`_substitute` for k and its child k + 1 at once: they read the same ancestors."""
    found, child = load(x, k, j), load(x, k + 1, j)
    for c in range(end):
        row = load(x, path[k, c], j)
        found, child = found - L[k, c] * row, child - L[k + 1, c] * row
    found = scale * found
    store(x, k, j, found)
    store(x, k + 1, j, scale_1 * (child - L[k + 1, end] * found))


@kernel
def null_space(w):
    """N^T = 1 - J^T Jbar^T (10) into N_T, for the Jbar in JBAR."""
    m, nv, Jbar, turned = count(w, at.M), count(w, dyn.NV), floats(w, at.JBAR), floats(w, at.JBAR_T)
    N_T = floats(w, at.N_T)
    for i in range(0, nv, WIDTH):
        for r in range(0, m, WIDTH):
            transpose(Jbar, i, r, turned, r, i)
    _clear(N_T, nv, nv)
    for i in range(nv):
        N_T[i, i] = 1.0
    add_transposed_times(w, floats(w, at.J), turned, N_T, nv, -1.0)


@kernel
def _clear(matrix, rows, columns):
    """Zeros into the first rows, a register at a time."""
    for i in range(rows):
        for j in range(0, columns, WIDTH):
            store(matrix, i, j, splat(0.0))


@kernel
def torque_by_jbar(w, tau):
    """tau0 + J^T (F - Jbar^T tau0), the law (11) when Jbar is at hand; F is in FORCE, tau0 in tau."""
    m, Jbar, F = count(w, at.M), floats(w, at.JBAR), floats(w, at.FORCE)
    for j in range(0, m, WIDTH):
        found = load(F, 0, j)
        for i in range(count(w, dyn.NV)):
            found = found - tau[i] * load(Jbar, i, j)
        store(F, 0, j, found)
    add_transposed(w, floats(w, at.J), F, tau)
