# SPDX-License-Identifier: Apache-2.0
"""The controller under attack, with a monitor inside its process and one outside.

    python benchmarks/attack.py [--robot arm7] [--seconds 20] [--minutes 0] [--rate 500] [--json FILE] [--only NAME,...]
A robot that stands still says so 500 times a second from a process of its own; another sends it what nobody should.
Every scenario takes so many seconds, then the controller has to be active again by itself or after `~/reset`; all are
repeated until so many minutes have passed. Wanted: no command that is not finite, above the URDF's limits or over
`torque_rate_limit`, an active controller after each, and memory that does not grow. A simulator that runs beside at the
same rate is attacked too. Gaps between commands are figures of this machine: the gap when idle is shown too; `stop.py`
tells the time of the emergency stop.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import struct
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

NODE = "/opspace_controller"
BESIDE = "/beside"  # namespace of the simulator
TORQUE_RATE = 1000.0  # [Nm/s]
READY = 1800.0  # [s] for the first command: kernels may have to be compiled
PATIENCE = 30.0  # [s] for a recovery
WARM_UP = 0.25  # share of the run after which memory is judged
NUMBERS = (0.0, 1.0, -1.0, 1e-308, 1e9, 1e308, -1e308, float("nan"), float("inf"), -float("inf"))


# ---- inside the controller ----


def run_inside(path: str, arguments: list[str]) -> int:
    """The controller's own main function, with every command judged where it is sent."""
    from opspace_ctrl.control.safety import guarded
    from opspace_ctrl.nodes import controller
    from opspace_ctrl.nodes.commands import Commands

    monitor = InsideMonitor(path)
    send, send_last = Commands.send, Commands.send_last
    made, activate = guarded.GuardedController.__init__, guarded.GuardedController.activate

    def make(self, of, gate):
        made(self, of, gate)
        monitor.begin(of)

    def activated(self, *times):
        monitor.last = None  # the first command after activation is free
        return activate(self, *times)

    def sent(self, tau):
        is_sent = send(self, tau)
        if is_sent:
            monitor.note(tau)
        return is_sent

    def sent_last(self, tau):
        monitor.last = None
        monitor.note(tau)
        send_last(self, tau)

    guarded.GuardedController.__init__, guarded.GuardedController.activate = make, activated
    Commands.send, Commands.send_last = sent, sent_last
    return controller.main(arguments)


class InsideMonitor:
    """Counts, and writes its counts every half second."""

    def __init__(self, path: str):
        self._path, self.last, self._steady = Path(path), None, 0.0
        self.counts = dict.fromkeys(("commands", "not_finite", "over_limit", "over_rate"), 0)
        self.largest_step = self.largest_gap = 0.0
        self._sent: list[tuple[float, np.ndarray]] = []
        threading.Thread(target=self._write, daemon=True).start()

    def begin(self, controller) -> None:
        """A controller was made."""
        model = controller.model
        self._door = controller._core.law.door
        places = [model.joint_names.index(name) for name in controller.joints]
        self._limit, self.last = model.effort_limits[places], None

    def note(self, tau: np.ndarray) -> None:
        """A command leaves."""
        now, counts = time.monotonic(), self.counts
        counts["commands"] += 1
        counts["not_finite"] += not np.isfinite(tau).all()
        counts["over_limit"] += bool((np.abs(tau) > self._limit).any())
        if self.last is None:
            self._sent = []
        else:
            step, period = float(np.abs(tau - self.last).max()), self._door.period
            self.largest_step = max(self.largest_step, step)
            self.largest_gap = max(self.largest_gap, now - self._steady)
            is_over = step > TORQUE_RATE * 3.0 * 1.06 * period
            for (
                then,
                before,
            ) in self._sent:  # by the wall clock: what moved since fits into the time since
                most = TORQUE_RATE * (now - then + 6.0 * period + 1e-3)
                is_over = is_over or bool((np.abs(tau - before) > most).any())
            counts["over_rate"] += is_over
        self.last, self._steady = tau.copy(), now
        self._sent = [*self._sent[-20:], (now, self.last)]

    def _write(self) -> None:
        while True:
            time.sleep(0.5)
            numbers = {"step": self.largest_step, "gap": self.largest_gap, **self.counts}
            draft = self._path.with_suffix(".draft")
            draft.write_text(json.dumps(numbers))
            draft.rename(self._path)
            self.largest_step = self.largest_gap = 0.0


# ---- the robot ----


