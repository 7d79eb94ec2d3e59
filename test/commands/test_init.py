# SPDX-License-Identifier: Apache-2.0
"""`opspace init`: files that work at once, and that no file of a user's is lost for."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
import yaml
from helpers.support import load_quietly, urdf_path

from opspace_ctrl import Controller, Simulator, bias_forces
from opspace_ctrl.cli import main
from opspace_ctrl.parameter_file import node_parameters
from opspace_ctrl.sim.settings import simulator_settings


@pytest.fixture(scope="module")
def panda(tmp_path_factory):
    """(URDF, parameter file, controllers file) that `opspace init` has written."""
    folder = tmp_path_factory.mktemp("init")
    urdf = shutil.copy(urdf_path("panda"), folder / "my_panda.urdf")
    assert main(["init", str(urdf), "--out", str(folder / "out")]) == 0
    return urdf, folder / "out" / "my_panda.yaml", folder / "out" / "my_panda_controllers.yaml"


def test_the_files_pass_the_check_with_their_controllers(panda, capsys):
    urdf, params, controllers = map(str, panda)
    assert main(["check", urdf, params, "--controllers", controllers]) == 0
    out = capsys.readouterr().out
    assert "good, 0 warnings" in out and "in the order of effort_controller" in out


def test_the_file_alone_makes_a_controller_that_reaches_a_target(panda):
    path = panda[1]
    controller = Controller.from_file(path)
    values = node_parameters(path, "opspace_simulator") | {"robot": ""}
    robot = Simulator.from_settings(controller.model, simulator_settings(values))
    controller.activate(robot.q, robot.v, robot.time)
    position, quaternion = controller.pose("tool")
    target = position + [0.05, 0.05, -0.05]
    controller.target_pose("tool", target, quaternion, robot.time)
    while robot.time < 6.0:
        robot.step(controller.tick(robot.q, robot.v, robot.time))
    assert np.abs(controller.pose("tool")[0] - target).max() < 1e-3


def test_the_file_says_what_was_guessed_and_why(panda):
    text = panda[1].read_text()
    assert "panda_finger_joint1 locked at 0 (a finger by its name)" in text
    assert "2 ms of delay at 1000 Hz" in text and "3 of 3 targets reached" in text
    assert "gripper" not in yaml.safe_load(text)


def test_a_second_run_leaves_a_changed_file_alone(panda, capsys):
    urdf, params, _ = panda
    folder = params.parent
    assert main(["init", str(urdf), "--out", str(folder), "--no-trial"]) == 0  # its own, unchanged
    params.write_text(params.read_text() + "# mine\n")
    assert main(["init", str(urdf), "--out", str(folder), "--no-trial"]) == 2
    assert "changed since opspace init wrote it" in capsys.readouterr().err
    assert params.read_text().endswith("# mine\n")
    assert main(["init", str(urdf), "--out", str(folder), "--no-trial", "--force"]) == 0
    assert "# mine" not in params.read_text()


def test_the_urdf_itself_is_never_overwritten(tmp_path, capsys):
    urdf = shutil.copy(urdf_path("ur5_robot"), tmp_path / "ur5.yaml")  # whatever it is called
    assert main(["init", str(urdf), "--out", str(tmp_path), "--no-trial", "--force"]) == 2
    assert "read by this command" in capsys.readouterr().err
    assert "<robot" in (tmp_path / "ur5.yaml").read_text()


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["missing.urdf"], "neither a file nor a shipped robot"),
        (["arm7", "--rate", "0"], "valid is 50 to 10000 Hz"),
        (["arm7", "--xacro", "a:=1"], "--xacro is for .xacro files"),
    ],
)
def test_slips_are_refused_by_name(arguments, said, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["init", *arguments]) == 2
    assert said in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_standing_robot_gets_contacts_and_passes_the_check(tmp_path, capsys):
    urdf = str(urdf_path("go2"))
    assert main(["init", urdf, "--base", "floating", "--out", str(tmp_path / "go2")]) == 0
    params = tmp_path / "go2" / "go2.yaml"
    values = node_parameters(params, "opspace_controller")
    assert values["contacts"] == ["FL_foot", "FR_foot", "RL_foot", "RR_foot"]
    assert main(["check", urdf, str(params)]) == 0
    assert "FAIL" not in capsys.readouterr().out
    text = params.read_text()
    assert "friction: true  # the URDF's joint friction" in text
    assert "friction: 0.6  # of the contact" in text
    # free, a busy machine lets a legged robot fall
    simulated = node_parameters(params, "opspace_simulator")
    assert simulated["mode"] == "lockstep" and simulated["pace"] is True


def test_legs_that_hang_in_the_air_are_said(tmp_path, capsys):
    urdf = str(urdf_path("go2"))
    assert main(["init", urdf, "--no-trial", "--out", str(tmp_path / "go2")]) == 0
    assert "needs --base floating" in capsys.readouterr().out
    text = (tmp_path / "go2" / "go2.yaml").read_text().replace("#", "")
    assert "needs --base floating" in " ".join(text.split())


@pytest.mark.parametrize("text", ["not XML", "<robot", "<robot name='a'><joint/></robot>"])
def test_a_file_that_is_no_urdf_is_named(text, tmp_path, capsys):
    path = tmp_path / "mine.urdf"
    path.write_text(text)
    assert main(["init", str(path)]) == 2
    assert main(["parity", "arm7", str(path)]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert "mine.urdf" in first and "mine.urdf" in second


WORLD = """<link name="world"/><joint name="free" type="floating"><parent link="world"/>
  <child link="{root}"/></joint>"""


def test_a_floating_joint_of_the_files_own_is_the_floating_base(tmp_path, capsys):
    """Some makers write a world and a floating joint into the URDF: `--base floating` means the same."""
    text = urdf_path("go2").read_text()
    root = load_quietly(text).frame_names[0]
    path = tmp_path / "go2_world.urdf"
    path.write_text(text.replace("</robot>", WORLD.format(root=root) + "</robot>"))
    plain, with_world = load_quietly(text, "floating"), load_quietly(path, "floating")
    assert with_world.frame_names == plain.frame_names and with_world.nv == plain.nv
    q, v = plain.random_configuration(np.random.default_rng(0)), np.ones(plain.nv)
    np.testing.assert_array_equal(bias_forces(with_world, q, v), bias_forces(plain, q, v))
    arguments = ["init", str(path), "--out", str(tmp_path / "out"), "--no-trial"]
    assert main([*arguments, "--base", "floating"]) == 0
    assert main(arguments) == 2
    assert "carried by free" in (err := capsys.readouterr().err) and "--base floating" in err
