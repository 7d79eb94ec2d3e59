# SPDX-License-Identifier: Apache-2.0
"""What the launch files ask for by name, and what they give our nodes, compared with what the nodes declare."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import yaml
from helpers.installed_tree import SOURCE
from helpers.launch_files import LAUNCHES, arguments, given_parameters

from opspace_ctrl import load_robot
from opspace_ctrl.bringup.gazebo import (
    gazebo_folder,
    needs_bridge,
    server_environment,
    server_words,
    world_control,
)
from opspace_ctrl.bringup.hardware import controllers_file, faults_file, spawner_arguments
from opspace_ctrl.bringup.request import CONTROLLER, SIMULATOR, Request
from opspace_ctrl.bringup.words import BOOLEAN
from opspace_ctrl.cli import main
from opspace_ctrl.control.settings import controller_table
from opspace_ctrl.errors import BringupError
from opspace_ctrl.model.source import ROBOTS, robot_text
from opspace_ctrl.nodes.gazebo_table import BRIDGE_TABLE
from opspace_ctrl.osim import methods
from opspace_ctrl.parameter_file import node_parameters
from opspace_ctrl.parameters import checked
from opspace_ctrl.sim.settings import SIMULATOR_TABLE

CONTROLLING = [launch for launch in LAUNCHES if launch != "description"]
TABLES = {
    "opspace_controller": controller_table(),
    "opspace_simulator": SIMULATOR_TABLE,
    "opspace_gazebo_bridge": BRIDGE_TABLE,
}


def asked(folder, launch="arm", **given):
    """A request with the defaults of a launch file."""
    defaults = {name: argument.default for name, argument in arguments(launch).items()}
    return Request(defaults | given, folder)


@pytest.mark.parametrize("launch", LAUNCHES)
def test_our_nodes_get_only_parameters_that_they_declare(launch):
    for node, names in given_parameters(launch).items():
        if node in TABLES:
            assert names
            assert names <= {parameter.name for parameter in TABLES[node]} | {"use_sim_time"}


@pytest.mark.parametrize("launch", ["arm", "gazebo", "hardware"])
def test_the_controllers_parameters_are_the_same_before_simulator_gazebo_and_hardware(launch):
    assert given_parameters(launch)["opspace_controller"] == {"use_sim_time"}


@pytest.mark.parametrize("robot", ROBOTS)
def test_robot_base_and_choices_are_parameters_of_the_controller(robot, tmp_path):
    request = asked(tmp_path, robot=robot, base="floating", method="rjk")
    values = request.parameters(CONTROLLER) | request.robot_and_base | request.chosen("method")
    values = checked(controller_table(values["tasks"], values.get("contacts", [])), values)
    assert (values["robot"], values["base"], values["method"]) == (robot, "floating", "rjk")
    assert asked(tmp_path, robot=robot).chosen("method") == {}  # as the parameter file says


@pytest.mark.parametrize(
    "given, simulated, expected",
    [
        ("auto", True, True),
        ("auto", False, False),
        ("true", False, True),
        ("false", True, False),
        ("", True, True),
    ],
)
def test_nodes_follow_the_clock_of_whoever_owns_the_time(given, simulated, expected, tmp_path):
    assert Request({"use_sim_time": given}, tmp_path).use_sim_time(simulated) is expected


@pytest.mark.parametrize("launch", CONTROLLING)
def test_the_arguments_a_user_expects_are_there(launch):
    expected = {
        *("robot", "params_file", "namespace", "frame_prefix", "use_sim_time", "method"),
        *("rviz", "state_publisher", "log_level", "activate"),
    }
    assert expected <= set(arguments(launch))
    assert "engine" in arguments(launch) or launch in ("gazebo", "hardware")


@pytest.mark.parametrize("launch", LAUNCHES)
def test_arguments_are_described_and_their_defaults_are_among_the_choices(launch):
    for argument in arguments(launch).values():
        assert len(argument.description) > 10
        assert not argument.choices or argument.default in argument.choices
        if argument.default in BOOLEAN:
            assert set(BOOLEAN) <= set(argument.choices)


def test_every_method_can_be_asked_for():
    assert set(arguments("arm")["method"].choices) == {"", "auto", *methods()}


def test_each_launch_has_its_own_robot_and_time(tmp_path):
    for launch, robot in (("arm", "arm7"), ("humanoid", "asimo"), ("free_flyer", "free_flyer")):
        assert asked(tmp_path, launch).robot == robot
        assert asked(tmp_path, launch).robot_and_base == {"robot": robot}
    assert arguments("hil")["mode"].default == "free"
    assert arguments("arm")["mode"].default == "lockstep"


@pytest.mark.parametrize("launch", CONTROLLING)
def test_the_state_publisher_runs_where_it_is_installed_or_needed(launch, tmp_path, monkeypatch):
    needed = launch == "hardware"
    for is_there in (True, False):
        monkeypatch.setattr(
            "opspace_ctrl.bringup.request.is_installed", lambda name, found=is_there: found
        )
        assert asked(tmp_path, launch).has_state_publisher is (is_there or needed)
        assert asked(tmp_path, launch, state_publisher="true").has_state_publisher
        assert asked(tmp_path, launch, state_publisher="false").has_state_publisher is needed
        assert asked(tmp_path, launch, state_publisher="false", rviz="true").has_state_publisher
    driven = asked(tmp_path, "hardware", controller_manager="false", state_publisher="false")
    assert not driven.has_state_publisher


def test_rviz_looks_from_the_world(tmp_path):
    assert asked(tmp_path, "humanoid").rviz_arguments()[-2:] == ["-f", "odom"]
    assert asked(tmp_path, frame_prefix="left/").rviz_arguments()[-1] == "left/base_link"
    assert Path(asked(tmp_path).rviz_arguments()[1]).is_file()


def test_faults_are_given_by_full_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("faults.yaml").write_text("")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    path = faults_file(asked(scratch, "hil", faults="faults.yaml", seed="3", log="run"))
    values = checked(SIMULATOR_TABLE, node_parameters(path, SIMULATOR))
    assert values["faults"] == str(tmp_path / "faults.yaml")
    assert (values["seed"], values["log"]) == (3, str(tmp_path / "run"))


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
        _ = asked(tmp_path, robot="mine.urdf").params_file
    request = asked(tmp_path, robot="mine.urdf", params_file="mine.yaml")
    assert (request.robot, request.params_file) == (str(urdf), params)


def test_robot_and_base_are_those_of_the_parameter_file_unless_they_are_given(tmp_path):
    urdf, params = own_robot(tmp_path)
    text = params.read_text()
    assert text.count("robot: arm7") == 2
    # the controller's alone
    params.write_text(text.replace("robot: arm7", f"robot: {urdf}\n    base: floating", 1))
    for given, robot, base in (
        ({}, str(urdf), "floating"),
        ({"robot": "arm7", "base": "fixed"}, "arm7", "fixed"),
    ):
        request = asked(tmp_path, params_file=str(params), **given)
        assert request.robot_and_base == {"robot": robot, "base": base}
        assert request.model.is_base_coordinate.any() == (base == "floating")


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
    expanded = asked(tmp_path, **given, xacro_args="last:=wrist").robot
    assert 'name="wrist"' in Path(expanded).read_text()
    assert asked(tmp_path, **given).robot == str(xacro)
    with pytest.raises(BringupError, match="name:=value"):
        _ = asked(tmp_path, **given, xacro_args="last=wrist").robot


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
        assert asked(tmp_path, **given).params_file == params
    else:
        with pytest.raises(
            BringupError, match=re.escape("/**/opspace_controller is for any namespace")
        ):
            _ = asked(tmp_path, **given).params_file


@pytest.mark.parametrize(
    "given, use, words",
    [
        ({"robot": "nobody"}, lambda request: request.robot, "arm7, asimo, free_flyer"),
        (
            {"params_file": "nowhere.yaml"},
            lambda request: request.params_file,
            "nowhere.yaml is no file",
        ),
        ({"seed": "x"}, faults_file, "seed:=x"),
        ({"faults": "nowhere.yaml"}, faults_file, "nowhere.yaml is no file"),
        (
            {"simulator_file": "nowhere.yaml"},
            lambda request: request.files("simulator_file"),
            "nowhere.yaml is no file",
        ),
        ({"update_rate": "fast"}, controllers_file, "update_rate:=fast"),
        ({"update_rate": "0"}, controllers_file, "less than 1"),
        ({"controllers_file": "nowhere.yaml"}, controllers_file, "nowhere.yaml is no file"),
        (
            {"xacro_args": "prefix:=left_"},
            lambda request: request.robot,
            "xacro_args:=prefix:=left_ is for .xacro files",
        ),
    ],
)
def test_what_cannot_be_is_refused_by_name(given, use, words, tmp_path):
    with pytest.raises(BringupError, match=re.escape(words)):
        use(Request(given, tmp_path))


def bridge_parameters(folder):
    return checked(BRIDGE_TABLE, node_parameters(folder / "bridge_node.yaml", "bridge"))


def test_gazebo_gets_a_generated_world_that_begins_as_the_simulator_does(tmp_path):
    folder = gazebo_folder(asked(tmp_path, "gazebo", out=str(tmp_path / "hall")))
    assert folder == tmp_path / "hall"
    assert world_control(folder) == "/world/opspace/control"
    values = bridge_parameters(folder)
    assert values["joints"] == list(load_robot("arm7").joint_names)
    start = node_parameters(SOURCE / "config" / "arm7.yaml", SIMULATOR)["initial_positions"]
    assert values["offsets"] == pytest.approx(start)
    assert gazebo_folder(asked(tmp_path, "gazebo")) == tmp_path / "gazebo"


def test_gazebo_takes_a_world_that_is_there_only_if_it_is_of_the_kind_that_is_asked_for(tmp_path):
    assert main(["gazebo", "arm7", "--out", str(tmp_path / "hall")]) == 0
    files = {"files": str(tmp_path / "hall")}
    assert gazebo_folder(asked(tmp_path, "gazebo", **files)) == tmp_path / "hall"
    for given, words in (
        ({"ros2_control": "true"}, "has no controllers.yaml; `opspace gazebo ROBOT --out"),
        ({"gazebo": "fortress"}, "is not for gazebo:=fortress"),
        ({"out": "there"}, "one of the two"),
        ({"files": str(tmp_path / "nowhere")}, "has no world.sdf"),
    ):
        with pytest.raises(BringupError, match=re.escape(words)):
            gazebo_folder(asked(tmp_path, "gazebo", **{**files, **given}))
    assert main(["gazebo", "arm7", "--out", str(tmp_path / "hall"), "--ros2-control"]) == 0
    with pytest.raises(BringupError, match="has no namespace lab"):
        gazebo_folder(asked(tmp_path, "gazebo", **files, ros2_control="true", namespace="lab"))


def test_the_server_is_paused_unless_controllers_run_in_it():
    world = Path("world.sdf")
    assert server_words(world, "harmonic", False, gui=False) == ["gz", "sim", "-s", "world.sdf"]
    assert server_words(world, "harmonic", True, gui=True) == ["gz", "sim", "-r", "world.sdf"]
    assert server_words(world, "fortress", False, gui=True) == ["ign", "gazebo", "world.sdf"]


def test_gazebo_finds_plugins_where_ros_has_its_libraries(monkeypatch):
    monkeypatch.setenv("LD_LIBRARY_PATH", "/ros/lib")
    monkeypatch.setenv("GZ_SIM_SYSTEM_PLUGIN_PATH", "/mine")
    monkeypatch.delenv("IGN_GAZEBO_SYSTEM_PLUGIN_PATH", raising=False)
    assert server_environment("harmonic") == {"GZ_SIM_SYSTEM_PLUGIN_PATH": "/mine:/ros/lib"}
    assert server_environment("fortress") == {"IGN_GAZEBO_SYSTEM_PLUGIN_PATH": "/ros/lib"}


def test_gazebo_with_ros2_control_has_controllers_and_our_bridge_for_odometry_alone(tmp_path):
    given = {"ros2_control": "true", "namespace": "lab"}
    folder = gazebo_folder(asked(tmp_path, "gazebo", **given))
    assert not needs_bridge(folder)
    assert "<ros2_control" in (folder / "robot.urdf").read_text()
    assert ET.parse(folder / "world.sdf").findtext(".//plugin/ros/namespace") == "lab"
    words = spawner_arguments("lab", folder / "controllers.yaml")
    assert words[words.index("--controller-manager") + 1] == "/lab/controller_manager"
    assert words[-2:] == ["--param-file", str(folder / "controllers.yaml")]
    assert "/controller_manager" in spawner_arguments("", folder / "controllers.yaml")
    walking = gazebo_folder(asked(tmp_path, "gazebo", **given, robot="asimo"))
    assert needs_bridge(walking) and not bridge_parameters(walking)["joints"]


def test_hardware_starts_the_controllers_on_all_joints(tmp_path):
    content = yaml.safe_load(
        controllers_file(asked(tmp_path, "hardware", update_rate="500")).read_text()
    )
    assert content["/**/controller_manager"]["ros__parameters"]["update_rate"] == 500
    assert content["/**/effort_controller"]["ros__parameters"]["joints"] == list(
        load_robot("arm7").joint_names
    )


def test_the_shipped_controllers_file_is_the_generated_one(tmp_path):
    generated = controllers_file(asked(tmp_path, "hardware"))
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
    written = controllers_file(asked(tmp_path, "hardware", **given))
    assert node_parameters(written, "effort_controller")["joints"] == joints
    hall = gazebo_folder(
        asked(tmp_path, "gazebo", ros2_control="true", out=str(tmp_path / "hall"), **given)
    )
    assert node_parameters(hall / "controllers.yaml", "effort_controller")["joints"] == joints
    start = dict(
        zip(
            load_robot("arm7").joint_names,
            node_parameters(params, SIMULATOR)["initial_positions"],
        )
    )
    bridge = bridge_parameters(gazebo_folder(asked(tmp_path, "gazebo", **given)))
    assert bridge["joints"] == bridge["gazebo_joints"] == joints
    assert bridge["offsets"] == [start[joint] for joint in joints]


def test_joints_that_the_parameters_lock_are_not_commanded(tmp_path):
    urdf, params = own_robot(tmp_path)
    content = yaml.safe_load(params.read_text())
    for node in (CONTROLLER, SIMULATOR):
        content[f"/**/{node}"]["ros__parameters"] |= {
            "locked_joints": ["joint7"],
            "locked_positions": [0.5],
        }
    del content["/**/opspace_controller"]["ros__parameters"]["joints"]
    content["/**/opspace_simulator"]["ros__parameters"]["initial_positions"].pop()
    params.write_text(yaml.safe_dump(content))
    given = {"robot": str(urdf), "params_file": str(params)}
    joints = list(load_robot("arm7").joint_names[:-1])
    written = controllers_file(asked(tmp_path, "hardware", **given))
    assert node_parameters(written, "effort_controller")["joints"] == joints
    assert bridge_parameters(gazebo_folder(asked(tmp_path, "gazebo", **given)))["joints"] == joints
    content["/**/opspace_controller"]["ros__parameters"]["locked_positions"] = [0.5, 0.5]
    params.write_text(yaml.safe_dump(content))
    with pytest.raises(BringupError, match="2 numbers for 1 locked_joints"):
        controllers_file(asked(tmp_path, "hardware", **given))


def test_the_documentation_lists_every_argument_with_its_meaning():
    text = (SOURCE / "docs" / "launch.md").read_text()
    for launch in LAUNCHES:
        assert f"`{launch}.launch.py`" in text
        for argument in arguments(launch).values():
            row = next(
                line
                for line in text.splitlines()
                if line.startswith(f"| `{argument.name}` |") and argument.description in line
            )
            listed = row.split("|")[2]
            assert ("all" in listed and f"but {launch}" not in listed) or launch in listed
            assert argument.name == "method" or all(
                f"`{choice}`" in row for choice in argument.choices if choice
            )
