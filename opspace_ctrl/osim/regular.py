"""Is Lambda^-1 regular? Lower bounds of its smallest eigenvalue, so that no singular case is taken for a regular one.

They are of A = r^-1/2 Lambda^-1 r^-1/2, r the typical response, after `solve.factorise`: A = R^T R with
R = D^1/2 U r^-1/2, so that the smallest eigenvalue is 1 / |R^-1|^2. (Pivots alone are no bound: 18 rows on a humanoid
with no pivot below 5e-3 can hide an eigenvalue of 6e-9.)
"""

from __future__ import annotations

from ..dynamics.layout import count, floats
from ..jit import kernel
from ..lanes import WIDTH, absolute, load, store
from . import layout as at
from .solve import invert


@kernel
def quick_bound(w):
    """1 / (m |M^-1|_1^2), where M is R with minus the absolute values off its diagonal: |R^-1| <= M^-1 ([Higham2002]).

    One substitution: M^-1 has no negative entries, so its column sums are the solution of M^T x = 1.
    """
    m, U, scale, x = (
        count(w, at.M),
        floats(w, at.FACTOR),
        floats(w, at.SCALE),
        floats(w, at.OFF_DIAGONAL),
    )
    largest = 0.0
    for j in range(0, m, WIDTH):
        store(x, 0, j, load(scale, 0, j))
    # four at a time, as they were factored; what is left of the diagonal is never read again
    for k in range(0, m, 4):
        a = x[k]
        b = x[k + 1] + a * abs(U[k, k + 1])
        c = x[k + 2] + a * abs(U[k, k + 2]) + b * abs(U[k + 1, k + 2])
        d = x[k + 3] + a * abs(U[k, k + 3]) + b * abs(U[k + 1, k + 3]) + c * abs(U[k + 2, k + 3])
        largest = max(largest, a * a * U[k, k], b * b * U[k + 1, k + 1])
        largest = max(largest, c * c * U[k + 2, k + 2], d * d * U[k + 3, k + 3])
        for j in range(k + 4 - (k + 4) % WIDTH, m, WIDTH):
            y = load(x, 0, j) + a * absolute(load(U, k, j)) + b * absolute(load(U, k + 1, j))
            store(x, 0, j, y + c * absolute(load(U, k + 2, j)) + d * absolute(load(U, k + 3, j)))
    return 1.0 / (m * largest)


@kernel
def close_bound(w):
    """1 / trace A^-1, which the smallest eigenvalue is at most m times as large as. Leaves Lambda in LAMBDA."""
    m, scale, Lambda, trace = count(w, at.M), floats(w, at.SCALE), floats(w, at.LAMBDA), 0.0
    invert(w, Lambda)
    for i in range(m):
        trace += scale[i] * scale[i] * Lambda[i, i]
    return 1.0 / trace
