"""The floating base: the motions that the contacts leave it, and the contact forces that it needs.

G = J_s S^T (contact rows by 6) are the base columns of the contacts that carry.
    Z         spans the base motions that the contacts leave free, G Z = 0: passive rows Z^T S H of the stack
    f         contact forces with G^T f = b, b the force that the base needs: f = W^-1 G (G^T W^-1 G)^+ b
What W is only matters where contacts can push against each other (`INTERNAL`):
    zero      W = J_s H^-1 J_s^T, the metric of the constraints: no force that moves nothing
    balanced  W weighs each contact's force by what its sole and friction can bear: moments by the sole's size and
              tangential forces by mu, against the normal force
The base coordinates that carry the rank of G are found by pivoting; everything else follows from them.
"""

from __future__ import annotations

from ...dynamics.layout import count, floats, ints
from ...jit import kernel
from ...lanes import load, splat, store, total
from ...osim import layout as osim
from .. import layout as at
from .demands import WORLD, frame_rotation

DEPENDENT = 1e-9  # of the largest pivot of G^T G: what rounding leaves of a dependent column
USUAL_SOLE = 0.1  # [m], where no size is given


@kernel
def free_motions(w):
    """PERMUTATION, the rank, the factors of G^T G in NORMAL, G in that order, and Z."""
    number, N, order, row = (
        ints(w, at.NUMBERS),
        floats(w, at.NORMAL),
        ints(w, at.PERMUTATION),
        ints(w, at.STACK_ROW),
    )
    JB, G = floats(w, at.JB), floats(w, at.G)
    for c in range(6):
        order[c] = c
        store(N, c, 0, splat(0.0))
    for i in range(number[at.N_CONTACT_ROWS]):
        x = load(JB, row[i], 0)
        for c in range(6):
            store(N, c, 0, load(N, c, 0) + JB[row[i], c] * x)
    rank = _pivoted(N, order)
    for i in range(number[at.N_CONTACT_ROWS]):
        for c in range(6):
            G[i, c] = JB[row[i], order[c]] if c < rank else 0.0
    number[at.N_RANK], number[at.N_PASSIVE] = rank, 6 - rank
    _null_vectors(N, order, rank, floats(w, at.Z))


@kernel
def _pivoted(N, order):
    """Gaussian elimination of a symmetric matrix, largest diagonal first: multipliers below, U above; the rank."""
    largest = 0.0
    for k in range(6):
        best = k
        for i in range(k + 1, 6):
            if N[i, i] > N[best, best]:
                best = i
        if k == 0:
            largest = N[best, best]
        if not N[best, best] > DEPENDENT * largest:
            return k
        if best != k:
            order[k], order[best] = order[best], order[k]
            for j in range(6):
                N[k, j], N[best, j] = N[best, j], N[k, j]
            for j in range(6):
                N[j, k], N[j, best] = N[j, best], N[j, k]
        for i in range(k + 1, 6):
            factor = N[i, k] / N[k, k]
            for j in range(k + 1, 6):
                N[i, j] -= factor * N[k, j]
            N[i, k] = factor
    return 6


@kernel
def _null_vectors(N, order, rank, Z):
    """Columns of Z: one free coordinate each is 1, the dependent ones follow from U."""
    for f in range(rank, 6):
        for c in range(6):
            Z[c, f - rank] = 0.0
        Z[order[f], f - rank] = 1.0
        for k in range(rank - 1, -1, -1):
            found = -N[k, f]
            for j in range(k + 1, rank):
                found -= N[k, j] * Z[order[j], f - rank]
            Z[order[k], f - rank] = found / N[k, k]


@kernel
def follow(w):
    """Row V_FILL: the base motion with which the posture's keeps the contacts, G x = -J_s A by least squares."""
    number, row, x = ints(w, at.NUMBERS), ints(w, at.STACK_ROW), floats(w, at.BASE_VECTOR)
    G, N, order, moved = (
        floats(w, at.G),
        floats(w, at.NORMAL),
        ints(w, at.PERMUTATION),
        floats(w, at.ROW_POSTURE),
    )
    rank, found = number[at.N_RANK], splat(0.0)
    for i in range(number[at.N_CONTACT_ROWS]):
        found = found - moved[row[i]] * load(G, i, 0)
    store(x, at.V_SOLVED, 0, found)
    for k in range(rank):
        for j in range(k):
            x[at.V_SOLVED, k] -= N[k, j] * x[at.V_SOLVED, j]
    for c in range(6):
        x[at.V_FILL, c] = 0.0
    for k in range(rank - 1, -1, -1):
        found_k = x[at.V_SOLVED, k]
        for j in range(k + 1, rank):
            found_k -= N[k, j] * x[at.V_FILL, order[j]]
        x[at.V_FILL, order[k]] = found_k / N[k, k]


