# SPDX-License-Identifier: Apache-2.0
"""The floating base: the motions that the contacts leave it, and the contact forces that it needs.

G = J_s S^T (contact rows by 6) are the base columns of the contacts that carry.
    Z         spans the base motions that the contacts leave free, G Z = 0: passive rows Z^T S H of the stack
    f         contact forces with G^T f = b, b the force that the base needs: f = W^-1 G (G^T W^-1 G)^+ b
What W is only matters where contacts can push against each other (`internal_forces`):
    ZERO      W = J_s H^-1 J_s^T, the metric of the constraints: no force that moves nothing
    BALANCED  W weighs each contact's force by what its sole and friction can bear: moments by the sole's size and
              tangential forces by mu, against the normal force
The base coordinates that carry the rank of G are found by pivoting; everything else follows from them.
"""

from ...compiled.jit import kernel
from ...compiled.lanes import W, splat, total
from ...dynamics.frames import WORLD, rotation_or_world
from ..fields import BALANCED, WORLD_AXES

DEPENDENT = 1e-9  # of the largest pivot of G^T G: what rounding leaves of a dependent column
USUAL_SOLE = 0.1  # [m], where no size is given


@kernel
def free_motions(law):
    """Find the base motions that the contacts at the head of the stack leave free.

    Needs `stack_row`, `stack_contact_rows`, `J_base`. Writes `G_factors`, `base_order`, `base_rank`, G, Z and
    `passive_rows`.
    """
    N, order, rows = law.G_factors, law.base_order, law.stack_row
    J_base, G, n = law.J_base, law.G, law.stack_contact_rows
    for c in range(6):
        order[c] = c
        N[c, 0:W] = 0.0
    for i in range(n):
        x = J_base[rows[i], 0:W]
        for c in range(6):
            N[c, 0:W] = N[c, 0:W] + J_base[rows[i], c] * x
    rank = _pivoted(N, order)
    for i in range(n):
        for c in range(6):
            G[i, c] = J_base[rows[i], order[c]] if c < rank else 0.0
    law.base_rank = rank
    law.passive_rows = 6 - rank
    _null_vectors(N, order, rank, law.Z)


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
def base_motion_of_posture(law):
    """Write `base_follow` = x, G x = -J_s a by least squares: with it the posture's motion keeps the contacts.

    Needs `free_motions` and `row_posture`; `base_follow_right` is the right-hand side on the way.
    """
    rows, G, N = law.stack_row, law.G, law.G_factors
    order, moved, rank = law.base_order, law.row_posture, law.base_rank
    right, out, found = law.base_follow_right, law.base_follow, splat(0.0)
    for i in range(law.stack_contact_rows):
        found = found - moved[rows[i]] * G[i, 0:W]
    right[0:W] = found
    for k in range(rank):
        for j in range(k):
            right[k] -= N[k, j] * right[j]
    out[0:W] = 0.0
    for k in range(rank - 1, -1, -1):
        found_k = right[k]
        for j in range(k + 1, rank):
            found_k -= N[k, j] * out[order[j]]
        out[order[k]] = found_k / N[k, k]


@kernel
def prepare_shares(law):
    """Write `W_inv_G`, and L D L^T of G^T W^-1 G to `GWG_factors` (multipliers below, D on the diagonal).

    Needs G, and P of the contacts.
    """
    G, share, M = law.G, law.W_inv_G, law.GWG_factors
    n, rank, P = law.stack_contact_rows, law.base_rank, law.P
    if law.internal_forces == BALANCED:
        _balanced(law)
    else:
        for i in range(n):
            found = splat(0.0)
            for j in range(n):
                found = found + P[i, j] * G[j, 0:W]
            share[i, 0:W] = found
    for c in range(6):
        M[c, 0:W] = 0.0
    for i in range(n):
        x = share[i, 0:W]
        for c in range(rank):
            M[c, 0:W] = M[c, 0:W] + G[i, c] * x
    for k in range(rank):
        for i in range(k + 1, rank):
            factor = M[i, k] / M[k, k]
            for j in range(k + 1, rank):
                M[i, j] -= factor * M[k, j]
            M[i, k] = factor


@kernel
def _balanced(law):
    """Write `W_inv_G`, contact by contact in its own axes."""
    rows, mu = law.stack_row, law.contact_friction
    G, share, block_row = law.G, law.W_inv_G, law.space.block_row
    block, size = law.contact_block, law.contact_size
    i, end = 0, law.stack_contact_rows
    for c in range(law.c):
        if i >= end or rows[i] != block_row[block[c]]:
            continue  # this contact does not carry
        axes, m = axes_of_contact(law, c), max(mu[c], 1e-3)
        x, y = half_lengths(law, c)
        x, y = min(x, USUAL_SOLE), min(y, USUAL_SOLE)
        _weigh(G, share, i, axes, (m * m, m * m, 1.0))
        if size[c] == 6:
            _weigh(G, share, i + 3, axes, (y * y, x * x, 0.25 * m * m * (x + y) * (x + y)))
        i += size[c]


@kernel
def half_lengths(law, c):
    """Of the sole of contact c, along x and y of its axes [m]."""
    x = 0.5 * (law.contact_front[c] + law.contact_back[c])
    return x, 0.5 * (law.contact_left[c] + law.contact_right[c])


@kernel
def _weigh(G, share, i, axes, weight):
    """Three rows of W^-1 G = A diag(weight) A^T times three rows of G."""
    a0, a1, a2 = axes
    for r in range(3):
        x = (weight[0] * axes[r][0], weight[1] * axes[r][1], weight[2] * axes[r][2])
        y = (
            x[0] * a0[0] + x[1] * a0[1] + x[2] * a0[2],
            x[0] * a1[0] + x[1] * a1[1] + x[2] * a1[2],
            x[0] * a2[0] + x[1] * a2[1] + x[2] * a2[2],
        )
        share[i + r, 0:W] = y[0] * G[i, 0:W] + y[1] * G[i + 1, 0:W] + y[2] * G[i + 2, 0:W]


@kernel
def axes_of_contact(law, c):
    """Rows of the axes of contact c, z its normal."""
    if law.contact_axes[c] == WORLD_AXES:
        return WORLD
    return rotation_or_world(law.space.tree, law.contact_frame[c])


@kernel
def share_base_wrench(law):
    """Write `base_solution` = (G^T W^-1 G)^-1 `base_wrench`. Needs `prepare_shares`; see `contact_force`."""
    M, order, rank = law.GWG_factors, law.base_order, law.base_rank
    wrench, x = law.base_wrench, law.base_solution
    x[0:W] = 0.0
    for k in range(rank):
        found = wrench[order[k]]
        for j in range(k):
            found -= M[k, j] * x[j]
        x[k] = found
    for k in range(rank - 1, -1, -1):
        found = x[k] / M[k, k]
        for j in range(k + 1, rank):
            found -= M[j, k] * x[j]
        x[k] = found


@kernel
def contact_force(law, i):
    """f of contact row i of the stack, after `share_base_wrench`."""
    return total(law.W_inv_G[i, 0:W] * law.base_solution[0:W])
