# SPDX-License-Identifier: Apache-2.0
"""Reference ticks through a library for another kind of machine, which an emulator runs here."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import ExportError
from .library import compiler_of, library_path, native_target, run_tool
from .native import Library
from .record import Recorder

__all__ = ["recorder_for"]

EMULATORS = {"aarch64-linux-gnu": ("qemu-aarch64-static", "qemu-aarch64")}
SOURCE = Path(__file__).parent / "recorder" / "record.c"


def recorder_for(target: str, cpu: str = "") -> Recorder | None:
    """What records through the library of a target; None where neither this machine nor an emulator can run it.

    Raises:
        ExportError: As `library_path`.
    """
    library = library_path(target, cpu)
    if target == native_target():
        return Library(library).record
    found = [each for each in EMULATORS.get(target, ()) if shutil.which(each)]
    if not found:
        return None
    return lambda image, inputs: _emulated(found[0], target, library, image, inputs)


def _emulated(
    emulator: str, target: str, library: Path, image: bytes, inputs: NDArray[np.float64]
) -> NDArray[np.float64]:
    """What a program of the target answers, linked with the library."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "robot.opspace").write_bytes(image)
        own = (SOURCE, library.parent / "libopspace.a", "-lm", "-o", folder / "record")
        run_tool(compiler_of(target), "-std=c11", "-O2", "-static", "-I", library.parent, *own)
        done = subprocess.run(
            [emulator, str(folder / "record"), str(folder / "robot.opspace")],
            input=np.ascontiguousarray(inputs).tobytes(),
            capture_output=True,
            check=False,
        )
    if done.returncode:
        raise ExportError(f"{emulator} failed: {done.stderr.decode(errors='replace').strip()}")
    return np.frombuffer(done.stdout).reshape(len(inputs), -1)
