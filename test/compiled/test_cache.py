# SPDX-License-Identifier: Apache-2.0
"""The cache of compiled kernels: restarts, edits, races, damage, full disks and folders of other people."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

import opspace_ctrl
from opspace_ctrl.compiled import cache as kept
from opspace_ctrl.compiled import jit

ROOT = Path(opspace_ctrl.__file__).parents[1]
PATIENCE = 3600  # [s]
COMPILING = "once for this version on this machine"
ONE_CORE = """
import os
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])  # no helpers, who compile too
"""
# Three small kernels of the package: what they find, and how many of them this process itself compiled.
USES = """
import json
from opspace_ctrl.compiled.jit import prepare
from opspace_ctrl.compiled.workspace import Workspace
from opspace_ctrl.dynamics import entries
used = [entries.frame_pose, entries.frame_motion, entries.add_external]
prepare(used)
print(json.dumps([sum(each.stats.cache_misses.values()) for each in used]))
"""
# One small kernel of somebody else's.
OTHERS = """
from opspace_ctrl.compiled.jit import entry, integer, prepare
@entry(integer)
def twice(x):
    return 2 * x
prepare([twice])
print(twice(21))
"""


def start(cache: Path, code: str, **options) -> subprocess.Popen:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(ROOT)}
    environment.update(options.pop("env", {}))
    return subprocess.Popen(
        [sys.executable, *options.pop("arguments", ("-c", code))],
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )


def finish(process: subprocess.Popen) -> tuple[str, str]:
    try:
        out, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == 0, err
    return out, err


def compiled(cache: Path, code: str = ONE_CORE + USES, **options) -> tuple[list[int], str]:
    """Which kernels a process compiled, and what it said."""
    out, err = finish(start(cache, code, **options))
    return json.loads(out.splitlines()[-1]), err


def script(folder: Path, code: str = OTHERS) -> list[str]:
    path = folder / "theirs.py"
    path.write_text(code)
    return [str(path)]


def files(cache: Path, ending: str) -> list[Path]:
    return sorted(cache.glob(f"opspace_ctrl/*/*frame_pose/**/*.{ending}"))


@pytest.fixture(scope="module")
def raced(tmp_path_factory):
    """A cache that two processes fill at the same time, and what both of them compiled and said."""
    cache = tmp_path_factory.mktemp("cache")
    both = [start(cache, ONE_CORE + USES) for _ in range(2)]
    found = [finish(process) for process in both]
    return cache, [(json.loads(out), err) for out, err in found]


def test_of_processes_that_start_together_one_compiles_a_kernel(raced):
    (first, _), (second, _) = raced[1]
    assert [a + b for a, b in zip(first, second)] == [1, 1, 1]


def test_compiling_is_said_in_one_line_and_a_later_start_is_silent(raced):
    cache, outcomes = raced
    assert any(COMPILING in err for _, err in outcomes)
    for _, err in outcomes:
        assert len(err.splitlines()) <= 1
    assert compiled(cache) == ([0, 0, 0], "")


def test_every_kernel_has_a_lock_of_its_own(raced):
    names = {path.name for path in raced[0].glob("opspace_ctrl/*/*.lock")}
    assert {
        f"opspace_ctrl.dynamics.entries.{name}.lock" for name in ("frame_pose", "frame_motion")
    } <= names


# ---- damage ----


@pytest.mark.parametrize("damage", ["empty", "garbage", "half", "flipped"])
@pytest.mark.parametrize("kind", ["nbi", "nbc"])
def test_a_damaged_file_is_said_compiled_again_and_mended(raced, damage, kind):
    cache = raced[0]
    assert files(cache, kind)
    for path in files(cache, kind):
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 4
        changed = {"empty": b"", "garbage": b"garbage", "half": data[:200], "flipped": data}
        path.write_bytes(changed[damage])
    found, err = compiled(cache)
    assert found == [1, 0, 0]
    damaged, compiling = err.splitlines()
    assert "damaged" in damaged and "entries.frame_pose" in damaged and COMPILING in compiling
    assert compiled(cache) == ([0, 0, 0], "")


def test_a_file_that_is_missing_is_damage_too(raced):
    for path in files(raced[0], "nbc"):
        path.unlink()
    assert compiled(raced[0])[0] == [1, 0, 0] and compiled(raced[0]) == ([0, 0, 0], "")


def test_a_kernel_that_nobody_finished_is_compiled_without_a_word_of_damage(raced):
    (note,) = raced[0].glob("opspace_ctrl/*/*frame_pose/complete")
    note.unlink()
    found, err = compiled(raced[0])
    assert len(err.splitlines()) == 1 and COMPILING in err
    assert compiled(raced[0]) == ([0, 0, 0], "")


# ---- folders ----


def test_the_folder_is_private(raced):
    base = raced[0] / "opspace_ctrl"
    folders = [base, *base.iterdir()]
    assert len(folders) > 1 and all(each.stat().st_mode & 0o777 == 0o700 for each in folders)


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_a_folder_that_others_may_write_is_refused_and_kernels_work(tmp_path, mode):
    (tmp_path / "opspace_ctrl").mkdir()
    (tmp_path / "opspace_ctrl").chmod(mode)
    out, err = finish(start(tmp_path, "", arguments=script(tmp_path)))
    assert out == "42\n" and not list((tmp_path / "opspace_ctrl").glob("*/*"))
    refused, compiling = err.splitlines()
    assert "not kept" in refused and "mode 700" in refused and COMPILING in compiling


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_somebody_else_is_refused_and_kernels_work(tmp_path):
    (tmp_path / "opspace_ctrl").mkdir(mode=0o700)
    os.chown(tmp_path / "opspace_ctrl", 12345, 12345)
    out, err = finish(start(tmp_path, "", arguments=script(tmp_path)))
    assert out == "42\n" and "mode 700" in err


def test_without_a_folder_kernels_work_and_the_reason_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    out, err = finish(start(tmp_path / "file" / "below", "", arguments=script(tmp_path)))
    assert out == "42\n"
    reason, compiling = err.splitlines()
    assert "not kept" in reason and str(tmp_path / "file") in reason and COMPILING in compiling


def test_a_kernels_folder_that_cannot_be_made_is_said_and_the_kernel_works(tmp_path):
    arguments = script(tmp_path)
    finish(start(tmp_path / "cache", "", arguments=arguments))
    (folder,) = (tmp_path / "cache").glob("opspace_ctrl/*/__main__.twice*[!k]")
    subprocess.run(["rm", "-r", folder], check=True)
    folder.write_text("in the way")
    out, err = finish(start(tmp_path / "cache", "", arguments=arguments))
    assert out == "42\n" and "for this start only" in err


def test_on_a_full_disk_kernels_work_and_it_is_said(tmp_path):
    full = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
"""
    out, err = finish(start(tmp_path / "cache", "", arguments=script(tmp_path, full + OTHERS)))
    assert out == "42\n" and "for this start only" in err
    out, err = finish(start(tmp_path / "cache", "", arguments=script(tmp_path)))
    assert out == "42\n" and "damaged" not in err  # what was half written counts for nothing
    assert finish(start(tmp_path / "cache", "", arguments=script(tmp_path))) == ("42\n", "")


