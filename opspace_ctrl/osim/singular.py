# SPDX-License-Identifier: Apache-2.0
"""What Lambda is where Lambda^-1 is singular or nearly so: a stretched arm, a task twice, more rows than joints.

Rows are first measured in their typical response r (a diagonal of Lambda^-1 seen over the workspace), so that metres
and radians compare: A = r^-1/2 Lambda^-1 r^-1/2 = sum a u u^T. With the threshold e = `damping` and c = `cut` << e,
    Lambda     = sum g(a) u u^T,   g = 1/a for a >= e,  then falling on a line from 1/e to 0 at c, and 0 below
    truncated  = sum 1/a u u^T over a > c                                gives N, a projector also here
    rank       = how many a > c
So the inertia is continuous and bounded by 1/e, and fades out along a direction before it is lost, and with it Jbar
and any force made from it; what rounding makes of a lost direction does not show. N keeps protecting a direction as
long as it can be computed (a > c) and then gives it to the null space: J^T F never jumps, N^T tau0 by no more than
tau0's own part along that one direction, both measured by H^-1.
"""

from ..compiled.jit import kernel
from ..compiled.lanes import W, splat, total
from .blocks import mirror
from .eigen import diagonalise, tridiagonalise


@kernel
def decompose(space):
    """Eigenvalues a of A, and its eigenvectors u with every entry divided by its row's `scale`, the root of r.

    So a sum of g u u^T is in the units of Lambda again.

    Needs Lambda_inv (upper triangle), scale. Writes eigenvalues, eigenvectors (row by row), unit = 1 / scale, and the
    lower triangle of Lambda_inv. A, the scaled Lambda_inv, is made in Lambda, which is spoiled.
    """
    m, A = space.m, space.Lambda
    unit, values, Z = space.unit, space.eigenvalues, space.eigenvectors
    mirror(space.Lambda_inv, m, False)
    for j in range(0, m, W):
        unit[j : j + W] = 0.0
    for i in range(m):
        unit[i] = 1.0 / space.scale[i]
    for i in range(m):
        for j in range(0, m, W):
            A[i, j : j + W] = unit[i] * space.Lambda_inv[i, j : j + W] * unit[j : j + W]
    tridiagonalise(A, m, values, space.off_diagonal, Z)
    diagonalise(m, values, space.off_diagonal, Z)
    for i in range(m):
        for j in range(0, m, W):
            Z[i, j : j + W] = Z[i, j : j + W] * unit[j : j + W]


@kernel
def damped_and_truncated(space):
    """Lambda, Lambda_truncated, rank and is_damped from Lambda_inv."""
    decompose(space)
    m, values, gain = space.m, space.eigenvalues, space.gain
    e, cut = space.damping, space.cut
    rank, is_damped = 0, 0
    for k in range(m):
        a = values[k]
        values[k] = 0.0  # becomes the inverse
        gain[k] = 0.0
        if a > cut:
            rank += 1
            values[k] = 1.0 / a
            gain[k] = (a - cut) / (e * (e - cut))
        if a >= e:
            gain[k] = values[k]
        else:
            is_damped = 1
    _weighted_sum(space.eigenvectors, gain, space.Lambda, m)
    _weighted_sum(space.eigenvectors, values, space.Lambda_truncated, m)
    space.rank = rank
    space.is_damped = is_damped


@kernel
def _weighted_sum(Z, weight, out, m):
    """out = sum of weight u u^T over the rows u of Z."""
    for i in range(m):
        for j in range(0, m, W):
            found = splat(0.0)
            for k in range(m):
                found = found + (weight[k] * Z[k, i]) * Z[k, j : j + W]
            out[i, j : j + W] = found


@kernel
def times(matrix, x, out, m):
    """out = matrix x; beyond its columns the matrix has zeros in the last register, and x what is finite."""
    for i in range(m):
        found = splat(0.0)
        for j in range(0, m, W):
            found = found + matrix[i, j : j + W] * x[j : j + W]
        out[i] = total(found)
