# SPDX-License-Identifier: Apache-2.0
"""The list of the papers' equations is complete, and what it names exists."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from helpers.documents import ROOT

from opspace_ctrl.algebra.papers import Line, find, papers, resolve, run_line
from opspace_ctrl.algebra.papers.catalogue import normal, places_in
from opspace_ctrl.algebra.papers.page import errata_table, file_of, papers_page
from opspace_ctrl.cli import main
from opspace_ctrl.errors import ConfigurationError

LINES = [line for paper in papers().values() for line in paper.lines]
ERRATA = [(n, erratum) for n, paper in papers().items() for erratum in paper.errata]
IDS = [f"{line.paper} {line.at}" for line in LINES]
# Every equation, figure, table, algorithm and section of the papers that says something to compute; 000 has no (16).
NUMBERED = {
    "000": [f"{k}" for k in range(1, 80) if k != 16],
    "001": [
        f"{section}.{k}"
        for section, last in ((3, 6), (4, 12), (5, 16), (6, 6), (7, 11), (8, 23), (9, 21), (10, 30))
        for k in range(1, last + 1)
    ],
    "002": [f"{k}" for k in range(1, 41)],
    "003": [f"{k}" for k in range(1, 27)],
    "004": [
        *(f"{s}.{k}" for s, last in ((2, 13), (3, 13), (4, 11)) for k in range(1, last + 1)),
        *(f"a.{k}" for k in range(1, 16)),
    ],
}
NAMED = {
    "000": "identity 1, identity 2, identity 3, identity 4, identity 5, identity 6, algorithm 1, algorithm 2, "
    "algorithm 3, algorithm 4, section II, section VII.C, section VII.D, section VIII, section IX, section X.A, "
    "section X.B, section X.C, figure 1, figure 2, figure 3",
    "001": "table 6.1, result 8.1, section 7, section 11, section 12",
    "002": "section 2, section 3, section 4, section 5, section 6, section 7, section 9, section 10, appendix A, "
    "appendix B, "
    + ", ".join([f"figure {k}" for k in range(1, 16)] + [f"table {k}" for k in range(1, 5)]),
    "003": "lemma 1, lemma 2, lemma 3, lemma 4, lemma 5, algorithm FD, section 2, section 5.1, section 5.2, "
    "section 5.3, section 6, appendix, figure 1",
    "004": "section 1, section 2, section 3.3.1, section 3.3.2, section 3.3.3, section 3.4, section 4, appendix A, "
    "lemma 2.1, lemma 3.1, lemma 3.2, lemma 4.1, lemma A.1, lemma A.2, "
    + ", ".join([f"algorithm {k}" for k in range(1, 9)] + [f"figure {k}" for k in range(1, 6)]),
}


@pytest.mark.parametrize("number", NUMBERED)
def test_every_equation_and_every_named_place_has_a_line(number):
    there = {place for line in papers()[number].lines for place in line.places}
    wanted = {*NUMBERED[number], *places_in(NAMED[number])}
    assert wanted <= there, sorted(wanted - there)


@pytest.mark.parametrize("line", LINES, ids=IDS)
def test_the_call_of_a_line_exists_and_is_documented(line):
    found = resolve(line.call)
    assert (ROOT / file_of(line.call)).exists()
    assert (found.__doc__ or "").strip()


@pytest.mark.parametrize("line", LINES, ids=IDS)
def test_the_test_of_a_line_exists_and_is_named_after_its_equation(line):
    path, function, parameter = _parts(line.test)
    functions, texts = _contents(path)
    assert function in functions, f"{path} has no {function}"
    assert parameter is None or parameter in texts, f"{path} has no parameter {parameter!r}"
    named = f"{function} {parameter or ''}"
    told = {_spelling(place) for place in line.places}
    assert any(
        re.search(rf"(?<!\d){re.escape(place)}(?!\d)", _spelling(named)) for place in told
    ), f"{function} names none of {line.at}"


@pytest.mark.parametrize("line", LINES, ids=IDS)
def test_the_code_of_a_line_runs(line):
    assert run_line(line) is not None


@pytest.mark.parametrize(("number", "erratum"), ERRATA, ids=[f"{n} {e.at}" for n, e in ERRATA])
def test_the_test_of_an_erratum_exists_and_names_its_paper(number, erratum):
    path, function, _ = _parts(erratum.test)
    assert function in _contents(path)[0], f"{path} has no {function}"
    assert number in function


def test_documents_are_made_from_the_data():
    page = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    theory = (ROOT / "docs" / "theory.md").read_text(encoding="utf-8")
    assert page == papers_page(), "run python docs/generate.py"
    assert errata_table() in theory, "run python docs/generate.py"


@pytest.mark.parametrize(
    ("number", "text", "place"),
    [
        ("002", "fig8", "figure 8"),
        ("002", "Fig. 8", "figure 8"),
        ("000", "(22)", "22"),
        ("000", "VII.D", "section vii.d"),
        ("004", "2.12a", "2.12"),
        ("004", "A.3", "a.3"),
        ("000", "algorithm1", "algorithm 1"),
        ("001", "eq 10.4", "10.4"),
        ("000", "(10)-(12)", "11"),
        ("002", "figure 8, (21)", "21"),
    ],
)
def test_a_place_is_found_however_it_is_spelt(number, text, place):
    assert all(place in line.places for line in find(number, text))
    assert normal("Figure 8") == "figure 8"


def test_what_is_not_in_a_paper_is_refused_with_what_is():
    with pytest.raises(ConfigurationError, match="figure 8"):
        find("002", "fig99")
    with pytest.raises(ConfigurationError, match="000, 001"):
        find("005", "1")
    with pytest.raises(ConfigurationError, match="no such module"):
        resolve("nowhere.at_all")
    with pytest.raises(ConfigurationError, match="has no nothing"):
        resolve("opspace_ctrl.osim.nothing")


def test_the_command_lists_shows_and_runs(capsys):
    assert main(["papers", "002"]) == 0
    out = capsys.readouterr().out
    assert "figure 14" in out and "10.1177/0278364909357644" in out
    assert main(["papers", "002", "fig8"]) == 0
    out = capsys.readouterr().out
    assert "def y_ltl(" in out and "array(" in out and "test_002_figure_8_21" in out
    assert main(["papers", "000", "algorithm", "1", "--robot", "free_flyer"]) == 0
    assert "on free_flyer" in capsys.readouterr().out
    assert main(["papers", "003", "--errata"]) == 0
    assert "correct" in capsys.readouterr().out
    assert main(["papers", "002", "fig99"]) == 2
    assert "fig99" in capsys.readouterr().err


def test_lines_are_frozen_and_whole():
    for line in LINES:
        assert isinstance(line, Line) and line.says and line.code.strip()
        with pytest.raises(AttributeError):
            line.says = ""


def _parts(test: str) -> tuple[str, str, str | None]:
    path, function = test.split("::")
    name, _, parameter = function.partition("[")
    return path, name, parameter.removesuffix("]") or None


@cache
def _contents(path: str) -> tuple[frozenset[str], frozenset[str]]:
    tree = ast.parse((Path(ROOT) / path).read_text(encoding="utf-8"))
    functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    texts = {
        n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)
    }
    return frozenset(functions), frozenset(texts)


def _spelling(text: str) -> str:
    """Words and numbers with single underscores: "section VII.D" and "test_000_VII_D" have vii_d in common."""
    words = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
    return words.removeprefix("section_")
