"""What Lambda is where Lambda^-1 is singular or nearly so: a stretched arm, a task twice, more rows than joints.

Rows are first measured in their typical response r (a diagonal of Lambda^-1 seen over the workspace), so that metres
and radians compare: A = r^-1/2 Lambda^-1 r^-1/2 = sum a u u^T. With the threshold e = DAMPING and the cut c = CUT << e,
    Lambda     = sum g(a) u u^T,   g = 1/a for a >= e,  then falling on a line from 1/e to 0 at c, and 0 below
    truncated  = sum 1/a u u^T over a > c                                gives N, a projector also here
    rank       = how many a > c
So the inertia is continuous and bounded by 1/e, and fades out along a direction before it is lost, and with it Jbar
and any force made from it; what rounding makes of a lost direction does not show. N keeps protecting a direction as
long as it can be computed (a > c) and then gives it to the null space: J^T F never jumps, N^T tau0 by no more than
tau0's own part along that one direction, both measured by H^-1.
"""

from __future__ import annotations

from ..dynamics.layout import count, floats
from ..jit import kernel
from ..lanes import WIDTH, load, splat, store, total
from . import layout as at
from .blocks import mirror
from .eigen import diagonalise, tridiagonalise


@kernel
def decompose(w):
    """Eigenvalues a into VALUES, rows u into VECTORS, divided by sqrt(r) so that u u^T is in the task's own units."""
    m, LI, A, unit = (
        count(w, at.M),
        floats(w, at.LI),
        floats(w, at.LAMBDA),
        floats(w, at.OFF_DIAGONAL),
    )
    mirror(LI, m, False)
    _invert_scale(w, unit)
    for i in range(m):
        for j in range(0, m, WIDTH):
            store(A, i, j, unit[i] * load(LI, i, j) * load(unit, 0, j))
    values, Z = floats(w, at.VALUES), floats(w, at.VECTORS)
    tridiagonalise(A, m, values, floats(w, at.OFF_DIAGONAL), Z)
    diagonalise(m, values, floats(w, at.OFF_DIAGONAL), Z)
    _invert_scale(w, unit)
    for i in range(m):
        for j in range(0, m, WIDTH):
            store(Z, i, j, load(Z, i, j) * load(unit, 0, j))


@kernel
def _invert_scale(w, out):
    """1 / sqrt(r), and zero in the rest of the last register."""
    m, scale = count(w, at.M), floats(w, at.SCALE)
    for j in range(0, m, WIDTH):
        store(out, 0, j, splat(0.0))
    for i in range(m):
        out[i] = 1.0 / scale[i]


@kernel
def damped_and_truncated(w):
    """LAMBDA, TRUNCATED and the status, from LI."""
    decompose(w)
    m, values, threshold, status = (
        count(w, at.M),
        floats(w, at.VALUES),
        floats(w, at.THRESHOLD),
        floats(w, at.STATUS),
    )
    inverse, gain = values, floats(w, at.OFF_DIAGONAL)
    e, cut, rank, is_damped = threshold[at.DAMPING], threshold[at.CUT], 0.0, 0.0
    for k in range(m):
        a = values[k]
        inverse[k], gain[k] = 0.0, 0.0
        if a > cut:
            rank += 1.0
            inverse[k], gain[k] = 1.0 / a, (a - cut) / (e * (e - cut))
        if a >= e:
            gain[k] = inverse[k]
        else:
            is_damped = 1.0
    _weighted_sum(floats(w, at.VECTORS), gain, floats(w, at.LAMBDA), m)
    _weighted_sum(floats(w, at.VECTORS), inverse, floats(w, at.TRUNCATED), m)
    status[at.RANK], status[at.DAMPED] = rank, is_damped


@kernel
def _weighted_sum(Z, weight, out, m):
    """out = sum of weight u u^T over the rows u of Z."""
    for i in range(m):
        for j in range(0, m, WIDTH):
            found = splat(0.0)
            for k in range(m):
                found = found + (weight[k] * Z[k, i]) * load(Z, k, j)
            store(out, i, j, found)


@kernel
def times(matrix, x, out, m):
    """out = matrix x; beyond its columns the matrix has zeros in the last register, and x what is finite."""
    for i in range(m):
        found = splat(0.0)
        for j in range(0, m, WIDTH):
            found = found + load(matrix, i, j) * load(x, 0, j)
        out[i] = total(found)
