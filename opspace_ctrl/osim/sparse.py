# SPDX-License-Identifier: Apache-2.0
"""The sparse matrix algorithms of [Featherstone2010]: figures 5 to 10 and equations (10), (32), (33).

Written as the paper prints them, on ordinary arrays:
    J (m, n)        task Jacobian; J_ij is non-zero only if j is in kappa_e(b_e(i))
    H, L (n, n)     lower triangle only; the element (i, j) is non-zero only if j is in kappa_e(i)
    lambda_e (n,)   parent of each coordinate, b_e (m,) last coordinate that moves each task row
Indices start at 0 and -1 is the fixed world (in the paper: 1 and 0). After `ltdl` one array holds both
factors: L_d strictly below the diagonal (its own diagonal is 1) and D on the diagonal.

A vector x may be a matrix X everywhere: x_i is then its row i, as section 8 suggests. Nothing but + - * /
and a square root touches the values, so that the same code compiles for floats and runs uncompiled on
counting numbers (`algebra.counts.operations`). The control loop uses the packed storage of the other modules of
`osim`; these are its readable reference.
"""

import numpy as np
from numpy import ndarray

from ..compiled.jit import kernel


@kernel
def ancest(p: int, q: int, parent: ndarray) -> int:
    """Nearest common ancestor of p and q, -1 if only the world is common (the fragment below figure 10)."""
    while p != q:
        if p > q:
            p = parent[p]
        else:
            q = parent[q]
    return p


@kernel
def ancestor_table(lambda_e: ndarray, b_e: ndarray) -> ndarray:
    """ancest(b_e(i), b_e(j), lambda_e) for all task rows i, j: (m, m), computed once for a task set."""
    m = b_e.size
    table = np.empty((m, m), np.int64)
    for i in range(m):
        for j in range(m):
            table[i, j] = ancest(b_e[i], b_e[j], lambda_e)
    return table


@kernel
def jx(J: ndarray, x: ndarray, lambda_e: ndarray, b_e: ndarray) -> ndarray:
    """y = J x, figure 5 and (30); also Y x, Y_d x, Y_D x, which have the pattern of J."""
    m = b_e.size
    y = np.zeros((m,) + x.shape[1:], x.dtype)
    for i in range(m):
        j = b_e[i]
        if j >= 0:
            y[i] = J[i, j] * x[j]
            j = lambda_e[j]
        while j >= 0:
            y[i] = y[i] + J[i, j] * x[j]
            j = lambda_e[j]
    return y


@kernel
def jtx(J: ndarray, x: ndarray, lambda_e: ndarray, b_e: ndarray) -> ndarray:
    """y = J^T x, figure 6; also Y^T x, Y_d^T x, Y_D^T x."""
    y = np.zeros((lambda_e.size,) + x.shape[1:], x.dtype)
    for i in range(b_e.size):
        j = b_e[i]
        while j >= 0:
            y[j] = y[j] + J[i, j] * x[i]
            j = lambda_e[j]
    return y


@kernel
def ltl(H: ndarray, lambda_e: ndarray) -> ndarray:
    """H = L^T L in place, without fill: L is in L(lambda) ([Featherstone2008], table 6.3)."""
    for k in range(lambda_e.size - 1, -1, -1):
        H[k, k] = np.sqrt(H[k, k])
        i = lambda_e[k]
        while i >= 0:
            H[k, i] = H[k, i] / H[k, k]
            i = lambda_e[i]
        i = lambda_e[k]
        while i >= 0:
            j = i
            while j >= 0:
                H[i, j] = H[i, j] - H[k, i] * H[k, j]
                j = lambda_e[j]
            i = lambda_e[i]
    return H


@kernel
def ltdl(H: ndarray, lambda_e: ndarray) -> ndarray:
    """H = L_d^T D L_d in place: D on the diagonal, L_d below it ([Featherstone2008], table 6.3)."""
    for k in range(lambda_e.size - 1, -1, -1):
        i = lambda_e[k]
        while i >= 0:
            a = H[k, i] / H[k, k]
            j = i
            while j >= 0:
                H[i, j] = H[i, j] - a * H[k, j]
                j = lambda_e[j]
            H[k, i] = a
            i = lambda_e[i]
    return H


@kernel
def solve_l(L: ndarray, x: ndarray, lambda_e: ndarray) -> ndarray:
    """x = L^-1 x in place ([Featherstone2008], table 6.5)."""
    for i in range(lambda_e.size):
        j = lambda_e[i]
        while j >= 0:
            x[i] = x[i] - L[i, j] * x[j]
            j = lambda_e[j]
        x[i] = x[i] / L[i, i]
    return x


@kernel
def solve_lt(L: ndarray, x: ndarray, lambda_e: ndarray) -> ndarray:
    """x = L^-T x in place ([Featherstone2008], table 6.5)."""
    for i in range(lambda_e.size - 1, -1, -1):
        x[i] = x[i] / L[i, i]
        j = lambda_e[i]
        while j >= 0:
            x[j] = x[j] - L[i, j] * x[i]
            j = lambda_e[j]
    return x


