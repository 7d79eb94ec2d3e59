"""The textbook baseline: Lambda^-1 = J H^-1 J^T, (7) of [Featherstone2010], with dense matrices and Cholesky factor."""

from __future__ import annotations

import math

from ...dynamics import crba
from ...dynamics import layout as dyn
from ...dynamics.layout import Workspace, count, floats
from ...jit import kernel
from ...lanes import WIDTH, load, store
from .. import layout as at
from ..jacobian import dense_jacobian
from ..method import Method
from ..pack import Supports

SOLVED = at.METHOD  # (nv, m): L^-1 J^T


@kernel
def cholesky(A, n):
    """The lower triangle of A becomes L with A = L L^T."""
    for j in range(n):
        root = math.sqrt(A[j, j])
        A[j, j] = root
        for i in range(j + 1, n):
            A[i, j] /= root
        for i in range(j + 1, n):
            for k in range(j + 1, i + 1):
                A[i, k] -= A[i, j] * A[k, j]


@kernel
def inertia_inv(w):
    """Lambda^-1 into LI, J H^-1 W into X."""
    crba.mass_matrix(w)
    crba.dense_mass_matrix(w)
    dense_jacobian(w)
    n, m, L, J = count(w, dyn.NV), count(w, at.M), floats(w, dyn.DENSE), floats(w, at.J_DENSE)
    Z, LI = floats(w, SOLVED), floats(w, at.LI)
    cholesky(L, n)
    for i in range(n):
        for r in range(m):
            Z[i, r] = J[r, i]
        for k in range(i):
            for r in range(0, m, WIDTH):
                store(Z, i, r, load(Z, i, r) - L[i, k] * load(Z, k, r))
        for r in range(0, m, WIDTH):
            store(Z, i, r, load(Z, i, r) * (1.0 / L[i, i]))
    for r in range(m):
        for c in range(m):
            LI[r, c] = 0.0
        for i in range(n):
            for c in range(0, m, WIDTH):
                store(LI, r, c, load(LI, r, c) + Z[i, r] * load(Z, i, c))
    _project(w)
    return 0


@kernel
def _project(w):
    """X = J H^-1 W = (L^-1 J^T)^T L^-1 W."""
    n, m, L, Z = count(w, dyn.NV), count(w, at.M), floats(w, dyn.DENSE), floats(w, SOLVED)
    x, X = floats(w, dyn.W), floats(w, at.X)
    for r in range(m):
        X[r] = 0.0
    for i in range(n):
        for k in range(i):
            x[i] -= L[i, k] * x[k]
        x[i] /= L[i, i]
        for r in range(m):
            X[r] += Z[i, r] * x[i]


def tables(work: Workspace, supports: Supports) -> None:
    """Room for L^-1 J^T."""
    last = supports.blocks[-1]
    work.zeros(SOLVED, supports.model.nv, last.row + len(last.selection))


method = Method(
    "dense", inertia_inv, carries=("mimic", "relative", "center_of_mass"), tables=tables
)
