# SPDX-License-Identifier: Apache-2.0
"""Which inverses are recursions, which do not exist, and that each undoes its operator."""

import numpy as np
import pytest
from helpers.operator_cases import (
    CASES,
    FLYERS,
    assert_identity,
    magnitude,
    mass_matrix_of,
    operators_of,
)
from oracles.random_trees import random_model, random_motion
from oracles.reference import assert_close, derived_tolerance

from opspace_ctrl import load_robot, load_urdf
from opspace_ctrl.algebra.operators import SpatialOperators, evaluate
from opspace_ctrl.algebra.operators.algebra import Product, Sum
from opspace_ctrl.algebra.operators.inverses import KNOWN
from opspace_ctrl.algebra.operators.words import RULES
from opspace_ctrl.errors import NotInvertibleError

ALWAYS = [
    "phi",
    "psi",
    "D",
    "M",
    "r",
    "P",
    "phi*",
    "psi*",
    "2 phi",
    "phi M phi*",
    "(I + H phi K) D (I + H phi K)*",
    "phi psi^-1",
    "phi^-1 + K H",
    "psi^-1 - K H",
    "I + Phi",
    "I + H Phi G",
    "I - H Psi G",
    "I + Phi G H",
    "I - Psi G H",
    "2 I + 2 H phi K",
    "I + (H phi K)*",
    "I + G* Phi* H*",
    "3 H phi M phi* H* + 3 A",
    "(H phi M phi* H* + A) D",
    "I - E_phi taubar",
    "I - E_phi + E_phi G H",
    *(text for text, _, _ in KNOWN),
]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("text", dict.fromkeys(ALWAYS))
def test_inverse_undoes_its_operator(text, case):
    """003 lemmas 2, 3 and 5; 000 identities 5 and 6; 004 (2.5), (2.9), (2.10)."""
    operators = operators_of(case)
    operator = evaluate(text, operators)
    inverse = operator.inverse()
    x = np.random.default_rng(6).normal(size=(operator.shape[1], 2))
    tolerance = 10.0 * derived_tolerance(mass_matrix_of(case))
    assert_close(
        inverse @ (operator @ x),
        x,
        magnitude(inverse) @ (magnitude(operator) @ np.abs(x)),
        tolerance,
    )
    assert_close(
        operator @ (inverse @ x),
        x,
        magnitude(operator) @ (magnitude(inverse) @ np.abs(x)),
        tolerance,
    )


@pytest.mark.parametrize("case", CASES)
def test_inverse_of_an_inverse_is_the_operator_again(case):
    operators = operators_of(case)
    for name in ("phi", "psi", "D", "M", "P"):
        operator = getattr(operators, name)
        assert operator.inverse().inverse() is operator
        assert operator.T.inverse().inverse().T is operator
    assert str(evaluate("(phi M)^-1^-1", operators)) == "phi M"


@pytest.mark.parametrize(
    "case", ["tree 3, floating, armature", "talos_reduced, fixed, armature 0.05"]
)
@pytest.mark.parametrize(
    "word", [word for word, words in RULES.items() if words != {(): 1.0}], ids=" ".join
)
def test_rules_of_the_normal_form_are_identities(word, case):
    """All but X X^-1 = I."""
    left = " ".join(word)
    right = " + ".join(
        f"{number} {' '.join(names) or 'I'}" for names, number in RULES[word].items()
    )
    assert_identity(case, f"{left} = {right.replace('+ -', '- ')}")


def test_inverses_are_recursions_and_no_matrices():
    operators = operators_of("asimo")
    assert str(operators.phi.inverse()) == "phi^-1"
    mass = evaluate("H phi M phi* H* + A", operators)
    assert isinstance(mass, Sum) and isinstance(mass.inverse(), Product)
    assert str(mass.inverse()) == "(I - K* psi* H*) D^-1 (I - H psi K)"
    assert str(evaluate("I + H Phi G", operators).inverse()) == "I - H psi K"
    assert str(evaluate("phi M phi*", operators).inverse()) == "phi^-1* M^-1 phi^-1"


def test_without_armature_the_mass_matrix_needs_no_a():
    operators = operators_of("tree 2, fixed, no armature")
    found = evaluate("(H phi M phi* H*)^-1", operators).dense()
    expected = np.linalg.inv(mass_matrix_of("tree 2, fixed, no armature"))
    assert_close(found, expected, np.abs(expected).max(), 1e-10)


def test_with_armature_the_message_says_to_add_a():
    with pytest.raises(NotInvertibleError, match=r"H phi M phi\* H\* \+ A"):
        evaluate("(H phi M phi* H*)^-1", operators_of("ur5_robot, fixed, armature 0.3"))


