# SPDX-License-Identifier: Apache-2.0
"""Critical damping of the impedance law: D such that every mode of Lambda x'' + D x' + K x = 0 has the ratio asked for.

K and Lambda are diagonalised together ([AlbuSchaeffer2003]): with V^T Lambda V = 1 and V^T K V = diag(w^2),
    D = V^-T diag(2 zeta w) V^-1
Lambda is what the tasks of a level meet, the inverse of the level's Schur complement S: contacts, base and levels above
are in it. No inverse is formed: S = L L^T and L^T K L = U diag(w^2) U^T give V = L U, so that
    D e_v = L^-T U diag(2 zeta w) U^T L^-1 e_v
which is L^-T (L^T K L)^(1/2) L^-1, twice zeta times: a continuous function of S and K. A direction without stiffness
has no frequency and gets no damping: it is free. Where S loses a direction its pivots stay above `singularity_cut`, so
that D is bounded.
"""

import math

from ...compiled.jit import integer, kernel, stage
from ...compiled.lanes import W
from ...osim.eigen import diagonalise, tridiagonalise
from ..fields import INERTIA_LAW, Law
from .inverse import thresholds
from .rows import rows_of

NOT_FOUND = -1.0  # `row_ratio` where the damping is given
ROUNDING = 1e-11  # of the largest eigenvalue: taken off each, for the root of rounding is not small


@kernel
def damping_is_found(law, i):
    """Is the damping of task i found here? A negative one stands for none given."""
    return law.task_law[i] != INERTIA_LAW and law.task_damping[i, 0] < 0.0


@kernel
def prepare_damping(law, i, b, a0, a1, a2):
    """Write what `damp_critically` needs of the rows of task i, block b of the space.

    `row_slip`, the error of velocity e_v = v_d - v as the block's rows see it; `row_ratio`; `row_first`; and the
    block's part of K, a row of `row_stiffness` each, whose columns count from the block's first row:
        K = sum over the six axes c (three linear, three angular) of (1 - f_c) kp_c u_c u_c^T
    f is 1 along a force axis, which has no stiffness. u_c (`axis_rows`) is axis c as the block's rows see it. The axes
    are the columns of A, in world axes; a0, a1, a2 are its rows.
    """
    first, size = law.space.block_row[b], law.task_size[i]
    ratio, K, u = law.row_ratio, law.row_stiffness, law.axis_rows
    kp, f = law.task_stiffness, law.task_force_axes
    v_d, v = law.target_velocity, law.velocity
    linear = (v_d[i, 0] - v[i, 0], v_d[i, 1] - v[i, 1], v_d[i, 2] - v[i, 2])
    angular = (v_d[i, 3] - v[i, 3], v_d[i, 4] - v[i, 4], v_d[i, 5] - v[i, 5])
    law.row_slip[first : first + W] = rows_of(law, b, 0, linear) + rows_of(law, b, 3, angular)
    for r in range(size):
        ratio[first + r] = law.task_damping_ratio[i]
        law.row_first[first + r] = first
        K[first + r, 0:W] = 0.0
    for half in range(2):
        for k in range(3):
            c = 3 * half + k
            u[0:W] = rows_of(law, b, 3 * half, (a0[k], a1[k], a2[k]))
            along = (1.0 - f[i, c]) * kp[i, c]
            for r in range(size):
                K[first + r, 0:W] = K[first + r, 0:W] + (along * u[r]) * u[0:W]


@stage(Law, integer, integer, integer)
def damp_critically(law, start, end, report):
    """F += D e_v for those of the rows start .. end - 1 of the stack whose damping is found. Needs `gram`.

    Spoils `scaled`, `eigenvalues`, `eigenvectors` and `off_diagonal`.
    """
    rows, ratio, listed = law.stack_row, law.row_ratio, law.damped_row
    n = 0
    for i in range(start, end):
        if ratio[rows[i]] >= 0.0:
            listed[n] = i
            n += 1
    if n == 0:
        return
    _, cut = thresholds(law, report)
    _factor(law, n, cut)
    _stiffness_of_modes(law, n)
    values, U, x, y = law.eigenvalues, law.eigenvectors, law.mode_slip, law.mode_force
    L, F, slip, scale = law.response_factor, law.F, law.row_slip, law.stack_scale
    tridiagonalise(law.scaled, n, values, law.off_diagonal, U)
    diagonalise(n, values, law.off_diagonal, U)
    for i in range(n):  # L^-1 e_v
        a = listed[i]
        found = math.sqrt(ratio[rows[a]]) * slip[rows[a]] / scale[a]
        for j in range(i):
            found -= L[i, j] * x[j]
        x[i] = found / L[i, i]
        y[i] = 0.0
    largest = 0.0
    for k in range(n):
        largest = max(largest, values[k])
    for k in range(n):  # U diag(2 w) U^T
        along = 0.0
        for i in range(n):
            along += U[k, i] * x[i]
        along *= 2.0 * math.sqrt(max(values[k] - ROUNDING * largest, 0.0))
        for i in range(n):
            y[i] += along * U[k, i]
    for i in range(n - 1, -1, -1):  # L^-T
        a = listed[i]
        for j in range(i + 1, n):
            y[i] -= L[j, i] * y[j]
        y[i] /= L[i, i]
        F[a] += math.sqrt(ratio[rows[a]]) * y[i] / scale[a]


@kernel
def _factor(law, n, least):
    """Write `response_factor`, S = L L^T of the listed rows in typical responses; no pivot is below `least`."""
    S, L, scale, listed = law.gram, law.response_factor, law.stack_scale, law.damped_row
    for j in range(n):
        b = listed[j]
        for i in range(j, n):
            a = listed[i]
            found = S[a, b] / (scale[a] * scale[b])
            for k in range(j):
                found -= L[i, k] * L[j, k]
            L[i, j] = found / L[j, j] if i > j else math.sqrt(max(found, least))


@kernel
def _stiffness_of_modes(law, n):
    """Write L^T K L to `scaled`; spoils `eigenvectors`, which hold K L on the way."""
    L, A, KL = law.response_factor, law.scaled, law.eigenvectors
    K, rows, scale, listed = law.row_stiffness, law.stack_row, law.stack_scale, law.damped_row
    block_first = law.row_first
    for i in range(n):
        a = listed[i]
        r, first = rows[a], block_first[rows[a]]
        A[i, n - n % W : n - n % W + W] = 0.0
        for j in range(n):
            KL[i, j] = 0.0
        for k in range(n):
            b = listed[k]
            if block_first[rows[b]] == first:  # tasks have no stiffness between them
                along = scale[a] * K[r, rows[b] - first] * scale[b]
                for j in range(k + 1):
                    KL[i, j] += along * L[k, j]
    for i in range(n):
        for j in range(n):
            found = 0.0
            for k in range(i, n):
                found += L[k, i] * KL[k, j]
            A[i, j] = found
