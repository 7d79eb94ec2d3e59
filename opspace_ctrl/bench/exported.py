# SPDX-License-Identifier: Apache-2.0
"""The tick of a shipped controller as an exported library runs it, without Python: in a hot loop, and cold.

It is the C example that measures: in Python a pause would make the interpreter cold, too.
"""

import re
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from ..control.controller import Controller
from ..errors import ExportError
from ..export.controller import image_of
from ..export.library import compiler_of, example_folder, library_path, native_target, run_tool
from ..export.record import with_reference_ticks

__all__ = ["exported"]

LINE = re.compile(r"(.+): median ([\d.]+) us, 99 % ([\d.]+) us, longest ([\d.]+) us")


def exported(
    names: Sequence[str], tell: Callable[[str], None] = lambda text: None
) -> dict[str, dict[str, dict[str, float]]]:
    """Microseconds `median`, `p99` and `longest` of a tick by robot and by what went before it ("hot": another tick).

    Args:
        names: Of shipped robots.
        tell: Hears what comes next.

    Raises:
        ExportError: There is no C compiler, or the program fails.
    """
    found = {}
    for name in names:
        tell(f"{name}: the exported tick, hot and cold")
        found[name] = _measured(Controller.from_file(f"{name}.yaml"))
    return found


def _measured(controller: Controller) -> dict[str, dict[str, float]]:
    library, target = library_path(), native_target()
    with tempfile.TemporaryDirectory(prefix="opspace_bench_") as name:
        program, image = Path(name) / "replay", Path(name) / "robot.opspace"
        made = with_reference_ticks(image_of(controller), controller, None, target)
        image.write_bytes(made.packed())
        own = (example_folder() / "replay.c", library.parent / "libopspace.a", "-lm")
        run_tool(compiler_of(target), "-O2", "-I", library.parent, "-o", program, *own)
        done = subprocess.run(
            [program, image, "--time"], capture_output=True, text=True, check=False
        )
    if done.returncode:
        raise ExportError(f"the exported tick could not be measured: {done.stderr.strip()}")
    lines = filter(None, map(LINE.match, done.stdout.splitlines()))
    return {
        what: {"median": float(median), "p99": float(p99), "longest": float(longest)}
        for what, median, p99, longest in (line.groups() for line in lines)
    }
