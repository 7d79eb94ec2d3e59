"""The control loop in the test's own process, with real topics: what nobody expected, and what is left behind."""

import gc
import time
from array import array
from functools import partial

import numpy as np
import pytest
import rclpy
from geometry_msgs.msg import PoseStamped, TwistStamped, WrenchStamped
from helpers import ros
from helpers.closed_loop import ARM_START
from nav_msgs.msg import Odometry
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import MultiDOFJointTrajectory

from opspace_ctrl import load_robot
from opspace_ctrl.control.controller import Controller
from opspace_ctrl.control.safety.fields import BIT
from opspace_ctrl.control.safety.guarded import GuardedController
from opspace_ctrl.control.safety.state_gate import StateGate
from opspace_ctrl.control.settings import controller_settings
from opspace_ctrl.errors import OpspaceError
from opspace_ctrl.nodes import qos
from opspace_ctrl.nodes.black_box import BlackBox
from opspace_ctrl.nodes.commands import Commands
from opspace_ctrl.nodes.control_loop import ControlLoop
from opspace_ctrl.nodes.frames import Frames
from opspace_ctrl.nodes.targets import Targets

STEP = 1_000_000  # [ns]
MANY = 2000  # messages of a kind
FEW = 100  # objects, that a kind may leave once


class Running:
    """A loop that is active, and the robot before it, which sends a state and waits until it was seen."""

    def __init__(self, graph, robot):
        self.model = model = load_robot(robot)
        settings = controller_settings(
            {
                "method": "sparse_ltdl",
                "tasks": ["hand"],
                "hand.frame": model.frame_names[-1],
                "ramp": 0.0,
                "state_timeout": ros.LONG,
                "overrun_count": 0,
            }
        )
        self.node = rclpy.create_node(f"{robot}_alone", context=graph.context)
        self.controller = Controller.from_settings(model, settings)
        self.gate = StateGate(model, settings.safety)
        self.guarded = GuardedController(self.controller, self.gate)
        self.commands = Commands(self.node, len(self.controller.joints))
        box = BlackBox(self.guarded, None)
        self.loop = ControlLoop(self.node, self.guarded, self.commands, box, 0, False, lambda: None)
        self.stamp, self.has_base = 10**9, bool(self.gate.has_base)
        self.q = model.neutral() if self.has_base else ARM_START.copy()
        self.states = graph.publisher(JointState, "joint_states", qos.STATES)
        self.odom = graph.publisher(Odometry, "odom", qos.STATES) if self.has_base else None
        self.loop.start()
        self.loop.activate()

    def end(self):
        self.loop.deactivate()
        self.loop.end()
        self.node.destroy_node()

    def until(self, condition, what):
        """Wait without an executor, whose own objects would be counted."""
        end = time.monotonic() + ros.PATIENCE
        while not condition():
            assert time.monotonic() < end, f"{what}: {self.loop.failure} {self.loop.unreadable}"
            time.sleep(1e-4)

    def message(self, **changes):
        k = len(self.model.joint_names)
        fields = {"name": list(self.model.joint_names), "position": self.q[-k:].tolist()}
        message = JointState(**(fields | {"velocity": [0.0] * k} | changes))
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(self.stamp, 10**9)
        return message

    def odometry(self):
        message = Odometry()
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(self.stamp, 10**9)
        message.pose.pose.orientation.w = 1.0
        return message

    def good(self):
        self.stamp += STEP
        if self.odom is not None:
            self.odom.publish(self.odometry())
        self.states.publish(self.message())
        self.until(lambda: self.gate.stamp == self.stamp, "a state")

    def bad(self, message):
        before = self.gate.fault_counts.sum()
        self.states.publish(message)
        self.until(lambda: self.gate.fault_counts.sum() > before or self.gate.faults, "a fault")


@pytest.fixture
def running(tmp_path, request):
    with ros.Graph(tmp_path) as graph:
        running = Running(graph, getattr(request, "param", "arm7"))
        try:
            yield running
        finally:
            running.end()


def test_a_tick_that_raises_is_replaced_by_a_safe_command_and_good_states_recover(
    running, monkeypatch
):
    """A fault of ours: the kernel of the law is replaced in this process by what raises once."""
    for _ in range(20):
        running.good()
    gate, loop = running.gate, running.loop
    core = running.controller._core
    kernel, raised = core.tick, []

    def broken(*arguments):
        if not raised:
            raised.append(1)
            raise ZeroDivisionError("made by the test")
        return kernel(*arguments)

    monkeypatch.setattr(core, "tick", broken)
    sent = running.commands.count
    running.good()
    running.until(lambda: gate.closed & BIT["error"], "the gate")
    running.until(lambda: running.commands.count > sent, "a safe command")
    assert raised and not running.guarded.is_ticking and loop.is_active
    assert loop.failure == "ZeroDivisionError: made by the test"
    assert np.isfinite(running.commands.last).all()
    assert (np.abs(running.commands.last) <= running.model.effort_limits).all()

    def is_recovered():
        running.good()
        return gate.closed == 0 and running.guarded.is_ticking

    running.until(is_recovered, "the law")
    assert loop.is_active and gate.closings[int(BIT["error"]).bit_length() - 1] == 1


