# SPDX-License-Identifier: Apache-2.0
"""`opspace gazebo` as a user meets it."""

import shlex
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
import yaml
from helpers.installed_tree import SOURCE
from helpers.launch_files import arguments
from oracles.drake_twin import DrakeTwin

from opspace_ctrl import load_robot, mass_matrix
from opspace_ctrl.bringup.gazebo import gazebo_folder, needs_bridge, server_words, world_control
from opspace_ctrl.bringup.request import Request
from opspace_ctrl.cli import main
from opspace_ctrl.model.source import robot_text
from opspace_ctrl.parameter_file import node_parameters
from opspace_ctrl.writing import MARK

WRITTEN = {"world.sdf", "model.sdf", "model.config", "robot.urdf", "ros_gz_bridge.yaml"}


def written(folder):
    return {path.name for path in folder.iterdir()} - {MARK}


def bridge(folder):
    return yaml.safe_load((folder / "bridge_node.yaml").read_text())["/**"]["ros__parameters"]


def hinted(printed, program):
    """The words of the printed command that begins with this program."""
    (line,) = [line for line in printed.splitlines() if line.startswith(f"  {program} ")]
    return shlex.split(line)


def launched(printed, tmp_path):
    """What the printed `ros2 launch` asks for."""
    words = hinted(printed, "ros2")
    assert words[:4] == ["ros2", "launch", "opspace_ctrl", "gazebo.launch.py"]
    given = dict(word.split(":=", 1) for word in words[4:])
    declared = arguments("gazebo")
    assert set(given) <= set(declared)
    return Request({name: declared[name].default for name in declared} | given, tmp_path)


@pytest.mark.parametrize("name", ["arm7", "asimo", "free_flyer"])
def test_a_shipped_robot_begins_where_its_simulator_does(name, tmp_path, capsys):
    assert main(["gazebo", name, "--out", str(tmp_path / "new" / "folder")]) == 0
    folder = tmp_path / "new" / "folder"
    assert written(folder) == WRITTEN | {"bridge_node.yaml"}
    printed = capsys.readouterr().out
    assert f"gz sim -s {folder / 'world.sdf'}" in printed
    simulator = node_parameters(SOURCE / "config" / f"{name}.yaml", "opspace_simulator")
    assert bridge(folder)["offsets"] == pytest.approx(simulator["initial_positions"])
    model = load_robot(name)
    start = np.array([*simulator.get("initial_pose", []), *simulator["initial_positions"]])
    twin = DrakeTwin(model, (folder / "world.sdf").read_text(), start)
    H = mass_matrix(model, start)
    assert np.abs(twin.mass_matrix(start) - H).max() <= 1e-10 * np.abs(H).max()


def test_options_choose_generation_world_step_and_ground(tmp_path, capsys):
    assert (
        main(
            [
                "gazebo",
                "arm7",
                "--out",
                str(tmp_path),
                "--gazebo",
                "fortress",
                "--world",
                "hall",
                "--step",
                "0.002",
                "--no-ground",
            ]
        )
        == 0
    )
    world = ET.parse(tmp_path / "world.sdf").find("world")
    assert world.get("name") == "hall"
    assert float(world.findtext("physics/max_step_size")) == 0.002
    assert world.find("model[@name='ground_plane']") is None
    assert "ignition-gazebo-physics-system" in (tmp_path / "world.sdf").read_text()
    assert "ign gazebo" in capsys.readouterr().out


def test_joints_are_ordered_and_locked_as_the_parameter_file_says(tmp_path):
    params = tmp_path / "mine.yaml"
    joints = [f"joint{i}" for i in (6, 5, 4, 3, 2, 1)]
    lock = "locked_joints: [joint7], locked_positions: [0.3]"
    params.write_text(
        f"opspace_controller: {{ros__parameters: {{joints: {joints}, {lock}}}}}\n"
        f"opspace_simulator: {{ros__parameters: {{{lock}}}}}\n"
    )
    assert (
        main(
            [
                "gazebo",
                "arm7",
                "--out",
                str(tmp_path / "out"),
                "--params",
                str(params),
                "--position",
                "joint6:=0.1",
            ]
        )
        == 0
    )
    assert bridge(tmp_path / "out")["joints"] == joints
    assert bridge(tmp_path / "out")["offsets"] == [0.1, *[0.0] * 5]


OPTIONS = {
    "plain": [],
    "fortress": ["--gazebo", "fortress"],
    "ros2_control": ["--ros2-control"],
    "start": ["--position", "joint2:=0.5", "--step", "0.002", "--world", "hall", "--no-ground"],
    "base": ["--base", "floating", "--pose=0,0,1"],
}


