# SPDX-License-Identifier: Apache-2.0
"""Time of a control tick: arm7 (pose and posture) and asimo (two feet, two hands, centre of mass, posture), by method.

    python benchmarks/controller.py [--ticks 20000]
Least, median and 99th percentile [us] on one core, called from Python as the node does; what the tick with a singular
task takes; and how much memory 100,000 ticks leave behind.
"""

from __future__ import annotations

import argparse
import sys
from time import perf_counter_ns

import numpy as np

from opspace_ctrl import load_robot
from opspace_ctrl.bench.timing import Timing, pinned, quiet
from opspace_ctrl.commands._findings import Findings
from opspace_ctrl.commands._first_tick import start_of
from opspace_ctrl.control.controller import Controller
from opspace_ctrl.control.settings import controller_settings
from opspace_ctrl.data import shipped_path
from opspace_ctrl.parameter_file import node_parameters

TARGETS = {"arm7": 15.0, "asimo": 80.0}  # [us]
STEP = 1e-3  # [s]
STATES = 64


def case(robot: str) -> tuple[Controller, list[tuple[np.ndarray, np.ndarray]]]:
    """The shipped controller of a robot, and states around its start."""
    model, path = load_robot(robot), shipped_path("config", f"{robot}.yaml")
    settings = controller_settings(
        {**node_parameters(path, "opspace_controller"), "method": "sparse_ltdl"}
    )
    controller, rng = Controller.from_settings(model, settings), np.random.default_rng(0)
    start = start_of(node_parameters(path, "opspace_simulator"), model, settings, Findings())
    states = [
        (
            model.integrate(start, 0.05 * rng.normal(size=model.nv), 1.0),
            0.1 * rng.normal(size=model.nv),
        )
        for _ in range(STATES)
    ]
    controller.activate(start, np.zeros(model.nv), 0.0)
    return controller, states


def time_ticks(controller: Controller, states, ticks: int, start: float) -> Timing:
    """Time single ticks, round the states."""
    tick, out = controller.tick, np.zeros(ticks, dtype=np.int64)
    with pinned(), quiet():
        for k in range(ticks):
            q, v = states[k % STATES]
            before = perf_counter_ns()
            tick(q, v, start + k * STEP)
            out[k] = perf_counter_ns() - before
    return Timing.of(out[ticks // 10 :])


def blocks_left(controller: Controller, states, ticks: int = 100_000) -> int:
    """Memory blocks that so many ticks leave allocated."""
    tick, (q, v) = controller.tick, states[0]
    for _ in range(1000):
        tick(q, v, 1e3)
    before = sys.getallocatedblocks()
    for _ in range(ticks):
        tick(q, v, 1e3)
    return sys.getallocatedblocks() - before


def singular_arm() -> tuple[Controller, list[tuple[np.ndarray, np.ndarray]]]:
    """arm7 stretched out: its task has lost a direction."""
    controller, _ = case("arm7")
    model = controller.model
    rng = np.random.default_rng(1)
    states = [(1e-4 * rng.normal(size=model.nq), np.zeros(model.nv)) for _ in range(STATES)]
    controller.activate(*states[0], 0.0)
    return controller, states


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ticks", type=int, default=20_000)
    ticks = parser.parse_args().ticks
    print(
        f"{'robot':<8}{'method':<16}{'least':>9}{'median':>9}{'p99':>9}  [us]   residual of the switch"
    )
    for robot, target in TARGETS.items():
        controller, states = case(robot)
        controller.prepare()
        start = 0.0
        for name in controller.methods():
            controller.method = name
            controller.tick(*states[0], start)
            timing = time_ticks(controller, states, ticks, start)
            start += ticks * STEP
            missed = "" if timing.median < target else f"  target {target:g}"
            print(
                f"{robot:<8}{name:<16}{timing.least:9.2f}{timing.median:9.2f}{timing.p99:9.2f}         "
                f"{controller.method_residual:.1e}{missed}"
            )
        print(f"{robot:<8}memory blocks left by 100,000 ticks: {blocks_left(controller, states)}")
    controller, states = singular_arm()
    timing = time_ticks(controller, states, ticks, 0.0)
    print(f"{'arm7':<8}{'singular':<16}{timing.least:9.2f}{timing.median:9.2f}{timing.p99:9.2f}")


if __name__ == "__main__":
    main()
