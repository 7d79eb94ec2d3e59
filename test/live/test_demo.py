# SPDX-License-Identifier: Apache-2.0
"""The demo: what it follows, what it measures, and that it runs in one process and as a ROS graph."""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from helpers.compiled_nodes import compile_controller
from helpers.ros import COMPILING, PATIENCE
from helpers.support import urdf_path

from opspace_ctrl import load_robot
from opspace_ctrl.cli import _parser, main
from opspace_ctrl.commands._demo import direct
from opspace_ctrl.commands._demo.own import scenario_of
from opspace_ctrl.commands._demo.scenario import SCENARIOS, waypoints
from opspace_ctrl.commands._interrupt import Interruption
from opspace_ctrl.commands._processes import Processes
from opspace_ctrl.data import shipped_path
from opspace_ctrl.model.source import robot_text
from opspace_ctrl.osim import methods


@pytest.mark.parametrize("robot", SCENARIOS)
def test_the_figure_starts_and_ends_at_rest_and_its_velocity_is_its_derivative(robot):
    times, positions, velocities = waypoints(SCENARIOS[robot], np.array([1.0, 2.0, 3.0]))
    assert np.allclose(positions[-1], [1.0, 2.0, 3.0]) and np.allclose(
        velocities[-1], 0.0, atol=1e-3
    )
    by_difference = np.gradient(positions, times, axis=0)[1:-1]
    assert np.abs(velocities[1:-1] - by_difference).max() < 0.01 * np.abs(velocities).max()
    assert np.abs(positions - positions[-1]).max() > 0.9 * max(SCENARIOS[robot].size)


@pytest.mark.parametrize("robot", SCENARIOS)
def test_the_robot_carries_the_methods_it_shows(robot):
    assert set(SCENARIOS[robot].methods) <= set(methods(load_robot(robot)))


@pytest.fixture(scope="module", params=SCENARIOS)
def record(request):
    """A run in one process."""
    shown = []
    with Interruption() as stop:
        record = direct.follow(SCENARIOS[request.param], shown.append, stop)
    assert len(shown) > 10
    return record


def test_the_tool_tracks_with_every_method_and_comes_back_after_the_push(record):
    scenario = record.scenario
    assert record.time[0] == pytest.approx(0.0, abs=1e-9)
    assert record.time[-1] == pytest.approx(scenario.seconds, abs=2e-3)
    assert len(record.time) in (round(scenario.seconds / 1e-3) + k for k in (0, 1))
    *laps, pushed = (record.lap(k) for k in range(len(scenario.methods) + 1))
    assert max(lap.error.max() for lap in laps) < 10.0
    assert 1.1 * max(lap.error.max() for lap in laps) < pushed.error.max() < 100.0
    assert pushed.error[-1] < 10.0
    assert np.abs(record.share).max() <= 1.0


def test_every_method_follows_the_same_path_alike_and_takes_over_without_a_step(record):
    scenario = record.scenario
    laps = [record.lap(k) for k in range(len(scenario.methods))]
    for lap in laps[1:]:
        n = min(len(lap.time), len(laps[0].time))
        assert np.allclose(lap.target[:n], laps[0].target[:n], atol=1e-9)
    worst = [lap.error.max() for lap in laps]
    assert max(worst) < 1.02 * min(worst)
    assert len(record.residuals) == len(scenario.methods) - 1 and max(record.residuals) < 1e-9


def test_a_run_without_ros_prints_a_summary_and_draws(tmp_path, capsys):
    assert main(["demo", "--no-ros", "--plot", str(tmp_path / "demo.png")]) == 0
    printed = capsys.readouterr().out
    assert (
        "without ROS" in printed
        and "command changed by the switch" in printed
        and "next:" in printed
    )
    offered = [
        shlex.split(line)
        for line in printed[printed.index("next:") :].splitlines()
        if "opspace " in line
    ]
    assert [words[1] for words in offered] == ["demo", "demo", "bench", "hil"]
    for words in offered:
        args = _parser().parse_args(words[1:])
        assert args.run
    controller = shlex.split(args.controller)  # of the last, which starts one
    assert Path(controller[controller.index("--params-file") + 1]).is_file()
    assert (tmp_path / "demo.png").stat().st_size > 50_000


def test_a_robot_that_does_not_follow_is_told_and_returns_1(tmp_path, capsys):
    """Its drives may give a tenth of what holds it up."""
    text = shipped_path("config", "arm7.yaml").read_text()
    weak = tmp_path / "weak.yaml"
    weak.write_text(
        text.replace("  ros__parameters:\n", "  ros__parameters:\n    effort_scale: 0.02\n", 1)
    )
    assert main(["demo", "arm7", str(weak), "--no-ros"]) == 1
    assert (
        "arm7 did not follow the figure. What the nodes said:\n  nothing" in capsys.readouterr().out
    )


