# SPDX-License-Identifier: Apache-2.0
"""How long the emergency stop takes, and how regular commands are, while somebody sends too much.

    python benchmarks/stop.py [--seconds 20] [--rate 500] [--json FILE]
Beside the controller runs a bare rclpy node that answers the same states and has a service of its own: what both do
late is the machine's doing. A robot at rest says so at the given rate; `poses` come as fast as they go, `trajectories`
have a million points, one a second; who sends them gives way to the others, for he would be on another machine. Every
stop (a call, until its answer; and until the first safe command has left) is followed by a call of the bare node and a
reset. Wanted: stops below 20 ms (p99), and no gap of commands above 20 ms that the bare node does not have.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
from attacking.attacker import NODE, READY
from attacking.robot import run_robot
from attacking.scenarios import long_trajectory

PHASES = ("idle", "poses", "trajectories")
ANSWERS = ("robot", "bare", "commands")  # whose gaps are looked at
PAUSE = 0.03  # [s] between two stops
KEPT = 4_000_000  # answers


class Times:
    """When something was done, by the monotonic clock [s]; written to a file on demand.

    The file `path` is written when a file `path`.wanted appears: never while something is measured.
    """

    def __init__(self, path: str):
        self.path, self._times, self.count = Path(path), np.zeros(KEPT), 0
        self._times.fill(0.0)  # every page is there before it is needed
        threading.Thread(target=self._serve, daemon=True).start()

    def note(self) -> None:
        """Now."""
        self._times[self.count % KEPT] = time.monotonic()
        self.count += 1

    def _serve(self) -> None:
        wanted = Path(f"{self.path}.wanted")
        while True:
            time.sleep(0.2)
            if wanted.exists():
                wanted.unlink()
                np.save(f"{self.path}.draft.npy", self._times[: self.count])
                Path(f"{self.path}.draft.npy").rename(self.path)


def ask(path: Path) -> np.ndarray:
    """The times that another process has noted so far."""
    path.unlink(missing_ok=True)
    Path(f"{path}.wanted").touch()
    while not path.exists():
        time.sleep(0.05)
    return np.load(path)


def run_inside(path: str, arguments: list[str]) -> int:
    """The controller's own main function; every command is noted, those of a closed gate a second time."""
    from opspace_ctrl.nodes import controller
    from opspace_ctrl.nodes.control_loop import ControlLoop

    commands, safe = Times(path), Times(f"{path}.safe")
    send = ControlLoop._send

    def sent(self, tau, arrival):
        send(self, tau, arrival)
        commands.note()
        if not self._guarded.is_ticking:
            safe.note()

    ControlLoop._send = sent
    return controller.main(arguments)


def run_bare(path: str) -> int:
    """A node that answers every state, and calls, with nothing to do."""
    import rclpy
    from sensor_msgs.msg import JointState
    from std_msgs.msg import Float64MultiArray
    from std_srvs.srv import Trigger

    from opspace_ctrl.nodes import qos

    rclpy.init()
    node, times = rclpy.create_node("bare"), Times(path)
    answer = Float64MultiArray(data=[0.0] * 7)
    outlet = node.create_publisher(Float64MultiArray, "bare/commands", qos.COMMANDS)

    def on_state(data: bytes) -> None:
        outlet.publish(answer)
        times.note()

    def on_call(request, response):
        response.success = True
        return response

    node.create_subscription(JointState, "joint_states", on_state, qos.STATES, raw=True)
    node.create_service(Trigger, "bare/emergency_stop", on_call)
    rclpy.spin(node)
    return 0


def run_flood(phase: str, path: str) -> int:
    """Send what is too much, until killed; the file tells how much."""
    import rclpy
    from geometry_msgs.msg import PoseStamped
    from rclpy.serialization import serialize_message
    from trajectory_msgs.msg import MultiDOFJointTrajectory

    from opspace_ctrl.nodes import qos

    rclpy.init()
    node = rclpy.create_node("flood")
    message = PoseStamped()
    message.pose.position.x, message.pose.position.z, message.pose.orientation.w = 0.3, 0.5, 1.0
    kind, name, data, pause = PoseStamped, "target_pose", serialize_message(message), 0.0
    if phase == "trajectories":
        kind, name, data, pause = MultiDOFJointTrajectory, "trajectory", long_trajectory(10**6), 1.0
    outlet = node.create_publisher(kind, f"{NODE}/hand/{name}", qos.profile(10))
    os.sched_setscheduler(
        0, os.SCHED_OTHER, os.sched_param(0)
    )  # nice says nothing under SCHED_FIFO
    os.nice(10)
    count, said = 0, time.monotonic()
    while True:
        outlet.publish(data)
        count += 1
        if time.monotonic() > said + 0.5:
            said = time.monotonic()
            Path(path).write_text(str(count))
        time.sleep(pause)


