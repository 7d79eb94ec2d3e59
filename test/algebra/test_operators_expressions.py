# SPDX-License-Identifier: Apache-2.0
"""Operator expressions as text: what is read, what is refused, and where the carets point."""

import pickle

import numpy as np
import pytest
from helpers.operator_cases import operators_of
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles.random_trees import random_motion
from oracles.reference import assert_close

from opspace_ctrl import load_robot, mass_matrix
from opspace_ctrl.algebra.operators import SpatialOperators, evaluate
from opspace_ctrl.algebra.operators.expression import parse
from opspace_ctrl.algebra.operators.symbols import SYMBOLS
from opspace_ctrl.errors import (
    DimensionError,
    ExpressionError,
    NotInvertibleError,
    OpspaceError,
    UnknownSymbolError,
)

OPERATORS = operators_of("arm7")


def matrix(name):
    return getattr(OPERATORS, name).dense()


def equal(text, expected):
    assert_close(evaluate(text, OPERATORS).dense(), expected, np.abs(expected).max())


def test_000_section_IX_the_expression_of_the_paper_solves_for_accelerations():
    model = load_robot("asimo")
    q, _, torque = random_motion(model, 1)
    found = evaluate("(I - H Psi G)* D^-1 (I - H Psi G)", model, q) @ torque
    expected = np.linalg.solve(mass_matrix(model, q), torque)
    assert_close(found, expected, np.abs(expected).max(), 1e-9)


def test_postfix_binds_tighter_than_product_and_product_than_sum():
    H, phi, M = matrix("H"), matrix("phi"), matrix("M")
    equal("H phi*", H @ phi.T)
    equal("(H phi)*", phi.T @ H.T)
    equal("phi + phi M", phi + phi @ M)
    equal("-phi + M - phi* M", -phi + M - phi.T @ M)
    equal("phi* *", phi)
    equal("phi^-1*", np.linalg.inv(phi).T)
    equal("[phi (M)]", phi @ M)
    equal("φ M φ*", phi @ M @ phi.T)
    equal("H\tphi\n  M", H @ phi @ M)


def test_numbers_scale_and_stand_for_multiples_of_the_identity():
    phi, D = matrix("phi"), matrix("D")
    equal("2 phi 3", 6.0 * phi)
    equal("1 - phi", np.eye(42) - phi)
    equal("0.5 I + D", 0.5 * np.eye(7) + D)
    equal("1e-1 phi + .5 phi - 2. phi", -1.4 * phi)
    equal("2^-1 phi", 0.5 * phi)
    equal("phi (I - I) + 0 phi", np.zeros((42, 42)))


def test_every_symbol_is_an_expression():
    for name in SYMBOLS:
        assert evaluate(name, OPERATORS) is getattr(OPERATORS, name)


def test_q_defaults_to_neutral_and_frames_define_b():
    model = load_robot("arm7")
    found = evaluate("B", model, frames=["link7"])
    assert found.shape == (42, 6)
    expected = SpatialOperators(model, model.neutral(), "link7").J.dense()
    assert np.array_equal(evaluate("B* phi* H*", model, frames="link7").dense(), expected)