def run_robot(robot: str, rate: float, note: Callable[[], None] = lambda: None) -> int:
    """A robot at rest: joint states at this rate [Hz], odometry where its base floats; each is noted."""
    import rclpy
    from nav_msgs.msg import Odometry
    from rclpy.serialization import serialize_message
    from sensor_msgs.msg import JointState

    from opspace_ctrl.model import load_robot
    from opspace_ctrl.nodes import qos

    model = load_robot(robot)
    rclpy.init()
    node = rclpy.create_node("robot")
    names, q = list(model.joint_names), model.neutral()
    state = JointState(name=names, position=q[-len(names) :].tolist(), velocity=[0.0] * len(names))
    odom = Odometry(child_frame_id=model.frame_names[0])
    odom.pose.pose.orientation.w = 1.0
    pairs = [(JointState, "joint_states", state)]
    if model.is_base_coordinate.any():
        pairs.insert(0, (Odometry, "odom", odom))
    outlets = [
        (node.create_publisher(kind, topic, qos.STATES), bytearray(serialize_message(message)))
        for kind, topic, message in pairs
    ]
    due = time.monotonic()
    while True:
        stamp = time.time_ns()
        for publisher, data in outlets:
            struct.pack_into("<iI", data, 4, *divmod(stamp, 10**9))
            publisher.publish(bytes(data))
        note()
        due = max(due + 1.0 / rate, time.monotonic() - 0.1)
        time.sleep(max(0.0, due - time.monotonic()))


# ---- the attacker ----


