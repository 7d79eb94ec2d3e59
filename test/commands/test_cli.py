# SPDX-License-Identifier: Apache-2.0
"""The `opspace` command as a user meets it: what it prints, and one clear line when something is wrong."""

import json
import os
import re
import signal
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import matplotlib.image
import numpy as np
import pinocchio
import pytest
from helpers import urdf_text

from opspace_ctrl import load_robot, load_urdf
from opspace_ctrl.cli import main
from opspace_ctrl.commands._patterns import sparsity

OPSPACE = [sys.executable, "-m", "opspace_ctrl.cli"]


def link(name, mass=1):
    return (
        f'<link name="{name}"><inertial><mass value="{mass}"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )


def continuous(name, parent, child):
    return f'<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/></joint>'


BRANCHED = f"""<robot name="branched">
  <link name="base"/>{link("a")}{link("b", 2)}{link("c", 4)}{continuous("turn", "base", "a")}
  <joint name="slide" type="prismatic"><parent link="base"/><child link="b"/><axis xyz="1 0 0"/>
    <limit lower="-0.5" upper="0.5" velocity="3" effort="7"/></joint>
  <joint name="follow" type="prismatic"><parent link="a"/><child link="c"/><axis xyz="1 0 0"/>
    <limit lower="-2" upper="2" velocity="1" effort="1"/>
    <mimic joint="slide" multiplier="-2" offset="0.25"/></joint>
</robot>"""


@pytest.fixture
def branched(tmp_path):
    path = tmp_path / "branched.urdf"
    path.write_text(BRANCHED)
    return str(path)


def failure(capsys, *argv):
    """What is printed on stderr by a command that must fail with exit code 2."""
    try:
        code = main(argv)
    except SystemExit as stop:  # argparse's way out
        code = stop.code
    captured = capsys.readouterr()
    assert code == 2
    assert captured.err.count("\n") == 1 and captured.err.startswith("opspace")
    assert "Traceback" not in captured.err
    return captured.err


def test_version_is_that_of_the_installed_package(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"opspace {metadata.version('opspace_ctrl')}\n"


def test_without_a_command_the_help_lists_the_commands(capsys):
    assert main([]) == 0
    assert re.search(r"^ +info +\w", capsys.readouterr().out, re.MULTILINE)


def test_info_prints_dimensions_masses_limits_and_depth(capsys, branched):
    assert main(["info", branched]) == 0
    out = capsys.readouterr().out
    assert "N = 3 moving bodies, n = 2 coordinates (nq = 2), depth d = 2, fixed base" in out
    assert "mass 7 kg, of which 7 kg move" in out
    assert re.search(r"├ a +turn +1 +continuous +0 *$", out, re.MULTILINE)
    assert re.search(r"└ b +slide +2 +prismatic +1 +-0\.5 \.\. 0\.5 m +3 m/s +7 N", out)
    assert re.search(r"│ └ c +follow +4 +prismatic mimic +1 +-2 q\[1\] \+0\.25", out)


def test_info_counts_the_zeros_of_asimo_as_the_paper_does(capsys):
    assert main(["info", "asimo"]) == 0
    out = capsys.readouterr().out
    assert "N = 35 moving bodies, n = 40 coordinates (nq = 41), depth d = 14, floating base" in out
    assert re.search(r"H, .* 40 x 40 +1600 +708 +55\.8%", out)
    assert re.search(r"L, .* 40 x 40 +820 +374 +54\.4%", out)
    assert re.search(r"J of left_hand, right_hand, left_foot, right_foot +24 x 40 +960 +312 ", out)


def test_tables_are_also_json_and_markdown(capsys):
    assert main(["tables", "--table", "3", "--json"]) == 0
    (table,) = json.loads(capsys.readouterr().out)
    assert table["columns"][:3] == ["robot", "space", "n"]
    assert table["rows"][0]["cells"][:3] == ["ASIMO", "HF", "40"] and table["rows"][0]["agrees"]
    assert main(["tables", "--table", "3", "--markdown"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"**{table['title']}**"
    rows = [[cell.strip() for cell in line.split("|")] for line in lines if line.startswith("|")]
    assert rows[0][1:-2] == table["columns"] and set("".join(rows[1])) == {"-"}
    assert [row[1:-2] for row in rows[2:]] == [row["cells"] for row in table["rows"]]
    with pytest.raises(SystemExit):
        main(["tables", "--json", "--markdown"])


def test_base_option_floats_a_robot(capsys):
    assert main(["info", "arm7", "--base", "floating"]) == 0
    out = capsys.readouterr().out
    assert "n = 13 coordinates (nq = 14)" in out and "floating base" in out
    assert re.search(r"root_joint .* floating +0-5", out)


def test_frames_option_chooses_the_rows_of_the_jacobian(capsys):
    assert main(["info", "asimo", "--frames", "head, left_foot"]) == 0
    assert re.search(r"J of head, left_foot +12 x 40 +480 +132 ", capsys.readouterr().out)


def test_every_link_is_listed_once(capsys):
    assert main(["info", "asimo"]) == 0
    listed = re.findall(r"^ [ │├└]+ (\w+)", capsys.readouterr().out, re.MULTILINE)
    assert sorted(listed) == sorted(load_robot("asimo").frame_names)


def test_a_narrow_terminal_gets_two_whole_tables(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["info", "asimo"]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert "…" not in out
    assert re.search(
        r"^ right_ankle_roll +revolute +39 +-0\.5 \.\. 0\.5 rad +8 rad/s +70 Nm", out, re.M
    )


def test_a_chain_of_a_thousand_links_is_printed(capsys, tmp_path):
    path = tmp_path / "chain.urdf"
    links = "".join(link(i) + continuous(f"j{i}", i - 1, i) for i in range(1, 1201))
    path.write_text(f'<robot name="chain"><link name="0"/>{links}</robot>')
    assert main(["info", str(path)]) == 0
    assert "depth d = 1200" in capsys.readouterr().out


def test_xacro_files_take_arguments(capsys, tmp_path):
    path = tmp_path / "robot.xacro"
    head = '<robot name="x" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="axis" default="z"/>'
    text = BRANCHED.replace('<robot name="branched">', head).replace('"turn"', '"turn_$(arg axis)"')
    path.write_text(text)
    assert main(["info", str(path), "--xacro", "axis:=up"]) == 0
    assert "turn_up" in capsys.readouterr().out
    assert "--xacro 'axis'" in failure(capsys, "info", str(path), "--xacro", "axis")


def test_lock_freezes_joints_as_the_error_about_a_massless_one_advises(capsys, tmp_path):
    path = tmp_path / "massless.urdf"
    link = (
        '<link name="{}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" '
        'iyz="0"/></inertial></link>'
    )
    joint = '<joint name="{0}" type="continuous"><parent link="{1}"/><child link="{2}"/></joint>'
    path.write_text(
        f'<robot name="r"><link name="a"/>{link.format("b")}<link name="c"/>'
        f"{joint.format('turn', 'a', 'b')}{joint.format('spin', 'b', 'c')}</robot>"
    )
    assert "joint 'spin' moves no inertia" in (text := failure(capsys, "info", str(path)))
    assert text.rstrip().endswith("(--lock JOINT)")
    assert main(["info", str(path), "--lock", "spin"]) == 0
    assert "n = 1 coordinates" in capsys.readouterr().out
    assert main(["info", "arm7", "--lock", "joint6:=0.3", "--lock", "joint7"]) == 0
    assert "n = 5 coordinates" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["info"], "ROBOT"),
        (["info", "arm7", "--lock", "joint9"], "no moving joint 'joint9'; moving joints: joint1"),
        (["info", "arm7", "--lock", "joint1:=x"], "JOINT or JOINT:=NUMBER is expected"),
        (["fly"], "invalid choice: 'fly'"),
        (["info", "arm7", "--base", "soft"], "invalid choice: 'soft'"),
        (["info", "arm7", "--xacro", "a:=b"], "--xacro is for .xacro files; 'arm7' is none"),
        (
            ["info", "arm8"],
            "'arm8' is neither a file nor a shipped robot (arm7, asimo, free_flyer)",
        ),
        (["info", "arm7", "--frames", "tool,tol"], "no frame 'tol'. Did you mean tool?"),
        (["info", "arm7", "--plot", "arm7.docx"], "cannot write 'arm7.docx': "),
        (["info", "arm7", "--plot", "missing/arm7.png"], "cannot write 'missing/arm7.png': "),
        (
            ["info", os.curdir],
            "'.' is a folder; valid are a URDF or .xacro file and the shipped robots (arm7",
        ),
    ],
)
def test_a_wrong_argument_is_one_line_and_exit_code_2(capsys, argv, words):
    assert words in failure(capsys, *argv)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not XML"),
        ("<robot name='r'>", "not XML"),
        ("<robot name='r'><link name='a'/><link name='b'/></robot>", "2 root links, a, b"),
        (
            "<!DOCTYPE r [<!ENTITY a 'b'>]><robot name='r'><link name='&a;'/></robot>",
            "document type",
        ),
    ],
)
def test_a_bad_file_is_named_in_one_line_with_exit_code_2(capsys, tmp_path, text, words):
    path = tmp_path / "bad.urdf"
    path.write_text(text)
    line = failure(capsys, "info", str(path))
    assert line.startswith(f"opspace: error: '{path}': ") and words in line
    assert line.count(str(path)) == 1


