# SPDX-License-Identifier: Apache-2.0
"""Papers 000 section IX and 003 (2)-(7): vectors beside operators in one expression, and square roots."""

import numpy as np
import pytest
from helpers.recursion_cases import Case, assert_near

from opspace_ctrl import forward_dynamics, inverse_dynamics, mass_matrix
from opspace_ctrl.algebra.operators import SpatialOperators, evaluate, evaluate_vector, explanation
from opspace_ctrl.errors import ConfigurationError, DimensionError, ExpressionError

SOLVE = "(I - H Psi G)* D^-1 (I - H Psi G) (T - H phi (M phi* a + b - B f))"
everywhere = pytest.mark.parametrize("name", ["chain", "floating tree", "star", "free_flyer"])


def prepared(name):
    case = Case(name)
    frames = list(case.external)
    operators = SpatialOperators(case.model, case.q, frames)
    a, b = operators.bias(case.v)
    f = np.concatenate([np.roll(wrench, 3) for wrench in case.external.values()])
    return case, operators, a, b, f


@everywhere
def test_000_section_IX_vectors_stand_in_expressions(name):
    """The whole of algorithm 1 as one line of text: T, a, b and f are vectors, what comes out is the acceleration."""
    case, operators, a, b, f = prepared(name)
    found = evaluate_vector(SOLVE, operators, T=case.tau, a=a, b=b, f=f)
    expected = forward_dynamics(case.model, case.q, case.v, case.tau, case.external)
    assert_near(found, expected, case.tolerance)


@everywhere
def test_003_2_7_torque_as_one_expression_of_operators_and_vectors(name):
    case, operators, a, b, f = prepared(name)
    text = "(H phi M phi* H* + A) x + H phi (M phi* a + b) - J* f"
    found = evaluate_vector(text, operators, x=case.a, a=a, b=b, f=f)
    expected = inverse_dynamics(case.model, case.q, case.v, case.a, case.external)
    assert_near(found, expected, case.tolerance, max(1.0, np.abs(expected).max()))


def test_a_number_comes_out_of_a_row_times_a_column():
    case, operators, *_ = prepared("chain")
    twice = evaluate_vector("v* (H phi M phi* H* + A) v", operators, v=case.v)
    assert twice == pytest.approx(case.v @ case.H @ case.v)


@pytest.mark.parametrize(
    ("text", "vectors", "error", "says"),
    [
        ("H phi T", {"T": np.ones(20)}, DimensionError, "T has 20 numbers"),
        ("T", {"T": np.ones(3)}, DimensionError, "T has 3 numbers"),
        ("H phi", {"T": np.ones(20)}, ConfigurationError, "use evaluate"),
        ("H phi D", {"D": np.ones(20)}, ConfigurationError, "name of an operator"),
        ("H phi a", {"a": np.full(120, np.nan)}, ConfigurationError, "vector a"),
        ("T + H", {"T": np.ones(20)}, DimensionError, "cannot be added"),
        ("T nothing", {"T": np.ones(20)}, ExpressionError, "nothing"),
    ],
)
def test_mistakes_with_vectors_are_named(text, vectors, error, says):
    _, operators, *_ = prepared("chain")
    with pytest.raises(error, match=says):
        evaluate_vector(text, operators, **vectors)


@everywhere
def test_000_X_A_a_square_root_in_the_language_of_operators(name):
    """M = P P* with P = H phi M^1/2; D^1/2 makes the innovations factor a square one, P^1/2 and r^1/2 likewise."""
    case = Case(name)
    operators = SpatialOperators(case.model, case.q)
    P = evaluate("H phi M^1/2", operators)
    assert_near(
        (P @ P.T).dense() + np.diag(case.model.armature), mass_matrix(case.model, case.q), 1e-11
    )
    L = evaluate("(I + H phi K) D^1/2", operators)
    assert_near((L @ L.T).dense(), case.H, 1e-11)
    for symbol in ("M", "r", "P", "D", "A"):
        whole = evaluate(symbol, operators).dense()
        twice = evaluate(f"{symbol}^1/2 {symbol}^1/2*", operators).dense()
        assert_near(twice, whole, 1e-11, max(1e-12, np.abs(whole).max()))
    assert "square root" in explanation("H phi M^1/2", operators)


def test_roots_that_are_none_are_marked():
    case = Case("chain")
    for text in ("phi^1/2", "(M + M)^1/2", "H^1/2"):
        with pytest.raises(ExpressionError, match="square roots"):
            evaluate(text, case.model, case.q)
    with pytest.raises(ExpressionError, match=r"\^1/2"):
        evaluate("M^2", case.model, case.q)
