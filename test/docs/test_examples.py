# SPDX-License-Identifier: Apache-2.0
"""The examples run, and do what they say."""

import runpy
from pathlib import Path

import pytest
from helpers.documents import blocks

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_two_arms_of_the_free_flyer_move_a_beam():
    """003 5.3 on a floating base: the beam arrives, the loops stay closed, nothing pushes the whole."""
    outcome = runpy.run_path(str(EXAMPLES / "two_arms_one_beam.py"))["run"]()
    assert outcome.error < 1e-4
    assert outcome.opening < 1e-6
    assert outcome.momentum < 1e-6
    assert 1e-3 < outcome.bus < 0.1  # the bus is free, and heavy
    assert 0.1 < outcome.squeeze < 20.0


@pytest.mark.parametrize("name", ["free_flyer", "asimo"])
def test_003_section_6_two_arms_move_a_beam_and_squeeze_it_with_20_newtons_in_closed_loop(name):
    """The force is what the simulated closures exert on the hands; gravity, friction and a wrong mass disturb."""
    outcome = runpy.run_path(str(EXAMPLES / "squeeze_a_beam.py"))["main"](name)
    assert outcome.error < 5e-3 and outcome.moved > 0.06
    assert abs(outcome.squeeze - 20.0) < 0.2 and outcome.worst < 1.0


PAPERS = sorted((EXAMPLES / "papers").glob("*.py"))


@pytest.mark.parametrize("path", PAPERS, ids=[path.stem for path in PAPERS])
def test_an_example_of_the_papers_runs_and_its_own_assertions_hold(path, capsys):
    runpy.run_path(str(path))
    assert capsys.readouterr().out.count("\n") >= 2
    assert 20 <= len(path.read_text(encoding="utf-8").splitlines()) <= 60
    assert "assert " in path.read_text(encoding="utf-8")


def test_there_are_ten_ideas():
    assert [path.name[:2] for path in PAPERS] == [f"{k:02}" for k in range(1, 11)]


def run(name, *arguments):
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))["main"](*arguments)


# {example: what must hold of what it returns}
HOLDS = {
    "balance_a_humanoid": lambda found: found[0] < 5e-3 and found[1] > 0.3,
    "carry_a_payload": lambda found: found[0] > 5e-3 > 1e-4 > abs(found[1]),
    "change_tasks_while_moving": lambda found: found[1] < 1.0,  # the rate limit's step
    "find_a_wrong_mass": lambda found: "joint5" in found[0].subject and "9.9 kg" in found[0].text,
    "float_in_gravity": lambda found: found[0] > 0.1 and found[1] < 1e-6,
    "joint_limits_hold": lambda found: 0.04 < found < 0.1,
    "methods_agree": lambda found: len(found) == 8 and max(found.values()) < 1e-10,
    "move_the_elbow": lambda found: found[0] > 0.3 and found[1] < 1e-3,
    "my_own_robot": lambda found: found.is_good,
    "press_with_20_newton": lambda found: abs(found - 20.0) < 1.5,
    "your_own_law": lambda found: found < 1e-3,
}
# those that also draw
PICTURES = {
    "delay_and_stiffness": lambda found: found[800.0] < 1e-4 and found[40000.0] > 1e-2,
    "draw_a_circle": lambda found: found < 2e-3,
    "hold_while_pushed": lambda found: found[1000.0] < 0.03 < 0.05 < found[200.0],
    "through_a_singularity": lambda found: found[0] < 1.0 and found[1] < 3.0,
}
LIVE = {"ros_send_a_target"}  # test/live/test_examples.py
SHORTEST, LONGEST = 15, 60  # lines
LONG = {"two_arms_one_beam", "squeeze_a_beam"}  # those that build a scene of their own


@pytest.mark.parametrize("name", HOLDS)
def test_an_example_does_what_it_says(name, capsys):
    found = run(name)
    assert HOLDS[name](found), found
    assert capsys.readouterr().out


@pytest.mark.parametrize("name", PICTURES)
def test_an_example_draws_its_picture(name, tmp_path):
    found = run(name, str(tmp_path / "picture.png"))
    assert PICTURES[name](found), found
    assert (tmp_path / "picture.png").stat().st_size > 5000


def test_every_example_is_run_and_short():
    scripts = {path.stem: path for path in EXAMPLES.glob("*.py")}
    assert set(scripts) == {*HOLDS, *PICTURES, *LIVE, *LONG}
    for name, path in scripts.items():
        lines = len(path.read_text().splitlines())
        assert name in LONG or SHORTEST <= lines <= LONGEST, (name, lines)
    without_ros = [name for name, path in scripts.items() if "rclpy" not in path.read_text()]
    assert len(scripts) >= 15 and len(without_ros) >= len(scripts) / 2


SHOWN = [block for block in blocks("console") if "$ python examples/" in block.text]


@pytest.mark.parametrize("block", SHOWN, ids=str)
def test_what_documents_show_of_an_example_is_what_it_prints(block, capsys, tmp_path):
    command, *shown = block.text.splitlines()
    name, *picture = command.removeprefix("$ python examples/").split()
    run(name.removesuffix(".py"), *(str(tmp_path / each) for each in picture))
    assert capsys.readouterr().out.splitlines()[: len(shown)] == shown
