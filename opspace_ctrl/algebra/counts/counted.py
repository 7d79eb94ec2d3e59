# SPDX-License-Identifier: Apache-2.0
"""Operation counts found by running the algorithms on counting numbers, to be held against `formulas`."""

from typing import Any

import numpy as np

from ...osim import sparse
from ...osim.need import need_table
from . import dynamics_counted, rjk_counted
from .asimo import Mechanism
from .operations import Cost, count
from .screws import Link, Screw, omega_phi, phi_p_phit, phit_omega_phi


def _jacobian_and_factor(lambda_e: np.ndarray, b_e: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Random J and L with the patterns of the tree; their values do not matter to a count."""
    rng, n = np.random.default_rng(0), len(lambda_e)
    pattern = np.eye(n)
    for i, parent in enumerate(lambda_e):
        if parent >= 0:
            pattern[i] += pattern[parent]
    L = pattern * rng.uniform(0.5, 1.5, (n, n))
    return pattern[b_e] * rng.uniform(0.5, 1.5, (len(b_e), n)), L


def count_sparse(lambda_e: np.ndarray, b_e: np.ndarray) -> dict[str, Cost]:
    """Costs of `osim.sparse` on one tree and task, by the names of table 1, and of LTDL."""
    J, L = _jacobian_and_factor(lambda_e, b_e)
    n, m = len(lambda_e), len(b_e)
    Lambda, Jbar = np.ones((m, m)), np.ones((n, m))
    tree, ancestors = (lambda_e, b_e), sparse.ancestor_table(lambda_e, b_e)
    # J stands for Y, Y_d and Y_D too: all have its pattern.
    runs: dict[str, tuple[Any, ...]] = {  # the kernel and its arguments
        "LTDL": (sparse.ltdl, L, lambda_e),
        "J x": (sparse.jx, J, np.ones(n), *tree),
        "J^T x": (sparse.jtx, J, np.ones(m), *tree),
        "J L^-1": (sparse.y_ltl, J, L, *tree),
        "J L_d^-1, Y_d D^-1": (sparse.y_ltdl, J, L, *tree),
        "Y Y^T": (sparse.yyt, J, lambda_e, ancestors),
        "Y_D Y_d^T": (sparse.ydydt, J, J, lambda_e, ancestors),
        "L^-1 (Y^T Lambda)": (sparse.jbar_ltl, J, L, Lambda, *tree),
        "L_d^-1 (Y_D^T Lambda)": (sparse.jbar_ltdl, J, L, Lambda, *tree),
        "1 - Jbar J": (sparse.null_space, J, Jbar, *tree),
    }
    return {name: count(*run)[0] for name, run in runs.items()}


def count_dense(m: int, n: int) -> dict[str, Cost]:
    """Costs without sparsity: of matrix products, and of the triangular algorithms on an unbranched chain.

    On a chain the kernels of `osim.sparse` are the standard ones, except figure 6, which adds to zeros.
    """
    chain, last = np.arange(-1, n - 1), np.full(m, n - 1)
    J, L = _jacobian_and_factor(chain, last)
    counts = count_sparse(chain, last)
    Lambda, Jbar, YT_Lambda = np.ones((m, m)), np.ones((n, m)), np.ones((n, m))
    product = count(np.dot, np.ascontiguousarray(J.T), Lambda)[0]
    counts["J^T x"] = count(np.dot, np.ascontiguousarray(J.T), np.ones(m))[0]
    counts["L^-1 (Y^T Lambda)"] = product + count(sparse.solve_l, L, YT_Lambda, chain)[0]
    counts["L_d^-1 (Y_D^T Lambda)"] = product + count(sparse.solve_ld, L, YT_Lambda, chain)[0]
    counts["1 - Jbar J"] = count(np.dot, Jbar, J)[0] + count(np.subtract, np.ones(n), np.ones(n))[0]
    return counts


def _link(screws: int, rng: np.random.Generator) -> Link:
    """A random link transform of two (z, x) or three (z, x, z) screws."""
    return Link(tuple(Screw(axis, *rng.uniform(-1.0, 1.0, 2)) for axis in (2, 0, 2)[:screws]))


def count_dynamics(mechanism: Mechanism) -> Cost:
    """H and C on a mechanism with random links and a floating base: the row "H, C" of table 2, by our kernels."""
    rng, N = np.random.default_rng(0), len(mechanism.parent)
    links = [_link(2 if two else 3, rng) for two in mechanism.two_screw]
    m, h = rng.uniform(1.0, 2.0, N), rng.normal(size=(N, 3))
    inertia = np.tile(np.eye(3), (N, 1, 1))
    base, acceleration, rates = rng.normal(size=6), rng.normal(size=6), rng.normal(size=N)
    tree = mechanism.parent, links, m, h, inertia
    inertia_cost, _ = count(dynamics_counted.mass_matrix, *tree)
    bias_cost, _ = count(dynamics_counted.bias_forces, *tree, base, acceleration, rates)
    return inertia_cost + bias_cost


def count_components() -> dict[tuple[str, int], Cost]:
    """Table 4, each calculation run by itself; keys as in `formulas.COMPONENTS`."""
    rng = np.random.default_rng(0)
    X = np.diag(rng.uniform(1.0, 2.0, 6))
    tau, d_inv = rng.uniform(size=6), np.array(0.5)
    runs: dict[tuple[str, int], tuple[Any, ...]] = {  # the calculation and its arguments
        ("D_i^-1", 0): (lambda P: 1.0 / P[rjk_counted.Z, rjk_counted.Z], X),
        ("taubar_i", 0): (rjk_counted.taubar, X, d_inv),
        ("taubar_i P_i", 0): (rjk_counted.taubar_p, X, tau),
        ("P_lambda(i) + (..)", 0): (rjk_counted.add_symmetric, X, X),
        ("taubar_i^T (..) taubar_i", 0): (rjk_counted.taubart_x_taubar, X, tau),
        ("Omega_ii + (..)", 0): (rjk_counted.add_d_inv, X, d_inv),
        ("(..) taubar_j", 0): (rjk_counted.x_taubar, X, tau),
    }
    for screws in (2, 3):
        link = _link(screws, rng)
        runs["phi_i (..) phi_i^T", screws] = (phi_p_phit, X, link)
        runs["phi_i^T Omega phi_i", screws] = (phit_omega_phi, X, link)
        runs["Omega phi_j", screws] = (omega_phi, X, link)
    return {name: count(*run)[0] for name, run in runs.items()}


def count_rjk(mechanism: Mechanism) -> tuple[Cost, Cost]:
    """(39) and (40) by running figure 14 on a mechanism with random links, with the corrected need table."""
    rng, N = np.random.default_rng(0), len(mechanism.parent)
    links = [_link(2 if two else 3, rng) for two in mechanism.two_screw]
    M = np.tile(np.diag(rng.uniform(1.0, 2.0, 6)), (N, 1, 1))
    first, (d_inv, tau, P) = count(rjk_counted.articulated, mechanism.parent, links, M)
    d_inv, tau, roots = d_inv.astype(float), tau.astype(float), np.linalg.inv(P.astype(float))
    need = need_table(mechanism.parent, mechanism.task_bodies)
    second, _ = count(rjk_counted.omega, mechanism.parent, links, need, roots, d_inv, tau)
    return first, second
