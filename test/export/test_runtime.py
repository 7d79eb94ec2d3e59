# SPDX-License-Identifier: Apache-2.0
"""The library is fit for real time: what it may call, what it may touch, and what its own C does under sanitizers."""

from __future__ import annotations

import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from helpers.exported import shipped, shipped_simulator

from opspace_ctrl.cli import main
from opspace_ctrl.export import library_path
from opspace_ctrl.export.controller import image_of
from opspace_ctrl.export.library import SOURCES, runtime_folder
from opspace_ctrl.export.simulator import simulator_image
from opspace_ctrl.export.stages import kernel_hash, library_stages

HERE = Path(__file__).parent
# libm's, and what compilers make of loops that copy; nothing that allocates, locks or enters the kernel
ALLOWED = {"atan2", "sin", "cos", "tan", "sincos", "tanh", "sqrt", "fmin", "fmax"}
ALLOWED |= {"memcpy", "memset", "memmove", "memcmp", "strcmp"}
# of every shared library, for what is not there
WEAK = {
    "_ITM_deregisterTMCloneTable",
    "_ITM_registerTMCloneTable",
    "__cxa_finalize",
    "__gmon_start__",
}
STRICT = ("-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-Wshadow", "-Wconversion")
SANITIZED = ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def run(*command: object, **options: object) -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(each) for each in command], capture_output=True, text=True, **options
    )


@pytest.fixture(scope="module")
def example(tmp_path_factory) -> Path:
    """The folder that `opspace export --example` makes for arm7."""
    folder = tmp_path_factory.mktemp("export") / "example"
    assert main(["export", "arm7.yaml", "--example", str(folder)]) == 0
    return folder


def test_only_allowed_symbols_are_undefined():
    found = run("nm", "-D", "--undefined-only", library_path()).stdout.split("\n")
    names = {line.split()[-1].split("@")[0] for line in found if line}
    assert names - WEAK <= ALLOWED and {"atan2", "memcpy"} <= names


def test_only_the_interface_is_exported():
    found = run("nm", "-D", "--defined-only", library_path()).stdout.split("\n")
    names = {line.split()[-1] for line in found if line}
    header = (runtime_folder() / "opspace.h").read_text()
    assert names and all(f" {name}(" in header or f"*{name}(" in header for name in names)


def test_the_example_builds_and_replays_every_tick(example):
    done = run("make", "-C", example, "run")
    assert done.returncode == 0 and "200 of 200 ticks bit-identical" in done.stdout


def test_a_program_that_is_linked_against_the_shared_library_finds_it(example):
    """By the library's soname, in the folder that was exported and nothing else."""
    where = ("-I", example, "-L", example, f"-Wl,-rpath,{example}")
    source = (example / "replay.c", "-lopspace", "-lm")
    done = run("gcc", "-std=c11", *where, "-o", example / "linked", *source)
    assert done.returncode == 0, done.stderr
    assert "libopspace.so" in run("readelf", "-d", example / "linked").stdout
    done = run(example / "linked", example / "robot.opspace")
    assert "200 of 200 ticks bit-identical" in done.stdout, done.stderr


def test_the_example_says_what_is_wrong_with_an_image(example, tmp_path):
    assert run("make", "-C", example, "replay").returncode == 0
    damaged = bytearray((example / "robot.opspace").read_bytes())
    damaged[5000] ^= 1
    (tmp_path / "damaged.opspace").write_bytes(damaged)
    done = run(example / "replay", tmp_path / "damaged.opspace")
    assert done.returncode == 1 and "the image is damaged: export it again" in done.stderr


def image_for(name: str) -> bytes:
    """Of a controller, or with "simulated" before its name of a robot."""
    kind, _, of = name.rpartition(" ")
    image = simulator_image(shipped_simulator(of)) if kind else image_of(shipped(of))
    return image.packed()


