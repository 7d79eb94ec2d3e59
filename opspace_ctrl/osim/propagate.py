# SPDX-License-Identifier: Apache-2.0
"""Task rows carried from body to body: K_parent = K L, L = 1 - S D^-1 U^T (the force propagator, transposed).

Shared by the recursive methods. L is never formed: X L = X - (X S)(D^-1 U^T) is twelve multiply-adds a row, and X S is
at once the column of Y_d = B^T psi^T H^T that the innovations factorisation has there ([Featherstone2010] (28)). So for
rows that start on several bodies (relative tasks, the centre of mass) every method has Lambda^-1 = Y_D Y_d^T, and only
what it does between tasks on frames is its own:
    X_i = K_i + sum of the children's X L,   y_i = X_i S_i,   Lambda^-1_ab = sum over the shared nodes of y_a D^-1 y_b^T
y_i is one register: a lane a task row. What leaves y in Y_d and y / D in Y_D:
    `carry_rows`         one block on a frame, along the one path to the base
    `gather_rows`        all other blocks, if there are any: their rows meet where branches join (`carried_rows`)
    `articulated_rows`   all blocks, by these two;  `carry_needed_rows`   those alone that a pair BY_ROWS needs
"""

from ..compiled.jit import kernel, stage
from ..compiled.lanes import W, splat
from ..dynamics import aba
from ..dynamics.rows import (
    add_rows,
    combination,
    load_rows,
    row_sum,
    store_rows,
    subtract_outer,
    zero_rows,
)
from .blocks import times_support
from .fields import Space
from .jacobian import moving_mass, task_rows
from .tasks import CENTER, FRAME


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
    """Carry the rows of block b, which is on a frame, from its body to the base: X = K there, X L at the next node.

    On the way Y_d = X S and Y_D = Y_d / D of each node. If `keeping`, X before every node is kept: the matrix of `keep`
    that has the number of the node's place on the way. Needs K, S_A, U and DA_inv. Writes Y_d and Y_D.
    """
    S, U, D_inv = space.tree.S_A, space.tree.U, space.tree.DA_inv
    first, x = space.way_first[b], load_rows(space.K, space.block_leg[b])
    _clear_unvisited(space, b)
    for e in range(first + space.way_length[b] - 1, first - 1, -1):
        i, r = space.way_node[e], space.way_register[e]
        if keeping:
            store_rows(keep, e, x)
        y = row_sum(x, S, i)
        yd = y * D_inv[i]
        space.Y_d[r, 0:W] = y
        space.Y_D[r, 0:W] = yd
        x = pass_on(x, yd, U, i)


@kernel
def _clear_unvisited(space, b):
    """Zeros into Y of block b: with mimic joints a support may hold coordinates that a way does not meet."""
    if space.tree.merges > 0:
        first = space.block_first[b]
        for r in range(first, first + space.block_slots[b]):
            space.Y_d[r, 0:W] = 0.0
            space.Y_D[r, 0:W] = 0.0


@kernel
def gather_rows(space):
    """Y of the blocks that are not on one frame, if there are any: see `carried_rows`."""
    if space.gathers == 1:
        carried_rows(space)


@stage(Space)
def carried_rows(space):
    """Carry the rows of every block that is not on one frame, tips to base; Y_d and Y_D on the way, as `carry_rows`.

    They start on several bodies (`_seed`) and are summed where branches join. With mimic joints several nodes share a
    coordinate: Y_d is summed over them, and the last one passed (`way_closes`) crosses the joint for all.
    Needs K, S_A, U and DA_inv. Writes carried.
    """
    tree, carried = space.tree, space.carried
    S, D_inv, Y_d = tree.S_A, tree.DA_inv, space.Y_d
    for b in range(space.blocks):
        if space.block_kind[b] == FRAME:
            continue
        for r in range(6 * (tree.n + 1)):
            carried[r, 0:W] = 0.0
        _seed(space, b)
        for r in range(space.block_first[b], space.block_first[b] + space.block_slots[b]):
            Y_d[r, 0:W] = 0.0
            space.Y_D[r, 0:W] = 0.0
        first = space.way_first[b]
        for e in range(first + space.way_length[b] - 1, first - 1, -1):
            i, r = space.way_node[e], space.way_register[e]
            x = load_rows(carried, i)
            y = Y_d[r, 0:W] + row_sum(x, S, i)
            Y_d[r, 0:W] = y
            if space.way_closes[e] == 1:
                yd = y * D_inv[i]
                space.Y_D[r, 0:W] = yd
                x = pass_on(x, yd, tree.U, i)
            add_rows(carried, tree.parent_A[i], x)


@kernel
def _seed(space, b):
    """Start the rows of block b on the bodies they depend on; the centre of mass depends on all, by their mass."""
    tree = space.tree
    if space.block_kind[b] == CENTER:
        I, inverse = tree.I, 1.0 / moving_mass(tree)
        x, y, z = task_rows(space, b, 0)
        for i in range(tree.n):
            mx, my, mz = I[1, i] * inverse, I[2, i] * inverse, I[3, i] * inverse
            m = I[0, i] * inverse
            angular = (my * z - mz * y, mz * x - mx * z, mx * y - my * x)
            store_rows(space.carried, i, (*angular, m * x, m * y, m * z))
    first = space.block_leg[b]
    for k in range(first, first + space.block_legs[b]):
        store_rows(space.carried, space.leg_end[k], load_rows(space.K, k))


