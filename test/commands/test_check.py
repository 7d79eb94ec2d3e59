# SPDX-License-Identifier: Apache-2.0
"""`opspace check`: good files pass, each defect fails with its reason; `opspace warmup` fills the cache."""

from __future__ import annotations

import re

import pytest
import yaml
from helpers.support import urdf_path

from opspace_ctrl.cli import main
from opspace_ctrl.data import shipped_path
from opspace_ctrl.model.source import robot_text

ARM = {"robot": "arm7", "tasks": ["tool"], "method": "sparse_ltdl"}
START = {"initial_positions": [0.0, 0.35, 0.0, 1.55, 0.0, 1.24, 0.0]}
JOINTS = [f"joint{i}" for i in range(1, 8)]


def written(tmp_path, controller, simulator=START):
    path = tmp_path / "config.yaml"
    path.write_text(
        yaml.safe_dump(
            {
                "opspace_controller": {"ros__parameters": controller},
                "opspace_simulator": {"ros__parameters": simulator},
            }
        )
    )
    return str(path)


def controllers(tmp_path, joints, **rest):
    path = tmp_path / "controllers.yaml"
    path.write_text(
        yaml.safe_dump({"effort_controller": {"ros__parameters": {"joints": joints, **rest}}})
    )
    return str(path)


def check(capsys, *argv):
    """Exit code and the words of the output, line breaks of the table undone."""
    code = main(["check", *argv])
    return code, " ".join(capsys.readouterr().out.split())


def test_the_shipped_arm_is_good_with_its_controllers_file(capsys):
    code, out = check(
        capsys,
        "arm7",
        "arm7",
        "--controllers",
        str(shipped_path("config", "arm7_controllers.yaml")),
    )
    assert code == 0 and "FAIL" not in out
    assert (
        "in the order of effort_controller" in out
        and "first command" in out
        and "0 warnings" in out
    )


@pytest.mark.parametrize(
    "robot, config",
    [
        ("asimo", "asimo"),
        ("free_flyer", "free_flyer"),
        ("panda", "panda"),
        ("g1_29dof_rev_1_0", "g1"),
    ],
)
def test_every_shipped_file_is_good(capsys, robot, config):
    code, out = check(
        capsys, robot if robot == config != "panda" else str(urdf_path(robot)), config
    )
    assert code == 0 and "FAIL" not in out and "good" in out


@pytest.mark.parametrize(
    "change, words",
    [
        ({"tasks": ["hand"]}, "no frame 'hand'"),
        ({"tool.stifness": [1.0]}, "tool.stiffness"),
        ({"tool.stiffness": [-1.0]}, "out of range"),
        ({"joints": JOINTS[:6]}, "each once"),
        ({"tool.stiffness": [1e5]}, "too fast for 1000 Hz"),
        ({"method": "magic"}, "sparse_ltdl"),
        ({"payload.mass": 500.0, "payload.frame": "tool"}, "more than the effort limit"),
        ({"posture.positions": [0.0]}, "posture.positions has 1 numbers"),
    ],
)
def test_a_defect_fails_with_its_reason(capsys, tmp_path, change, words):
    code, out = check(capsys, "arm7", written(tmp_path, {**ARM, **change}))
    assert code == 1 and "FAIL" in out and words in out


def test_all_mistakes_of_a_file_are_told_at_once_whatever_their_kind(capsys, tmp_path):
    controller = {
        "robot": "arm7",
        "tasks": ["tool", "hand"],
        "tool": {"frame": "tol", "stifness": [1.0], "stiffness": [-1.0]},
        "hand": {"rows": "positon", "frame": "tool", "stiffness": [1.0, 2.0, 3.0]},
        "mode": "rw",
        "joints": ["joint1", "joint1"],
        "singularity": {"cut": 0.9},
        "posture": {"positions": [0.0]},
    }
    path = written(tmp_path, controller, {"stepp": 0.1, "step": 5.0})
    code, out = check(capsys, "arm7", path)
    told = (
        "'tool.stifness' (did you mean",
        "mode: 'rw' is not a choice",
        "tool.stiffness: -1.0 is out of range",
        "hand.rows: 'positon' is not a choice",
        "singularity.cut = 0.9 must be below",
        "'joint1' is given 2 times",
        "'stepp' (did you mean",
        "step: 5.0 is out of range",
        "no frame 'tol'",
        "posture.positions has 1 numbers for 7 joints",
    )
    assert code == 1 and out.count("FAIL") == len(told) and f"{len(told)} failed" in out
    for text in told:
        assert text in out


@pytest.mark.parametrize(
    "joints, rest, words",
    [
        (JOINTS[::-1], {}, "place 0 is joint1 here and joint7 there"),
        (JOINTS[:3], {}, "not those of effort_controller"),
        (JOINTS, {"interface_name": "position"}, "'position', not effort"),
        ("joint1", {}, "not those of"),
    ],
)
def test_another_order_or_interface_of_the_effort_controller_fails(
    capsys, tmp_path, joints, rest, words
):
    code, out = check(
        capsys,
        "arm7",
        written(tmp_path, ARM),
        "--controllers",
        controllers(tmp_path, joints, **rest),
    )
    assert code == 1 and words in out


