# SPDX-License-Identifier: Apache-2.0
"""From Lambda^-1 to Lambda: a factorisation, solves, Jbar and N.

The regular path is Lambda^-1 = U^T D U without pivoting; `regular` tells from the factor whether it may be taken.
"""

import math

from ..compiled.jit import kernel
from ..compiled.lanes import W, from_lane, splat, total
from .blocks import add_transposed, add_transposed_times, mirror, transpose


@kernel
def factorise(space):
    """Factor Lambda_inv = U^T D U (unit U above the diagonal of `U`, 1/D on it). Returns the smallest pivot.

    Needs Lambda_inv (upper triangle of blocks), Jx. Writes U, DU and Lambda_Jx = D^-1 U^-T Jx, of which
    `back_substitute` makes Lambda Jx.
    Row by row: row i of D U = row i of Lambda_inv - sum over k < i of U_ki (row k of D U), from its diagonal on. Two
    rows at a time, which share what they read of those above; the pairs start at even rows, so that both start in the
    same register. The row after the last of an odd m is zeros, and its pivot is not looked at.
    """
    m, U, DU = space.m, space.U, space.DU
    smallest = math.inf
    for j in range(0, m, W):
        space.rest[j : j + W] = space.Jx[j : j + W]
    for i in range(0, m, 2):
        for j in range(i - i % W, m, W):
            a = space.Lambda_inv[i, j : j + W]
            b = space.Lambda_inv[i + 1, j : j + W]
            c = splat(0.0)
            d = splat(0.0)
            # two sums of each, so that one waits for the other half as often
            for k in range(0, i, 2):
                row, next_row = DU[k, j : j + W], DU[k + 1, j : j + W]
                a, b = a - U[k, i] * row, b - U[k, i + 1] * row
                c, d = c - U[k + 1, i] * next_row, d - U[k + 1, i + 1] * next_row
            DU[i, j : j + W] = a + c
            DU[i + 1, j : j + W] = b + d
        first, det = DU[i, i], DU[i, i] * DU[i + 1, i + 1] - DU[i, i + 1] * DU[i, i + 1]
        inverse, inverse_1 = 1.0 / first, 0.0
        if not first > smallest:  # written so that NaN counts
            smallest = first
        # the second pivot is det / first, which need not wait for the division by the first
        if i + 1 < m:
            inverse_1 = first / det
            if not inverse * det > smallest:
                smallest = inverse * det
        _finish_two(space, space.rest, i, inverse, inverse_1)
    return smallest


@kernel
def _finish_two(space, rest, i, inverse, inverse_1):
    """Finish rows i and i + 1 of the factor, whose rows of DU are complete but for each other.

    Row i + 1 of DU loses its share of row i; both, divided by their pivots (`inverse`, `inverse_1`), become rows of U,
    with 1/D on the diagonal and zeros left of it in their first register (`from_lane` clears the lanes before).
    Lambda_Jx[i], Lambda_Jx[i + 1] = D^-1 U^-T Jx, and `rest`, what is left of Jx, loses what these two make of it.
    """
    U, DU, x = space.U, space.DU, space.Lambda_Jx
    start, factor = i - i % W, inverse * DU[i, i + 1]
    x_i = inverse * rest[i]
    x_1 = inverse_1 * (rest[i + 1] - factor * rest[i])
    for j in range(start, space.m, W):
        a = DU[i, j : j + W]
        b = DU[i + 1, j : j + W] - factor * a
        DU[i + 1, j : j + W] = b
        if j == start:
            a, b = from_lane(a, i + 1 - j), from_lane(b, i + 2 - j)
        U[i, j : j + W] = inverse * a
        U[i + 1, j : j + W] = inverse_1 * b
        rest[j : j + W] = rest[j : j + W] - x_i * a - x_1 * b
    U[i, i] = inverse
    U[i + 1, i + 1] = inverse_1
    x[i] = x_i
    x[i + 1] = x_1


@kernel
def back_substitute(space, x):
    """x becomes U^-1 x, a register of rows at a time: what it needs from later ones first, then its own triangle."""
    m = space.m
    for start in range((m - 1) - (m - 1) % W, -1, -W):
        for i in range(start, start + W if start + W < m else start):
            found = splat(0.0)
            for j in range(start + W, m, W):
                found = found + space.U[i, j : j + W] * x[j : j + W]
            x[i] -= total(found)
        _triangle(space.U, x, start)


@kernel
def _triangle(U, x, i):
    """Eight entries of U^-1 x from the triangle of U on the diagonal; all in registers, what was found last comes last.

    Rows and columns beyond the last are zero in U.
    """
    b = i + 1
    c = i + 2
    d = i + 3
    e = i + 4
    f = i + 5
    g = i + 6
    h = i + 7
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
    x[i] = x0
    x[b] = x1
    x[c] = x2
    x[d] = x3
    x[e] = x4
    x[f] = x5
    x[g] = x6


