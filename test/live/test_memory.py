# SPDX-License-Identifier: Apache-2.0
"""What the changes of a running controller leave behind: nothing, for nobody collects garbage while efforts go out."""

import ctypes
import gc
import json
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
from helpers.ros import Graph
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool

from opspace_ctrl.nodes import qos
from opspace_ctrl.nodes.declared import NODE_OPTIONS
from opspace_ctrl.nodes.groups import Forgetful
from opspace_ctrl.nodes.runtime import tell_failure
from opspace_ctrl.nodes.waiting import make_waiter

WARM, MANY = 60, 200
# objects left by a change: Python's caches of names fill up at first; 24 to 38 where something is kept
FEW = 5
LOOKS, LOST = 2000, 10_000  # at a queue, and bytes that are gone after twice as many

CHANGING = """
import json, os, sys
import rclpy
from rclpy.parameter import Parameter
from opspace_ctrl.nodes.controller import ControllerNode
from opspace_ctrl.nodes.runtime import Stop

GIVEN = {"robot": "arm7", "tasks": "[hand]", "hand.frame": "tool", "method": "sparse_ltdl"}
words = [word for name, value in GIVEN.items() for word in ("-p", f"{name}:={value}")]
rclpy.init(args=["", "--ros-args", *words])
node = ControllerNode(Stop())
node.trigger_configure()
node.trigger_activate()

def set_all(**values):
    names = [name.replace("__", ".") for name in values]
    changes = [Parameter(name, value=value) for name, value in zip(names, values.values())]
    found = node.set_parameters_atomically(changes)
    assert found.successful, found.reason

def gain(i):
    set_all(hand__stiffness=[400.0 + i % 7])

def method(i):
    set_all(method=["rjk", "sparse_ltl", "sparse_ltdl"][i % 3])

def task(i):
    set_all(tasks=["hand", "elbow"], elbow__frame="link4") if i % 2 else set_all(tasks=["hand"])

change, warm, many = globals()[sys.argv[1]], int(sys.argv[2]), int(sys.argv[3])
for i in range(warm):
    change(i)
before = sys.getallocatedblocks()
for i in range(many):
    change(i)
print(json.dumps(sys.getallocatedblocks() - before), flush=True)
node.end()
os._exit(0)
"""


@pytest.mark.parametrize("change", ["gain", "method", "task"])
def test_changes_while_efforts_go_out_leave_no_memory_behind(change, tmp_path):
    with Graph(tmp_path) as graph:
        command = [sys.executable, "-c", CHANGING, change, str(WARM), str(MANY)]
        found = subprocess.run(command, env=graph.environment, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout.splitlines()[-1]) < FEW * MANY


class ForgetfulNode(Forgetful, Node):
    pass


@pytest.mark.parametrize("kind, left", [(ForgetfulNode, 0), (Node, MANY)])
def test_a_node_forgets_what_it_has_destroyed(kind, left, tmp_path):
    """Node: rclpy's own does not, or else ours were of no use any more."""
    with Graph(tmp_path) as graph:
        node = kind("busy", context=graph.context)
        entities = node.default_callback_group.entities
        before = len(entities)
        for _ in range(MANY):
            node.destroy_timer(node.create_timer(1.0, print))
            node.destroy_publisher(node.create_publisher(Bool, "said", 1))
            node.destroy_subscription(node.create_subscription(Bool, "said", print, 1))
        assert len(entities) - before >= left if left else len(entities) == before
        timer = node.create_timer(1.0, print)
        assert node.default_callback_group.has_entity(timer)
        node.destroy_node()


@pytest.mark.parametrize("is_told", [True, False])
def test_a_callback_that_fails_leaves_circles_until_its_failure_is_told(is_told, tmp_path):
    """Such as rclpy's own, when a parameter comes that has a type which does not exist."""
    said = []
    logger = SimpleNamespace(error=lambda text, **_: said.append(text))

    def fails():
        try:
            int("x")
        except ValueError as error:
            raise RuntimeError("made by the test") from error

    with Graph(tmp_path) as graph:
        node, executor = graph.node, SingleThreadedExecutor(context=graph.context)
        guard = node.create_guard_condition(fails)
        executor.add_node(node)

        def fail():
            count = len(said)
            while len(said) == count:
                guard.trigger()
                try:
                    executor.spin_once(timeout_sec=1.0)
                except RuntimeError as error:
                    tell_failure("it", error, logger) if is_told else said.append(str(error))

        fail()
        gc.collect()
        gc.disable()
        try:
            for _ in range(MANY):
                fail()
            left = gc.collect()
        finally:
            gc.enable()
        executor.remove_node(node)
        executor.shutdown(timeout_sec=1.0)
    assert "made by the test" in said[-1]
    assert left < MANY if is_told else left > 10 * MANY


class HeapUse(ctypes.Structure):
    """struct mallinfo2: what the C library has handed out is the eighth of its ten numbers."""

    _fields_ = [(f"number{i}", ctypes.c_size_t) for i in range(10)]


def heap_use():
    """Memory that is in use outside of Python's own heap [bytes]."""
    look = ctypes.CDLL(None).mallinfo2
    look.restype = HeapUse
    return look().number7


@pytest.mark.parametrize("options, is_bounded", [(NODE_OPTIONS, True), ({}, False)])
def test_what_a_node_has_logged_is_kept_for_a_hundred_lines(options, is_bounded, tmp_path):
    """Without our options it is kept for a thousand, or else they were of no use any more."""
    line, many = "x" * 10_000, 3 * qos.ROSOUT.depth
    with Graph(tmp_path) as graph:
        node = Node("talks", context=graph.context, **options)
        for _ in range(many):
            node.get_logger().info(line)
        before = heap_use()
        for _ in range(many):
            node.get_logger().info(line)
        grown = heap_use() - before
        node.destroy_node()
    assert (grown < len(line) * many / 10) == is_bounded


SPEAKING = """
import sys, time, rclpy
from sensor_msgs.msg import JointState
from opspace_ctrl.nodes import qos

rclpy.init()
outlet = rclpy.create_node(sys.argv[1]).create_publisher(JointState, "joint_states", qos.STATES)
while True:
    outlet.publish(JointState())
    time.sleep(5e-4)
"""


def test_states_of_two_publishers_leave_no_memory_behind(tmp_path):
    """Of a queue of one Fast DDS loses places: 30 to 150 kB in this time."""
    with Graph(tmp_path) as graph:
        commands = [[sys.executable, "-c", SPEAKING, name] for name in ("one", "other")]
        speakers = [subprocess.Popen(command, env=graph.environment) for command in commands]
        waiter, looks, used = make_waiter(graph.node), 0, []
        waiter.subscribe(JointState, "joint_states", qos.HEARD_STATES, raw=True)
        try:
            graph.wait_for(lambda: graph.node.count_publishers("joint_states") == 2, "both")
            while len(used) < 3:
                waiter.wait(1.0)
                time.sleep(1e-3)  # both have spoken since
                while waiter.take_short(0, 1000) is not None:
                    pass
                looks += 1
                if looks % LOOKS == 0:
                    used.append(heap_use())
        finally:
            for speaker in speakers:
                speaker.kill()
                speaker.wait()
            waiter.close()
    assert used[-1] - used[0] < LOST