def test_kernels_of_a_script_that_has_changed_are_compiled_again(tmp_path):
    for factor, expected in ((2, "42\n"), (3, "63\n"), (2, "42\n")):
        arguments = script(tmp_path, OTHERS.replace("2 * x", f"{factor} * x"))
        assert finish(start(tmp_path / "cache", "", arguments=arguments))[0] == expected
    assert finish(start(tmp_path / "cache", "", arguments=arguments)) == ("42\n", "")


def test_kernels_typed_at_a_prompt_have_no_file_and_work(tmp_path):
    assert finish(start(tmp_path, OTHERS))[0] == "42\n"
    assert not list(tmp_path.rglob("*.nbi"))


def test_kernels_of_another_processor_do_not_count(raced):
    plain = {"env": {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}}
    assert compiled(raced[0], **plain)[0] == [1, 1, 1]
    assert compiled(raced[0]) == compiled(raced[0], **plain) == ([0, 0, 0], "")


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """A package of small files, of which the digests are made."""
    for layer in ("compiled", "model", "dynamics", "osim", "control", "sim"):
        (tmp_path / layer).mkdir()
        (tmp_path / layer / "__init__.py").write_text("")
    monkeypatch.setattr(kept, "PACKAGE", tmp_path)
    monkeypatch.setattr(kept, "_digest", kept._digest.__wrapped__)
    return tmp_path


