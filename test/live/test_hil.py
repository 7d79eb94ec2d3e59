# SPDX-License-Identifier: Apache-2.0
"""`opspace hil` with the real simulator and the real controller, each a process of its own."""

import json
import os
import random
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import numpy as np
import pytest
from geometry_msgs.msg import TwistStamped
from helpers.compiled_nodes import compile_controller
from helpers.ros import COMPILING, LONG, Graph
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from scipy.spatial.transform import Rotation
from std_msgs.msg import Float64MultiArray, MultiArrayDimension, MultiArrayLayout

from opspace_ctrl import frame_pose, load_robot
from opspace_ctrl.data import shipped_path
from opspace_ctrl.nodes import qos
from opspace_ctrl.nodes.error_watch import ErrorWatch
from opspace_ctrl.sim.plant.fault_kinds import KINDS
from opspace_ctrl.sim.record.log import progress, read_log
from opspace_ctrl.writing import OutputFolder

OPSPACE = [sys.executable, "-m", "opspace_ctrl.cli"]
# Not the shipped stiffness: with it and the torque rate limit a loss of communication ends in large swings.
CONTROLLER = (
    f"{sys.executable} -m opspace_ctrl.nodes.controller --ros-args "
    f"--params-file {shipped_path('config', 'arm7.yaml')} -p autostart:=true -p state_timeout:=600.0 "
    "-p use_sim_time:=true -p liveness_timeout:=600.0 -p method:=sparse_ltdl -p tool.stiffness:=[400.0]"
)
FIRST_LINE = "opspace hil: arm7"  # printed when the handlers of the signals stand
MARK = "OPSPACE_TEST_MARK"


class Hil:
    """A running `opspace hil`; all its processes carry a mark in their environment."""

    def __init__(self, folder: Path, *arguments: str, environment=os.environ):
        self.mark, self.folder, self.path = uuid.uuid4().hex, folder, folder.with_suffix(".txt")
        command = [
            *OPSPACE,
            "hil",
            "arm7",
            "--report",
            str(folder),
            "--patience",
            "900",
            *arguments,
        ]
        with self.path.open("wb") as output:
            self.process = subprocess.Popen(
                command,
                env={**environment, MARK: self.mark, "PYTHONUNBUFFERED": "1"},
                stdout=output,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
            )

    def wait_for(self, condition, what: str) -> None:
        deadline = time.monotonic() + COMPILING
        while not condition():
            assert self.process.poll() is None, f"{what}: it ended\n{self.output()}"
            assert time.monotonic() < deadline, f"{what}: not in time\n{self.output()}"
            time.sleep(0.02)

    def code(self) -> int:
        """Wait for the end."""
        return self.process.wait(COMPILING)

    def output(self) -> str:
        texts = [
            path.read_text(errors="replace")[-3000:]
            for path in [self.path, *sorted(self.folder.glob("*.txt"))]
        ]
        return "\n---\n".join(texts)

    def report(self) -> dict:
        return json.loads((self.folder / "report.json").read_text())

    def left_running(self) -> list[str]:
        """The processes with our mark."""
        wanted, found = f"{MARK}={self.mark}".encode(), []
        for path in Path("/proc").glob("[0-9]*"):
            try:
                if wanted in (path / "environ").read_bytes():
                    found.append((path / "cmdline").read_text())
            except OSError:  # ended meanwhile
                pass
        return found

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(60)


@pytest.fixture(scope="module", autouse=True)
def compiled():
    compile_controller("arm7")


@pytest.fixture
def hil(tmp_path):
    started = []

    def start(name, *arguments, **options):
        started.append(Hil(tmp_path / name, *arguments, **options))
        return started[-1]

    yield start
    for one in started:
        one.end()


