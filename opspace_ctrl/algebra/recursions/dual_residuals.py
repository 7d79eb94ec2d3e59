"""The residual forces z_s of a free flyer, after its dual inertias ([Jain1995], algorithm 5; see `dynamics.dual`)."""

from __future__ import annotations

from ...dynamics import aba
from ...dynamics import layout as at
from ...dynamics.layout import LAST, count, floats, ints
from ...dynamics.rows import load_rows, row_sum
from ...jit import kernel
from ...lanes import load, splat, store
from . import kalman


@kernel
def hinge_residual(w, i, tau):
    """z_s of node i from z_s+ + S+ a in its row, with S+ a = S a + u D_s^-1 u^T a."""
    z, U, dinv, S, a = (
        floats(w, at.DUAL_FORCE),
        floats(w, at.DUAL_U),
        floats(w, at.DUAL_DINV),
        floats(w, at.S),
        floats(w, at.HINGE),
    )
    u = load(U, i, 0)
    coriolis = (
        row_sum(load_rows(floats(w, at.DUAL), i), a, i) + (dinv[i] * kalman.gain_times(U, i, a)) * u
    )
    store(z, i, 0, load(z, i, 0) - coriolis)
    eps = tau[ints(w, at.COORDINATE)[i]] + aba.along(S, i, z)
    floats(w, at.DUAL_EPS)[i] = eps
    store(z, i, 0, load(z, i, 0) - (dinv[i] * eps) * u)


@kernel
def dual_residuals(w, tau):
    """z_s of every node, base to tips, after the filter's z and the dual inertias."""
    n, parent, before, kind = (
        count(w, at.NODES),
        ints(w, at.PARENT),
        ints(w, at.BEFORE),
        ints(w, at.KIND),
    )
    z, gathered, force = floats(w, at.DUAL_FORCE), floats(w, at.SUM_FORCE), floats(w, at.FORCE)
    for i in range(n + 1):
        store(gathered, i, 0, splat(0.0))
    for i in range(n - 1, -1, -1):
        store(z, i, 0, load(gathered, parent[i], 0))
        store(gathered, parent[i], 0, load(gathered, parent[i], 0) + kalman.updated_state(w, i))
    for i in range(n):
        if before[i] == n:
            if kind[i] == LAST:
                base_residual(w, i, tau)
        else:
            store(z, i, 0, load(z, i, 0) + load(gathered, parent[i], 0))
            store(gathered, parent[i], 0, load(gathered, parent[i], 0) + kalman.updated_state(w, i))
            hinge_residual(w, i, tau)
        for k in range(6):
            gathered[i, k] = force[k, i] + z[i, k]


@kernel
def base_residual(w, last, tau):
    """z_s(base) = -T(base): the base is its tree's origin, so the subspaces of its six nodes are orthonormal."""
    z, S, coordinate = floats(w, at.DUAL_FORCE), floats(w, at.S), ints(w, at.COORDINATE)
    store(z, last, 0, splat(0.0))
    for b in range(last - 5, last + 1):
        for k in range(6):
            z[last, k] -= S[k, b] * tau[coordinate[b]]
