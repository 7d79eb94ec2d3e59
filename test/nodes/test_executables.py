# SPDX-License-Identifier: Apache-2.0
"""The executables where ROS 2 is not installed, and the bond where its package stands in."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

from opspace_ctrl.nodes import bond

WITHOUT_ROS = """
import sys
sys.modules["rclpy"] = None  # as if it were not installed
from opspace_ctrl.nodes import executables
executables.{name}()
"""


@pytest.mark.parametrize("name", ["controller", "simulator", "gazebo_bridge"])
def test_a_node_without_ros_says_what_to_install(name):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_ROS.format(name=name)], capture_output=True, text=True
    )
    assert done.returncode == 2 and not done.stdout
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"opspace_{name} needs ROS 2 (") and "rclpy" in line
    assert line.endswith("source it, or pip install 'opspace_ctrl[ros-kilted]'")


class Node:
    """What the bond uses of a node; `sent` is (active, instance) of each message."""

    def __init__(self):
        self.sent, self.beat = [], None

    def get_name(self):
        return "opspace_controller"

    def get_clock(self):
        return SimpleNamespace(now=lambda: SimpleNamespace(to_msg=lambda: 7))

    def create_publisher(self, kind, topic, qos):
        assert topic == "bond"
        return SimpleNamespace(
            publish=lambda status: self.sent.append((status.active, status.instance_id)),
            wait_for_all_acked=lambda duration: True,
        )

    def create_timer(self, period, callback, clock):
        assert period == 0.1
        self.beat = callback
        return callback

    def destroy_timer(self, timer):
        self.beat = None


def test_a_bond_beats_while_the_node_is_active_and_says_when_it_is_not(monkeypatch):
    def status(**fields):
        return SimpleNamespace(header=SimpleNamespace(stamp=None), **fields)

    messages = SimpleNamespace(Status=status)
    monkeypatch.setitem(sys.modules, "bond", SimpleNamespace(msg=messages))
    monkeypatch.setitem(sys.modules, "bond.msg", messages)
    node = Node()
    one = bond.Bond(node)
    one.end()  # it has not begun
    one.start()
    node.beat()
    node.beat()
    one.end()
    one.end()
    (_, first), *_ = node.sent
    assert node.sent == [(True, first), (True, first), (False, first)] and node.beat is None
    one.start()
    node.beat()
    assert node.sent[-1][0] and node.sent[-1][1] != first  # another instance of the same bond


def test_without_the_package_nothing_is_sent(monkeypatch):
    monkeypatch.setitem(sys.modules, "bond", None)
    node = Node()
    one = bond.Bond(node)
    one.start()
    one.end()
    assert not bond.has_bond() and not node.sent and node.beat is None
