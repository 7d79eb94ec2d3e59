# SPDX-License-Identifier: Apache-2.0
"""The sparse kernels of [Featherstone2010] against dense algebra on random trees and forests."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from opspace_ctrl.algebra.counts.operations import count
from opspace_ctrl.model import connectivity
from opspace_ctrl.osim import sparse

# 1 to 40 coordinates, one to four robots; each seed is one tree with its task rows.
SEEDS = range(24)


def pattern_of(lambda_e):
    """Booleans (n, n): j in kappa_e(i)."""
    pattern = np.zeros((len(lambda_e), len(lambda_e)), bool)
    for i in range(len(lambda_e)):
        pattern[i, connectivity.support(lambda_e, i)] = True
    return pattern


def random_member(pattern, rng):
    """A well-conditioned element of L(lambda)."""
    n = len(pattern)
    L = pattern * rng.uniform(-1.0, 1.0, (n, n)) / np.sqrt(n)
    L[np.diag_indices(n)] = rng.uniform(1.0, 2.0, n)
    return L


def make_case(lambda_e, b_e, rng):
    """Random H in SPD(lambda) and J with the pattern of a task Jacobian."""
    pattern = pattern_of(lambda_e)
    L = random_member(pattern, rng)
    # the last row serves tasks on the world
    rows = np.vstack([pattern, np.zeros(len(pattern), bool)])
    J = rows[b_e] * rng.uniform(-1.0, 1.0, (len(b_e), len(pattern)))
    return SimpleNamespace(
        n=len(lambda_e),
        m=len(b_e),
        lambda_e=lambda_e,
        b_e=b_e,
        pattern=pattern,
        J=J,
        J_pattern=rows[b_e],
        H=L.T @ L,
        ancestors=sparse.ancestor_table(lambda_e, b_e),
    )


@pytest.fixture(params=SEEDS)
def case(request):
    rng = np.random.default_rng(request.param)
    n, robots = int(rng.integers(1, 41)), int(rng.integers(1, 5))
    lambda_e = np.array([-1 if i < robots else rng.integers(0, i) for i in range(n)])
    b_e = rng.integers(-1 if request.param % 3 == 0 else 0, n, int(rng.integers(1, 13)))
    return make_case(lambda_e, b_e, rng)


@pytest.fixture
def ltl(case):
    return sparse.ltl(np.tril(case.H), case.lambda_e)


@pytest.fixture
def ltdl(case):
    return sparse.ltdl(np.tril(case.H), case.lambda_e)


def split(factor):
    """L_d and D of the array that `ltdl` leaves."""
    return np.tril(factor, -1) + np.eye(len(factor)), np.diag(np.diag(factor))


def close(ours, reference):
    scale = max(1.0, np.abs(reference).max(initial=0.0))
    np.testing.assert_allclose(ours, reference, rtol=0.0, atol=1e-12 * scale)


def test_002_figure_10_ancest_is_the_nearest_common_ancestor_and_the_table_gives_shared_supports(
    case,
):
    for i, p in enumerate(case.b_e):
        for j, q in enumerate(case.b_e):
            assert case.ancestors[i, j] == connectivity.ancestor(case.lambda_e, p, q)
            shared = set(connectivity.support(case.lambda_e, p)) & set(
                connectivity.support(case.lambda_e, q)
            )
            assert set(connectivity.support(case.lambda_e, case.ancestors[i, j])) == shared


def test_002_figure_5_figure_6_jx_and_jtx_are_matrix_products_with_vectors_and_matrices(case):
    rng = np.random.default_rng(1)
    for shape in ((), (3,)):
        x, y = rng.normal(size=(case.n, *shape)), rng.normal(size=(case.m, *shape))
        close(sparse.jx(case.J, x, case.lambda_e, case.b_e), case.J @ x)
        close(sparse.jtx(case.J, y, case.lambda_e, case.b_e), case.J.T @ y)


def test_002_section_5_ltl_factors_h_without_fill(case, ltl):
    close(ltl.T @ ltl, case.H)
    assert not ltl[~case.pattern].any()


def test_002_section_5_ltdl_factors_h_without_fill(case, ltdl):
    L_d, D = split(ltdl)
    close(L_d.T @ D @ L_d, case.H)
    assert not ltdl[~case.pattern].any()


def test_002_section_5_triangular_solves_invert_every_factor(case, ltl, ltdl):
    rng, (L_d, D) = np.random.default_rng(2), split(ltdl)
    for shape in ((), (3,)):
        x = rng.normal(size=(case.n, *shape))
        close(ltl @ sparse.solve_l(ltl, x.copy(), case.lambda_e), x)
        close(ltl.T @ sparse.solve_lt(ltl, x.copy(), case.lambda_e), x)
        close(L_d @ sparse.solve_ld(ltdl, x.copy(), case.lambda_e), x)
        close(L_d.T @ sparse.solve_ldt(ltdl, x.copy(), case.lambda_e), x)
        close(D @ sparse.solve_d(ltdl, x.copy()), x)


def test_002_figure_8_21_y_is_j_times_inverse_l_and_keeps_the_pattern_of_j(case, ltl):
    Y = sparse.y_ltl(case.J, ltl, case.lambda_e, case.b_e)
    close(Y @ ltl, case.J)
    assert not Y[~case.J_pattern].any()


def test_002_figure_9_23_yd_and_yd_over_d_keep_the_pattern_of_j(case, ltdl):
    L_d, D = split(ltdl)
    Y_d, Y_D = sparse.y_ltdl(case.J, ltdl, case.lambda_e, case.b_e)
    close(Y_d @ L_d, case.J)
    close(Y_D @ D, Y_d)
    assert not Y_d[~case.J_pattern].any() and not Y_D[~case.J_pattern].any()


def test_002_figure_10_20_both_products_give_the_inverse_inertia_exactly_symmetric_and_zero_between_robots(
    case, ltl, ltdl
):
    expected = case.J @ np.linalg.solve(case.H, case.J.T)
    from_ltl = sparse.yyt(
        sparse.y_ltl(case.J, ltl, case.lambda_e, case.b_e), case.lambda_e, case.ancestors
    )
    Y_d, Y_D = sparse.y_ltdl(case.J, ltdl, case.lambda_e, case.b_e)
    from_ltdl = sparse.ydydt(Y_D, Y_d, case.lambda_e, case.ancestors)
    for Lambda_inv in (from_ltl, from_ltdl):
        close(Lambda_inv, expected)
        assert (Lambda_inv == Lambda_inv.T).all()
        assert not Lambda_inv[case.ancestors < 0].any()


def test_002_32_33_jbar_by_either_factorization_is_inverse_h_jt_lambda(case, ltl, ltdl):
    # Any symmetric matrix will do for Lambda: (32) and (33) are linear in it.
    S = np.random.default_rng(3).normal(size=(case.m, case.m))
    Lambda = S + S.T
    expected = np.linalg.solve(case.H, case.J.T @ Lambda)
    tree = case.lambda_e, case.b_e
    close(sparse.jbar_ltl(sparse.y_ltl(case.J, ltl, *tree), ltl, Lambda, *tree), expected)
    close(sparse.jbar_ltdl(sparse.y_ltdl(case.J, ltdl, *tree)[1], ltdl, Lambda, *tree), expected)


@pytest.mark.parametrize("seed", range(4))
def test_002_10_null_space_is_idempotent_and_causes_no_task_acceleration(seed):
    rng = np.random.default_rng(seed)
    lambda_e = np.array([-1, *(rng.integers(max(0, i - 3), i) for i in range(1, 20))])
    case = make_case(lambda_e, np.array([9, 14, 17, 19]), rng)
    Lambda = np.linalg.inv(case.J @ np.linalg.solve(case.H, case.J.T))
    Jbar = np.linalg.solve(case.H, case.J.T @ Lambda)
    N = sparse.null_space(case.J, Jbar, lambda_e, case.b_e)
    scale = np.abs(Jbar).max()
    np.testing.assert_allclose(N, np.eye(20) - Jbar @ case.J, atol=1e-12 * scale)
    np.testing.assert_allclose(N @ N, N, atol=1e-11 * scale**2)
    np.testing.assert_allclose(case.J @ np.linalg.solve(case.H, N.T), 0.0, atol=1e-11 * scale)


def test_002_34_38_l_of_lambda_is_closed_under_product_and_inverse(case):
    """Appendix A; the inverse by our own solve, so that its zeros are exact."""
    rng = np.random.default_rng(4)
    A, B = random_member(case.pattern, rng), random_member(case.pattern, rng)
    inverse = sparse.solve_l(A, np.eye(case.n), case.lambda_e)
    close(A @ inverse, np.eye(case.n))
    assert not (A @ B)[~case.pattern].any()
    assert not inverse[~case.pattern].any()
    assert (np.diag(A @ B) != 0.0).all() and (np.diag(inverse) != 0.0).all()


def test_002_12_16_rows_of_the_papers_example_have_the_patterns_of_rows_4_and_7():
    """Figure 1 with b = [4, 7], the example after (19)."""
    lambda_e = np.array([0, 1, 1, 2, 2, 3, 3]) - 1
    case = make_case(lambda_e, np.array([4, 7]) - 1, np.random.default_rng(0))
    Y = sparse.y_ltl(case.J, sparse.ltl(np.tril(case.H), lambda_e), lambda_e, case.b_e)
    assert (Y != 0.0).astype(int).tolist() == [[1, 1, 0, 1, 0, 0, 0], [1, 0, 1, 0, 0, 0, 1]]


def test_counted_run_of_a_kernel_computes_what_the_compiled_kernel_computes(case):
    Y = case.J
    for kernel, *args in (
        (sparse.ltl, np.tril(case.H), case.lambda_e),
        (sparse.ltdl, np.tril(case.H), case.lambda_e),
        (sparse.jbar_ltl, Y, case.H, np.eye(case.m), case.lambda_e, case.b_e),
        (sparse.yyt, Y, case.lambda_e, case.ancestors),
    ):
        counted = count(kernel, *args)[1].astype(float)
        close(counted, kernel(*(np.copy(arg) for arg in args)))
