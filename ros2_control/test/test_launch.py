# SPDX-License-Identifier: Apache-2.0
"""The launch files with a controller manager, our plugin and our simulated robot: they bring up what moves."""

from __future__ import annotations

import signal
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from ament_index_python.packages import get_package_share_directory
from helpers.ros import Graph
from manager import exported
from sensor_msgs.msg import JointState
from tool import Tool

from opspace_ctrl.bringup.compiled import PLUGIN, simulated_hardware
from opspace_ctrl.data import shipped_path
from opspace_ctrl.model import load_robot
from opspace_ctrl.model.source import robot_text

RUNNER = Path(__file__).resolve().parents[2] / "test" / "helpers" / "run_launch.py"
# launch kills what has not ended 10 s after an interrupt; a process that gets no processor must not count
UNHURRIED = ("sigterm_timeout:=3600", "sigkill_timeout:=3600")


@pytest.fixture(scope="module")
def images(tmp_path_factory) -> Path:
    return exported(tmp_path_factory.mktemp("images"), "arm7.yaml")


@contextmanager
def launched(graph: Graph, package: str, name: str, *given: str):
    """A launch file of an installed package; interrupted if it still runs, and then it has to end well."""
    file = Path(get_package_share_directory(package), "launch", f"{name}.launch.py")
    words = [sys.executable, str(RUNNER), str(file), *given, *UNHURRIED]
    launch = graph.run(words, name)
    try:
        yield launch
    finally:
        if launch.code is None:
            launch.send(signal.SIGINT)
            launch.wait()
    assert launch.code == 0, launch.tail()


def check_that_it_moves(graph: Graph) -> None:
    states = graph.listen(JointState, "joint_states")
    tool = Tool(graph)
    tool.wait_until("active")
    goal = tool.position() + [0.0, 0.1, -0.1]
    assert tool.send(*goal).endswith("taken")
    tool.wait_until_at(*goal)
    assert set(states.last.name) == set(load_robot("arm7").joint_names)
    assert np.isfinite(states.last.position).all()


@pytest.mark.parametrize("given", [(), ("update_rate:=2000", "method:=rjk")])
def test_arm_brings_up_a_whole_robot_that_moves(given, images, tmp_path):
    with Graph(tmp_path) as graph, launched(graph, PLUGIN, "arm", *given, f"images:={images}"):
        check_that_it_moves(graph)


def test_arm_exports_what_it_needs(tmp_path):
    with Graph(tmp_path) as graph, launched(graph, PLUGIN, "arm"):
        check_that_it_moves(graph)


def test_arm_lives_in_a_namespace(images, tmp_path):
    given = ("namespace:=lab", f"images:={images}")
    with Graph(tmp_path, namespace="/lab") as graph, launched(graph, PLUGIN, "arm", *given):
        check_that_it_moves(graph)


def test_the_hardware_of_a_urdf_runs_with_the_compiled_loop(images, tmp_path):
    """As with a robot whose <ros2_control> names its driver; here it is our simulator."""
    urdf = tmp_path / "arm7.urdf"
    urdf.write_text(simulated_hardware(robot_text("arm7"), load_robot("arm7"), images))
    given = (
        "loop:=compiled",
        f"robot:={urdf}",
        f"params_file:={shipped_path('config', 'arm7.yaml')}",
        f"images:={images}",
    )
    with Graph(tmp_path) as graph, launched(graph, "opspace_ctrl", "hardware", *given):
        check_that_it_moves(graph)


def test_a_controller_that_cannot_be_configured_ends_everything(images, tmp_path):
    (tmp_path / "images").mkdir()
    for file in images.iterdir():
        (tmp_path / "images" / file.name).write_bytes(file.read_bytes())
    image = tmp_path / "images" / "controller.opspace"
    image.write_bytes(image.read_bytes()[:1000])
    with Graph(tmp_path) as graph:
        file = Path(get_package_share_directory(PLUGIN), "launch", "arm.launch.py")
        words = [sys.executable, str(RUNNER), str(file), f"images:={image.parent}", *UNHURRIED]
        launch = graph.run(words, "arm")
        graph.wait_for(lambda: "not configured" in launch.output(), "the reason", ended=True)
        assert launch.wait() == 1, launch.tail()
