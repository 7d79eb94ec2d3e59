# SPDX-License-Identifier: Apache-2.0
"""The viewer on a real graph: what it shows of a controller and a simulator, and what it may ask of them."""

from __future__ import annotations

import sys
from contextlib import ExitStack

import numpy as np
import pytest
from helpers.ros import Graph

from opspace_ctrl import frame_pose
from opspace_ctrl.data import shipped_path
from opspace_ctrl.errors import ViewError
from opspace_ctrl.view.graph import graph_subject


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


def test_a_graph_is_watched_and_moved_only_if_that_was_permitted(graph, domain):
    with ExitStack() as stack:
        subject, title = graph_subject("/left", None, False, stack, patience=3600.0)
        assert subject.ask is None and "watched" in title  # it has no way to ask for anything
        assert subject.model.name == "arm7"
        assert [task.name for task in subject.settings.tasks] == ["tool"]
        graph.wait_for(lambda: subject.ring.count > 10, "rows")
        row = subject.ring.latest()
        place = frame_pose(subject.model, row["q"], "tool")[0]
        np.testing.assert_allclose(row["pose"][0][9:], place)

    with ExitStack() as stack:
        subject, _ = graph_subject("/left", "arm7", True, stack, patience=3600.0)
        graph.wait_for(lambda: subject.ring.count and not subject.ring.latest()["gates"], "active")
        goal = subject.ring.latest()["pose"][0][9:] + [0.0, 0.03, 0.0]
        said: list[str] = []
        graph.wait_for(
            lambda: np.linalg.norm(subject.ring.latest()["pose"][0][9:] - goal) < 2e-3,
            "the tool arrives",
            each=lambda: subject.ask("target", "tool", goal, None, answer=said.append),
        )
        subject.ask("settings", {"tool.stiffness": [1e9]}, answer=said.append)
        graph.wait_for(lambda: any("out of range" in text for text in said), "a refusal in words")
        subject.ask("fault", {}, answer=said.append)
        assert "not over ROS" in said[-1]
        subject.ask("stop", answer=said.append)
        graph.wait_for(lambda: subject.ring.latest()["gates"], "the stop is seen")
        subject.ask("release", answer=said.append)
        graph.wait_for(lambda: not subject.ring.latest()["gates"], "it is released")


def test_an_empty_graph_is_refused_in_words(graph, domain):
    with ExitStack() as stack, pytest.raises(ViewError, match="/nowhere/robot_description"):
        graph_subject("/nowhere", None, False, stack, patience=0.5)
