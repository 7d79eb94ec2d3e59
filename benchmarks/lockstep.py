# SPDX-License-Identifier: Apache-2.0
"""Lock-step over ROS: the simulator and the controller, a process each, for 100,000 steps; none may be lost.

    python benchmarks/lockstep.py [--steps 100000] [--robot arm7]
Prints how many states were answered, how many steps a second that makes, and the round trip; the exit code is 1 if a
state had no command, a command was extra or refused, or a lock-step timed out.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np

from opspace_ctrl.commands._hil_run import controller_words, run_hardware
from opspace_ctrl.commands._interrupt import INTERRUPTED, Interruption
from opspace_ctrl.data import shipped_path
from opspace_ctrl.parameter_file import node_parameters
from opspace_ctrl.sim.record.log import read_log

STEP = 0.001
PATIENCE = 900.0  # [s] for a first start that compiles
FAULTLESS = ("refused", "extra", "missed", "unanswered", "watchdog", "states_lost", "commands_lost")


def measure(robot: str, steps: int, folder: Path, stop: Interruption):
    """Run both for so many steps; the log."""
    file = shipped_path("config", f"{robot}.yaml")
    values = {
        **node_parameters(file, "opspace_simulator"),
        "mode": "lockstep",
        "autostart": True,
        "log": str(folder / "log"),
        "step": STEP,
        "lockstep_timeout": 5.0,
    }
    # In lock-step a pause of the machine is no fault: the controller does not act on it by itself.
    controller = (
        f"{sys.executable} -m opspace_ctrl.nodes.controller --ros-args --params-file {file} "
        "-p autostart:=true -p state_timeout:=60.0"
    )
    told = [0]

    def tell(what: str, reached: float) -> None:
        if reached // 10.0 > told[0]:
            told[0] = int(reached // 10.0)
            print(f"  {round(reached / STEP)} steps", flush=True)

    outcome = run_hardware(
        values, controller_words(controller), steps * STEP, PATIENCE, folder, stop, tell
    )
    if outcome.stood_still or outcome.controller_code is not None:
        raise SystemExit(
            f"the run ended early: {outcome}\n{(folder / 'controller.txt').read_text()[-2000:]}"
        )
    return read_log(folder / "log")


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--robot", default="arm7", choices=("arm7", "asimo", "free_flyer"))
    args = parser.parse_args()
    with Interruption(keep=True) as stop, tempfile.TemporaryDirectory() as folder:
        run = measure(args.robot, args.steps, Path(folder), stop)
        if stop.requested:
            return INTERRUPTED
        kept = np.flatnonzero(run["schedule"] < (args.steps - 0.5) * STEP)
        rows, counters = run.rows[kept], dict(run.counters)
    left, arrived = (rows[:, run.columns[name]][:, 0] for name in ("left", "arrived"))
    answered = int(np.isfinite(arrived).sum())
    trip = 1e6 * (arrived - left)[1:]  # the first state waited for the controller's start
    print(f"{args.robot}: {len(rows)} states, {answered} answered, {len(rows) - answered} lost")
    print(
        f"{(len(rows) - 2) / (left[-1] - left[1]):.0f} steps a second; from a state to its command: median "
        f"{np.nanmedian(trip):.0f} us, 99 % {np.nanpercentile(trip, 99):.0f} us, most {np.nanmax(trip):.0f} us"
    )
    print("  ".join(f"{name} {counters[name]}" for name in ("steps", "commands", *FAULTLESS)))
    return int(
        answered != len(rows) or any(counters[name] for name in FAULTLESS if name != "missed")
    )


if __name__ == "__main__":
    sys.exit(main())
