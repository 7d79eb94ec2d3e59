# SPDX-License-Identifier: Apache-2.0
"""Files of the black box: what is in them, how many there are, and what happens where none can be written."""

import errno
import time

import numpy as np
import pytest
from helpers.closed_loop import ARM_START
from helpers.gate_cases import Controlled

from opspace_ctrl import load_robot
from opspace_ctrl.cli import main
from opspace_ctrl.nodes import black_box
from opspace_ctrl.nodes.black_box import FILES, KEPT, BlackBox

PATIENCE = 3600.0  # [s]


def wait_for(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


@pytest.fixture
def robot():
    robot = Controlled(load_robot("arm7"), tasks=["hand"], **{"hand.frame": "tool"})
    robot.q = ARM_START.copy()
    robot.activate()
    return robot


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(black_box, "AFTERMATH", 0.0)


def run(robot, box, count):
    for _ in range(count):
        robot.message()
        box.note(robot.now)


def files(folder):
    return sorted(folder.glob("*.npz"))


def test_a_file_holds_the_last_five_seconds_and_the_command_can_draw_it(
    robot, quick, tmp_path, capsys
):
    """More than the ring holds: what came last is there, in order, row by row as it was sent."""
    box = BlackBox(robot.guarded, tmp_path / "kept")
    run(robot, box, KEPT + 500)
    robot.gate.stop()
    run(robot, box, 100)
    box.keep("stop")
    box.close()
    (path,) = files(tmp_path / "kept")
    with np.load(path) as kept:
        sent = np.array([tau for _, tau in robot.commands])
        arrival = kept["arrival"]
        assert len(arrival) == 5001 and arrival[-1] == robot.now
        assert (np.diff(arrival) == robot.step).all()
        assert (kept["command"] == sent[-5001:]).all()
        assert (kept["q"] == ARM_START).all() and np.isfinite(kept["target"]).all()
        assert kept["is_ticking"].sum() == 4901 and not kept["is_ticking"][-100:].any()
        assert str(kept["why"]) == "stop" and str(kept["robot"]) == "arm7"
    picture = tmp_path / "picture.png"
    assert main(["blackbox", str(path), "--plot", str(picture)]) == 0
    assert "closed: stop" in capsys.readouterr().out and picture.stat().st_size > 1000


def test_files_are_bounded_in_number_and_size_and_those_of_others_stay(
    robot, quick, monkeypatch, tmp_path
):
    monkeypatch.setattr(black_box, "SECONDS", 0.05)
    others = [tmp_path / "notes.npz", tmp_path / "black_box-mine.npz"]
    for path in others:
        path.write_text("mine")
    box = BlackBox(robot.guarded, tmp_path)
    for count in range(1, FILES + 6):
        run(robot, box, 60)
        box.keep("state")
        wait_for(lambda count=count: box.files == count)
    box.close()
    ours = [path for path in files(tmp_path) if path not in others]
    assert len(ours) == FILES and all(path.read_text() == "mine" for path in others)
    row = box._ring.itemsize * (box._ring.shape[1] + box._numbers.shape[1])
    assert max(path.stat().st_size for path in ours) < 100 * row + 10_000
    assert not list(tmp_path.glob("*.part"))


def test_events_within_the_seconds_of_a_file_share_the_next_one(
    robot, quick, monkeypatch, tmp_path
):
    """A gate that flaps makes a file for all of it, not one for each time."""
    monkeypatch.setattr(black_box, "SECONDS", 1e6)  # however slow the machine is
    box = BlackBox(robot.guarded, tmp_path)
    run(robot, box, 10)
    box.keep("finite")
    wait_for(lambda: box.files == 1)
    for _ in range(100):
        run(robot, box, 10)
        box.keep("state")
    box.keep("stop state")
    box.close()  # what waits is written
    assert box.files == 2 == len(files(tmp_path))
    with np.load(files(tmp_path)[-1]) as kept:
        assert len(kept["arrival"]) == 1010 and str(kept["why"]) == "state stop"


def test_where_nothing_can_be_written_the_trouble_is_told_and_nothing_is_left(
    robot, quick, monkeypatch, tmp_path
):
    monkeypatch.setattr(black_box, "SECONDS", 0.0)

    def full(file, **values):
        file.write(b"some")
        raise OSError(errno.ENOSPC, "No space left on device")

    box = BlackBox(robot.guarded, tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(np, "savez_compressed", full)
        run(robot, box, 10)
        box.keep("state")
        wait_for(lambda: box.trouble)
    assert "No space left" in box.trouble and not list(tmp_path.iterdir())
    box.keep("state")
    wait_for(lambda: box.files == 1)
    box.close()
    assert box.trouble == "" and len(files(tmp_path)) == 1


def test_before_the_first_command_there_is_an_empty_box_and_the_command_says_so(
    robot, quick, tmp_path, capsys
):
    box = BlackBox(robot.guarded, tmp_path)
    box.keep("first")
    box.close()
    (path,) = files(tmp_path)
    assert main(["blackbox", str(path)]) != 0
    assert "it holds no commands" in capsys.readouterr().err
