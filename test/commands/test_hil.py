# SPDX-License-Identifier: Apache-2.0
"""`opspace hil`: wrong arguments are one line before anything starts; its processes end with it, whatever they do."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from opspace_ctrl.cli import main
from opspace_ctrl.commands import CommandError, _processes
from opspace_ctrl.commands._hil_run import controller_words
from opspace_ctrl.commands._interrupt import Interruption
from opspace_ctrl.commands._processes import Processes, local_graph
from opspace_ctrl.model.source import robot_text

SLEEPER = "import time; print('here', flush=True); time.sleep(1000)"
STUBBORN = (
    "import signal, subprocess, sys, time; signal.signal(signal.SIGINT, signal.SIG_IGN); "
    "signal.signal(signal.SIGTERM, signal.SIG_IGN); "
    "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(1000)']); "
    "print('child', child.pid, flush=True); time.sleep(1000)"
)
PATIENCE = 3600.0  # [s]
# nine of nine of nine ...: 43 characters more are nine times as many entries
ALIASES = (
    "joints:=[&a0 [x]"
    + "".join(f", &a{k + 1} [{', '.join([f'*a{k}'] * 9)}]" for k in range(30))
    + "]"
)


def wait_for(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def is_alive(pid):
    """Whether it runs; a zombie that nobody has fetched does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["arm8"], "'arm8' is neither a file nor a shipped robot"),
        (["arm7", "--faults", "missing.yaml"], "missing.yaml"),
        (["arm7", "--faults", "bad.yaml"], "bad.yaml: fault 1: no kind 'lag'; kinds: latency"),
        (["arm7", "--faults", "elbow.yaml"], "fault 1 (freeze): no joint 'elbow'; joints: joint1"),
        (["arm7", "--seconds", "0"], "--seconds and --patience: positive numbers are valid"),
        (["arm7", "--seconds", "inf"], "positive numbers"),
        (["arm7", "--seconds", "soon"], "invalid float value: 'soon'"),
        (["arm7", "--mode", "fast"], "invalid choice: 'fast'"),
        (["arm7", "--set", "step"], "--set 'step': NAME:=VALUE is expected"),
        (["arm7", "--set", "step:=[1"], "--set 'step:=[1': not YAML"),
        (["arm7", "--set", "stepp:=0.001"], "stepp"),
        (["arm7", "--set", "step:=7"], "step"),
        (["arm7", "--set", "mode:=fast"], "--set 'mode:=fast': mode is chosen by --mode"),
        (["arm7", "--report", "bad.yaml/report"], "cannot write into 'bad.yaml/report': "),
        (["arm7", "--report", "mine"], "cannot write into 'mine': 'report.json' is in the way "),
        (["arm7", "--report", "."], "cannot write into '.': 'bad.yaml' is in the way "),
        (["mine/robot.urdf", "--report", "mine", "--force"], "'robot.urdf' in it is read"),
        (["arm7", "--record", "bad.yaml"], "cannot write 'bad.yaml': it exists (--force "),
        (["arm7", "--set", ALIASES], "aliases (*name) are not read"),
        (
            ["arm7", "--record", "missing/run.mcap"],
            "cannot write 'missing/run.mcap': its folder does not exist",
        ),
        (["arm7", "--record", "."], "cannot write '.': it is a folder"),
        (
            ["arm7", "--controller", "no_such_program --fast"],
            "--controller 'no_such_program --fast': no such program",
        ),
        (["arm7", "--controller", "'"], "No closing quotation"),
        (["arm7", "--params", "missing.yaml"], "missing.yaml"),
    ],
)
def test_a_wrong_argument_is_one_line_before_anything_starts(
    argv, words, capsys, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    Path("bad.yaml").write_text("- {kind: lag}")
    Path("elbow.yaml").write_text("- {kind: freeze, joints: elbow}")
    Path("mine/log").mkdir(parents=True)
    for name in ("mine/log/build.log", "mine/report.json", "mine/simulator.yaml"):
        Path(name).write_text("mine")
    Path("mine/robot.urdf").write_text(robot_text("arm7"))
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    try:
        code = main(["hil", *argv])
    except SystemExit as error:  # argparse
        code = error.code
    assert code == 2
    out, err = capsys.readouterr()
    assert words in err and err.count("\n") == 1 and out == ""
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert handlers == [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]


def test_the_help_names_every_limit(capsys):
    with pytest.raises(SystemExit):
        main(["hil", "--help"])
    out = capsys.readouterr().out
    for name in ("torque", "error", "angle", "missed", "latency", "refused", "watchdog"):
        assert f"--max-{name}" in out


def test_processes_end_with_the_context_and_their_output_stays(tmp_path):
    with pytest.raises(ZeroDivisionError), Processes(tmp_path) as processes:
        one = processes.start("one", [sys.executable, "-c", SLEEPER])
        wait_for(lambda: "here" in one.path.read_text())
        processes.ensure_alive()
        raise ZeroDivisionError
    assert one.code is not None and "here" in (tmp_path / "one.txt").read_text()


def test_stubborn_processes_and_their_children_are_killed(tmp_path, monkeypatch):
    monkeypatch.setattr(
        _processes, "ENDINGS", ((signal.SIGINT, 0.2), (signal.SIGTERM, 0.2), (signal.SIGKILL, 60.0))
    )
    with Processes(tmp_path) as processes:
        one = processes.start("one", [sys.executable, "-c", STUBBORN])
        wait_for(lambda: "child" in one.path.read_text() and one.path.read_text().endswith("\n"))
        child = int(one.path.read_text().split()[1])
        assert is_alive(child)
    assert one.code == -signal.SIGKILL
    wait_for(lambda: not is_alive(child))


def test_a_process_that_has_ended_is_told_with_its_last_lines(tmp_path):
    with Processes(tmp_path) as processes:
        one = processes.start("one", [sys.executable, "-c", "print('bye'); raise SystemExit(7)"])
        wait_for(lambda: one.code is not None)
        with pytest.raises(CommandError, match="one ended with code 7: bye"):
            processes.ensure_alive()
        with pytest.raises(CommandError, match="cannot start two"):
            processes.start("two", [str(tmp_path / "missing")])


def test_graphs_side_by_side_have_domains_of_their_own():
    code = (
        "from opspace_ctrl.commands._processes import local_graph; "
        "print(local_graph({})['ROS_DOMAIN_ID'], flush=True); input()"
    )
    first = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        taken = first.stdout.readline().strip()
        mine = local_graph({})
        assert (
            mine["ROS_DOMAIN_ID"] != taken and mine["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "LOCALHOST"
        )
    finally:
        first.communicate("\n", timeout=PATIENCE)
    assert local_graph({"ROS_DOMAIN_ID": "7"})["ROS_DOMAIN_ID"] == "7"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_noted_and_wakes_whoever_waits(number):
    before = signal.signal(number, signal.SIG_DFL)  # the tests themselves may run under nohup
    try:
        with Interruption() as stop:
            assert not stop.wait(0.0) and not stop.requested
            threading.Timer(0.05, os.kill, (os.getpid(), number)).start()
            assert stop.wait(PATIENCE) and stop.requested
            os.kill(os.getpid(), number)  # a second one changes nothing
        assert signal.getsignal(number) is signal.SIG_DFL
    finally:
        signal.signal(number, before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_looks_at_nothing_for_minutes_ends_at_once(number):
    reached = False
    with Interruption() as stop:
        with stop.ending_at_once():
            os.kill(os.getpid(), number)
            time.sleep(PATIENCE)
            reached = True
        assert stop.requested and not reached
        os.kill(os.getpid(), number)  # afterwards it is noted again
        assert stop.exit_code == 128 + number


def test_a_controller_beside_the_interpreter_is_found_without_a_path(monkeypatch):
    monkeypatch.setenv("PATH", "")
    program = Path(sys.executable).with_name("opspace_controller")
    assert controller_words("opspace_controller --ros-args") == [str(program), "--ros-args"]


def test_nohup_is_left_in_force():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Interruption() as stop:
            os.kill(os.getpid(), signal.SIGHUP)
            assert not stop.requested and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
