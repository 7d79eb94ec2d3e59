"""Kernels compiled by several processes at once: helpers help, end, and are never needed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

import opspace_ctrl
from opspace_ctrl import compile_ahead

ROOT = Path(opspace_ctrl.__file__).parents[1]
PATIENCE = 300  # [s]

# Eight small kernels and one helper, whatever the machine. `meanwhile(helper)` runs when the helper has been started,
# before the process itself compiles anything.
COMPILES = """
import json, os, sys, time
from pathlib import Path
from opspace_ctrl import compile_ahead, jit
from opspace_ctrl.dynamics import entries
compile_ahead._cores = lambda: 2
start, compile_next, started = compile_ahead._start, jit.compile_unless_taken, []
small = (entries.at_motion, entries.mass_matrix, entries.forward_crba, entries.energies, entries.frame_pose,
         entries.frame_jacobian, entries.frame_motion, entries.center_of_mass)

def kept():
    return list(Path(os.environ["NUMBA_CACHE_DIR"]).rglob("*.nbi"))

def noted(share):
    started.append(start(share))
    return started[-1]

def patient(kernel, signature):
    if started and started[0].poll() is None:
        meanwhile(started[0])
    compile_next(kernel, signature)

def until_it_has_compiled(helper):
    while not kept() and helper.poll() is None:
        time.sleep(0.01)

meanwhile = until_it_has_compiled
compile_ahead._start, jit.compile_unless_taken = noted, patient
"""
LINGERS = f"""
compile_ahead._HELPER += "import time; time.sleep({2 * PATIENCE})"
"""
TELLS = """
compile_ahead.together(entry.kernel for entry in small)
print(json.dumps({"helpers": len(started), "alive": [each.poll() is None for each in started], "kept": len(kept()),
                  "compiled": sum(sum(entry.dispatcher.stats.cache_misses.values()) for entry in small),
                  "ready": [len(entry.dispatcher.overloads) for entry in small]}))
"""


def start(cache: Path, code: str, **options) -> subprocess.Popen:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )


def finish(process: subprocess.Popen) -> tuple[dict, str]:
    try:
        out, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == 0, err
    return json.loads(out.splitlines()[-1]), err


def test_a_helper_compiles_into_the_cache_and_is_gone_afterwards(tmp_path):
    found, err = finish(start(tmp_path, COMPILES + LINGERS + TELLS))
    assert found["helpers"] == 1 and found["alive"] == [False]
    assert found["compiled"] < 8 and found["ready"] == [1] * 8 and found["kept"] >= 8
    assert err.splitlines() == ["opspace_ctrl: compiling 8 kernels, kept for the next start ..."]


def test_what_is_in_the_cache_needs_no_helper(tmp_path):
    finish(start(tmp_path, COMPILES + TELLS))
    found, err = finish(start(tmp_path, COMPILES + TELLS))
    assert found["helpers"] == 0 and found["compiled"] == 0 and err == ""


def test_a_helper_that_is_killed_at_work_is_not_missed(tmp_path):
    killed = """
def meanwhile(helper):
    while not list(Path(os.environ["NUMBA_CACHE_DIR"]).rglob("*.lock")) and helper.poll() is None:
        time.sleep(0.001)
    helper.kill()
    helper.wait()
"""
    found, _ = finish(start(tmp_path, COMPILES + killed + TELLS))
    assert found["helpers"] == 1
    assert found["ready"] == [1] * 8 and found["kept"] >= 8


def test_an_interpreter_that_cannot_run_is_not_missed(tmp_path):
    broken = f"""
compile_ahead._can_start = lambda: True
sys.executable = {str(tmp_path / "python")!r}
"""
    found, _ = finish(start(tmp_path, COMPILES + broken + TELLS))
    assert found["helpers"] == 0 and found["compiled"] == 8


def test_a_helper_takes_the_same_package_from_whatever_folder_and_path(tmp_path):
    other = tmp_path / "other"
    (other / "opspace_ctrl").mkdir(parents=True)
    (other / "opspace_ctrl" / "__init__.py").write_text("raise ImportError('the wrong package')")
    (other / "sitecustomize.py").write_text("raise SystemExit('the wrong start')")
    moved = f"""