@kernel
def prepare_shares(w):
    """SHARE = W^-1 G, and SHARE_FACTOR = L D L^T of G^T W^-1 G (multipliers below, D on the diagonal)."""
    number, G, share, M = (
        ints(w, at.NUMBERS),
        floats(w, at.G),
        floats(w, at.SHARE),
        floats(w, at.SHARE_FACTOR),
    )
    n, rank, inverse = number[at.N_CONTACT_ROWS], number[at.N_RANK], floats(w, at.INVERSE)
    if floats(w, at.OPTION)[at.INTERNAL] == at.BALANCED:
        _balanced(w)
    else:
        for i in range(n):
            found = splat(0.0)
            for j in range(n):
                found = found + inverse[i, j] * load(G, j, 0)
            store(share, i, 0, found)
    for c in range(6):
        store(M, c, 0, splat(0.0))
    for i in range(n):
        x = load(share, i, 0)
        for c in range(rank):
            store(M, c, 0, load(M, c, 0) + G[i, c] * x)
    for k in range(rank):
        for i in range(k + 1, rank):
            factor = M[i, k] / M[k, k]
            for j in range(k + 1, rank):
                M[i, j] -= factor * M[k, j]
            M[i, k] = factor


@kernel
def _balanced(w):
    """SHARE = W^-1 G, contact by contact in its own axes."""
    contact, row, block = ints(w, at.CONTACT), ints(w, at.STACK_ROW), ints(w, osim.BLOCK)
    mu, half, G, share = (
        floats(w, at.MU),
        floats(w, at.HALF_LENGTHS),
        floats(w, at.G),
        floats(w, at.SHARE),
    )
    i, end = 0, ints(w, at.NUMBERS)[at.N_CONTACT_ROWS]
    for c in range(count(w, at.CONTACTS)):
        if i >= end or row[i] != block[contact[c, at.C_BLOCK], osim.B_ROW]:
            continue  # this contact does not carry
        axes, m = contact_axes(w, c), max(mu[c], 1e-3)
        x, y = min(half[c, 0], USUAL_SOLE), min(half[c, 1], USUAL_SOLE)
        _weigh(G, share, i, axes, (m * m, m * m, 1.0))
        if contact[c, at.C_ROWS] == 6:
            _weigh(G, share, i + 3, axes, (y * y, x * x, 0.25 * m * m * (x + y) * (x + y)))
        i += contact[c, at.C_ROWS]


@kernel
def _weigh(G, share, i, axes, weight):
    """Three rows of SHARE = A diag(weight) A^T times three rows of G."""
    a0, a1, a2 = axes
    for r in range(3):
        x = (weight[0] * axes[r][0], weight[1] * axes[r][1], weight[2] * axes[r][2])
        y = (
            x[0] * a0[0] + x[1] * a0[1] + x[2] * a0[2],
            x[0] * a1[0] + x[1] * a1[1] + x[2] * a1[2],
            x[0] * a2[0] + x[1] * a2[1] + x[2] * a2[2],
        )
        store(
            share,
            i + r,
            0,
            y[0] * load(G, i, 0) + y[1] * load(G, i + 1, 0) + y[2] * load(G, i + 2, 0),
        )


@kernel
def contact_axes(w, c):
    """Rows of the axes of contact c, z its normal."""
    contact = ints(w, at.CONTACT)
    return (
        WORLD
        if contact[c, at.C_AXES] == at.WORLD_AXES
        else frame_rotation(w, contact[c, at.C_FRAME])
    )


@kernel
def share_out(w):
    """Row V_SOLVED of BASE_VECTOR = (G^T W^-1 G)^-1 b for the b in V_WRENCH; then f_i = SHARE_i of it."""
    x, M, order = floats(w, at.BASE_VECTOR), floats(w, at.SHARE_FACTOR), ints(w, at.PERMUTATION)
    rank = ints(w, at.NUMBERS)[at.N_RANK]
    store(x, at.V_SOLVED, 0, splat(0.0))
    for k in range(rank):
        found = x[at.V_WRENCH, order[k]]
        for j in range(k):
            found -= M[k, j] * x[at.V_SOLVED, j]
        x[at.V_SOLVED, k] = found
    for k in range(rank - 1, -1, -1):
        found = x[at.V_SOLVED, k] / M[k, k]
        for j in range(k + 1, rank):
            found -= M[j, k] * x[at.V_SOLVED, j]
        x[at.V_SOLVED, k] = found


@kernel
def contact_force(w, i):
    """f of stack row i, after `share_out`."""
    return total(load(floats(w, at.SHARE), i, 0) * load(floats(w, at.BASE_VECTOR), at.V_SOLVED, 0))
