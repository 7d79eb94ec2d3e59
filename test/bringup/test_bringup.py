"""What each launch starts, with which parameters, compared with what the nodes declare."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import yaml
from helpers.installed_tree import NODES, SOURCE

from opspace_ctrl import load_robot
from opspace_ctrl.bringup import launch_arguments
from opspace_ctrl.bringup.arguments import BOOLEAN, LAUNCHES, arguments
from opspace_ctrl.bringup.plan import plan
from opspace_ctrl.bringup.processes import OPTIONAL, REQUIRED, TASK
from opspace_ctrl.bringup.request import Request
from opspace_ctrl.cli import main
from opspace_ctrl.control.tables import controller_table
from opspace_ctrl.errors import BringupError
from opspace_ctrl.model.source import ROBOTS, robot_text
from opspace_ctrl.nodes.gazebo_table import BRIDGE_TABLE, CONTROL
from opspace_ctrl.osim import methods
from opspace_ctrl.parameter_file import node_parameters
from opspace_ctrl.parameters import checked
from opspace_ctrl.sim.settings import SIMULATOR_TABLE

ROS_OWN = {"use_sim_time"}  # parameters that every node has


def planned(launch, folder, **given):
    """{name: process} of a launch."""
    return {process.name: process for process in plan(launch, given, folder)}


def parameters(process):
    """All parameters of a process, files and values together as ROS would."""
    values = {}
    for source in process.parameters:
        values |= node_parameters(source, process.name) if isinstance(source, Path) else source
    return values


def table_of(name, values):
    tables = {"opspace_simulator": SIMULATOR_TABLE, "opspace_gazebo_bridge": BRIDGE_TABLE}
    if name == "opspace_controller":
        return controller_table(values.get("tasks", []), values.get("contacts", []))
    return tables[name]


CONTROLLING = [launch for launch in LAUNCHES if launch != "description"]
VARIANTS = [(launch, {}) for launch in CONTROLLING] + [
    ("arm", {"engine": "dart", "mode": "free", "method": "rjk", "rviz": "true"}),
    ("hil", {"mode": "scaled", "seed": "7", "log": "somewhere", "base": "fixed"}),
    ("gazebo", {"mode": "lockstep"}),
    ("gazebo", {"robot": "asimo"}),
    ("gazebo", {"ros2_control": "true"}),
    ("hardware", {"controller_manager": "false"}),
]


@pytest.mark.parametrize(
    "launch, given", VARIANTS, ids=lambda case: case if isinstance(case, str) else "-".join(case)
)
def test_our_nodes_get_only_parameters_that_they_declare(launch, given, tmp_path):
    processes = planned(launch, tmp_path, **given)
    assert "opspace_controller" in processes
    for name in processes.keys() & set(NODES):
        values = parameters(processes[name])
        own = {key: value for key, value in values.items() if key not in ROS_OWN}
        checked(table_of(name, own), own)  # raises on an unknown name, type or choice


@pytest.mark.parametrize(
    "launch, given", VARIANTS, ids=lambda case: case if isinstance(case, str) else "-".join(case)
)
def test_what_is_started_exists_and_is_a_dependency(launch, given, tmp_path):
    depends = {node.text for node in ET.parse(SOURCE / "package.xml").findall("exec_depend")}
    for process in planned(launch, tmp_path, **given).values():
        if process.package == "opspace_ctrl":
            assert process.executable in NODES
        else:
            assert process.package in depends | {""}
        assert process.role in (REQUIRED, OPTIONAL, TASK)
        assert all(source.is_file() for source in process.parameters if isinstance(source, Path))


@pytest.mark.parametrize("robot", ROBOTS)
def test_the_controllers_parameters_are_the_same_before_simulator_gazebo_and_hardware(
    robot, tmp_path
):
    found = [
        parameters(planned(launch, tmp_path, robot=robot)["opspace_controller"])
        for launch in ("arm", "hil", "gazebo", "hardware")
    ]
    assert all(
        {**values, "use_sim_time": None} == {**found[0], "use_sim_time": None} for values in found
    )


@pytest.mark.parametrize(
    "launch, given, expected",
    [
        ("arm", {}, True),
        ("arm", {"mode": "free"}, False),
        ("arm", {"mode": "scaled"}, True),
        ("hil", {}, False),
        ("gazebo", {}, True),
        ("hardware", {}, False),
        ("hardware", {"use_sim_time": "true"}, True),
        ("arm", {"use_sim_time": "false"}, False),
    ],
)
def test_nodes_follow_the_clock_of_whoever_owns_the_time(launch, given, expected, tmp_path):
    controller = planned(launch, tmp_path, **given)["opspace_controller"]
    assert parameters(controller)["use_sim_time"] is expected


@pytest.mark.parametrize("launch", CONTROLLING)
def test_the_arguments_a_user_expects_are_there(launch):
    expected = {"robot", "params_file", "namespace", "use_sim_time", "method", "rviz", "log_level"}
    assert expected <= set(launch_arguments(launch))
    assert "engine" in launch_arguments(launch) or launch in ("gazebo", "hardware")


@pytest.mark.parametrize("launch", LAUNCHES)
def test_arguments_are_described_and_their_defaults_are_among_the_choices(launch):
    names = [argument.name for argument in arguments(launch)]
    assert len(names) == len(set(names))
    for argument in arguments(launch):
        assert len(argument.description) > 10
        assert not argument.choices or argument.default in argument.choices
        if argument.default in BOOLEAN:
            assert set(BOOLEAN) <= set(argument.choices)


def test_every_method_and_engine_can_be_asked_for(tmp_path):
    choices = {argument.name: argument.choices for argument in arguments("arm")}
    assert set(methods()) | {"auto"} <= set(choices["method"])
    processes = planned("arm", tmp_path, method="rjk", engine="dart", log_level="debug")
    assert parameters(processes["opspace_controller"])["method"] == "rjk"
    assert parameters(processes["opspace_simulator"])["engine"] == "dart"
    assert {process.log_level for process in processes.values()} == {"debug"}


def test_without_a_method_the_parameter_file_decides(tmp_path):
    given = planned("arm", tmp_path)["opspace_controller"].parameters[-1]
    assert "method" not in given and "base" not in given


def test_each_launch_has_its_own_robot(tmp_path):
    for launch, robot in (("arm", "arm7"), ("humanoid", "asimo"), ("free_flyer", "free_flyer")):
        processes = planned(launch, tmp_path)
        assert parameters(processes["opspace_controller"])["robot"] == robot
        assert parameters(processes["opspace_simulator"])["robot"] == robot


def test_controller_and_simulator_are_configured_and_activated(tmp_path):
    for process in planned("arm", tmp_path).values():
        assert process.is_lifecycle and process.activate and process.role == REQUIRED
    waiting = planned("arm", tmp_path, activate="false")
    assert not waiting["opspace_controller"].activate and waiting["opspace_simulator"].activate


def test_rviz_brings_the_state_publisher_and_one_description(tmp_path):
    processes = planned("humanoid", tmp_path, rviz="true")
    assert processes["rviz"].role == OPTIONAL
    assert processes["rviz"].arguments[-2:] == ("-f", "odom")
    assert parameters(processes["robot_state_publisher"])["robot_description"] == robot_text(
        "asimo"
    )
    assert parameters(processes["opspace_simulator"])["publish_robot_description"] is False
    assert planned("arm", tmp_path, rviz="true")["rviz"].arguments[-1] == "base_link"
    assert list(planned("hardware", tmp_path, rviz="true")).count("robot_state_publisher") == 1


def test_description_shows_a_robot_and_controls_nothing(tmp_path):
    processes = planned("description", tmp_path, robot="free_flyer", rviz="true")
    assert list(processes) == ["robot_state_publisher", "rviz"]
    assert parameters(processes["robot_state_publisher"])["robot_description"] == robot_text(
        "free_flyer"
    )


def test_faults_are_given_by_full_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("faults.yaml").write_text("")
    values = parameters(
        planned("hil", tmp_path, faults="faults.yaml", seed="3")["opspace_simulator"]
    )
    assert values["faults"] == str(tmp_path / "faults.yaml")
    assert values["seed"] == 3


def own_robot(folder):
    """A copy of a shipped robot and its parameters, as a user's own files."""
    urdf, params = folder / "mine.urdf", folder / "mine.yaml"
    urdf.write_text(robot_text("arm7"))
    params.write_text((SOURCE / "config" / "arm7.yaml").read_text())
    return urdf, params


