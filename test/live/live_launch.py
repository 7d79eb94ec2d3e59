# SPDX-License-Identifier: Apache-2.0
"""The launch files run for real; `make test-launch` runs this where launch_ros is importable.

The file's name keeps it out of `make test`: launch and launch_ros come with a ROS 2 installation, not from PyPI.
"""

import os
import re
import signal
import sys
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped
from helpers.compiled_nodes import compile_controller
from helpers.launch_files import LAUNCHES, arguments
from helpers.ros import Graph
from launch import LaunchContext
from launch.launch_description_sources import PythonLaunchDescriptionSource
from rosgraph_msgs.msg import Clock
from std_msgs.msg import Float64MultiArray

from opspace_ctrl.model.source import ROBOTS
from opspace_ctrl.nodes.messages import nanoseconds

ROOT = Path(__file__).parents[2]
RUNNER = str(ROOT / "test" / "helpers" / "run_launch.py")
CONTROLLER, SIMULATOR = "/opspace_controller", "/opspace_simulator"
# Launch kills what has not ended 10 s after an interrupt; a process that gets no CPU for some seconds must not count.
UNHURRIED = ("sigterm_timeout:=3600", "sigkill_timeout:=3600")


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """No test waits for a process that compiles."""
    for robot in ROBOTS:
        compile_controller(robot)


def path_of(name):
    folder = ROOT / "launch"
    if name.startswith("plugin's "):
        folder = ROOT / "ros2_control" / "launch"
    return str(folder / f"{name.split()[-1]}.launch.py")


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
        ("humanoid", ("method:=rjk",)),
        ("free_flyer", ()),
        ("hil", ("mode:=lockstep",)),
        ("arm", ("engine:=dart",)),
        ("arm", ("engine:=mujoco",)),
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
    """What launch says is what is read without it, in the tests of the documents and elsewhere."""
    description = PythonLaunchDescriptionSource(path_of(name)).get_launch_description(
        LaunchContext()
    )
    declared = {argument.name: argument for argument in description.get_launch_arguments()}
    assert set(declared) == set(arguments(name))
    for argument in arguments(name).values():
        found = declared[argument.name]
        assert found.default_value[0].text == argument.default
        assert found.description.startswith(argument.description)
        assert tuple(found.choices or ()) == argument.choices


@pytest.mark.parametrize(
    "name, given, reason",
    [
        ("arm", ("rviz:=true",), "robot_state_publisher"),
        ("hardware", (), "controller_manager"),
        ("hardware", ("loop:=compiled",), "it stands in the folder ros2_control"),
        ("plugin's arm", (), "it stands in the folder ros2_control"),
        ("gazebo", (), "command 'gz' is not installed"),
        ("gazebo", ("gazebo:=fortress",), "command 'ign' is not installed"),
        ("description", (), "robot_state_publisher"),
        ("arm", ("method:=bogus",), "sparse_ltdl"),
        ("arm", ("robot:=nonsense",), "arm7, asimo, free_flyer"),
        ("hil", ("seed:=x",), "seed:=x"),
        ("humanoid", ("params_file:=/nope.yaml",), "/nope.yaml is no file"),
    ],
)
def test_what_cannot_start_is_said_and_leaves_nothing_behind(name, given, reason, tmp_path):
    with Graph(tmp_path) as graph:
        graph.environment["PATH"] = os.environ["PATH"]
        launch = start(graph, name, *given)
        assert launch.wait() == 1
        assert reason in launch.output() and "Traceback" not in launch.output()
        assert "process started" not in launch.output()
        assert not list(tmp_path.glob("opspace_*"))


def test_a_second_launch_of_the_same_names_says_so_and_ends(tmp_path):
    with Graph(tmp_path) as graph, launched(graph, "arm") as first:
        second = start(graph, "arm")
        try:
            graph.wait_for(
                lambda: "already there: end it" in second.output(), "the reason", ended=True
            )
            assert second.wait() == 1
        finally:
            interrupt(second)
        assert first.code is None


def test_a_node_that_is_configured_by_hand_is_not_activated(tmp_path):
    with Graph(tmp_path) as graph, launched(graph, "arm") as launch:
        for transition in ("deactivate", "cleanup", "configure"):
            assert graph.transition(CONTROLLER, transition)
        commands = graph.listen(Float64MultiArray, "effort_controller/commands")
        for _ in range(40):  # two seconds, in which launch would have activated it
            graph.spin()
        assert graph.state(CONTROLLER) == "inactive" and not commands.count
        assert graph.transition(CONTROLLER, "activate")
        graph.wait_for(lambda: commands.count, "commands again")
        launch.send(signal.SIGINT)
        assert launch.wait() == 0