class Caller:
    """Calls services, one at a time, with nothing else to do."""

    def __init__(self):
        import rclpy
        from std_srvs.srv import Trigger

        self._kind, self._spin = Trigger, rclpy.spin_until_future_complete
        self._node = rclpy.create_node("caller")
        names = {
            "stop": f"{NODE}/emergency_stop",
            "reset": f"{NODE}/reset",
            "bare": "/bare/emergency_stop",
        }
        self._clients = {
            key: self._node.create_client(Trigger, name) for key, name in names.items()
        }

    def call(self, key: str) -> tuple[float, float]:
        """When it was asked, and how long the answer took [s]."""
        client = self._clients[key]
        client.wait_for_service()
        start = time.monotonic()
        self._spin(self._node, client.call_async(self._kind.Request()))
        return start, time.monotonic() - start


def shown(values: np.ndarray) -> dict[str, float]:
    """Median, p99 and largest [ms]."""
    found = np.percentile(values, [50, 99, 100]) * 1e3
    return dict(zip(("median_ms", "p99_ms", "max_ms"), found.tolist()), count=len(values))


def measure(caller: Caller, phase: str, seconds: float, paths: dict[str, Path]) -> dict[str, Any]:
    """One phase."""
    me = [sys.executable, str(Path(__file__).resolve())]
    told = paths["commands"].with_name(f"{phase}.txt")
    told.write_text("0")
    flood = None if phase == "idle" else subprocess.Popen([*me, "--flood", phase, str(told)])
    time.sleep(4.0)  # until it is heard
    begin, before = time.monotonic(), int(told.read_text())
    calls: dict[str, list[float]] = {"stop": [], "bare": []}
    starts = []
    while time.monotonic() < begin + seconds:
        for key in calls:
            start, elapsed = caller.call(key)
            calls[key].append(elapsed)
            if key == "stop":
                starts.append(start)
        caller.call("reset")
        time.sleep(PAUSE)
    end, sent = time.monotonic(), int(told.read_text()) - before
    if flood is not None:
        flood.kill()
        flood.wait()
    row: dict[str, Any] = {"phase": phase, "load": os.getloadavg()[0], "sent": sent}
    row |= {key: shown(np.array(values)) for key, values in calls.items()}
    safe = ask(paths["safe"])
    at = np.searchsorted(safe, starts)
    row["safe_command"] = shown(safe[at[at < len(safe)]] - np.array(starts)[at < len(safe)])
    for name in ANSWERS:
        times = ask(paths[name])
        times = times[(times > begin) & (times < end)]
        row[f"gap_{name}"] = shown(np.diff(times))
        row[f"gap_{name}"]["above_20ms"] = int((np.diff(times) > 0.02).sum())
    return row


def run(seconds: float, rate: float, phases: list[str]) -> list[dict[str, Any]]:
    """Some phases."""
    import rclpy

    from opspace_ctrl.commands._processes import Processes, local_graph

    os.environ.update(local_graph())
    rclpy.init()
    me = [sys.executable, str(Path(__file__).resolve())]
    with Processes() as processes:
        paths = {name: processes.folder / f"{name}.npy" for name in ANSWERS}
        paths["safe"] = Path(f"{paths['commands']}.safe")
        given = ["robot:=arm7", "tasks:=[hand]", "hand.frame:=tool", "autostart:=true"]
        given += [f"black_box:={processes.folder / 'black_box'}"]
        options = [word for each in given for word in ("-p", each)]
        inside = [*me, "--inside", str(paths["commands"]), "--ros-args", *options]
        processes.start("controller", inside)
        processes.start("bare", [*me, "--bare", str(paths["bare"])])
        processes.start("robot", [*me, "--as-robot", str(paths["robot"]), "--rate", str(rate)])
        caller, end = Caller(), time.monotonic() + READY
        while len(ask(paths["commands"])) < 100 and time.monotonic() < end:
            processes.ensure_alive()
            time.sleep(0.5)
        rows = []
        for phase in phases:
            rows.append(measure(caller, phase, seconds, paths))
            processes.ensure_alive()
    rclpy.shutdown()
    return rows


def main() -> int:
    """Measure and print."""
    if "--inside" in sys.argv:
        return run_inside(sys.argv[2], sys.argv[3:])
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=20.0, help="of each phase (default: 20)")
    parser.add_argument("--rate", type=float, default=500.0, help="of the states [Hz]")
    parser.add_argument("--only", default=",".join(PHASES), help="phases, with commas")
    parser.add_argument("--json", help="write all numbers there")
    for hidden in ("--as-robot", "--bare"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    parser.add_argument("--flood", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.as_robot:
        return run_robot("arm7", args.rate, Times(args.as_robot).note)
    if args.bare:
        return run_bare(args.bare)
    if args.flood:
        return run_flood(*args.flood)
    rows = run(args.seconds, args.rate, args.only.split(","))
    for row in rows:
        print(f"{row['phase']} (load {row['load']:.1f}, {row['sent']} messages)")
        for name, found in row.items():
            if isinstance(found, dict):
                numbers = ", ".join(f"{key} {value:.4g}" for key, value in found.items())
                print(f"  {name:14} {numbers}")
    if args.json:
        Path(args.json).write_text(json.dumps(rows, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