def test_a_robot_of_ones_own_needs_its_parameters(tmp_path, monkeypatch):
    urdf, params = own_robot(tmp_path)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BringupError, match="params_file:=FILE.yaml"):
        planned("arm", tmp_path, robot="mine.urdf")
    values = parameters(
        planned("arm", tmp_path, robot="mine.urdf", params_file="mine.yaml")["opspace_controller"]
    )
    assert values["robot"] == str(urdf)


def test_robot_and_base_are_those_of_the_parameter_file_unless_they_are_given(tmp_path):
    urdf, params = own_robot(tmp_path)
    text = params.read_text()
    assert text.count("robot: arm7") == 2
    params.write_text(text.replace("robot: arm7", f"robot: {urdf}\n    base: floating"))
    for given, robot, floating in (
        ({}, str(urdf), True),
        ({"robot": "arm7", "base": "fixed"}, "arm7", False),
    ):
        request = Request("gazebo", {"params_file": str(params), **given}, tmp_path)
        assert request.robot == robot and request.model.is_base_coordinate.any() == floating
    # the controller's alone
    params.write_text(text.replace("robot: arm7", f"robot: {urdf}\n    base: floating", 1))
    processes = planned("arm", tmp_path, params_file=str(params))
    for node in ("opspace_controller", "opspace_simulator"):
        assert (parameters(processes[node])["robot"], parameters(processes[node])["base"]) == (
            str(urdf),
            "floating",
        )


