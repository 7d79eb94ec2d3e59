# SPDX-License-Identifier: Apache-2.0
"""A hundred thousand ticks of every shipped parameter file, bare and behind gates: C is Python in every bit.

And ten million for the clock: no page fault, no allocation, nothing that valgrind minds; and another kind of machine.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from helpers.exported import ALL, Both
from helpers.guarded_in_both import BothGuarded

from opspace_ctrl.cli import main
from opspace_ctrl.export import library_path
from opspace_ctrl.export.native import Library

ELSEWHERE = ("two_namespaces",)  # two controllers, each that of arm7
TICKS = 100_000
LONG = 10_000_000
HERE = Path(__file__).parent


def run(*command: object, **options: object) -> subprocess.CompletedProcess:
    """A program that has to end well."""
    done = subprocess.run(
        [str(each) for each in command], capture_output=True, text=True, **options
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def test_every_shipped_controller_is_among_them():
    files = [
        path for path in Path("config").glob("*.yaml") if "opspace_controller:" in path.read_text()
    ]
    assert {path.stem for path in files} == {*ALL, *ELSEWHERE}


@pytest.mark.parametrize("name", ALL)
def test_long_runs_are_those_of_python(name):
    assert list(Both(name, Library(library_path()), seed=7).run(TICKS, every=37)) == []


@pytest.mark.parametrize("name", ALL)
def test_long_runs_behind_gates_are_those_of_python(name):
    """With targets, switches, faults, stops and silence: every command is compared when it is made."""
    assert BothGuarded(name, Library(library_path()), seed=8).run(TICKS, every=37) > 0.9 * TICKS


@pytest.fixture(scope="module")
def arm7(tmp_path_factory) -> Path:
    """The example of arm7, built."""
    folder = tmp_path_factory.mktemp("long") / "arm7"
    assert main(["export", "arm7.yaml", "--example", str(folder)]) == 0
    run("make", "-C", folder, "replay")
    return folder


def test_ten_million_ticks_fault_no_page_and_allocate_nothing(arm7):
    """What counts allocations is loaded before libc. The longest tick is printed, not judged: others compute here."""
    counter = arm7 / "counter.so"
    run("gcc", "-std=gnu11", "-O2", "-shared", "-fPIC", "-o", counter, HERE / "counter.c", "-ldl")
    program = (arm7 / "replay", arm7 / "robot.opspace", "--time")
    done = run(*program, LONG, env={**os.environ, "LD_PRELOAD": str(counter)})
    print(done.stdout, done.stderr)
    hot = next(line for line in done.stdout.splitlines() if line.startswith("hot:"))
    assert f"of {LONG} ticks; 0 page faults" in hot
    few = run(*program, 1000, env={**os.environ, "LD_PRELOAD": str(counter)})
    counts = [re.search(r"(\d+) allocations", each.stderr) for each in (done, few)]
    assert counts[0] and counts[1] and counts[0].group(1) == counts[1].group(1) != "0"


def test_valgrind_minds_nothing(arm7):
    """Uninitialised memory, accesses beyond the arena, leaks of the program: memcheck on replay and ticks."""
    check = ("valgrind", "-q", "--error-exitcode=9", "--leak-check=full")
    done = run(*check, arm7 / "replay", arm7 / "robot.opspace", "--time", 300)
    assert "200 of 200 ticks bit-identical" in done.stdout


@pytest.mark.parametrize("name", ["arm7", "asimo"])
@pytest.mark.parametrize("of", [[], ["--simulator"]], ids=["controller", "simulator"])
def test_the_library_for_aarch64_replays_its_own_ticks_in_every_bit(tmp_path, name, of):
    """Needs Debian's gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user-static."""
    folder, target = tmp_path / name, ["--target", "aarch64-linux-gnu"]
    assert main(["export", f"{name}.yaml", "--example", str(folder), *target, *of]) == 0
    run("make", "-C", folder, "CC=aarch64-linux-gnu-gcc", "CFLAGS=-O2 -static", "replay")
    here = run("qemu-aarch64-static", folder / "replay", folder / "robot.opspace")
    assert "200 of 200 ticks bit-identical" in here.stdout
    # on this machine the same image agrees to 1e-12, or replaying it raises
    ticks, identical, worst = Library(library_path()).replay(
        (folder / "robot.opspace").read_bytes()
    )
    print(f"{name}: {identical} of {ticks} in every bit, the others to {worst:.1e}")
    assert ticks == 200 and worst < 1e-12
