# SPDX-License-Identifier: Apache-2.0
"""docs/safety.md promises nothing without a test: each row of its tables names one that exists, each gate has a row."""

import ast
import re
from pathlib import Path

import pytest

from opspace_ctrl.control.safety.settings import GATES

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "safety.md").read_text()
ROWS = [line for line in TEXT.splitlines() if re.match(r"\| (?!promise|gate )[^-|]", line)]


def named_tests(row):
    return re.findall(r"`(test/[\w/]+\.py)::(\w+)`", row)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[2:42].strip())
def test_every_promise_names_a_test_that_exists(row):
    found = named_tests(row.rsplit("|", 2)[1])
    assert found, "this promise has no test"
    for path, name in found:
        tree = ast.parse((ROOT / path).read_text())
        assert name in {each.name for each in tree.body if isinstance(each, ast.FunctionDef)}


def test_every_gate_has_a_row():
    gates = [re.findall(r"`(\w+)`", row.split("|")[1]) for row in ROWS]
    named = {name for names in gates for name in names}
    assert named >= set(GATES) and len(ROWS) > 30
