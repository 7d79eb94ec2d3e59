"""The cache of kernels: damaged, read-only, of another processor, or held by a process that sleeps."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import opspace_ctrl

ROOT = Path(opspace_ctrl.__file__).parents[1]
FINDS = """
import os, warnings
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])  # one core: no helpers, who compile too
warnings.simplefilter("ignore")
from opspace_ctrl import kernel_cache
kernel_cache.PATIENCE = 0.5
import numpy as np
from opspace_ctrl import load_robot, mass_matrix
from opspace_ctrl.dynamics import entries
from opspace_ctrl.dynamics.layout import stages
print(mass_matrix(load_robot("arm7"), np.zeros(7))[0, 0])
used = [entries.mass_matrix.dispatcher, *(kernel for kernel, _ in stages())]
print(sum(sum(kernel.stats.cache_misses.values()) for kernel in used), len(used))
"""
SLEEPS = """
import time
from opspace_ctrl.dynamics import entries
from opspace_ctrl.kernel_cache import lock
with lock(entries.mass_matrix.dispatcher) as mine:
    print(mine, flush=True)
    time.sleep(600)
"""


def run(cache: Path, **environment: str) -> tuple[str, int, int]:
    """What a process finds, how many kernels it compiled, and of how many."""
    done = subprocess.run(
        [sys.executable, "-c", FINDS],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(ROOT), **environment},
    )
    assert done.returncode == 0, done.stderr
    found, counts = done.stdout.splitlines()
    compiled, used = map(int, counts.split())
    return found, compiled, used


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    cache = tmp_path_factory.mktemp("cache")
    found, compiled, used = run(cache)
    assert compiled == used > 3 and run(cache) == (found, 0, used)
    return cache, found


def files(cache: Path, ending: str) -> list[Path]:
    return sorted(cache.glob(f"*/*/*mass_matrix*.{ending}"))


@pytest.mark.parametrize("place", [0.2, 0.5, 0.9])
def test_a_flipped_bit_means_to_compile_that_kernel_again(filled, place):
    cache, found = filled
    for path in files(cache, "nbc"):
        data = bytearray(path.read_bytes())
        data[int(place * len(data))] ^= 4
        path.write_bytes(data)
    again, compiled, _ = run(cache)
    assert again == found and compiled == len(files(cache, "nbc")) > 0
    assert run(cache)[1] == 0


def test_what_a_folder_that_cannot_be_written_holds_is_used(filled):
    cache, found = filled
    lacking, *_ = files(cache, "nbi")
    kept = lacking.read_bytes()
    code = re.sub(
        r"^kernel_cache.PATIENCE.*$", "kernel_cache.is_writable = lambda: False", FINDS, flags=re.M
    )
    lacking.unlink()
    try:
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            timeout=300,
            check=True,
            env={**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(ROOT)},
        )
        assert (
            done.stdout.splitlines()[0] == found and done.stdout.splitlines()[1].split()[0] == "1"
        )
        assert done.stderr == "opspace_ctrl: compiling a kernel ...\n" and not lacking.exists()
    finally:
        lacking.write_bytes(kept)


def test_kernels_of_another_processor_do_not_count(filled):
    cache, found = filled
    generic, compiled, used = run(cache, NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="")
    assert compiled == used and float(generic) == pytest.approx(float(found))
    assert run(cache)[1] == run(cache, NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="")[1] == 0


def test_a_process_that_sleeps_with_a_lock_is_not_waited_for_for_ever(tmp_path):
    sleeper = subprocess.Popen(
        [sys.executable, "-c", SLEEPS],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)},
    )
    try:
        assert sleeper.stdout.readline() == "True\n"
        sleeper.send_signal(signal.SIGSTOP)
        _, compiled, used = run(tmp_path)
        assert compiled == used
    finally:
        sleeper.kill()
        sleeper.wait()
        sleeper.stdout.close()


@pytest.mark.parametrize("stream", ["closed", "bare", "full"])
def test_a_line_that_cannot_be_written_does_not_stop_the_work(tmp_path, stream):
    first = {
        "closed": "import sys; sys.stderr.close()",
        "full": "import sys; sys.stderr = open('/dev/full', 'w')",
        "bare": "import sys; sys.stderr = type('Bare', (), {'write': lambda self, text: None})()",
    }[stream]
    code = f"""{first}
from opspace_ctrl.dynamics import entries
entries.frame_jacobian.prepare()
print("done", flush=True)
import os; os._exit(0)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)},
    )
    assert (done.returncode, done.stdout) == (0, "done\n")
