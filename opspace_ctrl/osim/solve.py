"""From Lambda^-1 to Lambda: a factorisation, solves, Jbar and N.

The regular path is Lambda^-1 = U^T D U without pivoting; `regular` tells from the factor whether it may be taken.
"""
from __future__ import annotations

import math

from ..dynamics import layout as dyn
from ..dynamics.layout import clear, count, floats, ints
from ..dynamics.state import copy
from ..jit import kernel
from ..lanes import WIDTH, from_lane, load, splat, store, total, transpose
from . import layout as at
from .blocks import add_transposed, mirror


@kernel
def factorise(w):
    """U^T D U of LI into FACTOR (unit U above the diagonal, 1/D on it); returns the smallest pivot.

    SOLUTION becomes D^-1 U^-T X on the way; `back_substitute` makes Lambda X of it. Eight pivots at a time: their rows
    first, then all eight at once on the rows below, which are so read and written once.
    """
    m, LI, U, x = count(w, at.M), floats(w, at.LI), floats(w, at.FACTOR), floats(w, at.SOLUTION)
    X, smallest = floats(w, at.X), math.inf
    for i in range(m):
        x[i] = X[i]
        for j in range(i - i % WIDTH, m, WIDTH):
            store(U, i, j, load(LI, i, j))
    for start in range(0, m, WIDTH):
        end = min(start + WIDTH, m)
        for k in range(start, end):
            pivot = U[k, k]
            if not pivot > smallest:  # written so that NaN counts
                smallest = pivot
            _eliminate_within(U, x, k, start, end, m, 1.0 / pivot)
        if end < m:
            _eliminate_beyond(U, start, m)
        for k in range(start, end):
            inverse = U[k, k]
            store(U, k, start, inverse * from_lane(load(U, k, start), k - start + 1))
            U[k, k] = inverse
            for j in range(end, m, WIDTH):
                store(U, k, j, inverse * load(U, k, j))
    return smallest


@kernel
def _eliminate_within(U, x, k, start, end, m, inverse):
    """Row i -= (U_ki / U_kk) row k for the rows i of the same eight, and x likewise; 1/U_kk onto the diagonal."""
    for j in range(start, m, WIDTH):
        row = inverse * load(U, k, j)
        for i in range(k + 1, end):
            store(U, i, j, load(U, i, j) - U[k, i] * row)
    x_k = x[k] * inverse
    store(x, 0, start, load(x, 0, start) - x_k * from_lane(load(U, k, start), k - start + 1))
    for j in range(start + WIDTH, m, WIDTH):
        store(x, 0, j, load(x, 0, j) - x_k * load(U, k, j))
    x[k], U[k, k] = x_k, inverse


@kernel
def _eliminate_beyond(U, k, m):
    """Row i -= sum (U_ki / U_kk) row k over the eight k, for all later rows i."""
    d0, d1, d2, d3 = U[k, k], U[k + 1, k + 1], U[k + 2, k + 2], U[k + 3, k + 3]
    d4, d5, d6, d7 = U[k + 4, k + 4], U[k + 5, k + 5], U[k + 6, k + 6], U[k + 7, k + 7]
    for j in range(k + WIDTH, m, WIDTH):
        r0, r1, r2, r3 = d0 * load(U, k, j), d1 * load(U, k + 1, j), d2 * load(U, k + 2, j), d3 * load(U, k + 3, j)
        r4, r5, r6, r7 = d4 * load(U, k + 4, j), d5 * load(U, k + 5, j), d6 * load(U, k + 6, j), d7 * load(U, k + 7, j)
        for i in range(k + WIDTH, min(j + WIDTH, m)):
            change = U[k, i] * r0 + U[k + 1, i] * r1 + U[k + 2, i] * r2 + U[k + 3, i] * r3
            more = U[k + 4, i] * r4 + U[k + 5, i] * r5 + U[k + 6, i] * r6 + U[k + 7, i] * r7
            store(U, i, j, load(U, i, j) - (change + more))


@kernel
def back_substitute(w, x):
    """x becomes U^-1 x, a register of rows at a time.

    What a whole register still needs from later ones is summed first; the rest goes number by number, since a vector
    read just after a number written into it would wait for the memory.
    """
    m, U = count(w, at.M), floats(w, at.FACTOR)
    for start in range((m - 1) - (m - 1) % WIDTH, -1, -WIDTH):
        end = min(start + WIDTH, m)
        for i in range(start, end):
            if end < m:
                found = splat(0.0)
                for j in range(start + WIDTH, m, WIDTH):
                    found = found + load(U, i, j) * load(x, 0, j)
                x[i] -= total(found)
        for i in range(end - 1, start - 1, -1):
            found_i = x[i]
            for j in range(end - 1, i, -1):  # what was found last comes last: only that has to be waited for
                found_i -= U[i, j] * x[j]
            x[i] = found_i


