# SPDX-License-Identifier: Apache-2.0
"""The viewer on a real graph: what it shows of a controller and a simulator, and what it may ask of them."""

from __future__ import annotations

import sys
from contextlib import ExitStack

import numpy as np
import pytest
from helpers.ros import Graph

from opspace_ctrl import frame_pose
from opspace_ctrl.control.safety.fields import BIT
from opspace_ctrl.data import shipped_path
from opspace_ctrl.errors import ViewError
from opspace_ctrl.model.rotations import from_quaternion
from opspace_ctrl.nodes.viewing import described_robots
from opspace_ctrl.view.graph import graph_subject
from opspace_ctrl.view.server import start_server
from opspace_ctrl.view.several import Several


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    with Graph(tmp_path_factory.mktemp("viewing"), namespace="/left") as found:
        file = str(shipped_path("config", "arm7.yaml"))
        options = ["-r", "__ns:=/left", "--params-file", file, "-p", "autostart:=true"]
        for name in ("simulator", "controller"):
            module = f"opspace_ctrl.nodes.{name}"
            found.run([sys.executable, "-m", module, "--ros-args", *options], name)
        yield found


@pytest.fixture
def domain(graph, monkeypatch):
    monkeypatch.setenv("ROS_DOMAIN_ID", str(graph.domain))


def watched(graph, stack, is_controlled, robot=None):
    """The robot, once rows come and no gate is closed."""
    subject = graph_subject("/left", robot, is_controlled, stack, patience=3600.0)
    graph.wait_for(lambda: subject.ring.count > 10 and not subject.ring.latest()["gates"], "active")
    return subject


def latest(subject):
    return subject.ring.latest()


def test_a_graph_is_only_watched_unless_told_otherwise(graph, domain):
    with ExitStack() as stack:
        subject = watched(graph, stack, False)
        assert subject.ask is None and not subject.able  # it has no way to ask for anything
        assert subject.model.name == "arm7" and subject.name == "left/arm7"
        assert [task.name for task in subject.settings.tasks] == ["tool"]
        row = latest(subject)
        place = frame_pose(subject.model, row["q"], "tool")[0]
        np.testing.assert_allclose(row["pose"][0][9:], place)
        # what the controller's diagnostics and the stamps of the messages tell
        row = graph.wait_for(lambda: (row := latest(subject))["tick"] and row, "diagnostics")
        assert row["turns"] > 0 and 0.0 < row["tick"] <= row["tick_most"]
        graph.wait_for(lambda: 0.0 < latest(subject)["trip"] < 1e6, "a command to a state")


def test_a_graph_is_moved_where_that_is_permitted(graph, domain):
    with ExitStack() as stack:
        subject, said = watched(graph, stack, True, "arm7"), []
        goal = latest(subject)["pose"][0][9:] + [0.0, 0.03, 0.0]
        graph.wait_for(
            lambda: np.linalg.norm(latest(subject)["pose"][0][9:] - goal) < 2e-3,
            "the tool arrives",
            each=lambda: subject.ask("target", "tool", goal, None, answer=said.append),
        )
        subject.ask("settings", {"tool.stiffness": [1e9]}, answer=said.append)
        graph.wait_for(lambda: any("out of range" in text for text in said), "a refusal in words")
        subject.ask("speed", 0.5, answer=said.append)
        assert "not of this robot over ROS" in said[-1]
        subject.ask("stop", answer=said.append)
        graph.wait_for(lambda: latest(subject)["gates"], "the stop is seen")
        said.clear()
        subject.ask("target", "tool", goal, None, answer=said.append)
        graph.wait_for(lambda: any("emergency stop" in text for text in said), "why it is refused")
        subject.ask("release", answer=said.append)
        graph.wait_for(lambda: not latest(subject)["gates"], "it is released")