@kernel
def articulated_rows(space):
    """Y_d and Y_D of all blocks. Needs K, S_A, U and DA_inv."""
    gather_rows(space)
    for b in range(space.blocks):
        if space.block_kind[b] == FRAME:
            carry_rows(space, b, space.carried, False)


@kernel
def carry_needed_rows(space):
    """Y_d and Y_D of those blocks alone that are in a pair BY_ROWS, for methods that find all other pairs otherwise."""
    gather_rows(space)
    for b in range(space.blocks):
        if space.block_by_rows[b] == 1 and space.block_kind[b] == FRAME:
            carry_rows(space, b, space.carried, False)


@kernel
def project_innovations(space):
    """Jx = J H^-1 x = Y_D eps, eps the innovations of x. Needs Y_D of all blocks, articulated inertias. Spends x."""
    tree = space.tree
    aba.no_bias(tree)
    aba.innovations(tree, tree.x)
    if tree.merges == 0:  # nodes are coordinates
        times_support(space, space.Y_D, tree.eps, space.Jx)
    else:  # nodes that share a coordinate have the same eps
        for i in range(tree.n):
            tree.x[tree.coordinate[i]] = tree.eps[i]
        times_support(space, space.Y_D, tree.x, space.Jx)


@stage(Space)
def solve_articulated(space):
    """H^-1 x and the bodies' accelerations by one O(n) solve. Needs articulated inertias. Writes eps, qdd and alpha."""
    tree = space.tree
    aba.no_bias(tree)
    aba.innovations(tree, tree.x)
    aba.accelerations(tree, tree.qdd)


@kernel
def project_articulated(space):
    """Jx = J H^-1 x by one O(n) solve: K alpha on frames, Y_D eps of other blocks. Needs K, articulated inertias."""
    tree = space.tree
    solve_articulated(space)
    eps = tree.eps
    for b in range(space.blocks):
        total = splat(0.0)
        if space.block_kind[b] == FRAME:
            k, node = space.block_leg[b], space.leg_end[space.block_leg[b]]
            for c in range(6):
                total = total + tree.alpha[node, c] * space.K[6 * k + c, 0:W]
        else:
            for e in range(space.way_first[b], space.way_first[b] + space.way_length[b]):
                if space.way_closes[e] == 1:
                    total = total + eps[space.way_node[e]] * space.Y_D[space.way_register[e], 0:W]
        space.Jx[space.block_row[b] : space.block_row[b] + W] = total


@kernel
def block_response(space, b):
    """z = H^-1 J_b^T of block b, by coordinate: the outward half of forward dynamics, whose inward half left Y_D.

    Base to tips, for forces along the rows of the block (lanes), A being how the bodies accelerate:
        z = Y_D - D^-1 U^T A_parent,    A = A_parent + S z
    Needs Y_D, S_A, U and DA_inv. Writes response (z) and carried (A).
    """
    tree, A, z = space.tree, space.carried, space.response
    first = space.block_first[b]
    for i in range(space.nv):
        z[i, 0:W] = 0.0
    for r in range(first, first + space.block_slots[b]):
        z[space.support[r], 0:W] = space.Y_D[r, 0:W]
    store_rows(A, tree.n, zero_rows())
    for i in range(tree.n):
        c, x = tree.coordinate[i], load_rows(A, tree.parent_A[i])
        if (
            tree.members[i] > 0
        ):  # alone, or the first of a cluster, whose members share c: it finds z for all
            z[c, 0:W] = z[c, 0:W] - tree.DA_inv[i] * combination(tree.U, i, x)
        store_rows(A, i, subtract_outer(x, tree.S_A, i, -1.0 * z[c, 0:W]))


@kernel
def articulated_jbar(space, Lambda):
    """Jbar = H^-1 J^T Lambda, block by block, from recursions alone. Needs K, S_A, U and DA_inv."""
    Jbar, z = space.Jbar, space.response
    articulated_rows(space)
    for i in range(space.nv):
        for j in range(0, space.m, W):
            Jbar[i, j : j + W] = 0.0
    for b in range(space.blocks):
        block_response(space, b)
        row = space.block_row[b]
        for i in range(space.nv):
            for j in range(0, space.m, W):
                found = Jbar[i, j : j + W]
                for r in range(space.block_rows[b]):
                    found = found + z[i, r] * Lambda[row + r, j : j + W]
                Jbar[i, j : j + W] = found


@kernel
def times_rows(A, g, x):
    """A_g X^T for the g-th 6 x 6 matrix of A and task rows X, x being their six registers (`dynamics.rows`).

    Returns six registers, the rows of the product: a lane a task row, as in x.
    """
    return (
        combination(A, 6 * g, x),
        combination(A, 6 * g + 1, x),
        combination(A, 6 * g + 2, x),
        combination(A, 6 * g + 3, x),
        combination(A, 6 * g + 4, x),
        combination(A, 6 * g + 5, x),
    )