@kernel
def invert(w, out):
    """out = Lambda = U^-1 D^-1 U^-T, after `factorise`: all columns of the solve at once, row by row."""
    m, U = count(w, at.M), floats(w, at.FACTOR)
    clear(out, m, m)
    for k in range(m):
        out[k, k] = 1.0
    for k in range(m):  # U^-T is lower triangular: row k ends at column k
        for j in range(0, k + 1, WIDTH):
            row = load(out, k, j)
            for i in range(k + 1, m):
                store(out, i, j, load(out, i, j) - U[k, i] * row)
            store(out, k, j, U[k, k] * row)
    for k in range(m - 2, -1, -1):  # symmetric: what is left of the diagonal is enough
        for j in range(0, k + 1, WIDTH):
            found, more = load(out, k, j), splat(0.0)
            for i in range(k + 1, m - 1, 2):
                found = found - U[k, i] * load(out, i, j)
                more = more + U[k, i + 1] * load(out, i + 1, j)
            if (m - k) % 2 == 0:
                found = found - U[k, m - 1] * load(out, m - 1, j)
            store(out, k, j, found - more)
    mirror(out, m, True)


@kernel
def dynamically_consistent_inverse(w, Lambda, by_ltl):
    """Jbar = L_d^-1 (Y_D^T Lambda), (33), or L^-1 (Y^T Lambda), (32), into JBAR; needs H factored so, and Y_D or Y."""
    m, nv, Jbar, L = count(w, at.M), count(w, dyn.NV), floats(w, at.JBAR), floats(w, dyn.H)
    _support_times(w, Lambda, Jbar)
    path, depth, dinv = ints(w, dyn.PATH_E), ints(w, dyn.DEPTH_E), floats(w, dyn.DINV)
    for k in range(nv):
        scale = dinv[k] if by_ltl else 1.0  # L_d has ones on its diagonal
        for j in range(0, m, WIDTH):
            found, more = load(Jbar, k, j), splat(0.0)
            for c in range(0, depth[k] - 1, 2):  # two sums: an addition takes as long as four loads
                found = found - L[k, c] * load(Jbar, path[k, c], j)
                more = more + L[k, c + 1] * load(Jbar, path[k, c + 1], j)
            if depth[k] % 2 == 1:
                found = found - L[k, depth[k] - 1] * load(Jbar, path[k, depth[k] - 1], j)
            store(Jbar, k, j, scale * (found - more))


@kernel
def _support_times(w, Lambda, out):
    """out = Y_D^T Lambda (figure 6 with a matrix)."""
    m, YD, block, support = count(w, at.M), floats(w, at.YD), ints(w, at.BLOCK), ints(w, at.SUPPORT)
    for i in range(count(w, dyn.NV)):
        for j in range(0, m, WIDTH):
            store(out, i, j, splat(0.0))
    for b in range(count(w, at.BLOCKS)):
        row = block[b, at.B_ROW]
        for r in range(block[b, at.B_FIRST], block[b, at.B_FIRST] + block[b, at.B_SLOTS]):
            i = support[r]
            for j in range(0, m, WIDTH):
                found = load(out, i, j)
                for c in range(block[b, at.B_ROWS]):
                    found = found + YD[r, c] * load(Lambda, row + c, j)
                store(out, i, j, found)


@kernel
def null_space(w):
    """N^T = 1 - J^T Jbar^T (10) into N_T, for the Jbar in JBAR."""
    m, nv, Jbar, turned = count(w, at.M), count(w, dyn.NV), floats(w, at.JBAR), floats(w, at.JBAR_T)
    N_T, J, block, support = floats(w, at.N_T), floats(w, at.J), ints(w, at.BLOCK), ints(w, at.SUPPORT)
    for i in range(0, nv, WIDTH):
        for r in range(0, m, WIDTH):
            transpose(Jbar, i, r, turned, r, i)
    clear(N_T, nv, nv)
    for i in range(nv):
        N_T[i, i] = 1.0
    for b in range(count(w, at.BLOCKS)):
        row = block[b, at.B_ROW]
        for r in range(block[b, at.B_FIRST], block[b, at.B_FIRST] + block[b, at.B_SLOTS]):
            i = support[r]
            for j in range(0, nv, WIDTH):
                found = load(N_T, i, j)
                for c in range(block[b, at.B_ROWS]):
                    found = found - J[r, c] * load(turned, row + c, j)
                store(N_T, i, j, found)


@kernel
def torque_by_jbar(w, force, tau0, out):
    """tau0 + J^T (F - Jbar^T tau0), the law (11) when Jbar is at hand."""
    m, Jbar, F = count(w, at.M), floats(w, at.JBAR), floats(w, at.FORCE)
    for j in range(0, m, WIDTH):
        found = splat(0.0)
        for i in range(count(w, dyn.NV)):
            found = found + tau0[i] * load(Jbar, i, j)
        store(F, 0, j, found)
    for i in range(m):
        F[i] = force[i] - F[i]
    copy(tau0, out, count(w, dyn.NV))
    add_transposed(w, floats(w, at.J), F, out)
