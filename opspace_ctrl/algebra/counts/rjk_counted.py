# SPDX-License-Identifier: Apache-2.0
"""The optimized RJK algorithm in link coordinates, [Featherstone2010], figure 14, at the costs of table 4.

Spatial vectors are angular first, in link axes; joints are revolute about the link's z axis, that is
H_i = [0 0 1 0 0 0]. taubar_i is the identity whose third column is replaced by tau_i (tau_i3 = 0). Written
to be counted: it runs on floats and on counting numbers alike. The control loop uses `osim.methods.rjk`, compiled
and in world axes.
"""

from collections.abc import Sequence

import numpy as np

from ...model.connectivity import ancestor
from .operations import Number
from .screws import Link, omega_phi, phi_p_phit, phit_omega_phi

Z = 2  # the joint axis in H_i
OTHERS = (0, 1, 3, 4, 5)


def taubar(P: np.ndarray, d_inv: Number) -> np.ndarray:
    """tau_i (6,), the third column of taubar_i = 1 - P_i H_i^T D_i^-1 H_i: 5m."""
    tau = np.zeros(6, P.dtype)
    for k in OTHERS:
        tau[k] = -(P[k, Z] * d_inv)
    return tau


def taubar_p(P: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """taubar_i P_i, symmetric with a zero third row and column: 15m + 15a."""
    X = np.zeros((6, 6), P.dtype)
    for p in OTHERS:
        for q in OTHERS:
            if q >= p:
                X[p, q] = X[q, p] = P[p, q] + tau[p] * P[Z, q]
    return X


def add_symmetric(P: np.ndarray, X: np.ndarray) -> np.ndarray:
    """P + X of symmetric matrices: 21a."""
    total = np.empty_like(P)
    for p in range(6):
        for q in range(p, 6):
            total[p, q] = total[q, p] = P[p, q] + X[p, q]
    return total


def x_taubar(X: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """X taubar of any X (6, 6): only the third column changes, 30m + 24a."""
    product = X.copy()
    for p in range(6):
        product[p, Z] = np.dot(X[p, OTHERS], tau[list(OTHERS)])
    return product


def taubart_x_taubar(X: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """taubar^T X taubar of a symmetric X: 35m + 28a.

    The paper's figure; the third row of X taubar is not used, so that 30m + 24a would do.
    """
    product = x_taubar(X, tau)
    product[Z, Z] = np.dot(tau[list(OTHERS)], product[OTHERS, Z])
    product[Z, OTHERS] = product[OTHERS, Z]
    return product


def add_d_inv(Omega: np.ndarray, d_inv: Number) -> np.ndarray:
    """H^T D^-1 H + Omega: 1a."""
    total = Omega.copy()
    total[Z, Z] = Omega[Z, Z] + d_inv
    return total


def articulated(parent: np.ndarray, links: Sequence[Link], M: np.ndarray) -> tuple[np.ndarray, ...]:
    """The first two loops of figure 14, whose cost is (39).

    Args:
        parent: lambda (N,).
        links: transforms phi_i (those of the roots are not used).
        M: spatial inertias (N, 6, 6) in link coordinates [kg, kg m, kg m^2].

    Returns:
        D_i^-1 (N,), tau_i (N, 6) and the articulated inertias P_i (N, 6, 6).
    """
    P = M.copy()
    d_inv, tau = np.zeros(len(parent), M.dtype), np.zeros((len(parent), 6), M.dtype)
    for i in range(len(parent) - 1, -1, -1):
        d_inv[i] = 1.0 / P[i, Z, Z]
        if parent[i] >= 0:
            tau[i] = taubar(P[i], d_inv[i])
            P[parent[i]] = add_symmetric(P[parent[i]], phi_p_phit(taubar_p(P[i], tau[i]), links[i]))
    return d_inv, tau, P


def omega(
    parent: np.ndarray,
    links: Sequence[Link],
    need: np.ndarray,
    roots: np.ndarray,
    d_inv: np.ndarray,
    tau: np.ndarray,
) -> dict[tuple[int, int], np.ndarray]:
    """The last two loops of figure 14, whose cost is (40).

    Args:
        parent: lambda (N,).
        links: transforms phi_i.
        need: `need_table`.
        roots: (N, 6, 6), Omega_ii of the bodies whose parent is the world.
        d_inv: D_i^-1 (N,).
        tau: tau_i (N, 6).

    Returns:
        Omega_ij (6, 6) of the needed blocks, both triangles.

    Raises:
        KeyError: `need` leaves out a block that another is made from (figure 15 as printed, uneven limbs).
    """
    Omega: dict[tuple[int, int], np.ndarray] = {}
    for i in np.flatnonzero(np.diag(need)).tolist():
        if parent[i] < 0:
            Omega[i, i] = roots[i]
        else:
            moved = phit_omega_phi(Omega[parent[i], parent[i]], links[i])
            Omega[i, i] = add_d_inv(taubart_x_taubar(moved, tau[i]), d_inv[i])
    for i, j in np.argwhere(np.triu(need, 1)).tolist():
        common = ancestor(parent, i, j)
        if common == i:
            Omega[i, j] = x_taubar(omega_phi(Omega[i, parent[j]], links[j]), tau[j])
        elif common >= 0:
            right = x_taubar(omega_phi(Omega[parent[i], parent[j]], links[j]), tau[j])
            Omega[i, j] = x_taubar(omega_phi(right.T, links[i]), tau[i]).T
        else:
            Omega[i, j] = np.zeros((6, 6), tau.dtype)
        Omega[j, i] = Omega[i, j].T
    return Omega
