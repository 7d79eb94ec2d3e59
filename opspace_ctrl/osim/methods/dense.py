"""The textbook baseline: Lambda^-1 = J H^-1 J^T, (7) of [Featherstone2010], with dense matrices and Cholesky factor."""

from __future__ import annotations

import math

from ...compiled.jit import kernel
from ...compiled.lanes import W
from ...dynamics import crba
from ..fields import METHOD
from ..jacobian import dense_jacobian
from ..method import Method
from ..pack import Supports

SOLVED = METHOD  # (nv, m): L^-1 J^T


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
def inertia_inv(space):
    """Lambda^-1 into LI, J H^-1 W into X."""
    crba.mass_matrix(space.tree)
    crba.dense_mass_matrix(space.tree)
    dense_jacobian(space)
    n = space.tree.nv
    m = space.m
    L = space.tree.dense
    J = space.J_dense
    Z, LI = own.solved, space.Lambda_inv
    cholesky(L, n)
    for i in range(n):
        for r in range(m):
            Z[i, r] = J[r, i]
        for k in range(i):
            for r in range(0, m, W):
                Z[i, r : r + W] = Z[i, r : r + W] - L[i, k] * Z[k, r : r + W]
        for r in range(0, m, W):
            Z[i, r : r + W] = Z[i, r : r + W] * (1.0 / L[i, i])
    for r in range(m):
        for c in range(m):
            LI[r, c] = 0.0
        for i in range(n):
            for c in range(0, m, W):
                LI[r, c : c + W] = LI[r, c : c + W] + Z[i, r] * Z[i, c : c + W]
    _project(space)
    return 0


@kernel
def _project(space):
    """X = J H^-1 W = (L^-1 J^T)^T L^-1 W."""
    n = space.tree.nv
    m = space.m
    L = space.tree.dense
    Z = own.solved
    x, X = space.tree.x, space.Jx
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