def test_a_robot_that_only_stands_moves_its_centre_of_mass(tmp_path, capsys):
    """What `opspace init` says comes next works for a quadruped, too."""
    urdf = str(urdf_path("go2"))
    main(["init", urdf, "--base", "floating", "--no-trial", "--out", str(tmp_path / "go2")])
    assert main(["demo", urdf, str(tmp_path / "go2" / "go2.yaml"), "--no-ros"]) == 0
    printed = capsys.readouterr().out
    assert "the centre of mass of go2_description follows a figure of eight" in printed
    errors = [float(each) for each in re.findall(r"│ +([\d.]+) mm │ ", printed)]
    assert len(errors) == 4 and 0.0 < max(errors) < 1.0


def test_warnings_of_the_nodes_are_found_in_what_they_printed():
    lines = "[INFO] [1.0] [a]: active", "[WARN] [2.0] [a]: gate stale has closed"
    with Processes() as processes:
        process = processes.start(
            "controller", [sys.executable, "-c", f"print(*{lines}, sep='\\n')"]
        )
        assert process.wait(PATIENCE) == 0
        assert processes.warnings() == [f"controller: {lines[1]}"]


@pytest.mark.parametrize(
    "path, words",
    [
        ("missing/demo.png", "its folder does not exist"),
        (".", "it is a folder"),
        ("demo.docx", "its ending must be one of"),
        ("demo", "its ending must be"),
    ],
)
def test_a_picture_that_could_not_be_written_is_refused_before_anything_moves(
    path, words, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "--no-ros", "--plot", path]) == 2
    out, err = capsys.readouterr()
    assert out == "" and f"cannot write {path!r}: {words}" in err


def test_a_robot_and_a_parameter_file_of_the_users_follow_a_figure_too(tmp_path, capsys):
    robot = tmp_path / "mine.urdf"
    robot.write_text(robot_text("arm7"))
    shown = []
    with Interruption() as stop:
        for config in (None, str(shipped_path("config", "arm7.yaml"))):
            scenario = scenario_of(str(robot), config, tmp_path)
            assert scenario.size[1] > 0.01 and scenario.moved_frame in ("tool", "link7")
            record = direct.follow(scenario, shown.append, stop)
            laps = (record.lap(k) for k in range(len(scenario.methods)))
            assert max(lap.error.max() for lap in laps) < 10.0
    assert main(["demo", str(tmp_path / "none.urdf")]) == 2
    assert "neither a shipped robot" in capsys.readouterr().err
    path = tmp_path / "turn.yaml"
    path.write_text(
        "opspace_controller:\n  ros__parameters:\n    tasks: [tool]\n    tool: {rows: orientation}\n"
        "opspace_simulator:\n  ros__parameters: {step: 0.001}\n"
    )
    assert main(["demo", "arm7", str(path)]) == 2
    assert "no task with rows pose, position or com" in capsys.readouterr().err


def demo(tmp_path, *arguments: str) -> subprocess.Popen:
    """The demo as a process of its own; it and what it starts carry a mark in their environment."""
    environment = {**os.environ, "DEMO_OF": str(tmp_path), "PYTHONUNBUFFERED": "1"}
    environment.pop("ROS_DOMAIN_ID", None)
    return subprocess.Popen(
        [sys.executable, "-m", "opspace_ctrl.cli", "demo", *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def nodes(tmp_path) -> list[str]:
    """The nodes that run under this mark."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):  # it has ended, or is not ours
            marked = f"DEMO_OF={tmp_path}".encode() in Path("/proc", entry, "environ").read_bytes()
            words = Path("/proc", entry, "cmdline").read_bytes()
            if marked and b"opspace_ctrl.nodes" in words:
                found.append(entry)
    return found


def test_a_run_over_ros_follows_the_figure_and_leaves_nothing_behind(tmp_path):
    compile_controller("arm7")
    process = demo(tmp_path, "arm7", "--plot", str(tmp_path / "demo.png"))
    try:
        printed = process.communicate(timeout=COMPILING)[0]
        assert process.returncode == 0, printed
    finally:
        process.kill()
    rows = {
        words[1].strip(): [word.strip() for word in words[2:-1]]
        for words in (line.split("│") for line in printed.splitlines())
        if len(words) > 3
    }
    scenario = SCENARIOS["arm7"]
    errors = [float(rows[name][0].split()[0]) for name in scenario.methods]
    assert 0.0 < max(errors) < 10.0, printed
    assert [rows[name][1] for name in scenario.methods].count("") == 1, printed
    assert max(float(rows[name][1]) for name in scenario.methods[1:]) < 1e-9, printed
    assert 0.0 < float(rows["largest tracking error, push of 15 N"][0].split()[0]) < 100.0
    assert (tmp_path / "demo.png").exists()
    assert nodes(tmp_path) == []


def test_an_interrupt_ends_both_nodes_and_returns_130(tmp_path):
    process = demo(tmp_path, "arm7")
    try:
        end = time.monotonic() + PATIENCE
        while len(nodes(tmp_path)) < 2:
            assert time.monotonic() < end and process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        printed = process.communicate(timeout=PATIENCE)[0]
        assert process.returncode == 130, printed
        assert "Traceback" not in printed
        assert nodes(tmp_path) == []
    finally:
        process.kill()
