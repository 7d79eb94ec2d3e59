# SPDX-License-Identifier: Apache-2.0
"""What only README and docs/install.md claim: lines that install it, and the speed. test_docs.py runs their blocks."""

import ast
import re
import shlex

import numpy as np
import pytest
from helpers.documents import ROOT, blocks, commands

from opspace_ctrl.cli import main

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
INSTALL = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
INSTALLED = [
    line
    for block in blocks("sh", document="docs/install.md")
    for line in commands(block.text)
    if line.startswith("env/bin/opspace ")
]


def test_the_readme_is_two_screens_at_most_and_begins_with_a_picture_and_three_commands():
    assert len(TEXT.splitlines()) <= 80
    (first, *_) = blocks("sh", document="README.md")
    assert len(commands(first.text)) == 3
    assert TEXT.index("![") < TEXT.index(first.text) < TEXT.index("\n## ")


@pytest.mark.parametrize("line", INSTALLED)
def test_commands_of_an_installed_package_run(line):
    assert main(shlex.split(line)[1:]) == 0


def test_the_table_of_extras_is_complete():
    call = ast.parse((ROOT / "setup.py").read_text()).body[-1].value  # setup(...)
    (extras,) = [each.value for each in call.keywords if each.arg == "extras_require"]
    extras_table = re.search(r"^\| extra \|.*?\n\n", INSTALL, re.MULTILINE | re.DOTALL)[0]
    rows = re.findall(r"^\| (`.*?`) \|", extras_table, re.MULTILINE)
    named = {extra for row in rows for extra in re.findall(r"`([\w-]+)`", row)}
    assert named == {key.value for key in extras.keys}


def test_the_speed_quoted_is_the_speed_measured():
    measured = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    tick = measured[measured.index("|**tick:") :]
    tick = tick[
        : tick.index("|**", 4)
    ]  # the group after it times other things under the same names
    rows = {
        line.split("|")[1].strip(): [
            float(cell.split()[0]) for cell in line.split("|")[2:4] if cell.strip()
        ]
        for line in tick.splitlines()[1:]
    }
    quoted = re.search(
        r"([\d.]+) us on a Panda arm \(Pinocchio ([\d.]+), MuJoCo ([\d.]+)\)\s+and ([\d.]+) us on a "
        r"Unitree G1.*?\(([\d.]+) and ([\d.]+)\)",
        TEXT,
        re.DOTALL,
    ).groups()
    names = ("sparse_ltdl", "Pinocchio best", "MuJoCo")
    for place, (name, robot) in enumerate((name, robot) for robot in (0, 1) for name in names):
        assert float(quoted[place]) == pytest.approx(rows[name][robot], rel=0.05), (name, robot)


def test_the_first_program_ends_as_near_its_target_as_it_says():
    programs = [block.text for block in blocks("python", document="README.md")]
    names: dict = {}
    exec(next(text for text in programs if 'PoseTask("tool"' in text), names)
    error = names["controller"].error("tool")
    assert np.linalg.norm(error[:3]) < 1e-4 and np.linalg.norm(error[3:]) < np.radians(0.2)