def test_a_xacro_file_is_expanded_with_its_arguments(tmp_path):
    _, params = own_robot(tmp_path)
    xacro = tmp_path / "mine.urdf.xacro"
    text = robot_text("arm7").replace(
        '<robot name="arm7">',
        '<robot name="arm7" xmlns:xacro="http://www.ros.org/wiki/xacro">'
        '<xacro:arg name="last" default="joint7"/>',
    )
    xacro.write_text(text.replace('joint name="joint7"', 'joint name="$(arg last)"'))
    given = {"robot": str(xacro), "params_file": str(params)}
    values = parameters(
        planned("arm", tmp_path, **given, xacro_args="last:=wrist")["opspace_controller"]
    )
    assert 'name="wrist"' in Path(values["robot"]).read_text()
    assert parameters(planned("arm", tmp_path, **given)["opspace_controller"])["robot"] == str(
        xacro
    )
    with pytest.raises(BringupError, match="name:=value"):
        planned("arm", tmp_path, **given, xacro_args="last=wrist")


@pytest.mark.parametrize(
    "key, namespace, fits",
    [
        ("opspace_controller", "", True),
        ("/opspace_controller", "", True),
        ("/**", "/lab/", True),
        ("/**/opspace_controller", "lab/left", True),
        ("/lab/opspace_controller", "lab", True),
        ("/*/opspace_controller", "lab", True),
        ("/*/opspace_controller", "lab/left", False),
        ("opspace_controller", "lab", False),
        ("/lab/opspace_controller", "", False),
    ],
)
def test_parameters_that_ros_would_not_give_to_the_controller_are_refused(
    key, namespace, fits, tmp_path
):
    _, params = own_robot(tmp_path)
    content = yaml.safe_load(params.read_text())
    params.write_text(yaml.safe_dump({key: content["/**/opspace_controller"]}))
    given = {"params_file": str(params), "namespace": namespace}
    if fits:
        planned("arm", tmp_path, **given)
    else:
        with pytest.raises(
            BringupError, match=re.escape("/**/opspace_controller is for any namespace")
        ):
            planned("arm", tmp_path, **given)


@pytest.mark.parametrize(
    "launch, given, words",
    [
        ("legs", {}, "arm, humanoid"),
        ("arm", {"robt": "arm7"}, "no argument 'robt'"),
        ("arm", {"method": "fastest"}, "sparse_ltdl"),
        ("arm", {"robot": "nobody"}, "arm7, asimo, free_flyer"),
        ("arm", {"params_file": "nowhere.yaml"}, "nowhere.yaml is no file"),
        ("hil", {"seed": "x"}, "seed:=x"),
        ("hardware", {"update_rate": "fast"}, "update_rate:=fast"),
        ("hardware", {"update_rate": "0"}, "less than 1"),
        ("hil", {"faults": "nowhere.yaml"}, "nowhere.yaml is no file"),
        ("gazebo", {"gui": "maybe"}, "true, false"),
        ("hardware", {"controllers_file": "nowhere.yaml"}, "nowhere.yaml is no file"),
        ("arm", {"xacro_args": "prefix:=left_"}, "xacro_args:=prefix:=left_ is for .xacro files"),
    ],
)
def test_what_cannot_be_is_refused_by_name(launch, given, words, tmp_path):
    with pytest.raises(BringupError, match=re.escape(words)):
        plan(launch, given, tmp_path)