class Attacker:
    """Publishers, clients and the monitor outside."""

    def __init__(self, robot: str, controller, inside: Path):
        import rclpy
        from rclpy.executors import SingleThreadedExecutor
        from std_msgs.msg import Float64MultiArray, String

        from opspace_ctrl.model import load_robot
        from opspace_ctrl.nodes.qos import profile

        self.model, self.rng = load_robot(robot), np.random.default_rng(1)
        self.task = "hand"
        self._controller, self._inside = controller, inside
        self.node = rclpy.create_node("attacker")
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.node)
        self.sent = 0
        self.outside = {"commands": 0, "not_finite": 0, "over_limit": 0}
        self.safety = ""
        self._limit = self.model.effort_limits
        self.node.create_subscription(
            Float64MultiArray, "effort_controller/commands", self._note, profile(10)
        )
        latched = profile(1, latched=True)
        self.node.create_subscription(String, f"{NODE}/safety", self._note_safety, latched)
        self._publishers: dict[str, Any] = {}
        self._clients: dict[str, Any] = {}
        self._is_ended = False
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()

    def _spin(self) -> None:
        while not self._is_ended:
            self._executor.spin_once(timeout_sec=0.1)

    def close(self) -> None:
        """End the thread, and only then what it uses."""
        self._is_ended = True
        self._thread.join()
        self._executor.shutdown()
        self.node.destroy_node()

    def _note(self, message) -> None:
        tau = np.array(message.data)
        self.outside["commands"] += 1
        self.outside["not_finite"] += not np.isfinite(tau).all()
        self.outside["over_limit"] += bool((np.abs(tau) > self._limit).any())

    def _note_safety(self, message) -> None:
        self.safety = message.data

    def inside(self) -> dict[str, float]:
        """What the monitor in the controller has counted."""
        return json.loads(self._inside.read_text())

    def send(self, kind, topic: str, message) -> None:
        """Publish a message or bytes."""
        from opspace_ctrl.nodes import qos

        if topic not in self._publishers:
            policy = qos.STATES if topic in ("joint_states", "odom") else qos.profile(10)
            self._publishers[topic] = self.node.create_publisher(kind, topic, policy)
            time.sleep(0.5)  # to be found
        self._publishers[topic].publish(message)
        self.sent += 1

    def call(self, kind, name: str, request=None, patience: float = PATIENCE, node: str = NODE):
        """Call a service of a node; the answer, or None."""
        name = f"{node}/{name}"
        if name not in self._clients:
            self._clients[name] = self.node.create_client(kind, name)
        client = self._clients[name]
        if not client.wait_for_service(patience):
            return None
        future = client.call_async(request or kind.Request())
        end = time.monotonic() + patience
        while not future.done() and time.monotonic() < end:
            time.sleep(2e-4)
        return future.result() if future.done() else None

    def stop(self) -> None:
        """One emergency stop, and its reset."""
        from std_srvs.srv import Trigger

        self.call(Trigger, "emergency_stop")
        self.call(Trigger, "reset")

    def recover(self) -> float | None:
        """Seconds until the controller is active, None if it does not become so."""
        from lifecycle_msgs.msg import Transition
        from lifecycle_msgs.srv import ChangeState, GetState
        from std_srvs.srv import Trigger

        start = time.monotonic()
        self.call(Trigger, "reset")
        while time.monotonic() < start + PATIENCE:
            state = self.call(GetState, "get_state")
            label = state.current_state.label if state else ""
            # the node's own word first: what `~/safety` said may be from before a transition
            if label == self.safety == "active":
                return time.monotonic() - start
            wanted = {"unconfigured": 1, "inactive": 3}.get(label)
            if wanted and self.is_lifecycle:
                change = ChangeState.Request(transition=Transition(id=wanted))
                self.call(ChangeState, "change_state", change)
            time.sleep(0.05)
        return None

    is_lifecycle = False  # the scenario itself has deactivated the controller

    # ---- what is sent ----

    def number(self) -> float:
        """Any number."""
        is_odd = self.rng.random() < 0.4
        return float(self.rng.choice(NUMBERS) if is_odd else self.rng.normal())

    def state(self):
        """A wrong joint state: another kind each time."""
        from sensor_msgs.msg import JointState

        names = list(self.model.joint_names)
        k, kind = len(names), int(self.rng.integers(9))
        message = JointState(name=names, position=[0.0] * k, velocity=[0.0] * k)
        stamp = time.time_ns() + int(self.rng.choice([0, 0, 10**8, 9 * 10**8, -(10**7), 5 * 10**9]))
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 10**9)
        one = int(self.rng.integers(k))
        if kind == 0:
            message.position[one] = self.number()
        elif kind == 1:
            message.velocity[one] = float(self.rng.choice([1.0, -1.0, 40.0, 1000.0, 1e100]))
        elif kind == 2:
            message.position = [0.0] * int(self.rng.integers(2 * k))
        elif kind == 3:
            message.name = [names[0]] * k
        elif kind == 4:
            message.name, message.position = [names[one]], [self.number()]
            message.velocity = [self.number()]
        elif kind == 5:
            message.velocity = []
            message.position[one] = 3.5
        elif kind == 6:
            message.velocity = [(-1.0) ** int(self.rng.integers(2))] * k
        elif kind == 7:
            message.header.stamp.sec, message.header.stamp.nanosec = 0, 0
            message.position[one] = self.number()
        else:
            message.name = [f"x{i}" for i in range(k)]
        return message

    def states(self) -> None:
        """19 kinds of wrong in 9 cases, with forged stamps."""
        from sensor_msgs.msg import JointState

        self.send(JointState, "joint_states", self.state())
        time.sleep(2e-3)

    def bytes(self) -> None:
        """What is no message: cut, flipped, made up."""
        from geometry_msgs.msg import PoseStamped
        from rclpy.serialization import serialize_message
        from sensor_msgs.msg import JointState
        from trajectory_msgs.msg import MultiDOFJointTrajectory

        data = bytearray(serialize_message(self.state()))
        kind = int(self.rng.integers(4))
        if kind == 0:
            data = data[: int(self.rng.integers(len(data)))]
        elif kind == 1:
            for at in self.rng.integers(len(data), size=4):
                data[at] = int(self.rng.integers(256))
        elif kind == 2:
            data = bytearray(self.rng.bytes(int(self.rng.integers(200))))
        else:
            data = bytearray.fromhex("000000000000000100000000000000ff")
        topics = (
            (JointState, "joint_states"),
            (PoseStamped, f"{NODE}/{self.task}/target_pose"),
            (MultiDOFJointTrajectory, f"{NODE}/{self.task}/trajectory"),
            (JointState, f"{NODE}/posture"),
        )
        self.send(*topics[int(self.rng.integers(4))], bytes(data))
        time.sleep(2e-3)

    def pose(self):
        """Any pose."""
        from geometry_msgs.msg import PoseStamped

        message = PoseStamped()
        message.header.frame_id = str(self.rng.choice(["", "tool", "moon", "a" * 5000]))
        p, o = message.pose.position, message.pose.orientation
        p.x, p.y, p.z = 0.3 + 0.1 * self.rng.normal(), self.number(), 0.5
        o.x, o.y, o.z, o.w = (
            (0.0, 0.0, 0.0, 1.0) if self.rng.random() < 0.5 else [self.number()] * 4
        )
        return message

    def targets(self) -> None:
        """Poses, twists, wrenches, postures: numbers and frames of all kinds."""
        from geometry_msgs.msg import PoseStamped, TwistStamped
        from std_msgs.msg import Float64MultiArray

        self.send(PoseStamped, f"{NODE}/{self.task}/target_pose", self.pose())
        twist = TwistStamped()
        twist.twist.linear.x, twist.twist.angular.z = self.number(), self.number()
        self.send(TwistStamped, f"{NODE}/{self.task}/target_twist", twist)
        array = Float64MultiArray(data=[self.number()] * int(self.rng.choice([6, 7, 9000])))
        self.send(Float64MultiArray, f"{NODE}/tau0", array)
        time.sleep(2e-3)

    def flood(self) -> None:
        """Poses as fast as they go, and now and then a stop."""
        from geometry_msgs.msg import PoseStamped

        for _ in range(200):
            self.send(PoseStamped, f"{NODE}/{self.task}/target_pose", self.pose())
        self.stop()

    def trajectories(self) -> None:
        """Trajectories of 10^4 (taken), 10^5 and 10^6 points (refused), and stops while they come."""
        from trajectory_msgs.msg import MultiDOFJointTrajectory

        for points in (10_000, 100_000, 1_000_000):
            data = long_trajectory(points)
            self.send(MultiDOFJointTrajectory, f"{NODE}/{self.task}/trajectory", data)
            end = time.monotonic() + 1.0
            while time.monotonic() < end:
                self.stop()
                time.sleep(0.02)

    def parameters(self) -> None:
        """Parameters of all types and sizes; not the rate limit, by which commands are judged."""
        from rcl_interfaces.msg import Parameter, ParameterValue
        from rcl_interfaces.srv import SetParametersAtomically

        names = ("effort_scale", "hand.stiffness", "method", "ramp", "tasks", "payload.mass", "x.y")
        value = ParameterValue(
            type=int(self.rng.choice([0, 1, 2, 3, 4, 7, 8, 99])),
            double_value=float(self.rng.choice([0.05, 1.0, self.number()])),
            string_value=str(self.rng.choice(["auto", "dense", "a" * 1000])),
            double_array_value=[self.number()] * int(self.rng.choice([1, 6, 1000])),
        )
        parameter = Parameter(name=str(self.rng.choice(names)), value=value)
        request = SetParametersAtomically.Request(parameters=[parameter])
        # what rclpy itself cannot read is never answered
        self.call(SetParametersAtomically, "set_parameters_atomically", request, patience=0.5)
        self.sent += 1

    def services(self) -> None:
        """Stops, resets and holds."""
        from std_srvs.srv import Trigger

        self.stop()
        self.call(Trigger, "hold")
        self.sent += 3

    def lifecycle(self) -> None:
        """Deactivate, clean up, configure, activate, in any order."""
        from lifecycle_msgs.msg import Transition
        from lifecycle_msgs.srv import ChangeState

        self.is_lifecycle = True
        change = ChangeState.Request(
            transition=Transition(id=int(self.rng.choice([3, 4, 3, 4, 1, 2])))
        )
        self.call(ChangeState, "change_state", change)
        self.sent += 1

    def simulator(self) -> None:
        """The simulator beside: commands, pushes, faults and resets."""
        from geometry_msgs.msg import WrenchStamped
        from rcl_interfaces.msg import Parameter, ParameterValue
        from rcl_interfaces.srv import SetParameters
        from std_msgs.msg import Float64MultiArray
        from std_srvs.srv import Trigger

        for _ in range(50):
            efforts = [self.number()] * int(self.rng.choice([7, 7, 7, 6, 9000]))
            topic = f"{BESIDE}/effort_controller/commands"
            self.send(Float64MultiArray, topic, Float64MultiArray(data=efforts))
            push = WrenchStamped()
            push.header.frame_id = str(self.rng.choice(["tool", "moon", "a" * 5000]))
            push.wrench.force.x, push.wrench.torque.z = self.number(), self.number()
            self.send(WrenchStamped, f"{BESIDE}/opspace_simulator/wrench", push)
            time.sleep(2e-3)
        fault = str(self.rng.choice(["", "x: [", "/dev/zero", "a" * 100_000]))
        value = ParameterValue(type=4, string_value=fault)
        request = SetParameters.Request(parameters=[Parameter(name="fault", value=value)])
        node = f"{BESIDE}/opspace_simulator"
        self.call(SetParameters, "set_parameters", request, patience=0.5, node=node)
        self.call(Trigger, "reset", node=node)
        self.sent += 2

    def suspend(self) -> None:
        """The controller's process is stopped for 0.7 s, and goes on."""
        os.kill(self._controller.pid, signal.SIGSTOP)
        time.sleep(0.7)
        os.kill(self._controller.pid, signal.SIGCONT)
        time.sleep(0.3)
        self.sent += 1


