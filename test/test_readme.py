"""The README's code blocks run as they stand."""
import re
import shlex
from pathlib import Path

import pytest

from opspace_ctrl.cli import main

ROOT = Path(__file__).parents[1]
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
SHELL = [line for language, block in BLOCKS if language == "sh" for line in block.splitlines()]
COMMANDS = [shlex.split(line)[1:] for line in SHELL if line.startswith("env/bin/opspace ")]


def test_every_block_says_its_language():
    # console: for a machine with ROS 2 from apt
    assert {language for language, _ in BLOCKS} == {"sh", "python", "console"}
    first_words = {line.split()[0] for line in SHELL}
    assert first_words == {"make", "python3", "env/bin/pip", "env/bin/opspace"}


@pytest.mark.parametrize("block", [block for language, block in BLOCKS if language == "python"])
def test_python_block_runs(block):
    exec(compile(block, "README.md", "exec"), {"__name__": "readme"})


@pytest.mark.parametrize("argv", COMMANDS, ids=" ".join)
def test_opspace_command_runs(argv, tmp_path, monkeypatch):
    (tmp_path / "urdf").symlink_to(ROOT / "urdf")
    monkeypatch.chdir(tmp_path)
    assert main(argv) == 0


def test_make_targets_exist():
    makefile = (ROOT / "Makefile").read_text()
    targets = {word for line in SHELL if line.startswith("make ") for word in line.split()[1:]}
    assert targets == {"demo", "test"}
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)


def test_pip_extras_exist():
    install, = (line for line in SHELL if line.startswith("env/bin/pip "))
    setup = (ROOT / "setup.py").read_text()
    extras = re.search(r"\[([\w,-]+)\]", install)[1].split(",")
    extras_table = re.search(r"^\| extra \|.*?\n\n", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)[0]
    table = re.findall(r"^\| (`.*?`) \|", extras_table, re.MULTILINE)
    named = {extra for row in table for extra in re.findall(r"`([\w-]+)`", row)}
    assert set(extras) <= named == set(re.findall(r'^        "([\w-]+)": ', setup, re.MULTILINE))
