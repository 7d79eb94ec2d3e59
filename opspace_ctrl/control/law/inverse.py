# SPDX-License-Identifier: Apache-2.0
"""The inverse of one level's Schur complement, exact where it is regular, fading where it is not.

Rows are measured in their typical response (see `osim.singular`): S = sum a u u^T. How small the least a usually is
depends on robot and task (a pose of a light wrist: 0.003; a position: 0.2), so it is measured when a core is built:
t = `typical_response`. With e = `singularity_damping` t and c = `singularity_cut` t << e,
    Q = sum g(a) u u^T,   g = 1/a for a >= e, then on a line from 1/e to 0 at c         makes the force F
    P = sum f(a) / a u u^T,   f = 1 for a >= e, then smoothly to 0 at c                 makes the null space
Both are continuous, and no force is larger than |wanted| / e, whatever the pose. Above e they are the inverse, and the
hierarchy is strict; below, the direction is given to the levels under this one to the degree in which the level gives
it up. With `truncate_null_space` the null space stays a projector to the end, at the price of a step: f is 1 above c
and 0 below. Contacts and passive rows have thresholds of their own: what holds the robot is not damped for want of
leverage.
"""

from ...compiled.jit import integer, kernel, real, stage
from ...compiled.lanes import W
from ...osim.eigen import diagonalise, tridiagonalise
from ..fields import LIMIT_ROW, RAW_MODE, Law

CONSTRAINT_DAMPING, CONSTRAINT_CUT = 1e-6, 1e-8  # thresholds of level 0
TINY = 1e-13  # a pivot below it is what rounding leaves of a lost direction


@kernel
def fractions(a, e, cut, truncate):
    """g(a) and f(a) / a of an eigenvalue."""
    if a >= e:
        return 1.0 / a, 1.0 / a
    if not a > cut:
        return 0.0, 0.0
    x = (a - cut) / (e - cut)
    kept = 1.0 if truncate == 1 else x * x * (3.0 - 2.0 * x)
    return x / e, kept / a


@kernel
def thresholds(law, report):
    """e and c of a reported level; in raw mode all tasks are one level, and the most delicate one counts."""
    if report == 0:
        return CONSTRAINT_DAMPING, CONSTRAINT_CUT
    typical = law.typical_response
    least = typical[report]
    if law.present_mode == RAW_MODE:
        for level in range(2, law.L + 2):
            least = min(least, typical[level])
    return least * law.singularity_damping, least * law.singularity_cut


@kernel
def _count(law, report, rank, damped):
    """Add to what is reported of a level."""
    ranks, is_damped = law.level_rank, law.level_damped
    ranks[report] += rank
    is_damped[report] = max(is_damped[report], damped)


@kernel
def invert_level(law, start, end, report):
    """Write P and Q of rows start .. end - 1 of the stack. Needs `gram` and `stack_scale`; spoils `scaled`.

    Adds to `level_rank` and `level_damped` of the reported level.
    """
    A, P, Q = law.scaled, law.P, law.Q
    scale, n = law.stack_scale, end - start
    e, cut = thresholds(law, report)
    _scaled(law, start, n)
    if _gauss_jordan(A, n):
        squares = 0.0
        for i in range(n):
            for j in range(n):
                squares += A[i, j] * A[i, j]
        # 1 / |A^-1|_F is a lower bound of the smallest eigenvalue
        if squares * e**2 < 1.0:
            for i in range(n):
                x = 1.0 / scale[start + i]
                for j in range(n):
                    found = x * A[i, j] / scale[start + j]
                    P[start + i, start + j] = found
                    Q[start + i, start + j] = found
            _count(law, report, float(n), 0.0)
            return
    _scaled(law, start, n)
    invert_by_eigenvalues(law, start, n, e, cut, report)


@stage(Law, integer, integer, real, real, integer)
def invert_by_eigenvalues(law, start, n, e, cut, report):
    """Write P and Q of n rows by the eigenvalues of `scaled` (spoiled), where the least may be below e.

    Counts as `invert_level` does.
    """
    P, Q, scale = law.P, law.Q, law.stack_scale
    values, Z, truncate = law.eigenvalues, law.eigenvectors, law.truncate_null_space
    tridiagonalise(law.scaled, n, values, law.off_diagonal, Z)
    diagonalise(n, values, law.off_diagonal, Z)
    for i in range(n):
        for j in range(n):
            P[start + i, start + j] = 0.0
            Q[start + i, start + j] = 0.0
    rank, damped = 0.0, 0.0
    for k in range(n):
        g, f = fractions(values[k], e, cut, truncate)
        rank += 1.0 if f > 0.0 else 0.0
        damped = 1.0 if values[k] < e else damped
        for i in range(n):
            x = Z[k, i] / scale[start + i]
            for j in range(n):
                y = x * Z[k, j] / scale[start + j]
                P[start + i, start + j] += f * y
                Q[start + i, start + j] += g * y
    _count(law, report, rank, damped)


@kernel
def _scaled(law, start, n):
    """Write the level's block of `gram`, rows and columns divided by `stack_scale`, to `scaled`."""
    A, S, scale = law.scaled, law.gram, law.stack_scale
    for i in range(n):
        x = 1.0 / scale[start + i]
        A[i, n - n % W : n - n % W + W] = 0.0
        for j in range(n):
            A[i, j] = x * S[start + i, start + j] / scale[start + j]


@kernel
def _gauss_jordan(A, n):
    """A, symmetric and positive definite, becomes its inverse; False if a pivot is lost on the way."""
    for c in range(n):
        if not A[c, c] > TINY:  # NaN counts
            return False
        pivot = 1.0 / A[c, c]
        for j in range(0, n, W):
            A[n, j : j + W] = A[c, j : j + W] * pivot
        A[n, c] = pivot
        for r in range(n):
            if r != c:
                factor = A[r, c]
                A[r, c] = 0.0
                for j in range(0, n, W):
                    A[r, j : j + W] = A[r, j : j + W] - factor * A[n, j : j + W]
        for j in range(0, n, W):
            A[c, j : j + W] = A[n, j : j + W]
    return True


@kernel
def invert_limit(law, i):
    """Write P and Q of the row of a joint limit, row i of the stack, times the joint's activation; and count it."""
    P, Q, scale = law.P, law.Q, law.stack_scale[i]
    weight = law.activation[law.near_limit[LIMIT_ROW - law.stack_row[i]]]
    a = law.gram[i, i] / (scale * scale)
    e, cut = thresholds(law, 1)
    g, f = fractions(a, e, cut, law.truncate_null_space)
    P[i, i] = weight * f / (scale * scale)
    Q[i, i] = weight * g / (scale * scale)
    _count(law, 1, 1.0 if f > 0.0 else 0.0, 1.0 if a < e else 0.0)
