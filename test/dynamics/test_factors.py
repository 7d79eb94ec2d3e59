# SPDX-License-Identifier: Apache-2.0
"""The sparse factors of H: H = L_d^T D L_d and H = L^T L, on the pattern of the elimination tree."""

import numpy as np
import pytest
from hypothesis import given, settings
from oracles.random_trees import random_model, random_motion, seeds, trees
from oracles.reference import assert_close, derived_tolerance

from opspace_ctrl import dynamics
from opspace_ctrl.compiled.jit import kernel
from opspace_ctrl.compiled.lanes import numbers
from opspace_ctrl.dynamics import ltl
from opspace_ctrl.dynamics.functions import tree_of
from opspace_ctrl.model.connectivity import support

some = settings(max_examples=30)


@kernel
def ltdl(tree):
    """The stage, by its name: as kernels call it."""
    ltl.ltdl(tree)


@kernel
def solve_unit(tree, x):
    """On a NumPy vector, read as rows: as entries call it."""
    ltl.solve_unit(tree, numbers(x))


def factorise(model, q, factor, x):
    """H, the stored factor (lower triangle, dense), 1 / its pivots, and what became of the vector x."""
    H = dynamics.mass_matrix(model, q)  # leaves H by depth in the tree, where it is factorised
    tree = tree_of(model)
    tree.x = x
    factor(tree)
    L = np.zeros_like(H)
    for k in range(model.nv):
        ancestors = support(model.parent_expanded, k)
        L[k, ancestors] = tree.H[k, : len(ancestors)]
    return H, L, tree.D_inv.copy(), tree.x.copy()


def scale_of(H):
    return np.sqrt(np.outer(np.diag(H), np.diag(H)))


def check_ltdl(model, seed):
    q, x, y = random_motion(model, seed)
    H, L, inverse_pivots, solved = factorise(model, q, ltdl, x)
    L_d = np.tril(L, -1) + np.eye(model.nv)
    assert (inverse_pivots > 0.0).all()
    assert_close(L_d.T @ np.diag(1.0 / inverse_pivots) @ L_d, H, scale_of(H))
    assert_close(L_d.T @ solved, x, np.abs(L_d).T @ np.abs(solved))
    found = y.copy()
    solve_unit(tree_of(model), found)
    assert_close(L_d @ found, y, np.abs(L_d) @ np.abs(found))


def check_ltl(model, seed):
    q, x, _ = random_motion(model, seed)
    H, L, inverse_diagonal, solved = factorise(model, q, ltl.ltl, x)
    assert_close(inverse_diagonal * np.diag(L), np.ones(model.nv), 1.0, 1e-15)
    assert_close(L.T @ L, H, scale_of(H))
    assert_close(L.T @ solved, x, np.abs(L).T @ np.abs(solved))


@some
@given(trees(), seeds())
def test_ltdl_factors_give_h_and_solve(model, seed):
    check_ltdl(model, seed)


@some
@given(trees(), seeds())
def test_ltl_factors_give_h_and_solve(model, seed):
    check_ltl(model, seed)


# Eliminations take eight columns and two pivots at a time: every remainder of both, and branches between them.
@pytest.mark.parametrize("check", [check_ltdl, check_ltl])
@pytest.mark.parametrize("depth", [1, 2, 3, 7, 8, 9, 10, 15, 16, 17, 18, 100])
@pytest.mark.parametrize("shape", ["chain", "star", "tree"])
def test_factors_are_right_for_every_depth_and_parity(check, depth, shape):
    check(random_model(depth, depth, types=("revolute",), shape=shape), depth)


@some
@given(trees(max_bodies=30, mimic=0.0), seeds())
def test_the_factors_and_their_inverses_keep_the_pattern_of_h(model, seed):
    q, x, _ = random_motion(model, seed)
    H, L, _, _ = factorise(model, q, ltl.ltl, x)
    above = np.zeros_like(H, dtype=bool)
    for k in range(model.nv):
        above[k, support(model.parent_expanded, k)] = True
    assert not np.tril(H)[~above].any()
    inverse = np.linalg.inv(L)
    assert_close(
        inverse[~above], np.zeros((~above).sum()), np.abs(inverse).max(), derived_tolerance(H)
    )