def long_trajectory(points: int) -> bytes:
    """A serialised trajectory of so many points, each with one transform."""
    head = b"\x00\x01\x00\x00" + struct.pack("<iII4xII", 0, 0, 1, 0, points)
    count = struct.pack("<I", 1)
    point = struct.pack("<7dII", 0.3, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0, 0, 0)
    body = bytearray()
    for i in range(min(points, 10_000)):
        body += count + bytes(-(len(head) + len(body)) % 8) + point
        body += struct.pack("<iI", i // 100, i % 100 * 10_000_000)
    return bytes(head + body + bytes(80) * max(0, points - 10_000))


SCENARIOS = (
    "states",
    "bytes",
    "targets",
    "flood",
    "trajectories",
    "parameters",
    "services",
    "lifecycle",
    "suspend",
    "simulator",
)
COUNTS = ("commands", "not_finite", "over_limit", "over_rate")


def attack(attacker: Attacker, name: str, seconds: float) -> dict[str, Any]:
    """One scenario: what was counted in it, inside and outside."""
    action: Callable[[], None] = getattr(attacker, name)
    before, sent = attacker.inside(), attacker.sent
    outside = dict(attacker.outside)
    attacker.is_lifecycle = False
    end, gap, step = time.monotonic() + seconds, 0.0, 0.0
    while time.monotonic() < end:
        action()
        seen = attacker.inside()
        gap, step = max(gap, seen["gap"]), max(step, seen["step"])
    recovery = attacker.recover()
    time.sleep(1.0)
    after = attacker.inside()
    row: dict[str, Any] = {"scenario": name, "messages": attacker.sent - sent}
    row |= {count: after[count] - before[count] for count in COUNTS}
    row |= {f"outside_{key}": attacker.outside[key] - outside[key] for key in outside}
    row |= {"step_Nm": max(step, after["step"]), "gap_ms": 1e3 * gap, "recovery_s": recovery}
    return row


def added(row: dict[str, Any] | None, new: dict[str, Any]) -> dict[str, Any]:
    """Two rows of one scenario as one: sums of what is counted, the worst of the rest."""
    if row is None:
        return new
    worst = {key: max(row[key], new[key]) for key in ("step_Nm", "gap_ms")}
    waits = row["recovery_s"], new["recovery_s"]
    worst["recovery_s"] = None if None in waits else max(waits)
    sums = {key: row[key] + new[key] for key in row if key not in ("scenario", *worst)}
    return {**new, **sums, **worst}


def resident(pid: int) -> float:
    """Anonymous memory of a process [MB]."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) / 1024.0
    return 0.0


class Memory:
    """The memory of processes, looked at whenever they have come to rest."""

    def __init__(self, processes: dict[str, int]):
        """Processes: names and numbers."""
        self._processes = processes
        self.times: list[float] = []
        self.sizes: dict[str, list[float]] = {name: [] for name in processes}

    def look(self) -> None:
        """Note their sizes."""
        self.times.append(time.monotonic())
        for name, pid in self._processes.items():
            self.sizes[name].append(resident(pid))

    def found(self) -> dict[str, Any]:
        """Of each process the first, middle and last size [MB], and the slope after the warm-up [MB/h]."""
        first = int(len(self.times) * WARM_UP)
        hours = np.array(self.times[first:]) / 3600.0
        found: dict[str, Any] = {}
        for name, sizes in self.sizes.items():
            late = sizes[first:]
            slope = float(np.polyfit(hours, late, 1)[0]) if len(late) > 2 else None
            found[name] = {"MB": [sizes[0], late[0], late[-1]] if late else [], "MB_per_h": slope}
            found[name]["all_MB"] = sizes
        return found


def measure(
    robot: str, seconds: float, minutes: float, rate: float, scenarios: list[str]
) -> dict[str, Any]:
    """All scenarios, one after the other, at least once and for so many minutes."""
    import rclpy

    from opspace_ctrl.commands._processes import Processes, local_graph
    from opspace_ctrl.data import shipped_path

    os.environ.update(local_graph())
    rclpy.init()
    with Processes() as processes:
        inside = processes.folder / "inside.json"
        boxes = processes.folder / "black_box"
        parameters = ["-p", "autostart:=true", "-p", f"black_box:={boxes}"]
        if robot == "arm7":
            given = ["-p", "robot:=arm7", "-p", "tasks:=[hand]", "-p", "hand.frame:=tool"]
        else:
            given = ["--params-file", str(shipped_path("config", f"{robot}.yaml"))]
        me = [sys.executable, str(Path(__file__).resolve())]
        controller = processes.start(
            "controller", [*me, "--inside", str(inside), "--ros-args", *given, *parameters]
        )
        processes.start("robot", [*me, "--as-robot", robot, "--rate", str(rate)])
        beside = [sys.executable, "-m", "opspace_ctrl.nodes.simulator", "--ros-args"]
        beside += ["-r", f"__ns:={BESIDE}", "-p", "robot:=arm7", "-p", f"rate:={rate}"]
        simulator = processes.start("simulator", [*beside, "-p", "autostart:=true"])
        attacker = Attacker(robot, controller, inside)
        end = time.monotonic() + READY
        while attacker.safety != "active":
            processes.ensure_alive()
            time.sleep(0.2)
            if time.monotonic() > end:
                raise SystemExit("the controller does not become active")
        time.sleep(2.0)
        idle = attacker.inside()["gap"]
        memory = Memory({"controller": controller.pid, "simulator": simulator.pid})
        rows: dict[str, dict[str, Any]] = {}
        start, rounds = time.monotonic(), 0
        while not rounds or time.monotonic() < start + 60.0 * minutes:
            for name in scenarios:
                rows[name] = added(rows.get(name), attack(attacker, name, seconds))
                processes.ensure_alive()
                memory.look()
            rounds += 1
            sizes = ", ".join(f"{name} {size[-1]:.1f} MB" for name, size in memory.sizes.items())
            print(f"round {rounds} after {time.monotonic() - start:.0f} s: {sizes}", flush=True)
        result = {"robot": robot, "idle_gap_ms": 1e3 * idle, "rounds": rounds}
        result |= {"seconds": time.monotonic() - start, "memory": memory.found()}
        files = [path.stat().st_size for path in boxes.iterdir()]
        result |= {"black_boxes": len(files), "black_boxes_MB": sum(files) / 2**20}
        result["rows"] = list(rows.values())
        attacker.close()
    rclpy.shutdown()
    return result


def table(result: dict[str, Any]) -> str:
    """The result as a table."""
    columns = ("scenario", "messages", "commands", "not_finite", "over_limit", "over_rate")
    columns += ("step_Nm", "gap_ms", "recovery_s")
    lines = ["| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]
    for row in result["rows"]:
        cells = [row[name] for name in columns]
        shown = [f"{cell:.3g}" if isinstance(cell, float) else str(cell) for cell in cells]
        lines.append("| " + " | ".join(shown) + " |")
    return "\n".join(lines)


def main() -> int:
    """Attack and print; exit code 1 if a promise was broken."""
    if "--inside" in sys.argv:
        return run_inside(sys.argv[2], sys.argv[3:])
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--robot", default="arm7", help="a shipped robot (default: arm7)")
    parser.add_argument(
        "--seconds", type=float, default=20.0, help="of each scenario (default: 20)"
    )
    parser.add_argument("--minutes", type=float, default=0.0, help="of all (default: one round)")
    parser.add_argument("--rate", type=float, default=500.0, help="of the states [Hz]")
    parser.add_argument("--only", default=",".join(SCENARIOS), help="scenarios, with commas")
    parser.add_argument("--json", help="write all numbers there")
    parser.add_argument("--as-robot", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.as_robot:
        return run_robot(args.as_robot, args.rate)
    result = measure(args.robot, args.seconds, args.minutes, args.rate, args.only.split(","))
    print(table(result))
    print(f"{result['rounds']} rounds; gap when idle {result['idle_gap_ms']:.3g} ms")
    print(f"{result['black_boxes']} black boxes with {result['black_boxes_MB']:.3g} MB")
    for name, found in result["memory"].items():
        print(f"{name}: MB {found['MB']}, slope {found['MB_per_h']} MB/h")
    if args.json:
        Path(args.json).write_text(json.dumps(result, indent=1))
    broken = [
        row
        for row in result["rows"]
        if row["not_finite"] or row["over_limit"] or row["over_rate"] or row["recovery_s"] is None
    ]
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