@pytest.mark.parametrize("case", FLYERS)
def test_every_link_of_a_free_flyer_has_an_operational_space_inertia(case):
    operators = operators_of(case)
    Upsilon = operators.Upsilon
    x = np.ones(Upsilon.shape[0])
    scale = magnitude(Upsilon) @ (magnitude(Upsilon.inverse()) @ x)
    assert_close(
        Upsilon @ (Upsilon.inverse() @ x), x, scale, derived_tolerance(mass_matrix_of(case))
    )


def test_armature_on_every_joint_makes_p_plus_taubar_and_a_invertible():
    operators = operators_of("talos_reduced, fixed, armature 0.05")
    for name in ("P_plus", "taubar", "A"):
        operator = getattr(operators, name)
        x = np.ones(operator.shape[0])
        scale = magnitude(operator) @ (magnitude(operator.inverse()) @ x)
        assert_close(operator @ (operator.inverse() @ x), x, scale, 1e-9)
        assert_close(operator.T @ (operator.inverse().T @ x), x, scale.max(), 1e-9)


def test_operational_space_inertia_by_the_small_matrix_of_the_task_space():
    model = load_robot("arm7")
    q = random_motion(model, 5)[0]
    operators = SpatialOperators(model, q, [model.body_names[-1]])
    Lambda = evaluate("(B* Omega B)^-1", operators)
    assert_close(
        Lambda @ evaluate("J (H phi M phi* H* + A)^-1 J*", operators).dense(), np.eye(6), 1.0, 1e-9
    )
    assert_close(Lambda.T.dense(), Lambda.dense().T, np.abs(Lambda.dense()).max())
    assert str(Lambda.inverse()) == "B* Omega B"


SINGULAR = {
    "Phi": "nilpotent",
    "Psi": "nilpotent",
    "E_phi": "nilpotent",
    "E_psi": "nilpotent",
    "Omega": "rank is at most nv",
    "P_plus": "singular at link",
    "taubar": "singular at link",
    "Upsilon": "singular at link",
    "A": "armature",
    "H": "only square",
    "G": "only square",
    "K": "only square",
    "J": "only square",
    "B": "only square",
    "H* D^-1 H": "rank is at most 7, its size 42",
    "M + P": "no recursion is known",
    "0 phi": "zero",
    "I + H phi G": "no recursion is known",
    "2 I + H phi K": "no recursion is known",
    "phi Phi": "nilpotent",
    "J J*": "singular: its rank is 0",
}


@pytest.mark.parametrize("text", SINGULAR)
def test_operators_without_inverse_are_refused_with_the_reason(text):
    model = load_robot("arm7")
    in_the_world = model.frame_names[list(model.frame_body).index(-1)]
    operators = SpatialOperators(
        model, model.neutral(), [in_the_world if text == "J J*" else "link7"]
    )
    with pytest.raises(NotInvertibleError, match=SINGULAR[text]) as caught:
        evaluate(f"phi* + phi ({text})^-1" if text == "Phi" else f"({text})^-1", operators)
    assert caught.value.text is not None and caught.value.end > caught.value.start


def test_massless_link_has_no_inverse_of_m_but_of_p():
    xml = """<robot name="r"><link name="a"/><link name="b"/><link name="c"><inertial><mass value="1"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="j1" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>
      <joint name="j2" type="continuous"><parent link="b"/><child link="c"/><axis xyz="1 0 0"/></joint></robot>"""
    operators = SpatialOperators(load_urdf(xml), np.zeros(2))
    with pytest.raises(NotInvertibleError, match="M is singular at link b"):
        operators.M.inverse()
    assert np.allclose(operators.r.inverse() @ (operators.r @ np.ones(12)), 1.0)


def test_very_long_expressions_are_refused_quickly_and_by_name():
    operators = operators_of("arm7")
    text = " ".join(["(I + H phi K + H psi K)"] * 12)
    with pytest.raises(NotInvertibleError, match="no recursion is known"):
        evaluate(f"({text} + I)^-1", operators)


def test_a_permuted_operator_names_its_order():
    model = random_model(3)
    operators = SpatialOperators(model, random_motion(model, 1)[0])
    permuted = operators.tip_to_base(operators.phi)
    with pytest.raises(NotInvertibleError):
        permuted.inverse()
    inverse = operators.tip_to_base(operators.phi.inverse())
    assert_close((permuted @ inverse).dense(), np.eye(permuted.shape[0]), 1.0)