@pytest.mark.parametrize(
    "edited, stale",
    [
        ("compiled", {"compiled", "model", "dynamics", "osim", "control", "sim"}),
        ("dynamics", {"dynamics", "osim", "control", "sim"}),
        ("osim", {"osim", "control", "sim"}),
        ("control", {"control"}),
        ("sim", {"sim"}),
    ],
)
def test_an_edit_makes_the_kernels_of_its_layer_and_those_above_stale_and_no_others(
    sources, edited, stale
):
    layers = [each.name for each in sources.iterdir()]
    before = {layer: kept._digest(layer) for layer in layers}
    (sources / edited / "more.py").write_text("EDITED = 1")
    assert {layer for layer in layers if kept._digest(layer) != before[layer]} == stale


def test_states_that_nobody_used_for_long_are_removed(tmp_path):
    now = time.time()
    for k in range(kept.KEPT + 3):
        (tmp_path / f"osim-{k:016x}").mkdir()
        age = 7200.0 if k >= kept.KEPT else 0.0
        os.utime(tmp_path / f"osim-{k:016x}", (now - age - k, now - age - k))
    for name in ("opspace_ctrl", "src", "osim-mine"):  # a folder of that name can be anybody's
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (1.0, 1.0))
    kept._forget_old(tmp_path)
    assert {each.name for each in tmp_path.iterdir()} == {
        "opspace_ctrl",
        "src",
        "osim-mine",
        *(f"osim-{k:016x}" for k in range(kept.KEPT)),
    }


def private(path):
    """What `base_folder` would say of this folder: nothing, or why it is not used."""
    try:
        kept._private(path)
    except OSError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("mode, is_refused", [(0o777, True), (0o1777, False), (0o755, False)])
def test_a_folder_that_others_could_exchange_is_refused(tmp_path, mode, is_refused):
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(mode)
    reason = private(tmp_path / "shared" / "deep" / "opspace_ctrl")
    assert ("could be exchanged" in reason) == is_refused == bool(reason)
    assert (tmp_path / "shared" / "deep").exists() != is_refused


def test_a_link_in_the_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "mine").mkdir(mode=0o700)
    (tmp_path / "opspace_ctrl").symlink_to("mine")
    assert "is a link" in private(tmp_path / "opspace_ctrl")


def test_a_link_above_the_folder_is_looked_through(tmp_path):
    (tmp_path / "scratch").mkdir(mode=0o777)
    (tmp_path / "scratch").chmod(0o777)
    (tmp_path / "cache").symlink_to("scratch")
    assert "could be exchanged" in private(tmp_path / "cache" / "opspace_ctrl")


