# SPDX-License-Identifier: Apache-2.0
"""The tutorial on spatial operators runs as it stands, and prints what it says."""

import re
from pathlib import Path

from opspace_ctrl.algebra.operators.inverses import KNOWN
from opspace_ctrl.algebra.operators.symbols import SYMBOLS

TEXT = (Path(__file__).parents[2] / "docs" / "operators.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def test_blocks_run_in_order_and_print_the_text_below_them(capsys):
    namespace = {"__name__": "tutorial"}
    printed = ""
    for language, block in BLOCKS:
        if language == "python":
            assert printed == "", f"not shown: {printed}"
            exec(compile(block, "operators.md", "exec"), namespace)
            printed = capsys.readouterr().out
        else:
            assert language == "text"
            assert block == printed
            printed = ""
    assert printed == ""
    assert sum(language == "python" for language, _ in BLOCKS) > 8


def test_every_operator_is_in_the_table():
    table = TEXT[TEXT.index("## The operators") :]
    for name in SYMBOLS:
        assert re.search(rf"^\|.*`{name}`", table, re.MULTILINE), name


def test_the_table_of_inverses_names_what_the_program_knows():
    table = TEXT[TEXT.index("| expression | inverse |") :]
    rows = [re.findall("`(.*?)`", row) for row in re.findall(r"^\|.*`.*\|$", table, re.MULTILINE)]
    pairs = {pair for row in rows for pair in zip(row, row[len(row) // 2 :])}
    assert {(text, inverse) for text, inverse, _ in KNOWN} <= pairs
