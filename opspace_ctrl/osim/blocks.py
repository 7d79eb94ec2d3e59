"""Products of task blocks: what every method ends with. A block is up to six rows, in the lanes of a register."""

from __future__ import annotations

from ..dynamics import layout as dyn
from ..dynamics.layout import count, floats, ints
from ..jit import kernel
from ..lanes import WIDTH, columns, load, splat, store
from . import layout as at


@kernel
def products(w):
    """Lambda^-1 = Y_D Y_d^T over the common support of every pair of blocks (figure 10), upper triangle of blocks."""
    for a in range(count(w, at.BLOCKS)):
        for b in range(a, count(w, at.BLOCKS)):
            if ints(w, at.COMMON)[a, b] >= 0:
                _common_path(w, a, b)
            else:
                _common_slots(w, a, b)


@kernel
def _common_path(w, a, b):
    """Block (a, b) of two tasks on paths: the supports share a prefix."""
    Ya, Yb, block = floats(w, at.YD), floats(w, at.YD_LOWER), ints(w, at.BLOCK)
    s0, s1, s2, s3, s4, s5 = splat(0.0), splat(0.0), splat(0.0), splat(0.0), splat(0.0), splat(0.0)
    i, j = block[a, at.B_FIRST], block[b, at.B_FIRST]
    for d in range(ints(w, at.COMMON)[a, b]):
        y = load(Yb, j + d, 0)
        s0, s1, s2 = s0 + Ya[i + d, 0] * y, s1 + Ya[i + d, 1] * y, s2 + Ya[i + d, 2] * y
        s3, s4, s5 = s3 + Ya[i + d, 3] * y, s4 + Ya[i + d, 4] * y, s5 + Ya[i + d, 5] * y
    _store_block(w, a, b, s0, s1, s2, s3, s4, s5)


@kernel
def _common_slots(w, a, b):
    """Block (a, b) when a support is no path: the shared slots are listed."""
    Ya, Yb, pair = floats(w, at.YD), floats(w, at.YD_LOWER), ints(w, at.PAIR)
    s0, s1, s2, s3, s4, s5 = splat(0.0), splat(0.0), splat(0.0), splat(0.0), splat(0.0), splat(0.0)
    first = -1 - ints(w, at.COMMON)[a, b]
    for p in range(first, first + ints(w, at.PAIRS)[a, b]):
        i, y = pair[p, 0], load(Yb, pair[p, 1], 0)
        s0, s1, s2 = s0 + Ya[i, 0] * y, s1 + Ya[i, 1] * y, s2 + Ya[i, 2] * y
        s3, s4, s5 = s3 + Ya[i, 3] * y, s4 + Ya[i, 4] * y, s5 + Ya[i, 5] * y
    _store_block(w, a, b, s0, s1, s2, s3, s4, s5)


@kernel
def _store_block(w, a, b, s0, s1, s2, s3, s4, s5):
    """Write block (a, b) of LI. A register may overrun into the columns of block b + 1, which is written later."""
    LI, block = floats(w, at.LI), ints(w, at.BLOCK)
    row, column, rows = block[a, at.B_ROW], block[b, at.B_ROW], block[a, at.B_ROWS]
    store(LI, row, column, s0)
    if rows > 1:
        store(LI, row + 1, column, s1)
    if rows > 2:
        store(LI, row + 2, column, s2)
    if rows > 3:
        store(LI, row + 3, column, s3)
    if rows > 4:
        store(LI, row + 4, column, s4)
    if rows > 5:
        store(LI, row + 5, column, s5)


@kernel
def times_support(w, rows, x, out):
    """out = Y x for the vector x by coordinate (figure 5), Y given by register."""
    block, support = ints(w, at.BLOCK), ints(w, at.SUPPORT)
    for b in range(count(w, at.BLOCKS)):
        first, total = block[b, at.B_FIRST], splat(0.0)
        for r in range(first, first + block[b, at.B_SLOTS]):
            total = total + x[support[r]] * load(rows, r, 0)
        store(out, 0, block[b, at.B_ROW], total)


@kernel
def add_transposed(w, rows, x, out):
    """out += Y^T x for the vector x by task row (figure 6)."""
    block, support = ints(w, at.BLOCK), ints(w, at.SUPPORT)
    for b in range(count(w, at.BLOCKS)):
        first, row = block[b, at.B_FIRST], block[b, at.B_ROW]
        # rows past the block's own are zero in every register: what they multiply does not matter, but is finite
        x0, x1, x2, x3, x4, x5 = x[row], x[row + 1], x[row + 2], x[row + 3], x[row + 4], x[row + 5]
        for r in range(first, first + block[b, at.B_SLOTS]):
            out[support[r]] += (
                rows[r, 0] * x0
                + rows[r, 1] * x1
                + rows[r, 2] * x2
                + rows[r, 3] * x3
                + rows[r, 4] * x4
                + rows[r, 5] * x5
            )