def test_folders_are_private_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        assert private(tmp_path / "home" / ".cache" / "opspace_ctrl") == ""
    finally:
        os.umask(before)
    for folder in ("home", "home/.cache", "home/.cache/opspace_ctrl"):
        assert (tmp_path / folder).stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_with_sudo_and_a_home_that_is_kept_nothing_of_the_user_is_run(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    os.chown(home, 12345, 12345)
    assert "could be exchanged by whoever owns" in private(home / ".cache" / "opspace_ctrl")
    assert not (home / ".cache").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_what_another_user_has_planted_is_neither_run_nor_emptied():
    """As in a shared folder, whoever comes first."""
    with tempfile.TemporaryDirectory() as own:  # pytest's folders are closed to others
        shared = Path(own, "shared")
        shared.mkdir()
        shared.chmod(0o1777)
        shared.parent.chmod(0o711)
        subprocess.run(["mkdir", "-m", "755", shared / "opspace_ctrl"], user=65534, check=True)
        assert "mode 700" in private(shared / "opspace_ctrl")


def test_a_lock_that_is_a_link_is_not_followed_and_nothing_is_emptied(tmp_path):
    (tmp_path / "precious").write_text("mine")
    (tmp_path / "twice.lock").symlink_to("precious")
    folder = kept.KernelFolder(tmp_path / "twice")
    with folder.lock(False) as is_mine:
        assert is_mine
    assert (tmp_path / "precious").read_text() == "mine"
    (tmp_path / "twice.lock").unlink()
    (tmp_path / "twice.lock").write_text("mine too")
    with folder.lock(False) as is_mine:
        assert is_mine
    assert (tmp_path / "twice.lock").read_text() == "mine too"


# Root writes everywhere unless it gives that up, and then starts again.
CANNOT_OVERRIDE = """
import ctypes, os, sys
if os.geteuid() == 0 and "again" not in sys.argv:
    ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)  # PR_CAPBSET_DROP, CAP_DAC_OVERRIDE
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:], "again"])
"""


def test_a_folder_that_can_only_be_read_is_read(raced, tmp_path):
    prepared = tmp_path / "opspace_ctrl"
    subprocess.run(["cp", "-r", raced[0] / "opspace_ctrl", prepared], check=True)
    before = sorted(prepared.rglob("*"))
    alone = {"env": {"TMPDIR": str(tmp_path / "temporary")}}
    (tmp_path / "temporary").mkdir()
    try:
        subprocess.run(["chmod", "-R", "a-w", prepared], check=True)
        code = CANNOT_OVERRIDE + ONE_CORE + USES
        assert compiled(tmp_path, code, **alone) == ([0, 0, 0], "")
        code = code.replace("entries.add_external", "entries.at_configuration")
        (first, second, other), err = compiled(tmp_path, code, **alone)
        assert (first, second, other) == (0, 0, 1) and COMPILING in err
    finally:
        subprocess.run(["chmod", "-R", "u+w", prepared], check=True)
    assert sorted(prepared.rglob("*")) == before
    assert not list((tmp_path / "temporary").iterdir())


# ---- other processes ----


def test_a_process_that_sleeps_with_a_lock_is_not_waited_for_for_ever(tmp_path):
    sleeps = """
import time
from opspace_ctrl.dynamics import entries
with entries.frame_pose.entry.folder.lock(False) as mine:
    print(mine, flush=True)
    time.sleep(600)
"""
    impatient = "from opspace_ctrl.compiled import cache\ncache.WAIT = 0.5\n"
    sleeper = start(tmp_path, sleeps)
    try:
        assert sleeper.stdout.readline() == "True\n"
        sleeper.send_signal(signal.SIGSTOP)
        assert compiled(tmp_path, ONE_CORE + impatient + USES)[0] == [1, 1, 1]
    finally:
        sleeper.kill()
        sleeper.communicate()


# One helper, whatever the machine; `meanwhile(helper)` runs before the process itself compiles anything.
HELPED = """
import os, subprocess, sys, time
from pathlib import Path
from opspace_ctrl.compiled import jit
os.sched_getaffinity = lambda process: {0, 1}
compile_missing, Popen, started = jit.compile_missing, subprocess.Popen, []

def noted(*arguments, **options):
    started.append(Popen(*arguments, **options))
    return started[-1]

def later(*arguments):
    meanwhile(started)
    compile_missing(*arguments)

def meanwhile(started):
    for helper in started:
        helper.wait()

subprocess.Popen, jit.compile_missing = noted, later
"""
TELLS = """
print(json.dumps({"helpers": len(started), "alive": [each.poll() is None for each in started],
                  "compiled": [sum(each.stats.cache_misses.values()) for each in used]}))
"""


def test_a_helper_compiles_into_the_cache(tmp_path):
    found, err = compiled(tmp_path, HELPED + USES + TELLS)
    assert found == {"helpers": 1, "alive": [False], "compiled": [0, 0, 0]}
    assert len(err.splitlines()) == 1
    found, err = compiled(tmp_path, HELPED + USES + TELLS)
    assert found["helpers"] == 0 and err == ""


def test_a_helper_that_is_killed_at_work_is_not_missed(tmp_path):
    killed = """
def meanwhile(started):
    while not list(Path(os.environ["NUMBA_CACHE_DIR"]).rglob("*.lock")):
        time.sleep(0.001)
    started[0].kill()
    started[0].wait()
"""
    found, _ = compiled(tmp_path, HELPED + killed + USES + TELLS)
    assert found["helpers"] == 1 and sum(found["compiled"]) > 0
    assert compiled(tmp_path) == ([0, 0, 0], "")


@pytest.mark.parametrize(
    "executable", ["'/nowhere/python'", "None", "''", "'/opt/player/bin/player'"]
)
def test_an_interpreter_that_cannot_be_started_is_not_missed(tmp_path, executable):
    found, _ = compiled(tmp_path, HELPED + f"sys.executable = {executable}\n" + USES + TELLS)
    assert found == {"helpers": 0, "alive": [], "compiled": [1, 1, 1]}


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
    found, _ = compiled(tmp_path / "cache", HELPED + moved + USES + TELLS)
    assert found == {"helpers": 1, "alive": [False], "compiled": [0, 0, 0]}


def test_two_processes_with_helpers_fill_one_cache(tmp_path):
    both = [start(tmp_path, HELPED + USES + TELLS) for _ in range(2)]
    for process in both:
        finish(process)
    assert compiled(tmp_path) == ([0, 0, 0], "")


def is_running(pid: int) -> bool:
    """Is there such a process, other than one that has ended and that nobody has asked after?"""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_helper_ends_when_the_process_that_started_it_is_interrupted(tmp_path):
    waits = """
def meanwhile(started):
    print(started[0].pid, flush=True)
    time.sleep(600)
"""
    # whoever runs the tests in the background may have it ignored
    heard = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    process = start(tmp_path, heard + HELPED + waits + USES)
    helper = int(process.stdout.readline())
    try:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
        assert not is_running(helper)
    finally:
        process.kill()


def test_a_helper_ends_when_the_process_that_started_it_is_killed(tmp_path):
    waits = """
def meanwhile(started):
    started[0].send_signal(signal.SIGSTOP)  # it must not have ended by itself
    print(started[0].pid, flush=True)
    time.sleep(600)
"""
    process = start(tmp_path, "import signal\n" + HELPED + waits + USES)
    helper = int(process.stdout.readline())
    process.kill()
    process.communicate(timeout=PATIENCE)
    assert is_running(helper)
    os.kill(helper, signal.SIGCONT)
    deadline = time.monotonic() + PATIENCE
    while is_running(helper) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not is_running(helper)
    assert not list(
        tmp_path.rglob("*.frame_motion/complete")
    )  # had it gone on, this would be there


def test_an_unguarded_script_is_not_run_twice(tmp_path):
    code = "print('begins', flush=True)\n" + HELPED + USES + OTHERS
    process = start(tmp_path / "cache", "", arguments=script(tmp_path, code))
    out, _ = finish(process)
    assert out.count("begins") == 1 and out.endswith("42\n")


def test_helpers_are_for_kernels_of_the_package():
    made = [jit.Entry(lambda x: x, (jit.integer,)) for _ in range(3)]
    for each in made:
        each.name = "__main__:twice"
    assert jit._start_helpers(made) == []
