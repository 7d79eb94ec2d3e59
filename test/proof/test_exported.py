"""A hundred thousand ticks of every shipped parameter file, targets and switches: C is Python in every bit."""

import subprocess

import pytest
from helpers.exported import ROBOTS, Both

from opspace_ctrl.cli import main
from opspace_ctrl.export import library_path
from opspace_ctrl.export.native import Library

TICKS = 100_000


@pytest.mark.parametrize("name", ROBOTS)
def test_long_runs_are_those_of_python(name):
    assert list(Both(name, Library(library_path()), seed=7).run(TICKS, every=37)) == []


def test_the_library_for_aarch64_replays_what_python_recorded_here(tmp_path):
    """Needs Debian's gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user-static."""
    target = ["--target", "aarch64-linux-gnu"]
    for name in ("arm7", "asimo"):
        folder = tmp_path / name
        assert main(["export", f"{name}.yaml", "--example", str(folder), *target]) == 0
        build = [
            "make",
            "-C",
            str(folder),
            "CC=aarch64-linux-gnu-gcc",
            "CFLAGS=-O2 -static",
            "replay",
        ]
        subprocess.run(build, check=True)
        replay = ["qemu-aarch64-static", str(folder / "replay"), str(folder / "robot.opspace")]
        done = subprocess.run(replay, capture_output=True, text=True, check=True)
        assert (
            "of 200 ticks bit-identical" in done.stdout
        )  # and the others to 1e-12, or it had failed
