# SPDX-License-Identifier: Apache-2.0
"""docs/methods.md says what the methods do, and README no more than it."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[2]
SPEC = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
generate = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(generate)
PAGE = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")


def test_the_feature_matrix_is_what_the_methods_do():
    assert generate.methods_page(PAGE) == PAGE, "run python docs/generate.py"


def test_the_only_refusals_are_fixed_bases_and_mimic_joints_with_others_between():
    rows = [line.split("|")[1:-1] for line in generate.matrix().splitlines()[2:]]
    refused = {
        (row[0].strip(), name): cell.strip()
        for row in rows
        for name, cell in zip(generate.BUILT_IN, row[1:])
        if cell.strip() != "yes"
    }
    fixed = {("a frame, fixed base", "base_invariant"): "a fixed base"}
    between = {
        ("mimic joint with others between", name): "mimic joints with other joints between them"
        for name in ("rjk", "efpa", "pv_osim", "pv_osimr", "base_invariant")
    }
    assert refused == fixed | between
