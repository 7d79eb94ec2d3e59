"""Products of task blocks: what every method ends with. A block is up to six rows, in the lanes of a register."""
from __future__ import annotations

from ..dynamics import layout as dyn
from ..dynamics.layout import count, floats, ints
from ..jit import kernel
from ..lanes import load, splat, store
from . import layout as at


@kernel
def products(w):
    """Lambda^-1 = Y_D Y_d^T over the common support of every pair of blocks (figure 10), upper triangle of blocks."""
    for a in range(count(w, at.BLOCKS)):
        for b in range(a, count(w, at.BLOCKS)):
            for r in range(0, ints(w, at.BLOCK)[a, at.B_ROWS], 3):
                _three_rows(w, a, b, r)


@kernel
def _three_rows(w, a, b, r):
    """Rows r, r+1, r+2 of block (a, b): three accumulators keep the adders busy."""
    Ya, Yb, LI, block = floats(w, at.YD), floats(w, at.YD_LOWER), floats(w, at.LI), ints(w, at.BLOCK)
    common = ints(w, at.COMMON)[a, b]
    x, y, z = splat(0.0), splat(0.0), splat(0.0)
    if common >= 0:
        i, j = block[a, at.B_FIRST], block[b, at.B_FIRST]
        for d in range(common):
            column = load(Yb, j + d, 0)
            x = x + Ya[i + d, r] * column
            y = y + Ya[i + d, r + 1] * column
            z = z + Ya[i + d, r + 2] * column
    else:
        pair = ints(w, at.PAIR)
        for p in range(-1 - common, -1 - common + ints(w, at.PAIRS)[a, b]):
            column, i = load(Yb, pair[p, 1], 0), pair[p, 0]
            x = x + Ya[i, r] * column
            y = y + Ya[i, r + 1] * column
            z = z + Ya[i, r + 2] * column
    row, column = block[a, at.B_ROW] + r, block[b, at.B_ROW]
    store(LI, row, column, x)
    if r + 1 < block[a, at.B_ROWS]:
        store(LI, row + 1, column, y)
    if r + 2 < block[a, at.B_ROWS]:
        store(LI, row + 2, column, z)


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
            out[support[r]] += (rows[r, 0] * x0 + rows[r, 1] * x1 + rows[r, 2] * x2
                                + rows[r, 3] * x3 + rows[r, 4] * x4 + rows[r, 5] * x5)


@kernel
def store_product(w, a, b, K, k, t0, t1, t2, t3, t4, t5):
    """Block (a, b) of Lambda^-1 = K_k T: six registers t hold T = W K_b^T, a row each."""
    LI, block = floats(w, at.LI), ints(w, at.BLOCK)
    row, column = block[a, at.B_ROW], block[b, at.B_ROW]
    for r in range(block[a, at.B_ROWS]):
        store(LI, row + r, column, K[6 * k, r] * t0 + K[6 * k + 1, r] * t1 + K[6 * k + 2, r] * t2
              + K[6 * k + 3, r] * t3 + K[6 * k + 4, r] * t4 + K[6 * k + 5, r] * t5)


@kernel
def mirror(matrix, m):
    """Copy the upper triangle of a matrix to the lower."""
    for i in range(m):
        for j in range(i + 1, m):
            matrix[j, i] = matrix[i, j]


@kernel
def body_accelerations_to_tasks(w):
    """X = K a for the body accelerations FA that joint forces alone would cause."""
    block, leg, K, FA, X = ints(w, at.BLOCK), ints(w, at.LEG), floats(w, at.K), floats(w, dyn.FA), floats(w, at.X)
    for b in range(count(w, at.BLOCKS)):
        total = splat(0.0)
        for k in range(block[b, at.B_LEG], block[b, at.B_LEG] + block[b, at.B_LEGS]):
            node = leg[k, at.L_NODE]
            for c in range(6):
                total = total + FA[node, c] * load(K, 6 * k + c, 0)
        store(X, 0, block[b, at.B_ROW], total)