def test_a_controller_that_takes_no_efforts_fails(capsys, tmp_path):
    text = shipped_path("config", "arm7_controllers.yaml").read_text()
    path = tmp_path / "controllers.yaml"
    path.write_text(
        text.replace(
            "forward_command_controller/ForwardCommandController",
            "position_controllers/JointGroupPositionController",
        )
    )
    code, out = check(capsys, "arm7", "arm7", "--controllers", str(path))
    assert (
        code == 1
        and "position_controllers/JointGroupPositionController, which does not take efforts" in out
    )


def test_a_robot_that_the_controller_would_not_find_fails(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out = check(capsys, "arm7", written(tmp_path, {**ARM, "robot": "my_arm.urdf"}))
    assert (
        code == 1
        and "'my_arm.urdf' is neither a file (seen from this folder) nor a shipped robot" in out
    )
    (tmp_path / "my_arm.urdf").write_text(robot_text("arm7"))
    code, out = check(
        capsys, str(tmp_path / "my_arm.urdf"), written(tmp_path, {**ARM, "robot": "my_arm.urdf"})
    )
    assert code == 0 and "is a relative path" in out and "CONFIG names" not in out
    code, out = check(
        capsys, "my_arm.urdf", written(tmp_path, {**ARM, "robot": str(tmp_path / "my_arm.urdf")})
    )
    assert code == 0 and "relative path" not in out and "CONFIG names" not in out
    code, out = check(
        capsys, "arm7", written(tmp_path, {**ARM, "robot": str(tmp_path / "my_arm.urdf")})
    )
    assert code == 0 and "CONFIG names" in out


def test_what_is_doubtful_in_the_robots_file_is_a_row_of_the_table(capsys, tmp_path):
    path = tmp_path / "arm.urdf"
    doubtful = re.sub('izz="[^"]*"', 'izz="9"', robot_text("arm7"), count=1)
    path.write_text(doubtful.replace("<dynamics", "<dinamics", 1))
    assert main(["check", str(path), written(tmp_path, {**ARM, "robot": str(path)})]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    assert re.search(r"warning +inertias +robot 'arm7', doubtful inertia: link", captured.out)
    assert re.search(
        r"warning +robot +robot 'arm7', unknown and ignored: <dinamics> in joint", captured.out
    )


def test_all_misspelt_parameters_are_named_at_once(capsys, tmp_path):
    code, out = check(
        capsys,
        "arm7",
        written(
            tmp_path,
            {**ARM, "tool.stifness": [1.0], "hand.frame": "tool", "pasture.damping": [1.0]},
        ),
    )
    assert code == 1 and out.count("FAIL") == 1
    for words in (
        "'tool.stifness' (did you mean 'tool.stiffness'?)",
        "there is no 'hand': tasks has tool",
        "did you mean 'posture'?",
    ):
        assert words in out


def test_doubts_are_warnings(capsys, tmp_path):
    stretched = {"initial_positions": [0.0] * 7}
    code, out = check(capsys, "arm7", written(tmp_path, {**ARM, "tool.damping": [4.0]}, stretched))
    assert code == 0
    for words in ("will ring", "is singular here", "--controllers"):
        assert words in out


def test_a_pose_on_too_few_joints_is_told_with_what_to_do(capsys, tmp_path):
    few = {**ARM, "locked_joints": ["joint6", "joint7"]}
    for rows, is_told in (("pose", True), ("position", False)):
        code, out = check(capsys, "arm7", written(tmp_path, {**few, "tool.rows": rows}))
        assert code == 0 and ("tool: a pose has 6 rows, the robot 5 coordinates" in out) is is_told


def test_a_start_of_the_wrong_size_is_not_called_good_first(capsys, tmp_path):
    code, out = check(capsys, "arm7", written(tmp_path, ARM, {"initial_positions": [0.0] * 3}))
    assert code == 1 and "initial_positions has 3 numbers" in out and "joints as in" not in out


def test_missing_files_and_sections_fail(capsys, tmp_path):
    for absent in (str(tmp_path / "absent.yaml"), "absent", str(tmp_path)):
        assert main(["check", "arm7", absent]) == 2
        assert (
            f"{absent!r} is neither a file nor the name of a shipped one (arm7"
            in capsys.readouterr().err
        )
    assert main(["check", "arm7", "arm7", "--rate", "0"]) == 2
    assert "--rate 0: a positive number is valid" in capsys.readouterr().err
    code, out = check(capsys, "arm7", written(tmp_path, ARM), "--node", "other")
    assert code == 1 and "no section for the node 'other'" in out
    code, out = check(capsys, "nobody", "arm7")
    assert code == 1 and "neither a file nor a shipped robot" in out


def test_warmup_compiles_every_method(capsys):
    assert main(["warmup", "arm7"]) == 0
    out = capsys.readouterr().out
    for name in ("sparse_ltdl", "rjk", "pv_osim", "simulator", "done in"):
        assert name in out
