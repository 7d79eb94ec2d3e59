# SPDX-License-Identifier: Apache-2.0
"""Ten minutes of the controller node: memory, ticks, and methods that change while it runs.

    python benchmarks/endurance.py [--robot asimo] [--minutes 10] [--rate 1000] [--tight]
The simulator node stands in for the robot, paced in lock-step at the given rate; once a second, or (tight) as soon as
the last request is answered, the method is set to the next one (those that cannot carry the robot's tasks are refused,
and counted). Wanted: under 350 MB resident, flat, and every state answered.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from itertools import cycle
from pathlib import Path
from time import monotonic

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter

from opspace_ctrl.commands._processes import Process, Processes, local_graph
from opspace_ctrl.data import shipped_path
from opspace_ctrl.model import load_robot
from opspace_ctrl.osim import methods

READY = 1800.0  # [s] for the first tick: kernels may have to be compiled
MEGABYTE = 1 << 20


class Watcher:
    """Reads /diagnostics and sets the method."""

    def __init__(self) -> None:
        self.node = rclpy.create_node("endurance")
        self.values: dict[str, dict[str, str]] = {}
        self.node.create_subscription(DiagnosticArray, "/diagnostics", self._note, 10)
        self._client = self.node.create_client(SetParameters, "/opspace_controller/set_parameters")
        self.refused, self.is_answered = 0, True

    def _note(self, message: DiagnosticArray) -> None:
        for status in message.status:
            self.values[status.name] = {value.key: value.value for value in status.values}

    def number(self, status: str, key: str) -> float:
        """A number of the newest diagnostics, 0 before the first."""
        return float(self.values.get(status, {}).get(key, 0.0))

    def set_method(self, name: str) -> None:
        """Ask for a method; the answer is counted."""
        self.is_answered = False
        request = SetParameters.Request(
            parameters=[Parameter("method", value=name).to_parameter_msg()]
        )
        self._client.call_async(request).add_done_callback(self._answered)

    def _answered(self, future) -> None:
        self.refused += not future.result().results[0].successful
        self.is_answered = True


def resident(process: Process) -> float:
    """Memory of a process [MB]."""
    pages = int(Path(f"/proc/{process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / MEGABYTE


def measure(robot: str, minutes: float, rate: float, tight: bool) -> dict:
    """Numbers of one run."""
    os.environ.update(local_graph())
    rclpy.init()
    common = [
        "--ros-args",
        "--params-file",
        str(shipped_path("config", f"{robot}.yaml")),
        "-p",
        "autostart:=true",
    ]
    with Processes() as processes:
        processes.start(
            "simulator",
            [
                sys.executable,
                "-m",
                "opspace_ctrl.nodes.simulator",
                *common,
                "-p",
                "mode:=lockstep",
                "-p",
                "pace:=true",
                "-p",
                f"rate:={rate}",
            ],
        )
        controller = processes.start(
            "controller",
            [
                sys.executable,
                "-m",
                "opspace_ctrl.nodes.controller",
                *common,
                "-p",
                "use_sim_time:=true",
            ],
        )
        watcher = Watcher()
        loop, tick = "opspace_controller: loop", "opspace_controller: tick"
        end = monotonic() + READY
        while watcher.number(loop, "ticks") < 100:
            rclpy.spin_once(watcher.node, timeout_sec=0.5)
            processes.ensure_alive()
            if monotonic() > end:
                raise SystemExit(f"no ticks within {READY} s")
        memory, residuals, names = [], [], cycle(methods(load_robot(robot)))
        start, next_time = monotonic(), monotonic()
        while monotonic() < start + 60.0 * minutes:
            rclpy.spin_once(watcher.node, timeout_sec=0.2)
            processes.ensure_alive()
            is_due = monotonic() >= next_time
            if watcher.is_answered and (tight or is_due):
                watcher.set_method(next(names))
            if is_due:
                next_time += 1.0
                memory.append(resident(controller))
                residuals.append(watcher.number(tick, "method_residual"))
        result = {
            "robot": robot,
            "minutes": minutes,
            "ticks": watcher.number(loop, "ticks"),
            "commands": watcher.number(loop, "commands"),
            "switches": watcher.number(tick, "method_switches"),
            "refused": watcher.refused,
            "largest_residual": max(residuals),
            "resident_MB": {
                "start": memory[0],
                "after_a_minute": memory[min(60, len(memory) - 1)],
                "end": memory[-1],
                "largest": max(memory),
            },
            "computation_us": {
                key: watcher.number(loop, f"computation_{key}_us") for key in ("p50", "p99", "max")
            },
            "simulator": watcher.values.get("opspace_simulator: simulation", {}),
        }
    rclpy.shutdown()
    return result


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--robot", default="asimo", help="a shipped robot with a file in config/ (default: asimo)"
    )
    parser.add_argument(
        "--minutes", type=float, default=10.0, help="length of the measurement (default: 10)"
    )
    parser.add_argument(
        "--rate", type=float, default=1000.0, help="joint states a second (default: 1000)"
    )
    parser.add_argument(
        "--tight", action="store_true", help="set the next method as soon as the last is answered"
    )
    args = parser.parse_args()
    print(json.dumps(measure(args.robot, args.minutes, args.rate, args.tight), indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
