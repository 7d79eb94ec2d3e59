# SPDX-License-Identifier: Apache-2.0
"""`explain` and `opspace operators`: the levels of paper 000 section IX, from the expression to the links."""

import re

import numpy as np
import pytest
from helpers.operator_cases import operators_of
from helpers.urdf_text import arm

from opspace_ctrl import load_robot, load_urdf
from opspace_ctrl.algebra.operators import explain, explanation
from opspace_ctrl.algebra.operators.symbols import SYMBOLS
from opspace_ctrl.cli import main
from opspace_ctrl.errors import UnknownSymbolError

INVERSE = "(I - H Psi G)* D^-1 (I - H Psi G)"


def level(text, number):
    """The lines of one level."""
    return re.search(rf"^Level {number}: .*\n((?:  .*\n?)*)", text, re.MULTILINE)[1]


def test_000_section_IX_the_seven_levels_of_the_inverse_factorization(capsys):
    explain(INVERSE, load_robot("arm7"))
    text = capsys.readouterr().out
    assert re.findall(r"^Level (\d)", text, re.MULTILINE) == list("1234567")
    assert INVERSE in level(text, 1) and "joint space (7) to the joint space (7)" in level(text, 1)
    assert re.search(r"\+ I\n +- G\n +Psi\n +H\n +D\^-1\n", level(text, 2))
    assert "Psi: Kalman filter transition operator" in level(text, 3)
    assert "Psi: inward, tips to base: y(k) = sum_c [psi(k,c) y(c) + phi(k,c) x(c)]" in level(
        text, 4
    )
    assert "Psi*: outward, base to tips" in level(text, 4) and "sweeps over the links: 2" in level(
        text, 4
    )
    assert "psi(k,c) = phi(k,c) (I - G(c) H(c))" in level(text, 5)
    assert "along a link: phi(k,c)" in level(text, 6) and "across a joint: I - G(c) H(c)" in level(
        text, 6
    )
    assert "link1 -> link2: l = (0 0 0.18), H of the revolute joint joint2" in level(text, 7)
    assert len(level(text, 7).splitlines()) == 7


def test_inverses_are_shown_with_what_they_are_and_where_it_is_proved():
    text = explanation("(I + H phi K)^-1 (H phi M phi* H* + A)^-1*", load_robot("arm7"))
    assert "(I + H phi K)^-1 = I - H psi K  (003 lemma 2" in level(text, 1)
    assert "(H phi M phi* H* + A)^-1 = (I - K* psi* H*) D^-1 (I - H psi K)  (003 lemma 3" in level(
        text, 1
    )


@pytest.mark.parametrize("name", SYMBOLS)
def test_every_operator_and_its_adjoint_is_explained(name):
    text = explanation(f"{name}*", operators_of("asimo"))
    assert f"{name}: {SYMBOLS[name].meaning}" in level(text, 3)
    assert any(words in level(text, 4) for words in SYMBOLS[name].backward)


def test_shifts_and_small_matrices_are_explained():
    operators = operators_of("arm7")
    text = explanation(
        "(B* Omega B)^-1", operators_of("arm7").model, 0.3 * np.ones(7), frames=["link7"]
    )
    assert "by its small matrix" in level(text, 4) and "Omega: psi* H* D^-1 H psi" in level(text, 3)
    assert "phi^-1 = I - E_phi, one shift" in level(explanation("phi^-1", operators), 4)


def test_terms_and_numbers_have_one_sign():
    text = level(explanation("-2 (phi - 3 M)", operators_of("arm7")), 2)
    assert text == (
        "  the sum phi - 3 M, each term of the same vector:\n    + phi\n    - M\n      times 3\n"
        "  times -2\n"
    )


def test_long_robots_are_cut_at_level_7():
    text = level(explanation("phi", load_urdf(arm(60))), 7)
    assert len(text.splitlines()) == 41 and "... and 20 more links" in text


def test_mistakes_are_named():
    with pytest.raises(UnknownSymbolError):
        explain("H Q", load_robot("arm7"))


def test_command_prints_the_levels_and_the_matrix(capsys):
    assert (
        main(
            [
                "operators",
                "arm7",
                "J* ",
                "--frames",
                "link7",
                "--matrix",
                "--q",
                "0,0.1,0,0.2,0,0.3,0",
            ]
        )
        == 0
    )
    out = capsys.readouterr().out
    assert "Level 7" in out and "task space (6) to the joint space (7)" in out
    assert len(out[out.index("[[") :].splitlines()) == 7


def test_command_uses_the_tips_as_frames(capsys):
    assert main(["operators", "asimo", "B* Omega B"]) == 0
    assert "task space (24)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["H Q"], "unknown operator 'Q'.*column 3: 'Q'"),
        (["H phi D"], "cannot be multiplied.*column 7: 'D'"),
        (["phi Phi^-1"], "nilpotent.*column 5"),
        (["phi", "--q", "1,2"], "7"),
        (["phi", "--q", "a"], "7 numbers separated by commas"),
        (["J", "--frames", "lnik7"], "link7"),
    ],
)
def test_command_fails_in_one_line(capsys, argv, words):
    assert main(["operators", "arm7", *argv]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and re.search(words, error)