@kernel
def add_transposed_times(w, rows, right, out, columns, sign):
    """out += sign Y^T X for the matrix X by task row (figure 6); X has room for whole blocks of six rows.

    The six rows of X that a block multiplies stay in registers while its slots go by.
    """
    block, support = ints(w, at.BLOCK), ints(w, at.SUPPORT)
    for b in range(count(w, at.BLOCKS)):
        first, row = block[b, at.B_FIRST], block[b, at.B_ROW]
        for j in range(0, columns, WIDTH):
            x0, x1, x2 = (
                sign * load(right, row, j),
                sign * load(right, row + 1, j),
                sign * load(right, row + 2, j),
            )
            x3, x4, x5 = (
                sign * load(right, row + 3, j),
                sign * load(right, row + 4, j),
                sign * load(right, row + 5, j),
            )
            for r in range(first, first + block[b, at.B_SLOTS]):
                found = (
                    load(out, support[r], j) + rows[r, 0] * x0 + rows[r, 1] * x1 + rows[r, 2] * x2
                )
                store(
                    out, support[r], j, found + rows[r, 3] * x3 + rows[r, 4] * x4 + rows[r, 5] * x5
                )


@kernel
def store_product(w, a, b, K, k, t0, t1, t2, t3, t4, t5):
    """Block (a, b) of Lambda^-1 = K_k T: six registers t hold T = W K_b^T, a row each."""
    LI, block = floats(w, at.LI), ints(w, at.BLOCK)
    row, column = block[a, at.B_ROW], block[b, at.B_ROW]
    for r in range(block[a, at.B_ROWS]):
        store(
            LI,
            row + r,
            column,
            K[6 * k, r] * t0
            + K[6 * k + 1, r] * t1
            + K[6 * k + 2, r] * t2
            + K[6 * k + 3, r] * t3
            + K[6 * k + 4, r] * t4
            + K[6 * k + 5, r] * t5,
        )


@kernel
def store_zero(w, a, b):
    """Block (a, b) of tasks on robots that share only the world."""
    LI, block, none = floats(w, at.LI), ints(w, at.BLOCK), splat(0.0)
    for r in range(block[a, at.B_ROWS]):
        store(LI, block[a, at.B_ROW] + r, block[b, at.B_ROW], none)


@kernel
def transpose(matrix, i, j, out, k, l):
    """Write the transpose of the 8 x 8 numbers at (i, j) of a matrix to (k, l) of `out`."""
    x = columns(matrix, i, j)
    store(out, k, l, x[0])
    store(out, k + 1, l, x[1])
    store(out, k + 2, l, x[2])
    store(out, k + 3, l, x[3])
    store(out, k + 4, l, x[4])
    store(out, k + 5, l, x[5])
    store(out, k + 6, l, x[6])
    store(out, k + 7, l, x[7])


@kernel
def mirror(matrix, m, from_lower):
    """Copy one triangle of a matrix to the other; it has room for whole registers."""
    for i in range(0, m, WIDTH):
        for j in range(i + WIDTH, m, WIDTH):
            if from_lower:
                transpose(matrix, j, i, matrix, i, j)
            else:
                transpose(matrix, i, j, matrix, j, i)
        for r in range(i, min(i + WIDTH, m)):
            for c in range(r + 1, min(i + WIDTH, m)):
                if from_lower:
                    matrix[r, c] = matrix[c, r]
                else:
                    matrix[c, r] = matrix[r, c]


@kernel
def body_accelerations_to_tasks(w):
    """X = K a for the body accelerations FA that joint forces alone would cause."""
    block, leg, K, FA, X = (
        ints(w, at.BLOCK),
        ints(w, at.LEG),
        floats(w, at.K),
        floats(w, dyn.FA),
        floats(w, at.X),
    )
    for b in range(count(w, at.BLOCKS)):
        total = splat(0.0)
        for k in range(block[b, at.B_LEG], block[b, at.B_LEG] + block[b, at.B_LEGS]):
            node = leg[k, at.L_NODE]
            for c in range(6):
                total = total + FA[node, c] * load(K, 6 * k + c, 0)
        store(X, 0, block[b, at.B_ROW], total)