def test_gazebo_runs_the_generated_world_behind_both_bridges(tmp_path):
    processes = planned("gazebo", tmp_path, out=str(tmp_path / "hall"), gui="false")
    assert list(processes) == [
        "gazebo",
        "ros_gz_bridge",
        "opspace_gazebo_bridge",
        "opspace_controller",
    ]
    server, bridge = processes["gazebo"], processes["ros_gz_bridge"]
    assert (server.executable, *server.arguments) == (
        "gz",
        "sim",
        "-s",
        str(tmp_path / "hall" / "world.sdf"),
    )
    assert Path(parameters(bridge)["config_file"]).is_file()
    assert bridge.remappings == (("/world/opspace/control", CONTROL),)
    values = parameters(processes["opspace_gazebo_bridge"])
    assert (values["lockstep"], values["run_on_command"]) == (False, True)
    assert values["joints"] == list(load_robot("arm7").joint_names)
    lockstep = parameters(planned("gazebo", tmp_path, mode="lockstep")["opspace_gazebo_bridge"])
    assert (lockstep["lockstep"], lockstep["run_on_command"]) == (True, False)


def test_gazebo_starts_where_the_simulators_parameters_say(tmp_path):
    start = node_parameters(SOURCE / "config" / "arm7.yaml", "opspace_simulator")[
        "initial_positions"
    ]
    processes = planned("gazebo", tmp_path)
    assert parameters(processes["opspace_gazebo_bridge"])["offsets"] == pytest.approx(start)


def test_gazebo_takes_a_world_that_is_there_only_if_it_is_of_the_kind_that_is_asked_for(tmp_path):
    assert main(["gazebo", "arm7", "--out", str(tmp_path / "hall")]) == 0
    files = {"files": str(tmp_path / "hall")}
    for given, words in (
        ({"ros2_control": "true"}, "has no controllers.yaml; `opspace gazebo ROBOT --out"),
        ({"gazebo": "fortress"}, "is not for gazebo:=fortress"),
        ({"out": "there"}, "one of the two"),
        ({"files": str(tmp_path / "nowhere")}, "has no world.sdf"),
    ):
        with pytest.raises(BringupError, match=re.escape(words)):
            planned("gazebo", tmp_path, **{**files, **given})
    assert main(["gazebo", "arm7", "--out", str(tmp_path / "hall"), "--ros2-control"]) == 0
    with pytest.raises(BringupError, match="has no namespace lab"):
        planned("gazebo", tmp_path, **files, ros2_control="true", namespace="lab")


def test_fortress_has_its_own_command(tmp_path):
    server = planned("gazebo", tmp_path, gazebo="fortress", gui="true")["gazebo"]
    assert (server.executable, *server.arguments[:-1]) == ("ign", "gazebo")


def test_gazebo_with_ros2_control_has_controllers_instead_of_our_bridge(tmp_path):
    processes = planned("gazebo", tmp_path, ros2_control="true", gui="false", namespace="lab")
    assert list(processes) == [
        "robot_state_publisher",
        "gazebo",
        "ros_gz_bridge",
        "spawner",
        "opspace_controller",
    ]
    assert "-r" in processes["gazebo"].arguments
    assert "<ros2_control" in parameters(processes["robot_state_publisher"])["robot_description"]
    assert processes["opspace_controller"].after == "spawner"
    arguments = processes["spawner"].arguments
    assert arguments[arguments.index("--controller-manager") + 1] == "/lab/controller_manager"
    assert arguments[arguments.index("--param-file") + 1] == str(
        tmp_path / "gazebo" / "controllers.yaml"
    )
    world = ET.parse(tmp_path / "gazebo" / "world.sdf")
    assert world.findtext(".//plugin/ros/namespace") == "lab"


def test_gazebo_finds_plugins_where_ros_has_its_libraries(tmp_path, monkeypatch):
    monkeypatch.setenv("LD_LIBRARY_PATH", "/ros/lib")
    monkeypatch.setenv("GZ_SIM_SYSTEM_PLUGIN_PATH", "/mine")
    server = planned("gazebo", tmp_path, ros2_control="true")["gazebo"]
    assert server.environment == {"GZ_SIM_SYSTEM_PLUGIN_PATH": "/mine:/ros/lib"}
    server = planned("gazebo", tmp_path, gazebo="fortress")["gazebo"]
    assert server.environment == {"IGN_GAZEBO_SYSTEM_PLUGIN_PATH": "/ros/lib"}
    assert server.grace > 10.0  # it gives its window and its server five seconds each


