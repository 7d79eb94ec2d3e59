"""The examples run, and do what they say."""

import runpy
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_two_arms_of_the_free_flyer_move_a_beam():
    """003 5.3 on a floating base: the beam arrives, the loops stay closed, nothing pushes the whole."""
    outcome = runpy.run_path(str(EXAMPLES / "two_arms_one_beam.py"))["run"]()
    assert outcome.error < 1e-4
    assert outcome.opening < 1e-6
    assert outcome.momentum < 1e-6
    assert 1e-3 < outcome.bus < 0.1  # the bus is free, and heavy
    assert 0.1 < outcome.squeeze < 20.0