def test_a_task_that_is_let_go_of_holds_where_it_is(graph, domain):
    with ExitStack() as stack:
        subject = watched(graph, stack, True)
        subject.ask("settings", {"tool.speed": 0.01})
        start = latest(subject)["pose"][0][9:].copy()
        goal = start + [0.0, -0.2, 0.0]
        graph.wait_for(
            lambda: np.linalg.norm(latest(subject)["pose"][0][9:] - start) > 0.005,
            "it is on its way",
            each=lambda: subject.ask("target", "tool", goal, None),
        )
        subject.ask("hold_task", "tool")
        graph.wait_for(lambda: np.abs(latest(subject)["v"]).max() < 1e-3, "it stands")
        assert np.linalg.norm(latest(subject)["pose"][0][9:] - goal) > 0.1
        subject.ask("settings", {"tool.speed": 0.5})


def test_a_push_goes_where_it_points_in_the_world(graph, domain):
    with ExitStack() as stack:
        subject = watched(graph, stack, True)
        graph.wait_for(lambda: np.abs(latest(subject)["v"]).max() < 1e-3, "it stands")
        frame, model = "link6", subject.model
        before, turn = frame_pose(model, latest(subject)["q"], frame)
        force = np.array([40.0, 0.0, 0.0])
        # the link's own axes are others, or this would show nothing
        assert np.linalg.norm(from_quaternion(turn) @ force - force) > 10.0

        def moved():
            return frame_pose(model, latest(subject)["q"], frame)[0] - before

        graph.wait_for(
            lambda: moved()[0] > 2e-3,
            "it gives way along x",
            each=lambda: subject.ask("push", frame, force, before),
        )
        assert abs(moved()[1]) < abs(moved()[0])


def test_posture_faults_and_pause_are_those_of_the_graph(graph, domain):
    with ExitStack() as stack:
        subject, said = watched(graph, stack, True), []
        assert {"posture", "fault", "clear_faults", "pause", "reset"} <= subject.able
        subject.ask("posture", ["joint99"], [0.0], answer=said.append)
        graph.wait_for(lambda: any("joint99" in text for text in said), "a refusal in words")
        start = latest(subject)["q"].copy()
        graph.wait_for(
            lambda: np.abs(latest(subject)["q"] - start).max() > 0.05,
            "the arm turns about its tool",
            each=lambda: subject.ask("posture", ["joint3"], [start[2] + 0.4]),
        )
        subject.ask("fault", {"kind": "bogus"}, answer=said.append)
        graph.wait_for(lambda: any("bogus" in text for text in said), "a refusal in words")
        subject.ask("fault", {"kind": "loss", "side": "state", "duration": 3600.0})
        graph.wait_for(lambda: latest(subject)["gates"] & BIT["state"], "no states come")
        subject.ask("clear_faults")
        graph.wait_for(lambda: not latest(subject)["gates"], "they come again")
        subject.ask("pause", True)
        graph.wait_for(lambda: latest(subject)["gates"], "time stands")
        subject.ask("pause", False)
        graph.wait_for(lambda: not latest(subject)["gates"], "it goes on")


def test_several_robots_are_in_one_page_and_one_that_ends_is_said_to(graph, domain, tmp_path):
    file = str(shipped_path("config", "arm7.yaml"))
    options = ["-r", "__ns:=/right", "--params-file", file, "-p", "autostart:=true"]
    command = [sys.executable, "-m", "opspace_ctrl.nodes.simulator", "--ros-args", *options]
    with ExitStack() as stack:
        right = graph.run(command, "right")
        watched(graph, stack, False)
        graph.wait_for(lambda: described_robots(5.0) == ["/left", "/right"], "both are found")
        subjects = [graph_subject(each, None, False, stack, 5.0) for each in ("/left", "/right")]
        server, _ = start_server(0, False, "two")
        stack.callback(server.stop)
        for subject in subjects:
            graph.wait_for(lambda subject=subject: subject.ring.count, "rows")
        page = Several(server, subjects)
        assert page.places[0].tolist() == [0.0, 0.0, 0.0] and page.places[1, 1] > 0.3
        page.update()
        right.end()
        said = page.pages[1].panel

        def is_silent():
            page.update()
            return "nothing has been heard of the robot" in said._state.content

        graph.wait_for(is_silent, "silence is told")
        assert "nothing" not in page.pages[0].panel._state.content


def test_an_empty_graph_is_refused_in_words(graph, domain):
    with ExitStack() as stack, pytest.raises(ViewError, match="/nowhere/robot_description"):
        graph_subject("/nowhere", None, False, stack, patience=0.5)
