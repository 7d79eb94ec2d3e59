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
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import TwistStamped
from helpers.ros import Graph
from manager import FORWARD, OURS, Manager, exported
from pal_statistics_msgs.msg import Statistics
from rclpy.qos import QoSProfile, ReliabilityPolicy
from recorded import Repeated, calls
from std_msgs.msg import Float64MultiArray
from tool import ARRIVED, TURN, Tool

from opspace_ctrl import Controller
from opspace_ctrl.bringup.compiled import IMAGE, simulated_hardware
from opspace_ctrl.cli import main
from opspace_ctrl.data import shipped_path
from opspace_ctrl.gazebo.ros2_control import urdf_with_hardware
from opspace_ctrl.model import load_robot
from opspace_ctrl.model.source import robot_text

WARM_UP = """<ros2_control name="warm_up" type="sensor">
  <hardware><plugin>opspace_ctrl/WarmUp</plugin></hardware>
</ros2_control>"""
BEST_EFFORT = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)


@pytest.fixture(scope="session")
def images(tmp_path_factory) -> Path:
    return exported(tmp_path_factory.mktemp("images"), "arm7.yaml")


@pytest.fixture
def graph(tmp_path):
    with Graph(tmp_path) as made:
        yield made


def running(graph: Graph, images: Path, **own) -> tuple[Manager, Tool]:
    manager = Manager(graph, images, "arm7", {}, **own)
    assert manager.load(OURS), manager.process.tail()
    tool = Tool(graph)
    assert manager.switch(start=(OURS,))
    tool.wait_until("active")
    return manager, tool


@pytest.mark.parametrize("more", ["", WARM_UP], ids=["plain", "warmed"])
def test_a_robot_is_moved_switched_tuned_stopped_and_its_commands_are_pythons(graph, images, more):
    """Everything that a user does, and then every command of the record again in Python, in every bit."""
    urdf = simulated_hardware(robot_text("arm7"), load_robot("arm7"), images)
    urdf = urdf.replace("</robot>", f"{more}</robot>")
    manager, tool = running(graph, images, error_after=1e6, urdf=urdf)
    assert ("warm_up" in manager.process.output()) == bool(more)
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
    for _ in range(2):  # a cycle takes it; the first pose may be older
        tool.position()
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
    for bad in (
        {"tool__stiffness": [-1.0]},
        {"posture__damping": [math.nan]},
        {"method": "best"},
        {"error_after": -1.0},
    ):
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


def test_diagnostics_say_what_the_python_nodes_say_of_gates_and_targets(graph, images):
    _, tool = running(graph, images, error_after=1e6)
    heard = graph.listen(DiagnosticArray, "/diagnostics", qos=100)

    def wait_for(level: bytes, words: str) -> dict[str, str]:
        """The values of a status of the gates that says this."""

        def found():
            said = (each for message in heard.messages for each in message.status)
            mine = [each for each in said if each.name == f"{OURS}: gates"]
            return next((each for each in mine if each.level == level and words in each.message), 0)

        status = graph.wait_for(found, words)
        return {each.key: each.value for each in status.values}

    assert wait_for(DiagnosticStatus.OK, "active")["targets_refused"] == "0"
    assert "elsewhere" in tool.send(0.4, 0.0, 0.5, frame="elsewhere")
    told = wait_for(DiagnosticStatus.WARN, "targets refused: /opspace_controller/tool/target_pose")
    assert told["targets_refused"] == "1" and "elsewhere" in told["last_refusal"]
    tool.trigger("emergency_stop")
    told = wait_for(DiagnosticStatus.ERROR, "stop: emergency stop")
    assert (told["closed"], told["closings.stop"]) == ("stop", "1")
    loops = [
        {value.key: value.value for value in each.values}
        for message in heard.messages
        for each in message.status
        if each.name == f"{OURS}: loop"
    ]
    assert float(loops[-1]["update_mean_us"]) > 0.0 and int(loops[-1]["updates"]) > 0


def test_introspection_has_the_updates_and_the_gates(graph, images):
    _, tool = running(graph, images, error_after=1e6)
    heard = graph.listen(Statistics, "controller_manager/introspection_data/full", qos=BEST_EFFORT)

    def told() -> dict[str, float]:
        last = heard.last.statistics if heard.count else []
        mine = {each.name: each.value for each in last if each.name.startswith(f"{OURS}.")}
        return {name.partition(".")[2]: value for name, value in mine.items()}

    graph.wait_for(lambda: told().get("commands", 0.0) > 0.0, "commands")
    assert told()["update_time_us"] > 0.0 and told()["closed_gates"] == 0.0
    tool.trigger("emergency_stop")
    graph.wait_for(lambda: told()["closed_gates"] > 0.0, "a closed gate")


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
    tool.wait_until_at(*goal)  # it may have been on its way still
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
