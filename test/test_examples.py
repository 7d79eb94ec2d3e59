"""The examples and the code in the documentation run, and do what they say."""
import re
import runpy
from pathlib import Path

import pytest

EXAMPLES, DOCS = (Path(__file__).parents[1] / folder for folder in ("examples", "docs"))


def test_two_arms_of_the_free_flyer_move_a_beam():
    """003 5.3 on a floating base: the beam arrives, the loops stay closed, nothing pushes the whole."""
    outcome = runpy.run_path(str(EXAMPLES / "two_arms_one_beam.py"))["run"]()
    assert outcome.error < 1e-4
    assert outcome.opening < 1e-6
    assert outcome.momentum < 1e-6
    assert 1e-3 < outcome.bus < 0.1  # the bus is free, and heavy
    assert 0.1 < outcome.squeeze < 20.0


@pytest.mark.parametrize("page", ["recursions.md"])
def test_the_code_of_a_page_of_docs_runs_as_it_stands(page):
    blocks = re.findall(r"^```python\n(.*?)^```$", (DOCS / page).read_text(), re.MULTILINE | re.DOTALL)
    assert blocks
    names = {}
    for block in blocks:  # in order: a page is one program
        exec(compile(block, page, "exec"), names)
