"""The cache of compiled kernels: it survives restarts, edits, races and unwritable folders."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import opspace_ctrl

ROOT = Path(opspace_ctrl.__file__).parents[1]
FINDS = """
import numpy as np
from opspace_ctrl import frame_jacobian, load_robot
model = load_robot("arm7")
print(frame_jacobian(model, np.full(7, 0.3), "tool")[0, 0])
"""
COUNTS = (
    FINDS
    + """
from opspace_ctrl.dynamics import entries
used = entries.at_configuration, entries.frame_jacobian
print([sum(entry.dispatcher.stats.cache_misses.values()) for entry in used])
"""
)


def start(cache: str, code: str = FINDS) -> subprocess.Popen:
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def finish(process: subprocess.Popen) -> tuple[str, str]:
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return out, err


@pytest.fixture(scope="module")
def raced(tmp_path_factory):
    """A cache that two processes fill at the same time, and what both of them said."""
    cache = str(tmp_path_factory.mktemp("cache"))
    both = [start(cache), start(cache)]
    return cache, [finish(process) for process in both]


def test_two_processes_that_compile_at_once_agree(raced):
    _, ((first, _), (second, _)) = raced
    assert first == second


def test_the_first_compilation_is_announced_and_a_later_start_is_silent(raced):
    cache, outcomes = raced
    assert any(re.search("compiling [0-9]+ kernels", err) for _, err in outcomes)
    out, err = finish(start(cache))
    assert out == outcomes[0][0]
    assert err == ""


def test_what_two_racing_processes_wrote_is_loaded_and_not_compiled_again(raced):
    assert finish(start(raced[0], COUNTS))[0].splitlines()[-1] == "[0, 0]"


def test_of_racing_processes_only_one_compiles_a_kernel(tmp_path):
    racing = [start(str(tmp_path), COUNTS) for _ in range(3)]
    missed = [json.loads(finish(process)[0].splitlines()[-1]) for process in racing]
    assert [sum(of_kernel) for of_kernel in zip(*missed)] == [1, 1]


def test_without_a_writable_folder_kernels_work_and_the_reason_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    small = """
import numba
from opspace_ctrl.jit import entry
@entry("int64(int64)")
def twice(x):
    return 2 * x
print(twice.call(21))
"""
    path = tmp_path / "kernel.py"
    path.write_text(small)
    process = start(
        str(tmp_path / "file" / "below"), f"import runpy; runpy.run_path({str(path)!r})"
    )
    out, err = finish(process)
    assert out == "42\n"
    assert "not writable" in err and "NUMBA_CACHE_DIR" in err


def test_an_edit_makes_the_kernels_stale_that_may_inline_it_and_no_others(tmp_path):
    from opspace_ctrl import kernel_cache

    texts = {
        "lanes": "",
        "vector": "from .lanes import WIDTH",
        "osim/__init__": "",
        "osim/rjk": "from ..vector import x",
        "osim/sparse": "from ..vector import (\n    x,\n)\nfrom . import rjk as r",
        "control/__init__": "",
        "control/law": "from ..osim.rjk import a",
        "control/limits": "from ..osim import sparse",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.py").write_text(text)

    def stamps() -> dict[str, str]:
        kernel_cache._imports.cache_clear()
        return {name: kernel_cache._stamp.__wrapped__(tmp_path / f"{name}.py") for name in texts}

    def stale_after_an_edit_of(edited: str) -> set[str]:
        before = stamps()
        (tmp_path / f"{edited}.py").write_text(texts[edited] + "\nEDITED = 1")
        after = stamps()
        return {name for name in texts if after[name] != before[name]}

    assert stale_after_an_edit_of("control/law") == {"control/law"}
    assert stale_after_an_edit_of("osim/sparse") == {"osim/sparse", "control/limits"}
    assert stale_after_an_edit_of("osim/rjk") == {
        "osim/rjk",
        "osim/sparse",
        "control/law",
        "control/limits",
    }
    assert stale_after_an_edit_of("lanes") == set(texts) - {"osim/__init__", "control/__init__"}


def test_kernels_are_stamped_with_the_modules_they_are_built_from():
    from opspace_ctrl import kernel_cache

    source = ROOT / "opspace_ctrl" / "osim" / "tick.py"
    names = {path.name for path in kernel_cache._imports(source)}
    assert {"layout.py", "crba.py", "jit.py", "lanes.py", "solve.py", "sparse_ltdl.py"} <= names


@pytest.mark.parametrize("damage", [b"", b"garbage", None], ids=["empty", "garbage", "half"])
@pytest.mark.parametrize("kind", ["nbi", "nbc"])
def test_a_damaged_cache_is_compiled_again_and_mended(raced, damage, kind):
    for path in Path(raced[0]).rglob(f"entries.frame_jacobian*.{kind}"):
        path.write_bytes(path.read_bytes()[:200] if damage is None else damage)
    out, _ = finish(start(raced[0]))
    assert out == raced[1][0][0]
    assert finish(start(raced[0])) == (out, "")
