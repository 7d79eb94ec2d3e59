# SPDX-License-Identifier: Apache-2.0
"""What nobody should send; each scenario is a method, called again and again."""

from __future__ import annotations

import os
import signal
import struct
import time

from attacking.attacker import NODE, Attacker

BESIDE = "/beside"  # namespace of the simulator
NUMBERS = (0.0, 1.0, -1.0, 1e-308, 1e9, 1e308, -1e308, float("nan"), float("inf"), -float("inf"))
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


class Scenarios(Attacker):
    """An attacker that knows all of them."""

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
