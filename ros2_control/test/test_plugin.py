# SPDX-License-Identifier: Apache-2.0
"""The plugins in a running controller manager: colcon test --packages-select opspace_ctrl_plugin.

Controller and simulated arm7 in one process, as arm.launch.py starts them. The controller's library is one that
remembers every call (recorder.c), so that the Python controller can be given the same states.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import yaml
from geometry_msgs.msg import PoseStamped, TwistStamped
from helpers.ros import Graph
from manager import FORWARD, OURS, Manager, exported
from rclpy.qos import DurabilityPolicy, QoSProfile
from recorded import Repeated, calls
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import Trigger

from opspace_ctrl import Controller
from opspace_ctrl.bringup.compiled import IMAGE
from opspace_ctrl.cli import main
from opspace_ctrl.data import shipped_path
from opspace_ctrl.gazebo.ros2_control import urdf_with_hardware
from opspace_ctrl.model.source import robot_text

ARRIVED = 2e-3  # [m]
TURN = {"x": 0.0, "y": 1.0, "z": 0.0, "w": 0.0}
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@pytest.fixture(scope="session")
def images(tmp_path_factory) -> Path:
    return exported(tmp_path_factory.mktemp("images"), "arm7.yaml")


@pytest.fixture
def graph(tmp_path):
    with Graph(tmp_path) as made:
        yield made


class Tool:
    """The task `tool` of a running controller: where it is, its gates, and targets for it."""

    def __init__(self, graph: Graph):
        self.graph = graph
        self.poses = graph.listen(PoseStamped, f"{OURS}/tool/pose")
        self.answers = graph.listen(String, f"{OURS}/answers", qos=100)
        self.safety = graph.listen(String, f"{OURS}/safety", qos=LATCHED)
        self._targets = graph.publisher(PoseStamped, f"{OURS}/tool/target_pose")

    def send(self, x: float, y: float, z: float, frame: str = "") -> str:
        """A target; what became of it."""
        message, before = PoseStamped(), self.answers.count
        message.header.frame_id = frame
        position, turn = message.pose.position, message.pose.orientation
        position.x, position.y, position.z = x, y, z
        turn.x, turn.y, turn.z, turn.w = TURN["x"], TURN["y"], TURN["z"], TURN["w"]
        self._targets.publish(message)
        self.graph.wait_for(lambda: self.answers.count > before, "an answer to a target")
        return self.answers.last.data

    def position(self) -> np.ndarray:
        """A new one."""
        before = self.poses.count
        self.graph.wait_for(lambda: self.poses.count > before, "a pose")
        at = self.poses.last.pose.position
        return np.array([at.x, at.y, at.z])

    def wait_until_at(self, *goal: float) -> None:
        self.graph.wait_for(
            lambda: np.linalg.norm(self.position() - goal) < ARRIVED, f"the tool at {goal}"
        )

    def wait_until(self, said: str) -> None:
        self.graph.wait_for(
            lambda: self.safety.count and self.safety.last.data == said, f"safety {said}"
        )

    def trigger(self, name: str) -> None:
        assert self.graph.call(Trigger, f"{OURS}/{name}").success


def running(graph: Graph, images: Path, **own) -> tuple[Manager, Tool]:
    manager = Manager(graph, images, "arm7", {}, **own)
    assert manager.load(OURS), manager.process.tail()
    tool = Tool(graph)
    assert manager.switch(start=(OURS,))
    tool.wait_until("active")
    return manager, tool


def test_a_robot_is_moved_switched_tuned_stopped_and_its_commands_are_pythons(graph, images):
    """Everything that a user does, and then every command of the record again in Python, in every bit."""
    manager, tool = running(graph, images, error_after=1e6)
    start = tool.position()
    goal = start + [0.0, 0.1, -0.1]
    assert tool.send(*goal).endswith("taken")
    for method in ("rjk", "efpa", "dense", "pv_osim", "sparse_ltdl"):
        assert graph.set_parameters(f"/{OURS}", method=method) == (True, "")
    tool.wait_until_at(*goal)
    tool.trigger("emergency_stop")
    tool.wait_until("stop")
    assert manager.states() == {OURS: "active"}
    tool.send(*start)  # a target behind a closed gate is forgotten
    tool.trigger("reset")
    tool.wait_until("active")
    assert tool.send(*start).endswith("taken")
    tool.wait_until_at(*start)
    tool.trigger("hold")
    assert manager.switch(stop=(OURS,))
    tool.wait_until("inactive")
    assert "not active" in tool.send(*goal)
    assert manager.unload(OURS)
    graph.wait_for(manager.record.exists, "the record")
    _check_that_python_agrees(manager.record)


def _check_that_python_agrees(record: Path) -> None:
    again = Repeated(Controller.from_file("arm7.yaml"))
    compared, kinds = 0, set()
    for call in calls(record):
        tau = again.answer(call)
        kinds.add(call.kind)
        if call.kind == "command" and tau is not None:
            assert tau.tobytes() == call.numbers.tobytes(), f"command {compared}"
            compared += 1
    assert kinds >= {"use_method", "target_pose", "stop", "open_gates", "hold", "end"}
    assert compared > 1000


def test_gains_are_taken_while_it_moves_or_refused_as_a_whole(graph, images):
    _, tool = running(graph, images)
    goal = tool.position() + [0.0, 0.1, 0.0]
    tool.send(*goal)
    assert graph.set_parameters(
        f"/{OURS}", tool__stiffness=[400.0], tool__damping=[40.0], error_after=0.5
    ) == (True, "")
    assert graph.get_parameter(f"/{OURS}", "tool.stiffness") == [400.0]
    for bad in ({"tool__stiffness": [-1.0]}, {"method": "best"}, {"error_after": -1.0}):
        taken, reason = graph.set_parameters(f"/{OURS}", tool__damping=[41.0], **bad)
        assert not taken and reason
    assert graph.get_parameter(f"/{OURS}", "tool.damping") == [40.0]
    tool.wait_until_at(*goal)


def test_targets_that_are_none_are_refused_in_words(graph, images):
    _, tool = running(graph, images, world_frame="world")
    assert "refused" in tool.send(math.nan, 0.0, 0.5)
    assert "refused" in tool.send(math.inf, 0.0, 0.5)
    assert 'frame_id "elsewhere"; valid is the empty one or "world"' in tool.send(
        0.4, 0.0, 0.5, frame="elsewhere"
    )
    at = tool.position()
    assert tool.send(*at, frame="world").endswith("taken")


def test_a_stream_of_twists_that_ends_leaves_the_robot_at_rest_and_active(graph, images):
    _, tool = running(graph, images)
    start = tool.position()
    publisher = graph.publisher(TwistStamped, f"{OURS}/tool/target_twist")
    twist = TwistStamped()
    twist.twist.linear.y = 0.1
    graph.publish_until(
        publisher, twist, lambda: tool.position()[1] > start[1] + 0.02, "a motion of 2 cm"
    )
    before = tool.position()

    def rests() -> bool:
        nonlocal before
        last, before = before, tool.position()
        return float(np.abs(before - last).max()) < 1e-7

    graph.wait_for(rests, "rest")
    assert tool.safety.last.data == "active"


def test_joints_that_the_hardware_does_not_have_are_told(graph, images):
    joints = dict.fromkeys((f"joint{i}" for i in range(1, 7)), 0.0)
    mock = urdf_with_hardware(robot_text("arm7"), "mock_components/GenericSystem", joints)
    manager = Manager(graph, images, "arm7", {}, urdf=mock)
    assert manager.load(OURS)
    assert not manager.switch(start=(OURS,))
    assert "joint7" in manager.process.output()
    assert manager.states() == {OURS: "inactive"}


def test_a_stop_that_lasts_gives_way_to_the_fallback_controller(graph, images):
    joints = [f"joint{i}" for i in range(1, 8)]
    fallback = {"type": FORWARD, "joints": joints, "interface_name": "effort"}
    manager = Manager(
        graph,
        images,
        "arm7",
        {"fallback": fallback},
        fallback_controllers=["fallback"],
        error_after=0.2,
    )
    assert manager.load("fallback", OURS)
    tool = Tool(graph)
    assert manager.switch(start=(OURS,))
    tool.wait_until("active")
    tool.trigger("emergency_stop")
    graph.wait_for(
        lambda: manager.states() == {OURS: "inactive", "fallback": "active"}, "the fallback"
    )


def test_another_controller_moves_the_tool_by_its_reference_interfaces(graph, images):
    names = [f"position.{axis}" for axis in "xyz"] + [f"orientation.{axis}" for axis in "xyzw"]
    upstream = {
        "type": "forward_command_controller/MultiInterfaceForwardCommandController",
        "joint": f"{OURS}/tool",
        "interface_names": names,
    }
    manager = Manager(graph, images, "arm7", {"upstream": upstream})
    assert manager.load(OURS, "upstream")
    tool = Tool(graph)
    assert manager.switch(start=("upstream", OURS))
    assert manager.is_chained(OURS)
    tool.wait_until("active")
    goal = tool.position() + [0.0, -0.1, 0.05]
    assert "chained mode" in tool.send(*goal)
    publisher = graph.publisher(Float64MultiArray, "upstream/commands")
    message = Float64MultiArray(data=[*goal, *TURN.values()])
    graph.publish_until(  # the controller may not know of its publisher yet
        publisher,
        message,
        lambda: np.linalg.norm(tool.position() - goal) < ARRIVED,
        f"the tool at {goal}",
    )
    assert manager.switch(
        stop=("upstream",)
    )  # whoever commanded is gone: the tool stays, and is free for others
    assert manager.states() == {OURS: "active", "upstream": "inactive"}
    tool.wait_until("active")
    assert np.linalg.norm(tool.position() - goal) < ARRIVED
    assert tool.send(*goal + [0.0, 0.05, 0.0]).endswith("taken")
    tool.wait_until_at(*goal + [0.0, 0.05, 0.0])


def test_an_image_that_was_exported_again_counts_when_it_is_configured_again(
    graph, images, tmp_path
):
    manager = Manager(graph, images, "arm7", {}, image=_exported_with(tmp_path, integral=3.0))
    assert manager.load(OURS), manager.process.tail()
    assert graph.get_parameter(f"/{OURS}", "tool.integral") == 3.0
    assert graph.set_parameters(f"/{OURS}", tool__stiffness=[400.0]) == (True, "")
    _exported_with(tmp_path, integral=5.0)
    assert manager.configure(OURS)
    assert graph.get_parameter(f"/{OURS}", "tool.integral") == 5.0
    assert graph.get_parameter(f"/{OURS}", "tool.stiffness") == [400.0]


def _exported_with(folder: Path, **of_tool: float) -> str:
    """Path of an image of arm7 with other parameters of its task."""
    text = yaml.safe_load(shipped_path("config", "arm7.yaml").read_text())
    text["/**/opspace_controller"]["ros__parameters"]["tool"] |= of_tool
    (folder / "own.yaml").write_text(yaml.safe_dump(text))
    image = f"{folder}/own.opspace"
    assert main(["export", f"{folder}/own.yaml", "-o", image, "--force"]) == 0
    return image


def test_parameters_that_nobody_takes_are_refused_before_they_are_lost(graph, images):
    manager = Manager(graph, images, "arm7", {})
    assert manager.load(OURS), manager.process.tail()
    tries = [graph.set_parameters(f"/{OURS}", tool__integral=float(i % 9)) for i in range(300)]
    kept = max(i for i, (is_taken, _) in enumerate(tries) if is_taken)
    assert "is the controller active" in tries[-1][1]
    assert graph.get_parameter(f"/{OURS}", "tool.integral") == float(kept % 9)


def test_two_hundred_switches_leave_it_as_it_was(graph, images):
    manager, tool = running(graph, images)
    start = tool.position()
    for _ in range(200):
        assert manager.switch(stop=(OURS,)) and manager.switch(start=(OURS,))
    tool.wait_until("active")
    goal = start + [0.0, 0.05, 0.0]
    assert tool.send(*goal).endswith("taken")
    tool.wait_until_at(*goal)


@pytest.mark.parametrize(
    ("own", "words"),
    [
        ({"image": ""}, "parameter image is empty"),
        ({"image": "/nowhere.opspace"}, "/nowhere.opspace cannot be read"),
        ({"library": "/nowhere.so"}, "nowhere.so"),
        ({"tasks": ["hand"]}, "tasks are those of the image: tool"),
        ({"tool.stiffness": [-5.0]}, "tool.stiffness"),
        ({"method": "best"}, "method"),
    ],
)
def test_what_cannot_be_configured_is_told_and_leaves_the_manager_alone(graph, images, own, words):
    manager = Manager(graph, images, "arm7", {}, **own)
    assert not manager.load(OURS)
    graph.wait_for(lambda: words in manager.process.output(), f"the words {words}")
    assert manager.states() == {OURS: "unconfigured"}


def test_a_damaged_image_is_refused(graph, images, tmp_path):
    bytes_ = bytearray((images / IMAGE).read_bytes())
    bytes_[len(bytes_) // 2] ^= 1
    (tmp_path / "damaged.opspace").write_bytes(bytes_)
    manager = Manager(graph, images, "arm7", {}, image=str(tmp_path / "damaged.opspace"))
    assert not manager.load(OURS)
    graph.wait_for(lambda: "damaged" in manager.process.output(), "the word damaged")
