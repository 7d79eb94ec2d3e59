# SPDX-License-Identifier: Apache-2.0
"""Three- and six-dimensional vector algebra for kernels, on tuples of doubles or of `Lanes` alike.

A spatial vector is a pair (angular, linear) of triples; a spatial inertia about the origin is (m, m c, I) with the
symmetric I as (xx, xy, xz, yy, yz, zz).
"""

from ..compiled.jit import kernel
from ..compiled.lanes import W


@kernel
def get3(a, k, j):
    """Components k, k+1, k+2 of column j."""
    return a[k, j], a[k + 1, j], a[k + 2, j]


@kernel
def set3(a, k, j, x):
    """Write components k, k+1, k+2 of column j."""
    a[k, j] = x[0]
    a[k + 1, j] = x[1]
    a[k + 2, j] = x[2]


@kernel
def load3(a, k, j):
    """`get3` of eight neighbouring columns."""
    return a[k, j : j + W], a[k + 1, j : j + W], a[k + 2, j : j + W]


@kernel
def store3(a, k, j, x):
    """`set3` of eight neighbouring columns."""
    a[k, j : j + W] = x[0]
    a[k + 1, j : j + W] = x[1]
    a[k + 2, j : j + W] = x[2]


@kernel
def add(a, b):
    """a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@kernel
def sub(a, b):
    """a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@kernel
def scale(s, a):
    """s a."""
    return s * a[0], s * a[1], s * a[2]


@kernel
def dot(a, b):
    """a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def cross(a, b):
    """a x b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@kernel
def rotate(r0, r1, r2, x):
    """R x for the rows r0, r1, r2 of R."""
    return dot(r0, x), dot(r1, x), dot(r2, x)


@kernel
def row_times(x, r0, r1, r2):
    """x^T R for the rows r0, r1, r2 of R."""
    return (
        x[0] * r0[0] + x[1] * r1[0] + x[2] * r2[0],
        x[0] * r0[1] + x[1] * r1[1] + x[2] * r2[1],
        x[0] * r0[2] + x[1] * r1[2] + x[2] * r2[2],
    )


@kernel
def symmetric_times(i, x):
    """I x for I = (xx, xy, xz, yy, yz, zz)."""
    return (
        i[0] * x[0] + i[1] * x[1] + i[2] * x[2],
        i[1] * x[0] + i[3] * x[1] + i[4] * x[2],
        i[2] * x[0] + i[4] * x[1] + i[5] * x[2],
    )


@kernel
def momentum(m, mc, i, omega, v):
    """(I omega + mc x v, m v - mc x omega): spatial inertia times spatial motion."""
    return add(symmetric_times(i, omega), cross(mc, v)), sub(scale(m, v), cross(mc, omega))


@kernel
def load_inertia(a, j):
    """The inertias (m, mc, I) of eight neighbouring nodes, columns j to j + 7 of a field such as `Tree.I`."""
    i = (
        a[4, j : j + W],
        a[5, j : j + W],
        a[6, j : j + W],
        a[7, j : j + W],
        a[8, j : j + W],
        a[9, j : j + W],
    )
    return a[0, j : j + W], load3(a, 1, j), i
