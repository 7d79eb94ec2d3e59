# SPDX-License-Identifier: Apache-2.0
"""Recorded runs: what is shown of them, how the timeline goes, and what is taken away."""

from __future__ import annotations

import base64
import csv
import io
import re

import numpy as np
import pytest

from opspace_ctrl import PoseTask, Simulator, frame_pose, load_robot
from opspace_ctrl.control.settings import ControllerSettings
from opspace_ctrl.errors import LogError, ViewError
from opspace_ctrl.sim.plant.plant import Plant
from opspace_ctrl.sim.record.bag import write_bag
from opspace_ctrl.sim.record.log import read_log
from opspace_ctrl.view.plots import rows_as_csv, torque_bars
from opspace_ctrl.view.recorded import recorded_subject
from opspace_ctrl.view.recording import read_recording
from opspace_ctrl.view.replay import Replay
from opspace_ctrl.view.rows import row_type

NONE = ControllerSettings()


def record(robot, folder, steps=400):
    """A run in which the drives do nothing; the states that the simulator had."""
    simulator = Simulator(robot)
    plant = Plant(simulator, log_folder=folder, timeout_action="zero")
    seen = []
    for _ in range(steps):
        plant.measure()
        seen.append((simulator.time, simulator.q.copy()))
        plant.command(np.zeros(len(simulator.model.effort_limits)))
        plant.step()
    plant.measure()
    plant.close()
    return seen


@pytest.fixture(scope="module", params=["arm7", "free_flyer"])
def run(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    seen = record(request.param, folder / "log")
    write_bag(read_log(folder / "log"), folder / "run.mcap")
    return request.param, folder, seen


@pytest.mark.parametrize("kind", ["folder", "mcap"])
def test_a_run_is_shown_as_it_was(run, kind):
    robot, folder, seen = run
    path = folder if kind == "folder" else folder / "run.mcap"
    model, rows = read_recording(path, robot, NONE)
    assert model.name == load_robot(robot).name and len(rows) > 50
    times = np.array([time for time, _ in seen])
    for row in rows[:-1]:
        (number,) = np.flatnonzero(np.abs(times - row["time"]) < 1e-6)
        np.testing.assert_allclose(row["q"], seen[number][1], atol=1e-9)


def test_tasks_of_a_parameter_file_are_followed(run):
    robot, folder, _ = run
    if robot == "arm7":
        subject, title = recorded_subject(folder / "run.mcap", robot, None)
        row = subject.ring.rows[-1]
        place = frame_pose(subject.model, row["q"], "tool")[0]
        np.testing.assert_allclose(row["pose"][0][9:], place)
        assert "run.mcap" in title and subject.ask is None


def test_a_folder_of_hil_knows_its_robot(run):
    robot, folder, _ = run
    model, _ = read_recording(folder, None, NONE)
    assert model.name == load_robot(robot).name


def test_what_is_no_run_is_refused_by_name(run, tmp_path):
    robot, folder, _ = run
    for content in (b"nothing of the kind", b"short", b""):
        (tmp_path / "broken.mcap").write_bytes(content)
        with pytest.raises(ViewError, match="broken.mcap"):
            read_recording(tmp_path / "broken.mcap", "arm7", NONE)
    with pytest.raises(ViewError, match="no run.*lost.mcap"):
        read_recording(tmp_path / "lost.mcap", "arm7", NONE)
    with pytest.raises(LogError, match="no log"):
        read_recording(tmp_path, "arm7", NONE)
    with pytest.raises(ViewError, match="joint_states lack"):
        read_recording(folder / "run.mcap", "asimo", NONE)
    with pytest.raises(ViewError, match="name it"):
        read_recording(folder / "run.mcap", None, NONE)


def some_rows(seconds=2.0):
    model, settings = load_robot("arm7"), ControllerSettings(tasks=[PoseTask("tool")])
    rows = np.zeros(round(seconds * 100) + 1, row_type(model, settings))
    rows["time"] = 5.0 + np.arange(len(rows)) / 100.0
    rows["q"][:, 0] = 0.2 * np.sin(rows["time"])
    return model, settings, rows


def test_a_replay_goes_where_it_is_put_and_stands_there():
    _, _, rows = some_rows()
    replay = Replay(rows)
    replay.is_playing = False
    for at, number in ((0.0, 0), (1.234, 123), (2.0, 200), (0.5, 50)):
        replay.at = at
        count, shown = replay.since(7)
        assert count == number and replay.latest()["time"] == rows["time"][number]
        assert shown["time"][-1] == rows["time"][number]


def test_a_replay_plays_to_its_end_without_leaving_out_a_row():
    _, _, rows = some_rows(0.3)
    replay, count, seen = Replay(rows), 0, []
    replay.speed = 50.0
    while replay.at < replay.length:
        before, (count, shown) = count, replay.since(count)
        seen += shown["time"].tolist()
        assert count >= before
    assert sorted(set(seen)) == rows["time"].tolist()


def test_a_table_holds_what_the_rows_hold():
    model, settings, rows = some_rows()
    read = list(csv.DictReader(io.StringIO(rows_as_csv(rows, model, settings))))
    assert len(read) == len(rows)
    np.testing.assert_array_equal([float(each["q0"]) for each in read], rows["q"][:, 0])
    assert {"effort.joint1", "tool.error.rz", "tool.position.x"} <= set(read[0])


def test_torque_bars_are_as_long_as_torques_are_large():
    level = np.array([[30.0, -10.0], [20.0, 0.0], [0.0, -40.0]])
    limits = np.array([100.0, 100.0])
    picture = torque_bars(
        ["a", "<b>"], ["bias", "tool", "posture"], level, level.sum(axis=0), limits
    )
    widths = [float(each) for each in re.findall(r'width="([\d.]+)" height="9"', picture)]
    np.testing.assert_allclose(sorted(widths), [9.0, 18.0, 27.0, 36.0])  # 90 pixels are 100 %
    assert "&lt;b&gt;" in picture and "<b>" not in picture


def test_a_run_is_one_page_that_needs_nobody():
    import msgspec
    import zstandard

    from opspace_ctrl.view.shapes import robot_shapes
    from opspace_ctrl.view.share import FRAMES, as_html

    model, settings, rows = some_rows()
    page = as_html(model, settings, robot_shapes(model), rows)
    data = base64.b64decode(re.search(r'__VISER_EMBED_DATA__="([^"]+)"', page)[1])
    inner = zstandard.ZstdDecompressor().decompress(data[8:], max_output_size=10**9)
    size = int.from_bytes(inner[:8], "little")
    told = msgspec.msgpack.decode(inner[8 : 8 + size])
    assert told["durationSeconds"] == pytest.approx(2.0, abs=1.5 / FRAMES)
    moved = [
        time for time, message in told["messages"] if message["type"] == "SetOrientationMessage"
    ]
    assert max(moved) > 1.8
    assert not re.search(r'(?:src|href)="https?://', page)
