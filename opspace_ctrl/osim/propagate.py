"""Task rows carried from body to body: K_parent = K L, L = 1 - S D^-1 U^T (the force propagator, transposed).

Shared by the recursive methods. L is never formed: X L = X - (X S)(D^-1 U^T) is twelve multiply-adds a row, and X S is
at once the column of Y_d = B^T psi^T H^T that the innovations factorisation has there ([Featherstone2010] (28)).
"""

from __future__ import annotations

from ..compiled.jit import kernel
from ..compiled.lanes import W
from ..dynamics import aba
from ..dynamics.rows import combination, load_rows, row_sum, store_rows
from .blocks import body_accelerations_to_tasks


@kernel
def pass_on(x, xs, U, i):
    """X L_i = X - (X S_i D_i^-1) U_i^T, for xs = X S_i D_i^-1."""
    return (
        x[0] - xs * U[i, 0],
        x[1] - xs * U[i, 1],
        x[2] - xs * U[i, 2],
        x[3] - xs * U[i, 3],
        x[4] - xs * U[i, 4],
        x[5] - xs * U[i, 5],
    )


@kernel
def carry_rows(space, b, keep, keeping):
    """Y_d and Y_D of block b on a path, tip to base; if asked, K before each node into `keep`, six registers a slot."""
    S, U, D_inv = space.tree.S, space.tree.U, space.tree.DA_inv
    support, Y_d, Y_D = space.support, space.Y_d, space.Y_D
    first, x = space.block_first[b], load_rows(space.K, space.block_leg[b])
    for r in range(first + space.block_slots[b] - 1, first - 1, -1):
        i = support[r]
        if keeping:
            store_rows(keep, r, x)
        y = row_sum(x, S, i)
        yd = y * D_inv[i]
        Y_d[r, 0:W] = y
        Y_D[r, 0:W] = yd
        x = pass_on(x, yd, U, i)


@kernel
def project_articulated(space):
    """Jx = J H^-1 x by one O(n) solve. Needs K, tree.x, articulated inertias. Writes Jx, tree.qdd, tree.alpha."""
    aba.no_bias(space.tree)
    aba.innovations(space.tree, space.tree.x)
    aba.accelerations(space.tree, space.tree.qdd)
    body_accelerations_to_tasks(space)


@kernel
def times_rows(A, g, x):
    """T = A_g X^T for the g-th 6 x 6 matrix (row by lane) and row matrix X: six registers."""
    return (
        combination(A, 6 * g, x),
        combination(A, 6 * g + 1, x),
        combination(A, 6 * g + 2, x),
        combination(A, 6 * g + 3, x),
        combination(A, 6 * g + 4, x),
        combination(A, 6 * g + 5, x),
    )
