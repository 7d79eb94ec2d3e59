# SPDX-License-Identifier: Apache-2.0
"""What docs/safety.md promises, on a live graph: broken bytes, forged parts, long messages, stop, black box.

One process serves the module; each test leaves an active controller with open gates.
"""

import struct
from pathlib import Path

import numpy as np
import pytest
from geometry_msgs.msg import PoseStamped
from helpers import ros
from helpers.closed_loop import ARM_START
from oracles.robot_peer import RobotPeer
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, String
from std_srvs.srv import Trigger
from trajectory_msgs.msg import MultiDOFJointTrajectory

from opspace_ctrl import load_robot
from opspace_ctrl.cli import main
from opspace_ctrl.nodes import qos

NODE = "/opspace_controller"
CUT = bytes.fromhex("000000000000000100000000000000ff")
PARAMETERS = {
    "robot": "arm7",
    "tasks": ["hand"],
    "hand.frame": "tool",
    "state_timeout": ros.LONG,
    "gravity_time": 60.0,
    "ramp": 0.0,
    "overrun_count": 0,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("black_box")


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    with ros.Graph(tmp_path_factory.mktemp("graph")) as graph:
        yield graph


@pytest.fixture(scope="module")
def peer(graph, folder):
    graph.start("controller", parameters={**PARAMETERS, "black_box": str(folder)})
    assert graph.transition(NODE, "configure")
    peer = RobotPeer(graph, load_robot("arm7"), NODE)
    peer.q = ARM_START.copy()
    assert graph.transition(NODE, "activate")
    peer.first_answer()
    return peer


@pytest.fixture(scope="module")
def safety(graph, peer):
    return graph.listen(String, f"{NODE}/safety", ros.latched())


def said(listener):
    return listener.last and listener.last.data


def is_open(text, values):
    return values["gate"] == "" and values["active"] == "True"


def closings(peer, gate):
    return int(peer.status("gates", lambda *_: True, "the gates").get(f"closings.{gate}", 0))


def opens_again(peer, gate, before):
    """A gate has closed since, and good states open it: the controller is active."""

    def has_closed_and_opened(text, values):
        return int(values.get(f"closings.{gate}", 0)) > before and is_open(text, values)

    return peer.status("gates", has_closed_and_opened, f"{gate} closed, open again", each=peer.send)


@pytest.mark.parametrize(
    "data",
    [CUT, b"\x00\x01\x00\x00" + b"\xff" * 60, JointState(name=["j"] * 20_000)],
    ids=["cut", "made up", "too long"],
)
def test_bytes_that_are_no_joint_state_close_a_gate_that_good_states_open(graph, peer, data):
    before = closings(peer, "size")
    raw = graph.publisher(JointState, "joint_states", qos.STATES)
    graph.publish_until(raw, data, lambda: closings(peer, "size") > before, "the message")
    opens_again(peer, "size", before)
    assert graph.state(NODE) == "active"
    graph.node.destroy_publisher(raw)


def test_forged_parts_of_a_state_close_a_gate_that_good_states_open(graph, peer):
    before = closings(peer, "finite")
    part = peer.message(name=[peer.names[0]], position=[1e100], velocity=[0.0])
    stamp = peer.stamp + 100_000_000
    part.header.stamp.sec, part.header.stamp.nanosec = divmod(stamp, 10**9)
    while (
        closings(peer, "finite") == before
    ):  # a message that comes too soon after another may be lost
        peer.send_joints(part)
        peer.send_joints(part)
    opens_again(peer, "finite", before)
    assert graph.state(NODE) == "active"


def boxes_of_a_stop(folder, old):
    """New files that name the stop; what closed before may share one with it, or have one of its own."""
    new = sorted(set(folder.glob("*.npz")) - old)
    return [path for path in new if "stop" in str(np.load(path)["why"]).split()]


def test_a_stop_is_told_to_other_machines_and_kept_as_a_file(graph, peer, safety, folder, capsys):
    graph.wait_for(lambda: said(safety) == "active", "active", each=peer.send)
    files = set(folder.glob("*.npz"))
    assert graph.call(Trigger, f"{NODE}/emergency_stop").success
    graph.wait_for(lambda: said(safety) == "stop", "the stop", each=peer.send)
    late = graph.listen(String, f"{NODE}/safety", ros.latched())
    graph.wait_for(lambda: said(late) == "stop", "it is latched")
    kept = graph.wait_for(lambda: boxes_of_a_stop(folder, files), "a black box", each=peer.send)
    assert graph.call(Trigger, f"{NODE}/reset").success
    graph.wait_for(lambda: said(safety) == "active", "active again", each=peer.send)
    with np.load(kept[-1]) as found:
        assert found["robot"] == "arm7"
        assert len(found["command"]) == len(found["q"]) == len(found["closed"]) > 0
        assert found["q"][-1] == pytest.approx(ARM_START) and np.isfinite(found["target"]).all()
        assert not found["is_ticking"][-1]
    assert main(["blackbox", str(kept[-1]), "--plot", str(folder / "picture.png")]) == 0
    assert "stop" in capsys.readouterr().out and (folder / "picture.png").stat().st_size > 1000


def test_motion_needs_permission_where_it_is_asked_for(graph, peer, safety):
    permission = graph.publisher(Bool, f"{NODE}/enable")
    assert graph.set_parameters(NODE, enable_timeout=ros.LONG) == (True, "")
    graph.wait_for(lambda: said(safety) == "enable", "no permission", each=peer.send)
    for is_given, text in ((True, "active"), (False, "enable"), (True, "active")):

        def tell(is_given=is_given):
            permission.publish(Bool(data=is_given))
            peer.send()

        graph.wait_for(lambda text=text: said(safety) == text, text, each=tell)
    assert graph.set_parameters(NODE, enable_timeout=0.0) == (True, "")


def long_trajectory(points):
    """A serialised trajectory of this many points, each with one transform."""
    head = b"\x00\x01\x00\x00" + struct.pack("<iIIx", 0, 0, 1)
    head += bytes(-(len(head) - 4) % 4) + struct.pack("<II", 0, points)
    body = bytearray()
    for _ in range(2):  # where eight bytes begin shifts once
        body += struct.pack("<I", 1) + bytes(-(len(head) + len(body) - 4 + 4) % 8)
        body += struct.pack("<7dIIiI", 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0, 0, 1, 0)
    return head + body + bytes(80) * max(0, points - 2)


def test_a_trajectory_that_is_too_long_is_refused_unread(graph, peer):
    trajectory = graph.publisher(MultiDOFJointTrajectory, f"{NODE}/hand/trajectory")
    data = long_trajectory(1_000_000)
    trajectory.publish(data)
    values = peer.status(
        "gates", lambda text, values: "not read" in values["last_refusal"], "refusal", peer.send
    )
    assert str(len(data)) in values["last_refusal"]
    assert graph.call(Trigger, f"{NODE}/emergency_stop").success
    assert graph.call(Trigger, f"{NODE}/reset").success
    peer.status("gates", is_open, "open gates", each=peer.send)


def resident(pid):
    """Memory of a process that is in no file [bytes]."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))


def test_long_messages_leave_no_memory_behind(graph, peer):
    """The middleware would keep every place of a queue as large as the longest message that it held."""
    pid = graph.processes[0].pid
    lengths = [long_trajectory(points) for points in (10_000, 100_000, 400_000)]
    trajectory = graph.publisher(MultiDOFJointTrajectory, f"{NODE}/hand/trajectory")
    answers = graph.listen(String, f"{NODE}/answers")
    before = resident(pid)
    for data in lengths * 8:
        heard = answers.count
        graph.publish_until(
            trajectory, data, lambda heard=heard: answers.count > heard, "the answer"
        )
    graph.wait_for(lambda: resident(pid) < before + 2 * len(data), "memory that goes back")
    graph.node.destroy_publisher(trajectory)
    peer.status("gates", is_open, "open gates", each=peer.send)


def test_long_states_leave_no_memory_behind(graph, peer):
    pid, size = graph.processes[0].pid, 40_000_000
    states = graph.publisher(JointState, "joint_states", qos.STATES)
    data = b"\x00\x01\x00\x00" + struct.pack("<iII", 0, 0, size) + bytes(size)
    before = resident(pid)
    for _ in range(3):
        heard = closings(peer, "size")
        graph.publish_until(
            states, data, lambda heard=heard: closings(peer, "size") > heard, "the gate"
        )
        opens_again(peer, "size", heard)
    graph.wait_for(lambda: resident(pid) < before + size // 2, "memory that goes back", peer.send)
    graph.node.destroy_publisher(states)
    peer.status("gates", is_open, "open gates", each=peer.send)


def test_targets_of_several_publishers_are_refused_where_one_is_asked_for(graph, peer):
    topic = f"{NODE}/hand/target_pose"
    poses, others = (graph.publisher(PoseStamped, topic) for _ in range(2))
    assert graph.set_parameters(NODE, single_publisher=True) == (True, "")
    peer.status("gates", lambda text, values: values["gate"] == "publishers", "two", peer.send)

    def is_refused():
        values = peer.status("gates", lambda *_: True, "the gates", peer.send)
        return values["active"] == "True" and "several publishers" in values["last_refusal"]

    graph.publish_until(poses, PoseStamped(), is_refused, "a refusal")
    graph.node.destroy_publisher(others)
    peer.status("gates", is_open, "one is left", each=peer.send)
    graph.node.destroy_publisher(poses)
    assert graph.set_parameters(NODE, single_publisher=False) == (True, "")


def test_a_text_that_is_too_long_is_refused_unread(graph, peer):
    poses = graph.publisher(PoseStamped, f"{NODE}/hand/target_pose")
    message = PoseStamped()
    message.header.frame_id = "x" * 100_000
    graph.publish_until(
        poses,
        message,
        lambda: (
            "not read" in peer.status("gates", lambda *_: True, "gates", peer.send)["last_refusal"]
        ),
        "a refusal",
    )
