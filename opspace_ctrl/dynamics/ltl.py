"""Sparse factorisations H = L_d^T D L_d and H = L^T L and their solves ([Featherstone2005]; rows by ancestor depth).

L and L_d keep the pattern of H (L(lambda) is a group, [Featherstone2010] appendix A), so they replace H in place. The
inner loops of the paper chase parents; stored by depth, the ancestors of k are columns 0 .. depth(k) - 1 of its row.
"""
from __future__ import annotations

import math

from ..jit import kernel
from ..lanes import WIDTH, load, store
from . import layout as at
from .layout import count, floats, ints


@kernel
def ltdl(w):
    """L_d below the diagonal of H, 1/D into DINV."""
    H, dinv = floats(w, at.H), floats(w, at.DINV)
    lam, depth = ints(w, at.LAMBDA_E), ints(w, at.DEPTH_E)
    for k in range(count(w, at.NV) - 1, -1, -1):
        d_k = depth[k]
        inverse = 1.0 / H[k, d_k]
        dinv[k] = inverse
        i = lam[k]
        for c in range(d_k - 1, -1, -1):
            a = H[k, c] * inverse
            for e in range(0, c + 1, WIDTH):
                store(H, i, e, load(H, i, e) - a * load(H, k, e))
            i = lam[i]
        for e in range(0, d_k, WIDTH):
            store(H, k, e, load(H, k, e) * inverse)


@kernel
def ltl(w):
    """L on and below the diagonal of H, 1/L_kk into DINV."""
    H, dinv = floats(w, at.H), floats(w, at.DINV)
    lam, depth = ints(w, at.LAMBDA_E), ints(w, at.DEPTH_E)
    for k in range(count(w, at.NV) - 1, -1, -1):
        d_k = depth[k]
        root = math.sqrt(H[k, d_k])
        inverse = 1.0 / root
        dinv[k] = inverse
        for e in range(0, d_k, WIDTH):
            store(H, k, e, load(H, k, e) * inverse)
        H[k, d_k] = root
        i = lam[k]
        for c in range(d_k - 1, -1, -1):
            a = H[k, c]
            for e in range(0, c + 1, WIDTH):
                store(H, i, e, load(H, i, e) - a * load(H, k, e))
            i = lam[i]


@kernel
def solve_unit_transposed(w, x):
    """x becomes L_d^-T x."""
    H, lam, depth = floats(w, at.H), ints(w, at.LAMBDA_E), ints(w, at.DEPTH_E)
    for k in range(count(w, at.NV) - 1, -1, -1):
        i = lam[k]
        for c in range(depth[k] - 1, -1, -1):
            x[i] -= H[k, c] * x[k]
            i = lam[i]


@kernel
def solve_transposed(w, x):
    """x becomes L^-T x."""
    H, dinv, lam, depth = floats(w, at.H), floats(w, at.DINV), ints(w, at.LAMBDA_E), ints(w, at.DEPTH_E)
    for k in range(count(w, at.NV) - 1, -1, -1):
        x[k] *= dinv[k]
        i = lam[k]
        for c in range(depth[k] - 1, -1, -1):
            x[i] -= H[k, c] * x[k]
            i = lam[i]


@kernel
def solve_unit(w, x):
    """x becomes L_d^-1 x."""
    H, path, depth = floats(w, at.H), ints(w, at.PATH_E), ints(w, at.DEPTH_E)
    for k in range(count(w, at.NV)):
        for c in range(depth[k]):
            x[k] -= H[k, c] * x[path[k, c]]


@kernel
def solve(w, x):
    """x becomes H^-1 x, after `ltdl`."""
    dinv = floats(w, at.DINV)
    solve_unit_transposed(w, x)
    for i in range(count(w, at.NV)):
        x[i] *= dinv[i]
    solve_unit(w, x)