@pytest.mark.parametrize("name", ["arm7", "asimo", "simulated arm7", "simulated asimo"])
def test_the_loop_makes_no_system_call_and_keeps_to_its_arena(name, example, tmp_path):
    image, program = tmp_path / "robot.opspace", tmp_path / "strict"
    image.write_bytes(image_for(name))
    sources = (HERE / "strict.c", example / "libopspace.a", "-lm")
    done = run(
        "gcc", "-std=gnu11", "-O1", "-Wall", "-Wextra", "-I", example, "-o", program, *sources
    )
    assert done.returncode == 0, done.stderr
    done = run(program, image)
    assert (done.returncode, done.stdout) == (0, "no system call\n")
    assert run(program, image, "with one").returncode == -signal.SIGKILL  # it would be seen


def build_sanitized(
    folder: Path, example: Path, *sources: object, flags: tuple[str, ...] = SANITIZED
) -> Path:
    """A program of our C with sanitizers around the kernels of the library."""
    shutil.copy(example / "libopspace.a", folder)
    assert run("ar", "x", "libopspace.a", "kernels.o", cwd=folder).returncode == 0
    defined = (f"-DKERNEL_HASH={kernel_hash():#x}ull", f"-DSTAGE_COUNT={len(library_stages())}")
    own = [runtime_folder() / name for name in SOURCES]
    done = run(
        "gcc", "-std=gnu11", "-O1", *flags, *defined, "-I", runtime_folder(),
        "-o", folder / "sanitized", *sources, *own, folder / "kernels.o", "-lm",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder / "sanitized"


def test_our_c_is_clean_under_sanitizers_and_strict_warnings(example, tmp_path):
    for name in SOURCES:
        defined = ("-DKERNEL_HASH=1ull", "-DSTAGE_COUNT=40")
        done = run("gcc", *STRICT, *defined, "-c", "-o", "/dev/null", runtime_folder() / name)
        assert done.returncode == 0, done.stderr
    program = build_sanitized(tmp_path, example, example / "replay.c")
    done = run(program, example / "robot.opspace")
    assert "200 of 200 ticks bit-identical" in done.stdout and done.returncode == 0, done.stderr


def test_images_that_lie_are_refused_and_touch_nothing(example, tmp_path):
    """Every table of the file is spoiled, with a checksum that fits; the workspaces are as trusted as code."""
    program = build_sanitized(tmp_path, example, HERE / "lying.c")
    done = run(program, example / "robot.opspace", "5")
    assert done.returncode == 0, done.stdout + done.stderr
    refused, opened = (int(word) for word in done.stdout.split() if word.isdigit())
    assert refused > 100 and refused + opened == 400


@pytest.mark.parametrize("name", ["free_flyer", "simulated arm7"])
def test_random_arguments_give_a_code_and_never_a_crash(name, example, tmp_path):
    """Wild numbers, lengths, names and null pointers, in any order, under sanitizers; commands stay finite."""
    program, image = build_sanitized(tmp_path, example, HERE / "fuzz.c"), tmp_path / "of.opspace"
    image.write_bytes(image_for(name))
    done = run(program, image, "20000")
    assert done.returncode == 0, done.stdout + done.stderr
    refused, fine = (int(word) for word in done.stdout.split() if word.isdigit())
    assert refused > 1000 and fine > 1000


def test_two_robots_in_one_loop_and_other_threads_that_send_and_stop_race_nowhere(
    example, tmp_path
):
    """ThreadSanitizer over our C: the mailbox, the stop and the permission are all that threads share."""
    flags = ("-g", "-fsanitize=thread", "-pthread")
    program = build_sanitized(tmp_path, example, HERE / "threads.c", flags=flags)
    other = tmp_path / "other.opspace"
    other.write_bytes(image_for("free_flyer"))
    done = run(program, example / "robot.opspace", other, "5000")
    assert done.returncode == 0 and "WARNING" not in done.stderr, done.stdout + done.stderr
