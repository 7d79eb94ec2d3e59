# SPDX-License-Identifier: Apache-2.0
"""What README.md, CONTRIBUTING.md and docs/ show is run or checked: code, commands, parameter files, links."""

from __future__ import annotations

import re
import shlex

import pytest
import yaml
from helpers.documents import DOCUMENTS, ROOT, blocks, commands, links

from opspace_ctrl.cli import main

SHELL = [(block, line) for block in blocks("sh") for line in commands(block.text)]
CONSOLE = [(block, line) for block in blocks("console") for line in commands(block.text)]
OPSPACE = sorted({line for _, line in SHELL if line.split()[0] == "opspace"})
# Run elsewhere: the demo by its own test, the long benchmark by hand, what needs two processes by the live tests.
ELSEWHERE = ("opspace bench", "opspace demo", "opspace hil")
PYTHON_DOCUMENTS = sorted({block.document for block in blocks("python")} - {"docs/operators.md"})


@pytest.fixture
def sandbox(tmp_path, monkeypatch):
    """A folder where a block may write, with the repository's data and the files that the documents show beside it."""
    for name in ("urdf", "config"):
        (tmp_path / name).symlink_to(ROOT / name)
    for block in blocks("yaml"):
        if named := re.match(r"# (\w+\.yaml)\n", block.text):
            (tmp_path / named[1]).write_text(block.text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("document", PYTHON_DOCUMENTS)
def test_the_python_blocks_run_one_after_the_other(document, sandbox):
    namespace: dict = {"__name__": "document"}
    for block in blocks("python", document=document):
        exec(compile(block.text, str(block), "exec"), namespace)


@pytest.mark.parametrize("line", [line for line in OPSPACE if not line.startswith(ELSEWHERE)])
def test_opspace_lines_run(line, sandbox):
    assert main(shlex.split(line)[1:]) == 0


@pytest.mark.parametrize("line", [line for line in OPSPACE if line.startswith(ELSEWHERE)])
def test_opspace_lines_that_run_elsewhere_are_understood(line, capsys):
    from opspace_ctrl.cli import _parser

    assert _parser().parse_args(shlex.split(line)[1:]).run


def test_the_first_parameter_file_shown_passes_the_check_without_a_doubt(sandbox, capsys):
    (line,) = [
        line
        for block in blocks("sh", document="docs/getting_started.md")
        for line in commands(block.text)
        if line.startswith("opspace check")
    ]
    assert "my_robot.yaml" in line and main(shlex.split(line)[1:]) == 0
    assert "good, 0 warnings" in capsys.readouterr().out


def test_every_block_says_what_it_is():
    assert {block.language for block in blocks()} <= {
        "sh",
        "console",
        "python",
        "toml",
        "yaml",
        "text",
    }
    first_words = {line.split()[0] for _, line in SHELL}
    assert first_words <= {"make", "opspace", "pip", "python3", "env/bin/pip", "env/bin/opspace"}


def test_make_targets_and_extras_exist():
    makefile, setup = (ROOT / "Makefile").read_text(), (ROOT / "setup.py").read_text()
    for _, line in SHELL + CONSOLE:
        words = shlex.split(line)
        if words[0] == "make":
            targets = [word for word in words[1:] if "=" not in word]
            assert targets and all(
                re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets
            ), line
        for extras in re.findall(r"'\.\[([\w,-]+)\]'", line):
            assert all(f'"{extra}": ' in setup for extra in extras.split(",")), line


def test_launch_and_run_lines_name_what_the_package_installs():
    from helpers.launch_files import arguments

    setup = (ROOT / "setup.py").read_text()
    launched = 0
    for _, line in CONSOLE:
        words = shlex.split(line)
        if words[:3] == ["ros2", "launch", "opspace_ctrl"]:
            launched += 1
            path = ROOT / "launch" / words[3]
            assert path.exists(), line
            given = {word.split(":=")[0] for word in words[4:] if ":=" in word}
            assert given <= set(arguments(words[3].removesuffix(".launch.py"))), line
        elif words[:3] == ["ros2", "run", "opspace_ctrl"]:
            assert f'"{words[3]}":' in setup, line
    assert launched >= 6


def test_target_poses_shown_are_ones_that_the_controller_takes():
    from opspace_ctrl.control.targets.target import unit_quaternion

    shown = [
        shlex.split(line)[-1]
        for _, line in CONSOLE
        if re.match("ros2 topic pub .*/target_pose ", line)
    ]
    assert shown
    for text in shown:  # what a message leaves out is 0, and 1 for w
        turn = {
            "x": 0.0,
            "y": 0.0,
            "z": 0.0,
            "w": 1.0,
            **yaml.safe_load(text)["pose"]["orientation"],
        }
        unit_quaternion(text, list(turn.values()))


@pytest.mark.parametrize("block", blocks("yaml"), ids=str)
def test_parameter_files_shown_are_valid(block, tmp_path):
    from opspace_ctrl.control.settings import controller_settings
    from opspace_ctrl.nodes.gazebo_table import BRIDGE_TABLE
    from opspace_ctrl.parameter_file import node_parameters
    from opspace_ctrl.parameters import checked
    from opspace_ctrl.sim.settings import SIMULATOR_TABLE

    contents = yaml.safe_load(block.text)
    assert contents
    path = tmp_path / "parameters.yaml"
    path.write_text(block.text)
    nodes = {key.rpartition("/")[2] for key in contents}
    if "opspace_controller" in nodes:
        assert controller_settings(node_parameters(path, "opspace_controller"))
    if "opspace_simulator" in nodes:
        assert checked(SIMULATOR_TABLE, node_parameters(path, "opspace_simulator"))
    if "opspace_gazebo_bridge" in nodes:
        shown = node_parameters(path, "opspace_gazebo_bridge")
        # it says that these are the defaults
        assert shown.items() <= checked(BRIDGE_TABLE, {}).items()


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    missing = [target for target in links(path) if not (path.parent / target).exists()]
    assert missing == []