def test_hardware_starts_the_controllers_on_all_joints_and_our_controller_after_them(tmp_path):
    processes = planned("hardware", tmp_path, update_rate="500")
    manager = processes["controller_manager"]
    content = yaml.safe_load(manager.parameters[0].read_text())
    assert content["/**/controller_manager"]["ros__parameters"]["update_rate"] == 500
    assert content["/**/effort_controller"]["ros__parameters"]["joints"] == list(
        load_robot("arm7").joint_names
    )
    assert processes["spawner"].role == TASK
    assert processes["spawner"].arguments[-2:] == ("--param-file", str(manager.parameters[0]))
    # else every controller gets the name
    assert manager.keeps_name and processes["spawner"].keeps_name
    assert processes["opspace_controller"].after == "spawner"
    assert list(planned("hardware", tmp_path, controller_manager="false")) == ["opspace_controller"]


def test_the_shipped_controllers_file_is_the_generated_one(tmp_path):
    generated = planned("hardware", tmp_path)["controller_manager"].parameters[0]
    shipped = SOURCE / "config" / "arm7_controllers.yaml"
    for node in ("controller_manager", "effort_controller"):
        assert node_parameters(shipped, node) == node_parameters(generated, node)


def test_the_controllers_get_the_joint_order_of_the_parameter_file(tmp_path):
    urdf, params = own_robot(tmp_path)
    joints = list(reversed(load_robot("arm7").joint_names))
    content = yaml.safe_load(params.read_text())
    content["/**/opspace_controller"]["ros__parameters"]["joints"] = joints
    params.write_text(yaml.safe_dump(content))
    given = {"robot": str(urdf), "params_file": str(params)}
    written = planned("hardware", tmp_path, **given)["controller_manager"].parameters[0]
    assert node_parameters(written, "effort_controller")["joints"] == joints
    planned("gazebo", tmp_path, ros2_control="true", out=str(tmp_path / "hall"), **given)
    assert (
        node_parameters(tmp_path / "hall" / "controllers.yaml", "effort_controller")["joints"]
        == joints
    )
    start = dict(
        zip(
            load_robot("arm7").joint_names,
            node_parameters(params, "opspace_simulator")["initial_positions"],
        )
    )
    bridge = parameters(planned("gazebo", tmp_path, **given)["opspace_gazebo_bridge"])
    assert bridge["joints"] == bridge["gazebo_joints"] == joints
    assert bridge["offsets"] == [start[joint] for joint in joints]


def test_joints_that_the_parameters_lock_are_not_commanded(tmp_path):
    urdf, params = own_robot(tmp_path)
    content = yaml.safe_load(params.read_text())
    for node in ("opspace_controller", "opspace_simulator"):
        content[f"/**/{node}"]["ros__parameters"] |= {
            "locked_joints": ["joint7"],
            "locked_positions": [0.5],
        }
    del content["/**/opspace_controller"]["ros__parameters"]["joints"]
    content["/**/opspace_simulator"]["ros__parameters"]["initial_positions"].pop()
    params.write_text(yaml.safe_dump(content))
    given = {"robot": str(urdf), "params_file": str(params)}
    joints = list(load_robot("arm7").joint_names[:-1])
    written = planned("hardware", tmp_path, **given)["controller_manager"].parameters[0]
    assert node_parameters(written, "effort_controller")["joints"] == joints
    assert (
        parameters(planned("gazebo", tmp_path, **given)["opspace_gazebo_bridge"])["joints"]
        == joints
    )
    content["/**/opspace_controller"]["ros__parameters"]["locked_positions"] = [0.5, 0.5]
    params.write_text(yaml.safe_dump(content))
    with pytest.raises(BringupError, match="2 numbers for 1 locked_joints"):
        planned("hardware", tmp_path, **given)


def test_the_documentation_lists_every_argument_with_its_meaning():
    text = (SOURCE / "docs" / "launch.md").read_text()
    for launch in LAUNCHES:
        assert f"`{launch}.launch.py`" in text
        for argument in arguments(launch):
            row = next(
                line
                for line in text.splitlines()
                if line.startswith(f"| `{argument.name}` |") and argument.description in line
            )
            listed = row.split("|")[2]
            assert "all" in listed or launch in listed
            assert argument.name == "method" or all(
                f"`{choice}`" in row for choice in argument.choices if choice
            )
