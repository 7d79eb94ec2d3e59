# SPDX-License-Identifier: Apache-2.0
"""Sparse factorisations H = L_d^T D L_d and H = L^T L and their solves ([Featherstone2005]; rows by ancestor depth).

L and L_d keep the pattern of H (L(lambda) is a group, [Featherstone2010] appendix A), so they replace H in place. The
inner loops of the paper chase parents; stored by depth, the ancestors of k are columns 0 .. depth(k) - 1 of its row.
"""

import math

from ..compiled.jit import kernel, stage
from ..compiled.lanes import W
from .fields import Tree


@stage(Tree)
def ltdl(tree):
    """H = L_d^T D L_d. Needs H and a right-hand side x. Writes L_d below H's diagonal, 1/D into D_inv; x := L_d^-T x.

    As the paper has it, for k from the last coordinate to the first and its ancestors i, the parent first:
        a = H_ki / H_kk,    H_ij -= a H_kj for i itself and its ancestors j,    x_i -= a x_k,    H_ki = a
    Row k holds H_kj at the depth of j, so that the update of row i is one of contiguous numbers; registers also write
    right of the diagonals, where nobody reads. A coordinate k and its parent p are eliminated together where p = k - 1:
    their common ancestors are then read and written once.
    `step` lists k alone of such a pair, every coordinate after all that it supports, and otherwise the deepest first:
    so limbs take turns, and the divisions of one overlap with the updates of another.
    """
    H, D_inv, x = tree.H, tree.D_inv, tree.x
    path, depth = tree.path_e, tree.depth_e
    lambda_e, step = tree.lambda_e, tree.step
    for s in range(tree.steps):
        k = step[s]
        d, p = depth[k], k - 1
        pivot = H[k, d]
        scale = 1.0 / pivot
        D_inv[k] = scale
        if d > 0 and lambda_e[k] == p:
            # p's pivot is det / pivot of the 2 x 2 block of both, which need not wait for the division by the first
            scale_p = pivot / (pivot * H[p, d - 1] - H[k, d - 1] * H[k, d - 1])
            D_inv[p] = scale_p
            a = scale * H[k, d - 1]
            for e in range(0, d, W):
                H[p, e : e + W] = H[p, e : e + W] - a * H[k, e : e + W]
            x[p] -= a * x[k]
            _update_ancestors_of_two(H, x, path, k, d - 1, scale, scale_p)
            _scale_row(H, p, d - 1, scale_p)
        else:
            _update_ancestors(H, x, path, k, d, scale)
        _scale_row(H, k, d, scale)  # last: the updates need H_kj itself


@kernel
def _scale_row(H, k, end, scale):
    """Multiply the entries of row k before depth `end`."""
    for e in range(0, end, W):
        H[k, e : e + W] = H[k, e : e + W] * scale


@kernel
def _update_ancestors_of_two(H, x, path, k, end, scale, scale_p):
    """`_update_ancestors` for k and its parent p = k - 1 at once; `end` is the depth of p."""
    p, last = k - 1, end - 1
    for e in range(last - last % W, 0, -W):
        row, row_p = scale * H[k, e : e + W], scale_p * H[p, e : e + W]
        for c in range(last, e - 1, -1):
            i = path[k, c]
            H[i, e : e + W] = H[i, e : e + W] - H[k, c] * row - H[p, c] * row_p
    row = scale * H[k, 0:W]
    row_p = scale_p * H[p, 0:W]
    x_k = scale * x[k]
    x_p = scale_p * x[p]
    for c in range(last, -1, -1):
        i = path[k, c]
        H[i, 0:W] = H[i, 0:W] - H[k, c] * row - H[p, c] * row_p
        x[i] = x[i] - H[k, c] * x_k - H[p, c] * x_p


@kernel
def ltl(tree):
    """H = L^T L. Needs H and a right-hand side x. Writes L on and below H's diagonal, 1/L_kk to D_inv; x := L^-T x."""
    H, D_inv, x = tree.H, tree.D_inv, tree.x
    path, depth = tree.path_e, tree.depth_e
    for k in range(tree.nv - 1, -1, -1):
        root = math.sqrt(H[k, depth[k]])
        inverse = 1.0 / root
        D_inv[k] = inverse
        for e in range(0, depth[k], W):
            H[k, e : e + W] = H[k, e : e + W] * inverse
        H[k, depth[k]] = root
        x[k] *= inverse
        _update_ancestors(H, x, path, k, depth[k], 1.0)


@kernel
def _update_ancestors(H, x, path, k, end, scale):
    """Row i -= scale H_ki row k, x_i -= scale H_ki x_k, for the ancestors i = path[k, 0 .. end - 1] of k.

    A register of row k at a time, for all the rows that reach so far: the long loop is the inner one. The parent comes
    first, since the next pivot waits for it.
    """
    last = end - 1
    for e in range(last - last % W, 0, -W):
        row = scale * H[k, e : e + W]
        for c in range(last, e - 1, -1):
            i = path[k, c]
            H[i, e : e + W] = H[i, e : e + W] - H[k, c] * row
    row, x_k = scale * H[k, 0:W], scale * x[k]
    for c in range(last, -1, -1):
        i = path[k, c]
        H[i, 0:W] = H[i, 0:W] - H[k, c] * row
        x[i] -= H[k, c] * x_k


@kernel
def solve_unit(tree, x):
    """x := L_d^-1 x for a vector by coordinate. Needs H factored by `ltdl`."""
    H, path, depth = tree.H, tree.path_e, tree.depth_e
    for k in range(tree.nv):
        found = x[k]
        for c in range(depth[k]):
            found -= H[k, c] * x[path[k, c]]
        x[k] = found