def test_every_fault_shows_in_one_report_of_the_real_controller(hil, tmp_path):
    bag = tmp_path / "run.mcap"
    run = hil(
        "run",
        "--controller",
        CONTROLLER,
        "--mode",
        "lockstep",
        "--seconds",
        "8",
        "--record",
        str(bag),
        "--faults",
        str(shipped_path("config", "faults_example.yaml")),
        "--max-torque",
        "100",
        "--max-error",
        "0.5",
        "--max-missed",
        "0",
        "--max-refused",
        "0",
    )
    assert run.code() == 0, run.output()
    report = run.report()
    assert report["summary"] == "all limits kept" and report["seconds"] == pytest.approx(8.0)
    assert [limit["name"] for limit in report["limits"]] == [
        "complete",
        "max_torque",
        "max_error",
        "max_missed",
        "max_refused",
    ]
    assert {fault["kind"] for fault in report["faults"]} == set(KINDS)
    for fault in report["faults"]:
        assert fault["acted"], fault["words"]
        assert fault["words"] in run.path.read_text()
    (lost,) = (fault for fault in report["faults"] if fault["kind"] == "loss")
    assert lost["effect"]["watchdog_seconds"] == pytest.approx(0.03, abs=0.002)
    (task,) = report["tracking"]["tasks"]
    assert task.endswith("/tool") and 0 < report["tracking"]["largest"]["position"] < 0.5
    assert report["tracking"]["coverage"] == 1.0 and report["simulated_clock"]
    assert {path.name for path in run.folder.glob("*.png")} == {
        "timing.png",
        "tracking.png",
        "torque.png",
        "faults.png",
    }
    with bag.open("rb") as file:
        decoded = make_reader(file, decoder_factories=[DecoderFactory()]).iter_decoded_messages(
            ["/joint_states"]
        )
        stamps = [message.header.stamp for _, _, _, message in decoded]
    assert len(stamps) > 8000 and (stamps[8000].sec, stamps[8000].nanosec) == (8, 0)
    assert not run.left_running()
    again = hil(
        "again",
        "--controller",
        CONTROLLER,
        "--mode",
        "lockstep",
        "--seconds",
        "8",
        "--faults",
        str(shipped_path("config", "faults_example.yaml")),
    )
    assert again.code() == 0, again.output()
    _compare_runs(run, again)


def _compare_runs(first: Hil, second: Hil) -> None:
    """All that is simulated is the same, bit for bit, and so is every number that is judged."""
    logs = [read_log(run.folder / "log").until(8.0) for run in (first, second)]
    for name in ("time", "schedule", "watchdog", "q", "v", "position", "velocity", "applied"):
        assert np.array_equal(logs[0][name], logs[1][name], equal_nan=True), name
    parts = ("tracking", "torque", "faults", "watchdog_seconds", "seconds")
    reports = [{part: run.report()[part] for part in parts} for run in (first, second)]
    for report in reports:
        for fault in report["faults"]:
            if fault["end"] is None:  # it acts until the simulator has stopped
                del fault["counts"], fault["words"]
    assert reports[0] == reports[1]


MOVING = """
- {kind: target, task: tool, start: 0.2, by: [0, 0.1, 0], turn: [0, 0, 0.3]}
- {kind: trajectory, task: tool, start: 2, points: [[1, 0, 0.1, 0.1], [1.5, 0, 0, 0.1]]}
- {kind: method, name: rjk, start: 2.5}
- {kind: method, name: alchemy, start: 2.6}
- {kind: trajectory, task: tool, start: 2.7, points: [[1e-4, 0, 0, 1]]}
"""


def test_references_take_the_place_of_an_error_that_was_found_before(tmp_path):
    """On a busy machine the two topics of a task are not found at once."""
    with Graph(tmp_path) as graph, ErrorWatch(graph.domain) as watch:
        graph.node.create_publisher(TwistStamped, "/robot/tool/error", 10)
        graph.wait_for(
            lambda: "/robot/tool" in watch.told, "it to be found", each=lambda: watch.spin(0.05)
        )
        references = graph.node.create_publisher(
            Float64MultiArray, "/robot/tool/reference", qos.REFERENCES
        )
        label = json.dumps(["pose", "tool", ""])
        size = [MultiArrayDimension(label=label, size=1), MultiArrayDimension(size=13)]
        references.publish(
            Float64MultiArray(layout=MultiArrayLayout(dim=size), data=np.arange(13.0).tolist())
        )
        graph.wait_for(
            lambda: watch.told["/robot/tool"].is_reference,
            "its reference",
            each=lambda: watch.spin(0.05),
        )
        assert watch.told["/robot/tool"].rows[0].tolist() == [np.arange(13.0).tolist()]