def test_a_tick_that_raises_for_ever_ends_neither_the_loop_nor_the_safe_commands(
    running, monkeypatch
):
    running.good()
    core = running.controller._core
    kernel = core.tick

    def broken(*arguments):
        raise RuntimeError("again and again")

    monkeypatch.setattr(core, "tick", broken)
    for _ in range(3):
        running.gate.open_all()
        sent = running.commands.count
        running.good()
        running.until(lambda sent=sent: running.commands.count > sent, "a safe command")
    assert not running.guarded.is_ticking and running.loop.is_active
    monkeypatch.setattr(core, "tick", kernel)
    running.gate.open_all()

    def is_recovered():
        running.good()
        return running.gate.closed == 0 and running.guarded.is_ticking

    running.until(is_recovered, "the law")


# ---- garbage, which nobody collects while efforts go out ----


def left_by(action, count=MANY):
    """Objects that refer to each other in circles after so many calls; the first ones may leave some for good."""
    for _ in range(20):
        action()
    was_on = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        for _ in range(count):
            action()
        return gc.collect()
    finally:
        if was_on:
            gc.enable()


def test_the_count_sees_circles():
    def circle():
        own = []
        own.append(own)

    assert left_by(circle) >= MANY


@pytest.mark.parametrize("running", ["arm7", "asimo"], indirect=True)
def test_states_and_their_commands_leave_no_garbage(running):
    assert left_by(running.good) < FEW


def test_states_that_are_refused_leave_no_garbage(running):
    running.good()
    k = len(running.model.joint_names)
    for wrong in (
        b"\x00\x01\x00\x00" + b"\xff" * 60,
        bytes.fromhex("000000000000000100000000000000ff"),
        {"position": [np.nan] * k},
        {"position": [0.0]},
        {"name": [running.model.joint_names[0]] * k},
        {"velocity": [1e6] * k},
    ):

        def send(wrong=wrong):
            running.stamp += STEP
            if isinstance(wrong, bytes):
                return running.bad(wrong)
            return running.bad(running.message(**wrong))

        assert left_by(send, MANY // 2) < FEW, wrong


def test_jobs_leave_no_garbage_whether_they_end_well_or_not(running):
    def fails():
        raise OpspaceError("no")

    def job():
        running.loop.do(lambda: 1)
        try:
            running.loop.do(fails)
        except OpspaceError:
            pass

    assert left_by(job, 500) < FEW


def trajectory(points=3):
    from geometry_msgs.msg import Transform
    from trajectory_msgs.msg import MultiDOFJointTrajectoryPoint

    message = MultiDOFJointTrajectory()
    for i in range(points):
        point = MultiDOFJointTrajectoryPoint(transforms=[Transform()])
        point.time_from_start.sec = i + 1
        message.points.append(point)
    return message


def posed(w):
    message = PoseStamped()
    message.pose.orientation.w = w
    return message


def framed(message):
    message.header.frame_id = "nowhere"
    return message


MESSAGES = {
    "target_pose": [posed(1.0), posed(0.0), framed(posed(1.0))],
    "target_twist": [TwistStamped(), framed(TwistStamped())],
    "target_wrench": [WrenchStamped(), framed(WrenchStamped())],
    "measured_wrench": [WrenchStamped(), framed(WrenchStamped())],
    "trajectory": [trajectory(), trajectory(0)],
    "posture": [JointState(), JointState(name=["nobody"], position=[1.0])],
    "force": [Float64MultiArray(data=array("d", [0.0] * 6)), Float64MultiArray()],
    "tau0": [Float64MultiArray(data=array("d", [0.0] * 7)), Float64MultiArray()],
}


def test_targets_good_and_bad_leave_no_garbage(running):
    running.good()
    running.good()
    gate, guarded = running.gate, running.guarded
    frames = Frames(running.model, lambda: gate.q.copy(), lambda: "world")
    targets = Targets(
        running.node, running.controller, frames, guarded.lock, lambda: (gate.time, gate.stamp)
    )
    try:
        inbox = targets._inbox
        readers = {
            topic.rpartition("/")[2]: read
            for (topic, _), (read, _) in zip(inbox.topics(), inbox._readers)
        }
        for topic, messages in MESSAGES.items():
            good, *bad = [bytes(serialize_message(message)) for message in messages]
            for data in (good, *bad, good[:9], b"\x00\x01\x00\x00"):
                read = partial(readers[topic], data, len(data))
                assert left_by(read, MANY // 4) < FEW, (topic, data)
        assert targets.refused
    finally:
        targets.close()