def test_two_robots_of_two_launches_have_a_clock_frames_and_diagnostics_each(tmp_path):
    """The recipe of docs/launch.md."""
    with Graph(tmp_path) as graph:
        sides = ("left", "right")
        launches = [
            start(graph, "arm", f"namespace:={side}", f"frame_prefix:={side}/", "clock:=clock")
            for side in sides
        ]
        try:
            for node in (f"/{side}{node}" for side in sides for node in (SIMULATOR, CONTROLLER)):
                graph.wait_for(lambda node=node: graph.state(node) == "active", f"{node} is active")
            clocks = [graph.listen(Clock, f"/{side}/clock") for side in sides]
            poses = [graph.listen(PoseStamped, f"/{side}{CONTROLLER}/tool/pose") for side in sides]
            said = graph.listen(DiagnosticArray, "/diagnostics")
            graph.wait_for(lambda: all(heard.count > 100 for heard in (*clocks, *poses)), "time")
            assert not graph.node.count_publishers("/clock")
            for heard in clocks:
                stamps = [nanoseconds(each.clock) for each in heard.messages]
                assert all(before < after for before, after in pairwise(stamps))
            for side, heard in zip(sides, poses):
                assert heard.last.header.frame_id == f"{side}/base_link"
            for side in sides:
                graph.wait_for(
                    lambda side=side: any(
                        (status.name, status.hardware_id)
                        == (f"{side}{CONTROLLER}: gates", f"{side}/arm7")
                        for message in said.messages
                        for status in message.status
                    ),
                    f"diagnostics of {side}",
                )
        finally:
            for launch in launches:
                interrupt(launch)
        assert [launch.code for launch in launches] == [0, 0]


def test_further_interrupts_neither_stop_nor_break_the_end(tmp_path):
    with Graph(tmp_path) as graph:
        graph.environment["TMPDIR"] = str(tmp_path)
        given = ("controller_manager:=false", "activate:=false", "state_publisher:=false")
        launch = start(graph, "hardware", *given)
        graph.wait_for(lambda: graph.state(CONTROLLER) == "inactive", "it is configured")
        launch.ending = True
        while launch.code is None:  # from the first one to the very end of the process
            launch.send(signal.SIGINT)
            graph.spin()
        assert launch.code == 0, launch.tail()
        assert not list(tmp_path.glob("opspace_*"))


STAND_INS = {
    "ros_gz_bridge": "parameter_bridge",
    "robot_state_publisher": "robot_state_publisher",
    "rviz2": "rviz2",
}
TELL = '#!/bin/sh\necho "told: $0 $*"\n'
STAY = TELL + "exec sleep 1000\n"


def stand_in(prefix, package, **executables):
    """A package that the ament index finds, with scripts that say how they were started."""
    index = prefix / "share" / "ament_index" / "resource_index" / "packages"
    index.mkdir(parents=True, exist_ok=True)
    (index / package).touch()
    folder = prefix / "lib" / package
    folder.mkdir(parents=True)
    for name, text in executables.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return folder


def stand_ins(graph):
    """Whatever is not here, Gazebo and ros2_control among it, as far as launch can tell."""
    prefix = graph.folder / "prefix"
    for package, executable in STAND_INS.items():
        stand_in(prefix, package, **{executable: STAY})
    stand_in(prefix, "controller_manager", ros2_control_node=STAY, spawner=TELL)
    stand_in(prefix, "opspace_ctrl_plugin")
    server = stand_in(prefix, "gz", gz=STAY)
    graph.environment["AMENT_PREFIX_PATH"] = os.pathsep.join(
        (str(prefix), os.environ["AMENT_PREFIX_PATH"])
    )
    graph.environment["PATH"] = os.pathsep.join((str(server), os.environ["PATH"]))


@pytest.mark.parametrize(
    "name, given, told",
    [
        (
            "gazebo",
            ("mode:=lockstep", "state_publisher:=false", "gui:=false"),
            ["gz sim -s", "parameter_bridge /world/opspace/control@ros_gz_interfaces"],
        ),
        (
            "gazebo",
            ("ros2_control:=true", "robot:=asimo", "namespace:=lab"),
            ["gz sim -r", "robot_state_publisher --ros-args", "/lab/controller_manager"],
        ),
        (
            "hardware",
            ("rviz:=true",),
            ["ros2_control_node --ros-args", "rviz2 -d", "spawner joint_state_broadcaster"],
        ),
        (
            "hardware",
            ("loop:=compiled", "namespace:=lab"),
            ["ros2_control_node --ros-args", "joint_state_broadcaster opspace_controller --contr"],
        ),
        (
            "plugin's arm",
            ("robot:=asimo",),
            [
                "robot_state_publisher --ros-args",
                "ros2_control_node --ros-args",
                "opspace_controller --c",
            ],
        ),
        ("description", ("frame_prefix:=left/",), ["robot_state_publisher --ros-args"]),
    ],
)
def test_what_is_not_here_is_started_as_its_makers_expect(name, given, told, tmp_path):
    """Its command lines, from scripts in its place; then everything ends in order."""
    with Graph(tmp_path) as graph:
        stand_ins(graph)
        launch = start(graph, name, *given)
        try:
            for words in told:
                graph.wait_for(
                    lambda words=words: any(
                        words in line for line in launch.output().splitlines() if "told: " in line
                    ),
                    words,
                )
            is_python = "loop:=compiled" not in given and name not in (
                "description",
                "plugin's arm",
            )
            if is_python:  # with ros2_control it comes after the spawner
                graph.wait_for(lambda: "[opspace_controller-" in launch.output(), "our controller")
            assert is_python == ("[opspace_controller-" in launch.output())
            is_bridged = "[opspace_gazebo_bridge-" in launch.output()
            assert is_bridged == (name == "gazebo")
        finally:
            interrupt(launch)
        assert launch.code == 0, launch.tail()