@kernel
def invert(space, out):
    """out = Lambda = U^-1 D^-1 U^-T, after `factorise`: two rows at a time, which share what they read of the others.

    The pairs start at even rows, so that both end in the same register. Left of the diagonal is enough.
    """
    m, U, one = space.m, space.U, splat(1.0)
    for i in range(0, m, 2):  # U^-T, lower triangular: row i = 1_i - sum U_ki row k
        for j in range(0, i + 1, W):
            # unit vectors: the difference of ones from a lane on and ones from the next on
            x = from_lane(one, i - j) - from_lane(one, i - j + 1)
            y = from_lane(one, i - j + 1) - from_lane(one, i - j + 2)
            for k in range(j, i):
                row = out[k, j : j + W]
                x, y = x - U[k, i] * row, y - U[k, i + 1] * row
            out[i, j : j + W] = x
            out[i + 1, j : j + W] = (
                y - U[i, i + 1] * x
            )  # beyond the last row of an odd m: never read
    if m % 2 == 1:
        for j in range(0, m, W):
            out[m - 1, j : j + W] = U[m - 1, m - 1] * out[m - 1, j : j + W]
    # row k = D^-1 row k - sum U_ki row i; what was found last comes last
    for k in range(m - m % 2 - 2, -1, -2):
        for j in range(0, k + 1, W):
            x, y = U[k, k] * out[k, j : j + W], U[k + 1, k + 1] * out[k + 1, j : j + W]
            for i in range(m - 1, k + 1, -1):
                row = out[i, j : j + W]
                x, y = x - U[k, i] * row, y - U[k + 1, i] * row
            out[k + 1, j : j + W] = y
            out[k, j : j + W] = x - U[k, k + 1] * y
    mirror(out, m, True)


@kernel
def dynamically_consistent_inverse(space, Lambda, by_ltl):
    """Jbar = L_d^-1 (Y_D^T Lambda), (33), or `by_ltl` L^-1 (Y^T Lambda), (32). Writes Jbar.

    Needs H factored so, and Y_D, which after LTL holds Y. Lambda is given: the singular rule has two, see `singular`.
    Base to tips, row k of Jbar loses L_kj times the rows of its ancestors j and is divided by L_kk (1 / L_kk is in
    D_inv after LTL). A coordinate and its child are substituted together where they are neighbours, since they read the
    same ancestors.
    """
    tree, m, Jbar = space.tree, space.m, space.Jbar
    _clear(Jbar, tree.nv, m)
    add_transposed_times(space, space.Y_D, Lambda, Jbar, m, 1.0)
    L, path, depth = tree.H, tree.path_e, tree.depth_e
    k = 0
    while k < tree.nv:
        is_pair = k + 1 < tree.nv and tree.lambda_e[k + 1] == k
        scale, child_scale = 1.0, 1.0  # L_d has ones on its diagonal
        if by_ltl:
            scale = tree.D_inv[k]
            child_scale = tree.D_inv[k + 1] if is_pair else 1.0
        for j in range(0, m, W):
            if is_pair:
                _substitute_two(Jbar, L, path, k, depth[k], j, scale, child_scale)
            else:
                _substitute(Jbar, L, path, k, depth[k], j, scale)
        k += 2 if is_pair else 1


@kernel
def _substitute(x, L, path, k, end, j, scale):
    """One register of row k of L^-1 x, from the same register of the rows of its ancestors, which come before."""
    found = x[k, j : j + W]
    for c in range(end):
        found = found - L[k, c] * x[path[k, c], j : j + W]
    x[k, j : j + W] = scale * found


@kernel
def _substitute_two(x, L, path, k, end, j, scale, child_scale):
    """`_substitute` for k and its child k + 1 at once: they read the same ancestors."""
    found, child = x[k, j : j + W], x[k + 1, j : j + W]
    for c in range(end):
        row = x[path[k, c], j : j + W]
        found, child = found - L[k, c] * row, child - L[k + 1, c] * row
    found = scale * found
    x[k, j : j + W] = found
    x[k + 1, j : j + W] = child_scale * (child - L[k + 1, end] * found)


@kernel
def null_space(space):
    """N^T = 1 - J^T Jbar^T (10) into N_T: the transpose of N, since figure 6 multiplies with J^T.

    Needs J and Jbar. Writes N_T, and Jbar_T on the way.
    """
    nv, Jbar_T, N_T = space.tree.nv, space.Jbar_T, space.N_T
    for i in range(0, nv, W):
        for r in range(0, space.m, W):
            transpose(space.Jbar, i, r, Jbar_T, r, i)
    _clear(N_T, nv, nv)
    for i in range(nv):
        N_T[i, i] = 1.0
    add_transposed_times(space, space.J, Jbar_T, N_T, nv, -1.0)


@kernel
def _clear(matrix, rows, columns):
    """Zeros into the first rows, a register at a time."""
    for i in range(rows):
        for j in range(0, columns, W):
            matrix[i, j : j + W] = 0.0


@kernel
def torque_by_jbar(space, tau):
    """tau0 + J^T (F - Jbar^T tau0), the law (11) when Jbar is at hand; tau0 is what tau holds before. Spends F."""
    F = space.F
    for j in range(0, space.m, W):
        found = F[j : j + W]
        for i in range(space.tree.nv):
            found = found - tau[i] * space.Jbar[i, j : j + W]
        F[j : j + W] = found
    add_transposed(space, space.J, F, tau)
