# SPDX-License-Identifier: Apache-2.0
"""The O(N) recursions behind the operators, compiled: every one visits each body once.

    parent (N,)         lambda, -1 = world; parent[k] < k, so that counting down runs tips to base ("inward")
    transition (N,6,6)  phi(parent, k) or psi(parent, k): takes a force at O_k to the parent's O
    x (N,6,c)           c stacked vectors at once, changed in place
Only + - * / touch the values, so that `algebra.counts.operations` can count them.
"""

import numpy as np

from ...compiled.jit import kernel


@kernel
def inward(parent, transition, x):
    """x := phi x, z(k) = sum_children phi(k, child) z(child) + x(k), tips to base ([Rodriguez1992] (17))."""
    for k in range(parent.size - 1, -1, -1):
        p = parent[k]
        if p >= 0:
            for i in range(6):
                for j in range(6):
                    for c in range(x.shape[2]):
                        x[p, i, c] += transition[k, i, j] * x[k, j, c]


@kernel
def outward(parent, transition, x):
    """x := phi* x, V(k) = phi*(parent, k) V(parent) + x(k), base to tips ([Rodriguez1992] (7))."""
    for k in range(parent.size):
        p = parent[k]
        if p >= 0:
            for i in range(6):
                for j in range(6):
                    for c in range(x.shape[2]):
                        x[k, j, c] += transition[k, i, j] * x[p, i, c]


@kernel
def composite(parent, transition, r):
    """r(parent) += phi(parent, k) r(k) phi*(parent, k), tips to base: r = M becomes (31)."""
    work = np.zeros((6, 6), r.dtype)
    for k in range(parent.size - 1, -1, -1):
        if parent[k] >= 0:
            _add_moved_inward(transition[k], r[k], r[parent[k]], work)


@kernel
def dual_composite(parent, transition, Y):
    """Y(k) += psi*(parent, k) Y(parent) psi(parent, k), base to tips: Y = H* D^-1 H becomes (4.7) of [Jain1995]."""
    work = np.zeros((6, 6), Y.dtype)
    for k in range(parent.size):
        p = parent[k]
        if p >= 0:
            _multiply(Y[p], transition[k], work)
            for i in range(6):
                for j in range(6):
                    for m in range(6):
                        Y[k, i, j] += transition[k, m, i] * work[m, j]


@kernel
def articulated(parent, transition, axes, dofs, armature, P, D, D_inverse, G, P_plus):
    """The Riccati recursion (34)-(37), tips to base; P enters as M, all others as zeros.

        U = P H*,  D = H U + armature,  G = U D^-1,  P+ = P - G U*,  P(parent) += phi P+ phi*

    Args:
        axes: (N, 6, 6) H*(k), columns beyond dofs[k] unused. armature: (N, 6).
    """
    U, work = np.zeros((6, 6), P.dtype), np.zeros((6, 6), P.dtype)
    for k in range(parent.size - 1, -1, -1):
        d = dofs[k]
        for j in range(d):
            for i in range(6):
                U[i, j] = P[k, i, 0] * axes[k, 0, j]
                for m in range(1, 6):
                    U[i, j] += P[k, i, m] * axes[k, m, j]
        for i in range(d):
            for j in range(d):
                for m in range(6):
                    D[k, i, j] += axes[k, m, i] * U[m, j]
            D[k, i, i] += armature[k, i]
        _invert(D[k], d, D_inverse[k], work)
        for i in range(6):
            for j in range(d):
                for m in range(d):
                    G[k, i, j] += U[i, m] * D_inverse[k, m, j]
        for i in range(6):
            for j in range(i + 1):
                P_plus[k, i, j] = P[k, i, j]
                for m in range(d):
                    P_plus[k, i, j] -= G[k, i, m] * U[j, m]
                P_plus[k, j, i] = P_plus[k, i, j]
        if parent[k] >= 0:
            _add_moved_inward(transition[k], P_plus[k], P[parent[k]], work)


@kernel
def _add_moved_inward(T, X, out, work):
    """out += T X T* of a symmetric X; the result is symmetric to the last bit."""
    _multiply(T, X, work)
    for i in range(6):
        for j in range(i + 1):
            moved = work[i, 0] * T[j, 0]
            for m in range(1, 6):
                moved += work[i, m] * T[j, m]
            out[i, j] += moved
            if i != j:
                out[j, i] += moved


@kernel
def _multiply(A, B, out):
    """out = A B."""
    for i in range(6):
        for j in range(6):
            out[i, j] = A[i, 0] * B[0, j]
            for m in range(1, 6):
                out[i, j] += A[i, m] * B[m, j]


@kernel
def _invert(A, d, out, work):
    """The inverse of the leading d x d block of a positive definite A: Gauss-Jordan, which needs no pivoting here."""
    for i in range(d):
        for j in range(d):
            work[i, j] = A[i, j]
            out[i, j] = 1.0 if i == j else 0.0
    for p in range(d):
        scale = 1.0 / work[p, p]
        for j in range(d):
            work[p, j] = work[p, j] * scale
            out[p, j] = out[p, j] * scale
        for i in range(d):
            if i != p:
                factor = work[i, p]
                for j in range(d):
                    work[i, j] -= factor * work[p, j]
                    out[i, j] -= factor * out[p, j]
