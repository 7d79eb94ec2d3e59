# SPDX-License-Identifier: Apache-2.0
"""Products of task blocks: what every method ends with. A block is up to six rows, in the lanes of a register."""

from ..compiled.jit import kernel
from ..compiled.lanes import W, columns, splat
from ..dynamics.rows import add_scaled, zero_rows


@kernel
def products(space):
    """Lambda^-1 = Y_D Y_d^T over what two blocks both depend on ([Featherstone2010] figure 10), upper triangle.

    Needs Y_D and Y_d. Writes Lambda_inv.
    """
    for a in range(space.blocks):
        for b in range(a, space.blocks):
            product(space, a, b)


@kernel
def product(space, a, b):
    """Block (a, b) of Y_D Y_d^T."""
    if space.common[a, b] >= 0:
        _common_path(space, a, b)
    else:
        _common_slots(space, a, b)


@kernel
def _common_path(space, a, b):
    """Block (a, b) of two tasks on paths: the supports share a prefix."""
    found = zero_rows()
    i, j = space.block_first[a], space.block_first[b]
    for d in range(space.common[a, b]):
        found = add_scaled(found, space.Y_D, i + d, space.Y_d[j + d, 0:W])
    _store_block(space, a, b, found)


@kernel
def _common_slots(space, a, b):
    """Block (a, b) when a support is no path: the shared slots are listed."""
    found = zero_rows()
    first = -1 - space.common[a, b]
    for p in range(first, first + space.pairs[a, b]):
        found = add_scaled(found, space.Y_D, space.pair[p, 0], space.Y_d[space.pair[p, 1], 0:W])
    _store_block(space, a, b, found)


@kernel
def _store_block(space, a, b, x):
    """Write block (a, b) of Lambda_inv, a <= b: the six registers x are its rows, of which it may have fewer.

    Figure 10 has the lower triangle; here it is the upper one, whose blocks are written by rising b: a register of
    eight columns may overrun into those of block b + 1, which comes later, and the last into the padding.
    """
    Lambda_inv, rows = space.Lambda_inv, space.block_rows[a]
    row, column = space.block_row[a], space.block_row[b]
    Lambda_inv[row, column : column + W] = x[0]
    if rows > 1:
        Lambda_inv[row + 1, column : column + W] = x[1]
    if rows > 2:
        Lambda_inv[row + 2, column : column + W] = x[2]
    if rows > 3:
        Lambda_inv[row + 3, column : column + W] = x[3]
    if rows > 4:
        Lambda_inv[row + 4, column : column + W] = x[4]
    if rows > 5:
        Lambda_inv[row + 5, column : column + W] = x[5]


@kernel
def times_support(space, rows, x, out):
    """out = Y x for the vector x by coordinate ([Featherstone2010] figure 5); Y is `rows`, by register."""
    for b in range(space.blocks):
        first, total = space.block_first[b], splat(0.0)
        for r in range(first, first + space.block_slots[b]):
            total = total + x[space.support[r]] * rows[r, 0:W]
        out[space.block_row[b] : space.block_row[b] + W] = total


@kernel
def add_transposed(space, rows, x, out):
    """out += Y^T x for the vector x by task row ([Featherstone2010] figure 6); Y is `rows`, by register."""
    for b in range(space.blocks):
        first, row = space.block_first[b], space.block_row[b]
        # rows past the block's own are zero in every register: what they multiply does not matter, but is finite
        x0 = x[row]
        x1 = x[row + 1]
        x2 = x[row + 2]
        x3 = x[row + 3]
        x4 = x[row + 4]
        x5 = x[row + 5]
        for r in range(first, first + space.block_slots[b]):
            out[space.support[r]] += (
                rows[r, 0] * x0
                + rows[r, 1] * x1
                + rows[r, 2] * x2
                + rows[r, 3] * x3
                + rows[r, 4] * x4
                + rows[r, 5] * x5
            )


@kernel
def add_transposed_times(space, rows, right, out, columns, sign):
    """out += sign Y^T X ([Featherstone2010] figure 6): Y is `rows`, X is `right`, (m, columns); out is (nv, columns).

    Y is stored as its transpose: register r is the column of Y for coordinate support[r], its lanes the rows of one
    block. So row support[r] of `out` gets lane 0 of it times the block's first row of X, and so on: six rows of X,
    which stay in registers while the block's coordinates go by. A block of fewer rows has zeros in the other lanes:
    what they multiply does not matter, but X has room for it, and it is finite. Columns are whole registers: X and
    `out` have room for those beyond the last.
    """
    support = space.support
    for b in range(space.blocks):
        first, row = space.block_first[b], space.block_row[b]
        for j in range(0, columns, W):
            x0 = sign * right[row, j : j + W]
            x1 = sign * right[row + 1, j : j + W]
            x2 = sign * right[row + 2, j : j + W]
            x3 = sign * right[row + 3, j : j + W]
            x4 = sign * right[row + 4, j : j + W]
            x5 = sign * right[row + 5, j : j + W]
            for r in range(first, first + space.block_slots[b]):
                y = out[support[r], j : j + W]
                y = y + rows[r, 0] * x0 + rows[r, 1] * x1 + rows[r, 2] * x2
                y = y + rows[r, 3] * x3 + rows[r, 4] * x4 + rows[r, 5] * x5
                out[support[r], j : j + W] = y


@kernel
def store_product(space, a, b, K, k, t):
    """Write block (a, b) of Lambda^-1 = K_k T; the six registers t are the rows of T (6, rows of b).

    K_k (rows of a, 6) is the k-th matrix of K, column by register. T is how the body where a and b meet answers to
    forces along the rows of b.
    """
    row, column = space.block_row[a], space.block_row[b]
    for r in range(space.block_rows[a]):
        space.Lambda_inv[row + r, column : column + W] = (
            K[6 * k, r] * t[0]
            + K[6 * k + 1, r] * t[1]
            + K[6 * k + 2, r] * t[2]
            + K[6 * k + 3, r] * t[3]
            + K[6 * k + 4, r] * t[4]
            + K[6 * k + 5, r] * t[5]
        )


@kernel
def store_zero(space, a, b):
    """Block (a, b) of tasks on robots that share only the world."""
    none = splat(0.0)
    for r in range(space.block_rows[a]):
        space.Lambda_inv[space.block_row[a] + r, space.block_row[b] : space.block_row[b] + W] = none


@kernel
def transpose(matrix, i, j, out, k, l):
    """Write the transpose of the 8 x 8 numbers at (i, j) of a matrix to (k, l) of `out`."""
    x = columns(matrix, i, j)
    out[k, l : l + W] = x[0]
    out[k + 1, l : l + W] = x[1]
    out[k + 2, l : l + W] = x[2]
    out[k + 3, l : l + W] = x[3]
    out[k + 4, l : l + W] = x[4]
    out[k + 5, l : l + W] = x[5]
    out[k + 6, l : l + W] = x[6]
    out[k + 7, l : l + W] = x[7]


@kernel
def mirror(matrix, m, from_lower):
    """Copy one triangle of a matrix to the other; it has room for whole registers."""
    for i in range(0, m, W):
        for j in range(i + W, m, W):
            if from_lower:
                transpose(matrix, j, i, matrix, i, j)
            else:
                transpose(matrix, i, j, matrix, j, i)
        for r in range(i, min(i + W, m)):
            for c in range(r + 1, min(i + W, m)):
                if from_lower:
                    matrix[r, c] = matrix[c, r]
                else:
                    matrix[c, r] = matrix[r, c]
