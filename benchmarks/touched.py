# SPDX-License-Identifier: Apache-2.0
"""How much memory an exported tick touches: cache lines of code and of data, counted by valgrind.

    python benchmarks/touched.py [ROBOT ...]

A tick that follows a pause has to fetch what it touches again; so this is what a cold tick costs, on any machine. Needs
valgrind and a C compiler. Takes a minute a robot, or several.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from opspace_ctrl import Controller, Simulator
from opspace_ctrl.data import shipped_path
from opspace_ctrl.export import library_path
from opspace_ctrl.export.controller import image_of
from opspace_ctrl.parameter_file import node_parameters
from opspace_ctrl.sim.settings import simulator_settings

LINE = 64  # bytes
SOURCE = Path(__file__).with_suffix(".c")


def touched(robot: str) -> dict[str, int]:
    """Lines of code, of the arena and of other memory that a tick of a shipped robot touches where it stands."""
    controller = Controller.from_file(f"{robot}.yaml")
    values = node_parameters(shipped_path("config", f"{robot}.yaml"), "opspace_simulator")
    q = Simulator.from_settings(controller.model, simulator_settings(values)).q
    library = library_path().parent
    with tempfile.TemporaryDirectory() as name:
        program, image = Path(name) / "touched", Path(name) / "robot.opspace"
        image.write_bytes(image_of(controller).packed())
        own = ("-O2", "-I", library, "-o", program, SOURCE, library / "libopspace.a", "-lm")
        subprocess.run(["cc", *map(str, own)], check=True)
        traced = ("valgrind", "--tool=lackey", "--trace-mem=yes", program, image, *q)
        with subprocess.Popen(
            [str(each) for each in traced],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as running:
            assert running.stdout is not None
            return _between_marks(running.stdout)


def _between_marks(trace) -> dict[str, int]:
    """Count the lines of each kind between the two writes to the mark."""
    mark, arena, size, is_on = -1, 0, 0, False
    lines: dict[str, set[int]] = {"code": set(), "arena": set(), "other": set()}
    for text in trace:
        if text.startswith("0x"):
            mark, arena, size = (int(word, 0) for word in text.split())
        kind, _, place = text.strip().partition(" ")
        address, comma, length = place.strip().partition(",")
        if kind not in ("I", "L", "S", "M") or not comma:
            continue
        first = int(address, 16)
        if kind == "S" and first == mark:
            if is_on:
                break
            is_on = True
        elif is_on:
            is_own = arena <= first < arena + size
            where = "code" if kind == "I" else "arena" if is_own else "other"
            last = first + int(length) - 1
            lines[where].update(range(first // LINE, last // LINE + 1))
    return {name: len(found) for name, found in lines.items()}


def main() -> None:
    """Print a table."""
    print("| robot | code | arena | stack and tables | together |\n|---|---|---|---|---|")
    for robot in sys.argv[1:] or ("arm7", "asimo"):
        found = touched(robot)
        kilobytes = sum(found.values()) * LINE / 1024
        counts = " | ".join(f"{count} lines" for count in found.values())
        print(f"| {robot} | {counts} | {kilobytes:.0f} kB |", flush=True)


if __name__ == "__main__":
    main()