def test_a_doubtful_inertia_is_one_line_of_warning(capsys, branched):
    path = Path(branched)
    path.write_text(BRANCHED.replace('ixx="1" iyy="1" izz="1"', 'ixx="1" iyy="1" izz="9"', 1))
    assert main(["info", branched]) == 0
    err = capsys.readouterr().err
    assert err.startswith("opspace: warning: ") and err.count("\n") == 1 and "'a'" in err


def test_missing_matplotlib_is_named_with_its_extra(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert "pip install 'opspace_ctrl[plot]'" in failure(
        capsys, "info", "arm7", "--plot", "arm7.png"
    )


def test_an_unexpected_error_is_one_line_unless_asked_for(capsys, monkeypatch):
    def broken(args):
        raise ZeroDivisionError("line one\nline two")

    monkeypatch.setattr("opspace_ctrl.commands.info.run", broken)
    assert (
        failure(capsys, "info", "arm7") == "opspace: error: ZeroDivisionError: line one line two\n"
    )
    monkeypatch.setenv("OPSPACE_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        main(["info", "arm7"])


def test_interrupt_exits_with_130(monkeypatch):
    def interrupted(args):
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("opspace_ctrl.commands.info.run", interrupted)
    # a job in the background ignores it
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert main(["info", "arm7"]) == 130
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_closed_pipe_is_no_error():
    read, write = os.pipe()
    os.close(read)
    with open(write, "wb") as closed_pipe:
        done = subprocess.run(
            [*OPSPACE, "info", "asimo"], stdout=closed_pipe, stderr=subprocess.PIPE
        )
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_terminal_without_unicode_gets_ascii():
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([*OPSPACE, "info", "arm7"], env=environment, capture_output=True)
    assert done.returncode == 0
    assert b"` link1" in done.stdout and b"?" not in done.stdout


def test_names_from_a_file_are_not_markup(capsys, branched):
    path = Path(branched)
    path.write_text(BRANCHED.replace('"turn"', '"[bold]turn[/nothing]"'))
    assert main(["info", branched]) == 0
    assert "[bold]turn[/nothing]" in capsys.readouterr().out


@pytest.mark.parametrize("ending", ["png", "pdf", "svg"])
def test_plot_writes_the_picture(capsys, tmp_path, ending):
    path = tmp_path / f"asimo.{ending}"
    assert main(["info", "asimo", "--plot", str(path)]) == 0
    assert f"drawn: {path}" in capsys.readouterr().out
    assert path.stat().st_size > 5000
    if ending == "png":
        picture = np.round(255 * matplotlib.image.imread(path)[..., :3])
        assert (picture == [0x4E, 0x79, 0xA7]).all(axis=-1).mean() > 0.01  # the torso's colour


def test_plot_of_a_robot_that_cannot_move(tmp_path):
    (tmp_path / "rock.urdf").write_text('<robot name="rock"><link name="rock"/></robot>')
    assert main(["info", str(tmp_path / "rock.urdf"), "--plot", str(tmp_path / "rock.png")]) == 0


def test_patterns_of_figure_2():
    """The tree of [Featherstone2010, figure 1], lambda = 0, 1, 1, 2, 2, 3, 3, one coordinate a joint."""
    # depth first, so that the paper's bodies 1, 2, 4, 5, 3, 6, 7 are ours 0 .. 6
    parents = {"1": "0", "2": "1", "4": "2", "5": "2", "3": "1", "6": "3", "7": "3"}
    tree = "".join(
        link(child) + continuous(f"j{child}", parent, child) for child, parent in parents.items()
    )
    model = load_urdf(f'<robot name="figure1"><link name="0"/>{tree}</robot>')
    patterns = sparsity(model, ["4", "0", "3"])
    rows = ("1000000", "1100000", "1110000", "1101000", "1000100", "1000110", "1000101")
    expected = np.array([[cell == "1" for cell in row] for row in rows])
    np.testing.assert_array_equal(patterns.L, expected)
    np.testing.assert_array_equal(patterns.H, expected | expected.T)
    on_base = np.zeros(7, dtype=bool)
    np.testing.assert_array_equal(
        patterns.J, np.repeat([expected[2], on_base, expected[4]], 6, axis=0)
    )


def test_pattern_of_H_is_where_pinocchio_has_numbers():
    model = load_robot("asimo")
    reference = pinocchio.buildModelFromXML(model.source, pinocchio.JointModelFreeFlyer())
    pinocchio.seed(0)
    q = pinocchio.randomConfiguration(reference, -np.ones(reference.nq), np.ones(reference.nq))
    H = pinocchio.crba(reference, reference.createData(), q)
    order = [reference.getJointId(name) for name in model.joint_names]
    columns = [*range(6), *(reference.idx_vs[joint] for joint in order)]
    pattern = sparsity(model, []).H
    assert not H[np.ix_(columns, columns)][~pattern].any()
    assert np.count_nonzero(H) > 0.95 * pattern.sum()  # a few are zero by the robot's symmetry


def test_a_follower_on_another_branch_couples_both(branched):
    patterns = sparsity(load_urdf(branched), ["b", "c"])
    # c is moved by both coordinates, though a and b are on separate branches
    assert patterns.H.all()
    assert patterns.L.tolist() == [[True, False], [True, True]]
    np.testing.assert_array_equal(patterns.J, np.repeat([[False, True], [True, True]], 6, axis=0))


def test_a_tree_without_end_is_cut_and_its_size_said(capsys, tmp_path):
    path = tmp_path / "wide.urdf"
    parts = [urdf_text.link("base")]
    for i in range(1200):
        parts += [urdf_text.link(f"l{i}"), urdf_text.joint(f"j{i}", "base", f"l{i}", "fixed")]
    path.write_text(urdf_text.robot(*parts))
    assert main(["info", str(path)]) == 0
    printed = capsys.readouterr().out
    assert "l497" in printed and "l600" not in printed and "... and 702 more" in printed