def test_a_run_moves_as_its_schedule_asks(hil, tmp_path):
    schedule = tmp_path / "moving.yaml"
    schedule.write_text(MOVING)
    run = hil(
        "run",
        "--controller",
        CONTROLLER,
        "--mode",
        "lockstep",
        "--seconds",
        "4",
        "--faults",
        str(schedule),
    )
    assert run.code() == 0, run.output()
    log, arm = read_log(run.folder / "log"), load_robot("arm7")
    start, turned = frame_pose(arm, log["q"][np.searchsorted(log["schedule"], 0.0)], "tool")
    for when, by, angle in ((1.9, [0, 0.1, 0], 0.3), (4.0, [0, 0, 0.1], 0.0)):
        place, turn = frame_pose(arm, log["q"][np.searchsorted(log["schedule"], when)], "tool")
        assert np.allclose(place - start, by, atol=5e-3)
        between = Rotation.from_quat(turn) * Rotation.from_quat(turned).inv()
        assert between.magnitude() == pytest.approx(angle, abs=0.05)
    *sent, method, trajectory = run.report()["faults"]
    assert all(fault["counts"] == {"sent": 1} for fault in sent)
    assert not method["acted"] and not trajectory["acted"]
    told = [event["text"] for event in log.events if event["kind"] == "unheard"]
    assert told[0].startswith("method alchemy: refused: ") and "sparse_ltl" in told[0]
    assert told[1].startswith("trajectory of tool (1 points): refused: tool: the first way point")


def test_a_controller_of_somebody_else_is_tested_and_exceeded_limits_are_named(hil, tmp_path):
    with Graph(tmp_path) as graph:
        run = hil(
            "run",
            "--mode",
            "lockstep",
            "--seconds",
            "0.5",
            "--max-torque",
            "1",
            "--max-missed",
            "0",
            environment=graph.environment,
        )
        run.wait_for(lambda: (run.folder / "log" / "header.json").exists(), "the simulator's log")
        graph.start(
            "controller",
            parameters={
                "robot": "arm7",
                "tasks": ["tool"],
                "tool.frame": "tool",
                "autostart": True,
                "state_timeout": LONG,
            },
        )
        assert run.code() == 1, run.output()
    report = run.report()
    assert (
        report["summary"].startswith("largest effort commanded [Nm or N]: ")
        and "allowed 1" in report["summary"]
    )
    assert report["summary"] in run.path.read_text() and not run.left_running()
    assert {limit["name"]: limit["kept"] for limit in report["limits"]} == {
        "complete": True,
        "max_torque": False,
        "max_missed": True,
    }


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_while_it_runs_ends_everything_and_returns_130(hil, number):
    run = hil("run", "--controller", CONTROLLER, "--mode", "lockstep", "--seconds", "100000")
    run.wait_for(lambda: (progress(run.folder / "log") or 0.0) > 0.1, "a run that goes")
    assert len(run.left_running()) >= 3
    run.process.send_signal(number)
    assert run.code() == 130, run.output()
    assert not run.left_running() and "Traceback" not in run.path.read_text()
    assert run.report()["interrupted"]


def test_an_interrupt_at_any_moment_of_the_start_ends_everything_and_returns_130(hil):
    rng = random.Random(6)
    for k in range(6):
        run = hil(
            f"run{k}", "--controller", CONTROLLER, "--mode", "lockstep", "--seconds", "100000"
        )
        run.wait_for(lambda run=run: FIRST_LINE in run.path.read_text(), "its first line")
        time.sleep(rng.choice((0.0, 0.3, 3.0)) * rng.random())
        for _ in range(1 + k % 2):  # an impatient user sends two
            run.process.send_signal(rng.choice((signal.SIGINT, signal.SIGTERM)))
        assert run.code() == 130, run.output()
        assert not run.left_running() and "Traceback" not in run.path.read_text()


def test_a_controller_that_fails_is_told_with_its_last_words_and_not_with_an_older_report(
    hil, tmp_path
):
    (older,) = OutputFolder(tmp_path / "run", "opspace hil", ["report.json"]).write(
        {"report.json": '{"summary": "all limits kept", "kept": true}'}
    )
    failing = f"{sys.executable} -c 'print(\"no torque today\"); raise SystemExit(3)'"
    run = hil("run", "--controller", failing, "--mode", "lockstep", "--seconds", "1")
    assert run.code() == 1
    assert "the controller ended with code 3; it said: no torque today" in " ".join(
        run.path.read_text().split()
    )
    assert not run.left_running()
    assert not older.exists() or not run.report()["kept"]
