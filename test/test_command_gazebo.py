"""`opspace gazebo` as a user meets it."""
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
import yaml
from drake_twin import DrakeTwin
from installed_tree import SOURCE

from opspace_ctrl import load_robot, mass_matrix
from opspace_ctrl.cli import main
from opspace_ctrl.model.source import robot_text
from opspace_ctrl.parameter_file import node_parameters

WRITTEN = {"world.sdf", "model.sdf", "model.config", "robot.urdf", "ros_gz_bridge.yaml"}


def written(folder):
    return {path.name for path in folder.iterdir()}


def bridge(folder):
    return yaml.safe_load((folder / "bridge_node.yaml").read_text())["/**"]["ros__parameters"]


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
    assert main(["gazebo", "arm7", "--out", str(tmp_path), "--gazebo", "fortress", "--world", "hall", "--step", "0.002",
                 "--no-ground"]) == 0
    world = ET.parse(tmp_path / "world.sdf").find("world")
    assert world.get("name") == "hall"
    assert float(world.findtext("physics/max_step_size")) == 0.002
    assert world.find("model[@name='ground_plane']") is None
    assert "ignition-gazebo-physics-system" in (tmp_path / "world.sdf").read_text()
    assert "ign gazebo" in capsys.readouterr().out


def test_a_joint_and_the_base_begin_where_they_are_told(tmp_path):
    assert main(["gazebo", "asimo", "--out", str(tmp_path), "--position", "left_knee_pitch:=1.1",
                 "--pose=-1,2,0.9"]) == 0
    model = load_robot("asimo")
    assert bridge(tmp_path)["offsets"][model.joint_names.index("left_knee_pitch")] == 1.1
    pose = ET.parse(tmp_path / "model.sdf").findtext("model/pose").split()
    assert [float(x) for x in pose] == [-1.0, 2.0, 0.9, 0.0, 0.0, 0.0, 1.0]


def test_ros2_control_writes_controllers_instead_of_the_bridge(tmp_path):
    assert main(["gazebo", "arm7", "--out", str(tmp_path), "--ros2-control"]) == 0
    assert written(tmp_path) == WRITTEN | {"controllers.yaml"}


def test_a_robot_from_a_file_begins_at_zero_within_its_limits(tmp_path):
    urdf = tmp_path / "mine.urdf"
    urdf.write_text(robot_text("arm7").replace('lower="-2.9" upper="2.9"', 'lower="0.2" upper="2.9"', 1))
    assert main(["gazebo", str(urdf), "--out", str(tmp_path / "out")]) == 0
    assert bridge(tmp_path / "out")["offsets"] == [0.2, *[0.0] * 6]


def test_parameters_of_ones_own_are_taken(tmp_path):
    params = tmp_path / "mine.yaml"
    params.write_text("opspace_simulator:\n  ros__parameters:\n    step: 0.005\n    initial_positions: "
                      "[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]\n    ground: {friction: 0.3, height: -0.5}\n")
    assert main(["gazebo", "arm7", "--out", str(tmp_path / "out"), "--params", str(params)]) == 0
    assert bridge(tmp_path / "out")["offsets"] == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]
    ground = ET.parse(tmp_path / "out" / "world.sdf").find("world/model[@name='ground_plane']")
    assert ground.findtext("link/collision/surface/friction/ode/mu") == "0.3"
    assert [float(x) for x in ground.findtext("pose").split()][:3] == [0.0, 0.0, -0.5]


@pytest.mark.parametrize("options, words", [
    (["--position", "knee:=1"], "no joint 'knee'; joints: joint1"),
    (["--position", "joint1:=much"], "'much' is not a number"),
    (["--position", "joint1:=7"], "beyond its limits"),
    (["--pose", "1,2"], "3 or 7 numbers"),
    (["--pose", "1,2,3"], "initial_pose"),
    (["--params", "nowhere.yaml"], "nowhere.yaml"),
    (["--step", "0"], "step"),
    (["--world", "my hall"], "'my hall'"),
])
def test_what_is_wrong_is_said_in_one_line(options, words, tmp_path, capsys):
    assert main(["gazebo", "arm7", "--out", str(tmp_path / "out"), *options]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and words in error


def test_a_folder_that_cannot_be_written_is_named(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["gazebo", "arm7", "--out", str(tmp_path / "file")]) == 2
    assert str(Path(tmp_path, "file")) in capsys.readouterr().err
