# SPDX-License-Identifier: Apache-2.0
"""The textbook baseline: Lambda^-1 = J H^-1 J^T, (7) of [Featherstone2010], with dense matrices and Cholesky factor."""

from __future__ import annotations

from ...compiled.jit import kernel, stage
from ...compiled.lanes import W
from ...compiled.workspace import count, scratch
from ...dynamics import crba
from ...dynamics.rows import cholesky
from ..build import TaskSpace
from ..fields import Space
from ..jacobian import dense_jacobian
from ..method import EVERYTHING, Method


class Dense(Method):
    """Room for the factor's share of the Jacobian."""

    name = "dense"
    carries = EVERYTHING

    nv = count("coordinates of the velocity")
    m = count("rows of all tasks")
    Z = scratch("nv, m", "L^-1 J^T")

    @classmethod
    def for_space(cls, space: TaskSpace) -> Dense:
        """Room for L^-1 J^T."""
        return cls(nv=space.nv, m=space.m)


@stage(Space, Dense, fills="inertia_inv")
def inertia_inv(space, own):
    """Lambda^-1 = Z^T Z, Z = L^-1 J^T; J H^-1 x = Z^T L^-1 x into Jx."""
    tree, n, m = space.tree, space.nv, space.m
    crba.mass_matrix(tree)
    crba.dense_mass_matrix(tree)
    dense_jacobian(space)
    L, J, Z = tree.dense, space.J_dense, own.Z
    cholesky(L, n)
    for i in range(n):
        for r in range(m):
            Z[i, r] = J[r, i]
        for k in range(i):
            for r in range(0, m, W):
                Z[i, r : r + W] -= L[i, k] * Z[k, r : r + W]
        for r in range(0, m, W):
            Z[i, r : r + W] *= 1.0 / L[i, i]
    for r in range(m):
        for c in range(m):
            space.Lambda_inv[r, c] = 0.0
        for i in range(n):
            for c in range(0, m, W):
                space.Lambda_inv[r, c : c + W] += Z[i, r] * Z[i, c : c + W]
    _project(space, L, Z)


@kernel
def _project(space, L, Z):
    """Jx = (L^-1 J^T)^T L^-1 x; x is spent."""
    x = space.tree.x
    for r in range(space.m):
        space.Jx[r] = 0.0
    for i in range(space.nv):
        for k in range(i):
            x[i] -= L[i, k] * x[k]
        x[i] /= L[i, i]
        for r in range(space.m):
            space.Jx[r] += Z[i, r] * x[i]