REFUSED = {
    # expression: (error, marked part, words of the message)
    "H Q phi": (UnknownSymbolError, "Q", "unknown operator 'Q'.*Omega"),
    "H phj": (UnknownSymbolError, "phj", "did you mean phi"),
    "H phi D": (DimensionError, "D", "body space .42.*joint space .7."),
    "H * phi": (DimensionError, "phi", "adjoint"),
    "phi + M + D": (DimensionError, "D", "cannot be added.*body space"),
    "phi (I + H phi K)": (DimensionError, "(I + H phi K)", "cannot be multiplied"),
    "I + H": (DimensionError, "H", "cannot be added"),
    "phi + 1 (H + H phi) psi": (DimensionError, "1 (H + H phi) psi", "cannot be added"),
    "phi H^-1": (NotInvertibleError, "H^-1", "only square"),
    "M + Phi^-1 M": (NotInvertibleError, "Phi^-1", "nilpotent"),
    "psi ((M + P)^-1 M)^-1": (NotInvertibleError, "(M + P)^-1", "no recursion"),
    "I": (ExpressionError, "I", "size of this is open"),
    "2 (3 I)*": (ExpressionError, "2", "size of this is open"),
    "": (ExpressionError, "", "ends where"),
    "  ": (ExpressionError, "", "ends where"),
    "H phi +": (ExpressionError, "", "ends where"),
    "(H phi": (ExpressionError, "(", "never closed"),
    "[H phi)": (ExpressionError, ")", "closing"),
    "H phi)": (ExpressionError, ")", "closing"),
    "()": (ExpressionError, ")", "closing"),
    "* phi": (ExpressionError, "*", "expected here"),
    "phi + * M": (ExpressionError, "*", "expected here"),
    "M^2": (ExpressionError, "^", "only \\^-1"),
    "M^-12": (ExpressionError, "^", "only \\^-1"),
    "H / phi": (ExpressionError, "/", "valid are names"),
    "H, phi": (ExpressionError, ",", "valid are names"),
    "H phi__import__": (UnknownSymbolError, "phi__import__", "unknown"),
}


@pytest.mark.parametrize("text", REFUSED)
def test_mistakes_are_named_and_marked(text):
    error, part, words = REFUSED[text]
    with pytest.raises(error, match=f"(?s){words}") as caught:
        evaluate(text, OPERATORS)
    found = caught.value
    assert type(found) is error and isinstance(found, OpspaceError)
    assert found.text[found.start : found.end].strip() == part
    line, carets = str(found).split("\n")[-2:]
    assert line == f"    {found.text}"
    assert carets == " " * (4 + found.start) + "^" * max(1, found.end - found.start)
    copy = pickle.loads(pickle.dumps(found))
    assert str(copy) == str(found) and type(copy) is error


def test_b_and_j_need_frames():
    with pytest.raises(ExpressionError, match="J needs frames"):
        evaluate("J", load_robot("arm7"))


def test_absurd_expressions_are_refused():
    with pytest.raises(ExpressionError, match="deep"):
        evaluate("(" * 2000 + "phi" + ")" * 2000, OPERATORS)
    with pytest.raises(ExpressionError, match="characters"):
        evaluate("phi " * 5000, OPERATORS)
    with pytest.raises(ExpressionError, match="not int"):
        evaluate(3, OPERATORS)
    with pytest.raises(ExpressionError, match="marks"):
        evaluate("phi" + "*" * 3000, OPERATORS)
    many = evaluate("phi " * 2000, OPERATORS)
    assert len(many.parts) == 2000


@settings(max_examples=200)
@given(st.text(alphabet=st.sampled_from("HphisiGDMI+-*^-1()[] 20.\n·"), max_size=40))
@example("H\n Q")
def test_any_text_is_read_or_refused_by_name(text):
    try:
        operator = evaluate(text, OPERATORS)
    except ExpressionError as error:
        assert error.text == text
        return
    assert operator.dense().shape == operator.shape


@settings(max_examples=100)
@given(
    st.recursive(
        st.sampled_from(["phi", "M", "psi", "P", "phi*", "taubar", "I", "2 I", "E_phi"]),
        lambda inner: st.one_of(
            st.tuples(inner, inner).map(lambda p: f"({p[0]} {p[1]})"),
            st.tuples(inner, inner).map(lambda p: f"({p[0]} - {p[1]})"),
            inner.map(lambda x: f"({x})*"),
        ),
        max_leaves=6,
    )
)
def test_printed_expressions_read_back_as_the_same_operator(text):
    operator = evaluate(f"phi + {text}", OPERATORS)
    again = evaluate(str(operator), OPERATORS)
    scale = np.abs(operator.dense()).max()
    assert_close(again.dense(), operator.dense(), max(scale, 1e-3), 1e-11)


def test_a_tree_knows_its_places():
    node = parse("H (phi + 2 M)^-1")
    inverse = node.parts[1]
    assert (inverse.start, inverse.end) == (2, 16)
    assert (inverse.parts[0].start, inverse.parts[0].end) == (2, 13)
