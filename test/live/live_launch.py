"""The launch files run for real; `make test-launch` runs this where launch_ros is importable.

The file's name keeps it out of `make test`: launch and launch_ros come with a ROS 2 installation, not from PyPI.
"""

import os
import re
import signal
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from helpers.compiled_nodes import compile_controller
from helpers.ros import Graph
from launch import LaunchContext
from launch.launch_description_sources import PythonLaunchDescriptionSource
from std_msgs.msg import Float64MultiArray

from opspace_ctrl.bringup.arguments import LAUNCHES, arguments
from opspace_ctrl.model.source import ROBOTS

ROOT = Path(__file__).parents[2]
RUNNER = str(ROOT / "test" / "helpers" / "run_launch.py")
CONTROLLER, SIMULATOR = "/opspace_controller", "/opspace_simulator"
# Launch kills what has not ended 10 s after an interrupt; a process that gets no CPU for some seconds must not count.
UNHURRIED = ("sigterm_timeout:=60", "sigkill_timeout:=60")


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """No test waits for a process that compiles."""
    for robot in ROBOTS:
        compile_controller(robot)


def path_of(name):
    return str(ROOT / "launch" / f"{name}.launch.py")


def pid_of(launch, name):
    """The process that launch says it has started."""
    return int(
        re.search(rf"\[{name}-\d+\]: process started with pid \[(\d+)\]", launch.output()).group(1)
    )


def interrupt(launch):
    """End a launch that still runs; SIGTERM would leave its processes behind."""
    if launch.code is None:
        launch.send(signal.SIGINT)
        launch.wait()


def start(graph, name, *given):
    return graph.run([sys.executable, RUNNER, path_of(name), *given, *UNHURRIED], name)


@contextmanager
def launched(graph, name, *given):
    """A launch whose controller and simulator are active and exchange messages; interrupted if it still runs."""
    launch = start(graph, name, *given)
    try:
        for node in (SIMULATOR, CONTROLLER):
            graph.wait_for(
                lambda node=node: graph.state(graph.namespace + node) == "active",
                f"{node} is active",
            )
        commands = graph.listen(Float64MultiArray, "effort_controller/commands")
        graph.wait_for(lambda: commands.count > 100, "commands")
        yield launch
    finally:
        interrupt(launch)


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize(
    "name, given",
    [
        ("arm", ("method:=rjk",)),
        ("humanoid", ()),
        ("free_flyer", ()),
        ("hil", ("mode:=lockstep",)),
        ("arm", ("engine:=dart",)),
    ],
)
def test_nodes_become_active_and_an_interrupt_ends_everything(name, given, tmp_path):
    with Graph(tmp_path) as graph, launched(graph, name, *given) as launch:
        pids = [pid_of(launch, node.strip("/")) for node in (SIMULATOR, CONTROLLER)]
        launch.send(signal.SIGINT)
        assert launch.wait() == 0, launch.tail()
        assert not any(map(is_running, pids))
        assert launch.output().count("process has finished cleanly") == 2


@pytest.mark.parametrize("victim", [SIMULATOR, CONTROLLER])
def test_the_whole_graph_ends_when_a_required_node_dies(victim, tmp_path):
    with (
        Graph(tmp_path, namespace="/lab") as graph,
        launched(graph, "arm", "namespace:=lab") as launch,
    ):
        launch.ending = True
        os.kill(pid_of(launch, victim.strip("/")), signal.SIGKILL)
        assert launch.wait() == 1
        assert not any(
            is_running(pid_of(launch, node.strip("/"))) for node in (SIMULATOR, CONTROLLER)
        )
        assert f"{victim.strip('/')} has ended with exit code -9" in launch.output()


def test_a_controller_that_cannot_be_configured_ends_everything_with_its_reason(tmp_path):
    params = tmp_path / "bad.yaml"
    params.write_text(
        "opspace_controller:\n  ros__parameters: {tasks: [tool], tool.frame: nowhere}\n"
    )
    with Graph(tmp_path) as graph:
        launch = start(graph, "arm", f"params_file:={params}")
        try:
            graph.wait_for(
                lambda: "no frame 'nowhere'" in launch.output(), "the reason", ended=True
            )
            assert launch.wait() == 1
        finally:
            interrupt(launch)
        assert "opspace_controller could not be configured" in launch.output()


@pytest.mark.parametrize("name", LAUNCHES)
def test_arguments_are_declared_with_description_and_choices(name):
    description = PythonLaunchDescriptionSource(path_of(name)).get_launch_description(
        LaunchContext()
    )
    declared = {argument.name: argument for argument in description.get_launch_arguments()}
    assert set(declared) == {argument.name for argument in arguments(name)}
    for argument in arguments(name):
        assert declared[argument.name].description.startswith(argument.description)
        assert tuple(declared[argument.name].choices or ()) == argument.choices


@pytest.mark.parametrize(
    "name, given, started",
    [
        ("gazebo", {}, 4),
        ("gazebo", {"ros2_control": "true"}, 5),
        ("hardware", {}, 4),
        ("arm", {"rviz": "true"}, 4),
    ],
)
def test_plans_become_actions(name, given, started, tmp_path, monkeypatch):
    """What needs Gazebo or hardware is not started here, but its actions are made."""
    from launch.actions import ExecuteProcess

    from opspace_ctrl.bringup import launching

    monkeypatch.setattr(launching.tempfile, "tempdir", str(tmp_path))
    context = LaunchContext()
    context.launch_configurations.update({a.name: a.default for a in arguments(name)} | given)
    actions = launching._start(context, name)
    processes = [action for action in actions if isinstance(action, ExecuteProcess)]
    # the controller comes after the spawner
    waiting = 1 if name == "hardware" or "ros2_control" in given else 0
    assert len(processes) == started - waiting
