# SPDX-License-Identifier: Apache-2.0
"""Round trip of the controller node beside an echo node of the same pattern, in one run.

    python benchmarks/latency.py [--robot arm7] [--seconds 20] [--rate 1000]
This process sends joint states at a fixed rate and times each until its command is back: in turn, in blocks of half a
second, to the controller and to a node that waits and answers in the same way but computes nothing. Wanted: the median
at most 1.25 times the echo's, and under 1 % of the replies more than 1 ms slower than the echo's median.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
from array import array
from time import perf_counter, sleep

import numpy as np
import rclpy
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from opspace_ctrl.commands._processes import Processes, local_graph
from opspace_ctrl.data import shipped_path
from opspace_ctrl.model import load_robot
from opspace_ctrl.nodes import qos
from opspace_ctrl.nodes.cdr import Command, JointStateReader
from opspace_ctrl.nodes.messages import stamp_of
from opspace_ctrl.nodes.privileges import quiet_interpreter, raise_priority
from opspace_ctrl.nodes.runtime import run
from opspace_ctrl.nodes.waiting import make_waiter

BLOCK = 0.5  # [s]
READY = 1200.0  # [s] for the first answer: kernels may have to be compiled
LOST = 0.1  # [s] after which an answer is not waited for any longer


class EchoNode(Node):
    """Answers joint states with as many numbers, from a loop like the controller's."""

    def __init__(self, count: int):
        super().__init__("echo")
        self.finished = False
        self._waiter = make_waiter(self)
        self._inlet = self._waiter.subscribe(JointState, "joint_states", qos.STATES, raw=True)
        self._publisher = self.create_publisher(
            Float64MultiArray, "effort_controller/commands", qos.COMMANDS
        )
        self._read, self._command = JointStateReader(), Command(count)
        self._thread = threading.Thread(target=self._loop)
        self._thread.start()
        quiet_interpreter()

    def _loop(self) -> None:
        raise_priority(50)
        while not self.finished:
            self._waiter.wait(0.1)
            data = self._waiter.take(self._inlet)
            if data is not None:
                self._command.values[:] = self._read(data).position
                self._publisher.publish(self._command.message())

    def end(self) -> None:
        """Stop the loop."""
        self.finished = True
        self._thread.join()


class Driver:
    """Sends states and times the answers."""

    def __init__(self, node: Node, robot: str, namespaces: tuple[str, ...]):
        model = load_robot(robot, base="fixed")
        self._position = model.neutral()
        self._names = list(model.joint_names)
        self._waiter = make_waiter(node)
        self._publishers = [
            node.create_publisher(JointState, f"{name}/joint_states", qos.STATES)
            for name in namespaces
        ]
        self._inlets = [
            self._waiter.subscribe(
                Float64MultiArray, f"{name}/effort_controller/commands", qos.COMMANDS
            )
            for name in namespaces
        ]
        zeros = array("d", bytes(8 * len(self._names)))
        self._message = JointState(
            name=self._names, position=array("d", self._position), velocity=zeros
        )
        self.lost = [0] * len(namespaces)

    def round_trip(self, peer: int, patience: float) -> float:
        """Send one state; seconds until the answer, nan if it does not come."""
        self._message.header.stamp = stamp_of(int(1e9) + int(perf_counter() * 1e9))
        start = perf_counter()
        self._publishers[peer].publish(self._message)
        end = start + patience
        while (now := perf_counter()) < end:
            self._waiter.wait(end - now)
            if self._waiter.take(self._inlets[peer]) is not None:
                return perf_counter() - start
        self.lost[peer] += 1
        return np.nan

    def wait_until_ready(self, processes: Processes) -> None:
        """Until both have answered a hundred times in a row."""
        for peer in range(len(self._publishers)):
            answered, end = 0, perf_counter() + READY
            while answered < 100:
                answered = answered + 1 if np.isfinite(self.round_trip(peer, LOST)) else 0
                processes.ensure_alive()
                if perf_counter() > end:
                    raise SystemExit(f"no answer within {READY} s")
        self.lost = [0] * len(self._publishers)

    def block(self, peer: int, rate: float) -> list[float]:
        """Round trips at a fixed rate for BLOCK seconds; a late answer delays the next state."""
        times, due = [], perf_counter()
        for _ in range(int(BLOCK * rate)):
            due = max(due + 1.0 / rate, perf_counter())
            sleep(max(0.0, due - perf_counter()))
            times.append(self.round_trip(peer, LOST))
        return times


def measure(robot: str, seconds: float, rate: float) -> dict:
    """Numbers of one run; times in us."""
    os.environ.update(local_graph())
    rclpy.init()
    quiet_interpreter()
    raise_priority(50)
    count = len(load_robot(robot, base="fixed").joint_names)
    controller = [
        sys.executable,
        "-m",
        "opspace_ctrl.nodes.controller",
        "--ros-args",
        "--params-file",
        str(shipped_path("config", f"{robot}.yaml")),
        "-p",
        "autostart:=true",
        "-p",
        "base:=fixed",
        "-p",
        "state_timeout:=600.0",
        "-p",
        "clock_jump:=3600.0",
    ]
    echo = [sys.executable, __file__, "--echo", str(count), "--ros-args", "-r", "__ns:=/echo"]
    with Processes() as processes:
        processes.start("controller", controller)
        processes.start("echo", echo)
        driver = Driver(rclpy.create_node("driver"), robot, ("/echo", ""))
        driver.wait_until_ready(processes)
        times: list[list[float]] = [[], []]
        for _ in range(max(1, int(seconds / (2.0 * BLOCK)))):
            for peer in range(2):
                times[peer] += driver.block(peer, rate)
    rclpy.shutdown()
    both = [1e6 * np.array(each) for each in times]
    median = [float(np.nanmedian(each)) for each in both]
    return {
        "robot": robot,
        "rate": rate,
        "replies": len(both[1]),
        "lost": driver.lost[1],
        "echo": _numbers(both[0], median[0]),
        "controller": _numbers(both[1], median[0]),
        "median_ratio": median[1] / median[0],
    }


def _numbers(times: np.ndarray, reference: float) -> dict:
    """Median, percentiles, and the share of replies that is more than 1 ms above the reference."""
    median, p99, longest = np.nanpercentile(times, (50.0, 99.0, 100.0))
    slow = float(np.mean(~(times <= reference + 1000.0)))
    return {
        "median": float(median),
        "p99": float(p99),
        "max": float(longest),
        "share_over_1ms_more": slow,
    }


def main() -> int:
    """Measure and print, or be the echo node."""
    if "--echo" in sys.argv:
        at = sys.argv.index("--echo")
        return run(lambda stop: EchoNode(int(sys.argv[at + 1])))
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--robot", default="arm7", help="a shipped robot with a file in config/ (default: arm7)"
    )
    parser.add_argument(
        "--seconds", type=float, default=20.0, help="length of the measurement (default: 20)"
    )
    parser.add_argument(
        "--rate", type=float, default=1000.0, help="joint states a second (default: 1000)"
    )
    args = parser.parse_args()
    print(json.dumps(measure(args.robot, args.seconds, args.rate), indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