@pytest.mark.parametrize("case", OPTIONS)
@pytest.mark.parametrize("robot", ["arm7", "my arm.urdf"])
def test_the_printed_launch_starts_the_world_that_was_written_wherever_it_is_pasted(
    robot, case, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    params = []
    if robot != "arm7":
        Path(robot).write_text(robot_text("arm7"))
        params = ["--params", str(SOURCE / "config" / "arm7.yaml")]
    assert main(["gazebo", robot, "--out", "the world", *OPTIONS[case], *params]) == 0
    printed, folder = capsys.readouterr().out, tmp_path / "the world"
    before = {path: path.read_bytes() for path in folder.iterdir()}
    monkeypatch.chdir(tmp_path.parent)
    request = launched(printed, tmp_path)
    assert gazebo_folder(request) == folder
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    program = "ign" if case == "fortress" else "gz"
    ros2_control = request.is_true("ros2_control")
    assert ros2_control == (case == "ros2_control")
    words = server_words(folder / "world.sdf", request["gazebo"], ros2_control, gui=False)
    assert hinted(printed, program) == words
    world = "hall" if case == "start" else "opspace"
    assert world_control(folder) == f"/world/{world}/control"
    base = {"base": "floating"} if case == "base" else {}
    assert request.robot_and_base == {
        "robot": "arm7" if robot == "arm7" else str(tmp_path / robot),
        **base,
    }
    assert needs_bridge(folder) != ros2_control
    if case == "start":
        assert bridge(folder)["offsets"][1] == 0.5


def test_the_printed_launch_passes_xacro_arguments_and_says_when_a_parameter_file_is_missing(
    tmp_path, capsys
):
    path = tmp_path / "arm.xacro"
    path.write_text(
        robot_text("arm7")
        .replace('<robot name="arm7"', '<robot xmlns:xacro="http://ros.org/wiki/xacro" name="arm7"')
        .replace('"joint1"', '"$(arg first)"')
    )
    assert main(["gazebo", str(path), "--out", str(tmp_path / "out"), "--xacro", "first:=hip"]) == 0
    printed = capsys.readouterr().out
    assert "FILE.yaml is the controller's parameter file" in printed
    words = hinted(printed, "ros2")
    assert "xacro_args:=first:=hip" in words and words[-1] == "params_file:=FILE.yaml"


@pytest.mark.parametrize(
    "first, second, stays",
    [([], ["--ros2-control"], "controllers.yaml"), (["--ros2-control"], [], "bridge_node.yaml")],
)
def test_a_second_run_into_the_folder_leaves_nothing_of_the_first(first, second, stays, tmp_path):
    for options in (first, second):
        assert main(["gazebo", "arm7", "--out", str(tmp_path), *options]) == 0
    assert written(tmp_path) == WRITTEN | {stays}


def test_a_file_that_somebody_else_has_written_stays(tmp_path, capsys):
    (tmp_path / "controllers.yaml").write_text("mine: 1\n")
    assert main(["gazebo", "arm7", "--out", str(tmp_path)]) == 2
    assert "'controllers.yaml' is in the way" in capsys.readouterr().err
    assert main(["gazebo", "arm7", "--out", str(tmp_path), "--force"]) == 0
    assert written(tmp_path) == WRITTEN | {"bridge_node.yaml", "controllers.yaml"}
    assert (tmp_path / "controllers.yaml").read_text() == "mine: 1\n"


@pytest.mark.parametrize("options", [[], ["--force"]])
def test_the_robots_own_file_is_not_overwritten(options, tmp_path, capsys):
    urdf = tmp_path / "robot.urdf"
    urdf.write_text(robot_text("arm7"))
    command = ["gazebo", str(urdf), "--out", str(tmp_path), "--ros2-control", *options]
    assert main(command) == 2
    assert "'robot.urdf' in it is read by this command" in capsys.readouterr().err
    assert urdf.read_text() == robot_text("arm7") and written(tmp_path) == {"robot.urdf"}


def test_a_link_in_the_folder_is_not_followed(tmp_path, capsys):
    folder, precious = tmp_path / "out", tmp_path / "precious"
    assert main(["gazebo", "arm7", "--out", str(folder)]) == 0
    precious.write_text("mine")
    (folder / "world.sdf").unlink()
    (folder / "world.sdf").symlink_to(precious)
    assert main(["gazebo", "arm7", "--out", str(folder)]) == 2
    assert "'world.sdf' is in the way" in capsys.readouterr().err
    assert main(["gazebo", "arm7", "--out", str(folder), "--force"]) == 0
    assert precious.read_text() == "mine" and "<sdf" in (folder / "world.sdf").read_text()


def test_a_world_that_was_edited_is_not_lost(tmp_path, capsys):
    assert main(["gazebo", "arm7", "--out", str(tmp_path / "out")]) == 0
    world = tmp_path / "out" / "world.sdf"
    world.write_text(world.read_text() + "<!-- mine -->")
    assert main(["gazebo", "arm7", "--out", str(tmp_path / "out")]) == 2
    assert "changed since opspace gazebo wrote it" in capsys.readouterr().err
    assert world.read_text().endswith("<!-- mine -->")


def test_a_joint_and_the_base_begin_where_they_are_told(tmp_path):
    assert (
        main(
            [
                "gazebo",
                "asimo",
                "--out",
                str(tmp_path),
                "--position",
                "left_knee_pitch:=1.1",
                "--pose=-1,2,0.9",
            ]
        )
        == 0
    )
    model = load_robot("asimo")
    assert bridge(tmp_path)["offsets"][model.joint_names.index("left_knee_pitch")] == 1.1
    pose = ET.parse(tmp_path / "model.sdf").findtext("model/pose").split()
    assert [float(x) for x in pose] == [-1.0, 2.0, 0.9, 0.0, 0.0, 0.0, 1.0]


def test_ros2_control_writes_controllers_instead_of_the_bridge(tmp_path):
    assert main(["gazebo", "arm7", "--out", str(tmp_path), "--ros2-control"]) == 0
    assert written(tmp_path) == WRITTEN | {"controllers.yaml"}


def test_a_robot_from_a_file_begins_at_zero_within_its_limits(tmp_path):
    urdf = tmp_path / "mine.urdf"
    urdf.write_text(
        robot_text("arm7").replace('lower="-2.9" upper="2.9"', 'lower="0.2" upper="2.9"', 1)
    )
    assert main(["gazebo", str(urdf), "--out", str(tmp_path / "out")]) == 0
    assert bridge(tmp_path / "out")["offsets"] == [0.2, *[0.0] * 6]
    assert (
        main(["gazebo", str(urdf), "--out", str(tmp_path / "out"), "--position", "joint2:=0.5"])
        == 0
    )
    assert bridge(tmp_path / "out")["offsets"] == [0.2, 0.5, *[0.0] * 5]


def test_parameters_of_ones_own_are_taken(tmp_path):
    params = tmp_path / "mine.yaml"
    params.write_text(
        "opspace_simulator:\n  ros__parameters:\n    step: 0.005\n    initial_positions: "
        "[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]\n    ground: {friction: 0.3, height: -0.5}\n"
    )
    assert main(["gazebo", "arm7", "--out", str(tmp_path / "out"), "--params", str(params)]) == 0
    assert bridge(tmp_path / "out")["offsets"] == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]
    ground = ET.parse(tmp_path / "out" / "world.sdf").find("world/model[@name='ground_plane']")
    assert ground.findtext("link/collision/surface/friction/ode/mu") == "0.3"
    assert [float(x) for x in ground.findtext("pose").split()][:3] == [0.0, 0.0, -0.5]


@pytest.mark.parametrize(
    "options, words",
    [
        (["--position", "knee:=1"], "arm7 has no joint 'knee'; its joints: joint1"),
        (
            ["--position", "joint2=0.5"],
            "'joint2=0.5': JOINT:=VALUE is expected, such as joint1:=0.5",
        ),
        (["--position", "joint1:=much"], "'much' is not a number"),
        (["--position", "joint1:=7"], "beyond its limits"),
        (["--pose", "1,2", "--base", "floating"], "3 or 7 numbers"),
        (["--pose", "1,2,3"], "the base of arm7 is fixed; with --base floating it has a pose"),
        (["--params", "nowhere.yaml"], "nowhere.yaml"),
        (["--step", "0"], "step"),
        (["--world", "my hall"], "'my hall'"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(options, words, tmp_path, capsys):
    assert main(["gazebo", "arm7", "--out", str(tmp_path / "out"), *options]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and words in error


def test_a_folder_that_cannot_be_written_is_named(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["gazebo", "arm7", "--out", str(tmp_path / "file")]) == 2
    assert f"{str(Path(tmp_path, 'file'))!r}: it is a file, not a folder" in capsys.readouterr().err