os.chdir({str(other)!r})
sys.path.insert(0, {str(other)!r})
os.environ["PYTHONPATH"] = {str(other)!r}
"""
    found, _ = finish(start(tmp_path / "cache", COMPILES + moved + TELLS))
    assert found["helpers"] == 1 and found["compiled"] < 8


def test_two_processes_with_helpers_fill_one_cache(tmp_path):
    both = [start(tmp_path, COMPILES + TELLS) for _ in range(2)]
    found = [finish(process)[0] for process in both]
    assert sum(each["compiled"] for each in found) < 8
    later, err = finish(start(tmp_path, COMPILES + TELLS))
    assert later["compiled"] == 0 and err == ""


def is_running(pid: int) -> bool:
    """Is there such a process, other than one that has ended and that nobody has asked after?"""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize(
    "number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda number: number.name
)
def test_a_helper_ends_with_the_process_that_started_it(tmp_path, number):
    waits = """
def meanwhile(helper):
    until_it_has_compiled(helper)
    print(helper.pid, flush=True)
    while True:
        time.sleep(0.01)
"""
    process = start(tmp_path, COMPILES + LINGERS + waits + TELLS)
    helper = int(process.stdout.readline())
    try:
        assert is_running(helper)
        process.send_signal(number)
        process.communicate(timeout=PATIENCE)
        deadline = time.monotonic() + PATIENCE
        while is_running(helper):
            assert time.monotonic() < deadline
            time.sleep(0.01)
    finally:
        process.kill()
        if is_running(helper):
            os.kill(helper, signal.SIGKILL)


@pytest.fixture
def started(monkeypatch):
    """The shares that helpers would have been given; none is started."""
    shares = []

    def start(share):
        shares.append([kernel.number for kernel, _ in share])
        return SimpleNamespace(
            kill=lambda: None, wait=lambda: None, stdin=SimpleNamespace(close=lambda: None)
        )

    monkeypatch.setattr(compile_ahead, "_start", start)
    monkeypatch.setattr(compile_ahead, "_cores", lambda: 8)
    monkeypatch.setattr(compile_ahead, "_can_start", lambda: True)
    monkeypatch.setattr(compile_ahead, "can_lock", lambda: True)
    return shares


def missing(number: int, module: str = "opspace_ctrl.osim.tick") -> list[tuple]:
    return [(SimpleNamespace(__module__=module, number=i), None) for i in range(number)]


def test_helpers_begin_at_different_places_and_know_the_whole_list(started):
    with compile_ahead._helpers(missing(30)):
        pass
    assert [share[0] for share in started] == [9, 19, 29]
    assert all(sorted(share) == list(range(30)) for share in started)


@pytest.mark.parametrize(
    ("name", "value"),
    [("can_lock", lambda: False), ("_cores", lambda: 1), ("_can_start", lambda: False)],
)
def test_there_is_no_helper_where_it_could_not_help(started, monkeypatch, name, value):
    monkeypatch.setattr(compile_ahead, name, value)
    with compile_ahead._helpers(missing(30)):
        pass
    assert started == []


def test_there_is_no_helper_for_few_kernels_or_for_those_of_others(started):
    for few in (
        missing(0),
        missing(3),
        missing(30, "__main__"),
        missing(30, "opspace_ctrl_else.osim"),
    ):
        with compile_ahead._helpers(few):
            pass
    assert started == []


@pytest.mark.parametrize("executable", [None, "", "/opt/player/bin/player"])
def test_a_program_that_embeds_python_is_not_started_again(monkeypatch, executable):
    monkeypatch.setattr(sys, "executable", executable)
    assert not compile_ahead._can_start()


def test_all_kernels_that_a_controller_needs_are_named_in_advance():
    code = """
import json
import numpy as np
from opspace_ctrl import compile_ahead, jit, load_robot
named, used, together, compile_one = set(), set(), compile_ahead.together, jit._compile

def noted(wanted):
    wanted = list(wanted)
    named.update(jit.name_of(kernel) for kernel, _ in wanted)
    together(wanted)

def one(kernel, signature):
    used.add(jit.name_of(kernel))
    compile_one(kernel, signature)

compile_ahead.together, jit._compile = noted, one
from opspace_ctrl.control.controller import Controller
from opspace_ctrl.control.settings import controller_settings
model = load_robot("asimo")
controller = Controller(model, controller_settings({"tasks": ["hand"], "hand.frame": "left_hand"}))
in_advance = set(named)
controller.prepare()
q, v = model.neutral(), np.zeros(model.nv)
controller.activate(q, v, 0.0)
for name in controller.methods():
    controller.method = name
    controller.tick(q, v, 0.0)
for kind in ("zero", "held", "gravity", "damping"):
    controller.safe_command(kind, q, v)
print(json.dumps({"used": len(used), "late": sorted(used - in_advance), "unused": sorted(in_advance - used)}))
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["used"] > 25
    assert found["late"] == [] and found["unused"] == []
