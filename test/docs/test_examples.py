"""The examples run, and do what they say."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_two_arms_of_the_free_flyer_move_a_beam():
    """003 5.3 on a floating base: the beam arrives, the loops stay closed, nothing pushes the whole."""
    outcome = runpy.run_path(str(EXAMPLES / "two_arms_one_beam.py"))["run"]()
    assert outcome.error < 1e-4
    assert outcome.opening < 1e-6
    assert outcome.momentum < 1e-6
    assert 1e-3 < outcome.bus < 0.1  # the bus is free, and heavy
    assert 0.1 < outcome.squeeze < 20.0


PAPERS = sorted((EXAMPLES / "papers").glob("*.py"))


@pytest.mark.parametrize("path", PAPERS, ids=[path.stem for path in PAPERS])
def test_an_example_of_the_papers_runs_and_its_own_assertions_hold(path, capsys):
    runpy.run_path(str(path))
    assert capsys.readouterr().out.count("\n") >= 2
    assert 20 <= len(path.read_text(encoding="utf-8").splitlines()) <= 60
    assert "assert " in path.read_text(encoding="utf-8")


def test_there_are_ten_ideas():
    assert [path.name[:2] for path in PAPERS] == [f"{k:02}" for k in range(1, 11)]
