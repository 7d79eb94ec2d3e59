# SPDX-License-Identifier: Apache-2.0
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
from opspace_ctrl.nodes import control_loop, qos
from opspace_ctrl.nodes.black_box import BlackBox
from opspace_ctrl.nodes.cdr import MOST_NAMES
from opspace_ctrl.nodes.commands import Commands
from opspace_ctrl.nodes.control_loop import ControlLoop
from opspace_ctrl.nodes.frames import Frames
from opspace_ctrl.nodes.inbox import Inbox
from opspace_ctrl.nodes.targets import Targets

STEP = 1_000_000  # [ns]
TORQUE_RATE = 1000.0  # [Nm/s], the default
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
        self.commands = Commands(self.node, len(self.controller.joints), settings.commands)
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


class Deaf:
    """A publisher that raises as rclpy does where DDS has no room for a message in time, so many times."""

    def __init__(self, publisher, times):
        self._publisher, self.left, self.sent = publisher, times, []

    def publish(self, message):
        if self.left:
            self.left -= 1
            raise RuntimeError("Failed to publish: made by the test")
        self.sent.append(np.frombuffer(bytes(message)[-56:]))  # seven numbers end it
        self._publisher.publish(message)

    def __getattr__(self, name):
        return getattr(self._publisher, name)


def test_a_command_that_cannot_be_sent_is_sent_again_and_closes_no_gate(running, monkeypatch):
    """In lock-step no other state comes before it is answered."""
    for _ in range(20):
        running.good()
    outlet = Deaf(running.commands._publisher, times=3)
    monkeypatch.setattr(running.commands, "_publisher", outlet)
    running.good()
    running.until(lambda: outlet.sent, "the command")
    assert running.commands.lost == 3 and outlet.left == 0
    assert running.gate.closed == 0 and running.guarded.is_ticking and running.loop.failure == ""
    assert running.commands.last == pytest.approx(outlet.sent[-1], abs=0.0)


def test_commands_that_are_lost_do_not_lift_the_rate_limit(running, monkeypatch):
    """Only what was sent counts: twenty lost steps are no reason for a large one."""
    running.controller.use_wall_clock(False)
    for _ in range(20):
        running.good()
    outlet = Deaf(running.commands._publisher, times=0)
    monkeypatch.setattr(running.commands, "_publisher", outlet)
    running.good()
    running.until(lambda: outlet.sent, "a command")
    position, quaternion = running.controller.pose("hand")
    running.controller.target_pose(
        "hand", position + [0.3, 0.0, 0.0], quaternion, running.gate.time
    )
    outlet.left = forever = 10**9
    for _ in range(200):
        running.good()
    before, lost = outlet.sent[-1], forever - outlet.left
    outlet.left = 0
    running.good()
    running.until(lambda: len(outlet.sent) > 1, "a command")
    most = 3.0 * 1.06 * STEP * 1e-9 * TORQUE_RATE  # periods that may count, and their mean's error
    assert lost > 0 and np.abs(outlet.sent[1] - before).max() <= most
    for _ in range(200):
        running.good()
    assert np.abs(outlet.sent[-1] - before).max() > 2.0 * most  # there was somewhere to go


def test_the_first_command_carries_gravity_at_once_also_where_it_was_lost(running, monkeypatch):
    for _ in range(20):
        running.good()
    running.until(lambda: running.guarded.is_ticking, "the law")
    gravity = running.commands.last.copy()
    running.loop.deactivate()
    outlet = Deaf(running.commands._publisher, times=1)
    monkeypatch.setattr(running.commands, "_publisher", outlet)
    running.loop.activate()
    running.good()
    running.until(lambda: outlet.sent, "the first command")
    assert running.commands.lost == 1
    assert outlet.sent[0] == pytest.approx(gravity, abs=0.5)


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


def test_parts_that_wait_are_all_heard_and_the_newest_state_is_answered_once(running, monkeypatch):
    """Of robots whose joints are told by several publishers, and of a loop that was kept from listening."""
    # a busy machine takes the loop's half millisecond away between two messages
    monkeypatch.setattr(control_loop, "LISTENING", int(1e9 * ros.PATIENCE))
    for _ in range(20):
        running.good()
    names, gate = list(running.model.joint_names), running.gate
    count = running.commands.count
    parts = [(names[:4], running.q[:4].tolist()), (names[4:], running.q[4:].tolist())]

    def send():
        for _ in range(3):
            running.stamp += STEP
            for some, position in parts:
                zeros = [0.0] * len(some)
                message = running.message(name=some, position=position, velocity=zeros)
                running.states.publish(message)

    running.loop.do(send)
    running.until(lambda: gate.stamp == running.stamp, "the newest")
    running.until(lambda: running.commands.count > count, "a command")
    running.loop.do(lambda: None)
    assert running.commands.count == count + 1 and gate.fault_counts.sum() == 0


def test_states_that_take_long_to_read_do_not_keep_the_loop_from_answering(running, monkeypatch):
    """Each has as many names as a message may have, and all of them are new."""
    running.good()
    gate, answer, answers = running.gate, running.guarded.answer, []
    monkeypatch.setattr(running.guarded, "answer", lambda *of: answers.append(1) or answer(*of))
    foreign = gate.foreign

    def send():
        for i in range(8):
            names = [f"joint{i}_{j}" for j in range(MOST_NAMES)]
            running.states.publish(running.message(name=names))
        answers.clear()

    running.loop.do(send)
    running.until(lambda: gate.foreign == foreign + 8, "all of them")
    assert len(answers) > 2
    names = [f"joint{j}" for j in range(MOST_NAMES + 1)]
    running.bad(running.message(name=names))
    assert f"valid are up to {MOST_NAMES}" in running.loop.unreadable
    running.good()


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
    inbox, now = Inbox(running.node), lambda: (gate.time, gate.stamp)
    inbox.start()
    targets = Targets(running.node, inbox, running.controller, frames, guarded.lock, now)
    try:
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
        inbox.close()