@kernel
def solve_ld(L: ndarray, x: ndarray, lambda_e: ndarray) -> ndarray:
    """x = L_d^-1 x in place: as `solve_l`, without the divisions by L_d,ii = 1."""
    for i in range(lambda_e.size):
        j = lambda_e[i]
        while j >= 0:
            x[i] = x[i] - L[i, j] * x[j]
            j = lambda_e[j]
    return x


@kernel
def solve_ldt(L: ndarray, x: ndarray, lambda_e: ndarray) -> ndarray:
    """x = L_d^-T x in place: as `solve_lt`, without the divisions by L_d,ii = 1."""
    for i in range(lambda_e.size - 1, -1, -1):
        j = lambda_e[i]
        while j >= 0:
            x[j] = x[j] - L[i, j] * x[i]
            j = lambda_e[j]
    return x


@kernel
def solve_d(L: ndarray, x: ndarray) -> ndarray:
    """x = D^-1 x in place, D the diagonal of the array that `ltdl` left."""
    for i in range(L.shape[0]):
        x[i] = x[i] / L[i, i]
    return x


@kernel
def y_ltl(J: ndarray, L: ndarray, lambda_e: ndarray, b_e: ndarray) -> ndarray:
    """Y = J L^-1, figure 8 and (21); Lambda^-1 = Y Y^T."""
    Y = J.copy()
    for k in range(b_e.size):
        i = b_e[k]
        while i >= 0:
            Y[k, i] = Y[k, i] / L[i, i]
            j = lambda_e[i]
            while j >= 0:
                Y[k, j] = Y[k, j] - Y[k, i] * L[i, j]
                j = lambda_e[j]
            i = lambda_e[i]
    return Y


@kernel
def y_ltdl(J: ndarray, L: ndarray, lambda_e: ndarray, b_e: ndarray) -> tuple[ndarray, ndarray]:
    """(Y_d, Y_D) = (J L_d^-1, Y_d D^-1), figure 9 and (23); Lambda^-1 = Y_D Y_d^T."""
    Y_d = J.copy()
    Y_D = np.zeros(J.shape, J.dtype)
    for k in range(b_e.size):
        i = b_e[k]
        while i >= 0:
            j = lambda_e[i]
            while j >= 0:
                Y_d[k, j] = Y_d[k, j] - Y_d[k, i] * L[i, j]
                j = lambda_e[j]
            Y_D[k, i] = Y_d[k, i] / L[i, i]
            i = lambda_e[i]
    return Y_d, Y_D


@kernel
def yyt(Y: ndarray, lambda_e: ndarray, ancestors: ndarray) -> ndarray:
    """Lambda^-1 = Y Y^T, figure 10 and (20), (31): (m, m)."""
    return ydydt(Y, Y, lambda_e, ancestors)


@kernel
def ydydt(Y_D: ndarray, Y_d: ndarray, lambda_e: ndarray, ancestors: ndarray) -> ndarray:
    """Lambda^-1 = Y_D Y_d^T ((22) prints Y_D Y_D^T): figure 10 on the lower triangle, then mirrored.

    Args:
        Y_D: (m, n), see `y_ltdl`.
        Y_d: (m, n).
        lambda_e: (n,) parents of the coordinates.
        ancestors: (m, m) `ancestor_table`, the look-up that may replace line 3 of the figure.
    """
    m = Y_d.shape[0]
    Lambda_inv = np.zeros((m, m), Y_d.dtype)
    for i in range(m):
        for j in range(i + 1):
            k = ancestors[i, j]
            if k >= 0:  # otherwise two separate robots: the element stays 0
                Lambda_inv[i, j] = Y_D[i, k] * Y_d[j, k]
                k = lambda_e[k]
            while k >= 0:
                Lambda_inv[i, j] = Lambda_inv[i, j] + Y_D[i, k] * Y_d[j, k]
                k = lambda_e[k]
            Lambda_inv[j, i] = Lambda_inv[i, j]
    return Lambda_inv


@kernel
def jbar_ltl(Y: ndarray, L: ndarray, Lambda: ndarray, lambda_e: ndarray, b_e: ndarray) -> ndarray:
    """Jbar = L^-1 (Y^T Lambda), (32): (n, m), the dynamically consistent inverse of J."""
    return solve_l(L, jtx(Y, Lambda, lambda_e, b_e), lambda_e)


@kernel
def jbar_ltdl(
    Y_D: ndarray, L: ndarray, Lambda: ndarray, lambda_e: ndarray, b_e: ndarray
) -> ndarray:
    """Jbar = L_d^-1 (Y_D^T Lambda), (33): (n, m)."""
    return solve_ld(L, jtx(Y_D, Lambda, lambda_e, b_e), lambda_e)


@kernel
def null_space(J: ndarray, Jbar: ndarray, lambda_e: ndarray, b_e: ndarray) -> ndarray:
    """N = 1 - Jbar J, (10), from J^T Jbar^T = (Jbar J)^T by figure 6: (n, n)."""
    n = lambda_e.size
    JT_JbarT = jtx(J, Jbar.T, lambda_e, b_e)
    N = np.zeros((n, n), J.dtype)
    for i in range(n):
        for j in range(n):
            N[i, j] = -JT_JbarT[j, i]
        N[i, i] = 1.0 - JT_JbarT[i, i]
    return N
