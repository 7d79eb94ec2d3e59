# SPDX-License-Identifier: Apache-2.0
"""Is Lambda^-1 regular? Lower bounds of its smallest eigenvalue, so that no singular case is taken for a regular one.

They are of A = r^-1/2 Lambda^-1 r^-1/2, r the typical response, after `solve.factorise`: A = R^T R with
R = D^1/2 U r^-1/2, so that the smallest eigenvalue is 1 / |R^-1|^2. (Pivots alone are no bound: 18 rows on a humanoid
with no pivot below 5e-3 can hide an eigenvalue of 6e-9.)
"""

from ..compiled.jit import kernel
from ..compiled.lanes import W, absolute
from .solve import invert


@kernel
def quick_bound(space):
    """1 / (m |M^-1|_1^2), where M is R with minus the absolute values off its diagonal: |R^-1| <= M^-1 ([Higham2002]).

    One substitution: M^-1 has no negative entries, so its column sums are the solution of M^T x = 1.
    """
    m, U, x = space.m, space.U, space.column_sums
    largest = 0.0
    for j in range(0, m, W):
        x[j : j + W] = space.scale[j : j + W]
    # four at a time: x is read and written a quarter as often; what is left of the diagonal is never read again
    for k in range(0, m, 4):
        a = x[k]
        b = x[k + 1] + a * abs(U[k, k + 1])
        c = x[k + 2] + a * abs(U[k, k + 2]) + b * abs(U[k + 1, k + 2])
        d = x[k + 3] + a * abs(U[k, k + 3]) + b * abs(U[k + 1, k + 3]) + c * abs(U[k + 2, k + 3])
        largest = max(largest, a * a * U[k, k], b * b * U[k + 1, k + 1])
        largest = max(largest, c * c * U[k + 2, k + 2], d * d * U[k + 3, k + 3])
        for j in range(k + 4 - (k + 4) % W, m, W):
            y = x[j : j + W] + a * absolute(U[k, j : j + W]) + b * absolute(U[k + 1, j : j + W])
            x[j : j + W] = y + c * absolute(U[k + 2, j : j + W]) + d * absolute(U[k + 3, j : j + W])
    return 1.0 / (m * largest)


@kernel
def close_bound(space):
    """1 / trace A^-1, which the smallest eigenvalue is at most m times as large as. Writes Lambda."""
    trace = 0.0
    invert(space, space.Lambda)
    for i in range(space.m):
        trace += space.scale[i] * space.scale[i] * space.Lambda[i, i]
    return 1.0 / trace
