# SPDX-License-Identifier: Apache-2.0
"""`opspace parity`: descriptions that agree, and every kind of defect planted into one of them and found."""

from __future__ import annotations

import re

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from helpers.support import urdf_path
from mcap_ros2.writer import Writer

from opspace_ctrl import load_robot, load_urdf
from opspace_ctrl.cli import main
from opspace_ctrl.data import shipped_path
from opspace_ctrl.gazebo.robot import robot_sdf
from opspace_ctrl.gazebo.xml import document
from opspace_ctrl.parameter_file import node_parameters
from opspace_ctrl.parity.compare import compare_models, compare_recording
from opspace_ctrl.parity.recorded import RecordingError, read_recording
from opspace_ctrl.parity.sdf import SdfError, load_sdf
from opspace_ctrl.parity.sources import load_description
from opspace_ctrl.parity.zeros import zeros_apart

LINK = """<inertial><origin xyz="{c}" rpy="{rpy}"/><mass value="{m}"/>
  <inertia ixx="0.03" iyy="0.02" izz="0.015" ixy="0" ixz="0" iyz="0"/></inertial>"""
JOINT = """<joint name="{0}" type="revolute"><parent link="{1}"/><child link="{2}"/>
  <origin xyz="{3}"/><axis xyz="{4}"/><limit lower="-2" upper="2" effort="50" velocity="3"/>
  <dynamics damping="0.5" friction="0.1"/></joint>"""
CENTRE, ELBOW = np.array([0.05, 0.0, 0.2]), np.array([0.0, 0.0, 0.4])
STATE = """std_msgs/Header header
string[] name
float64[] position
float64[] velocity
float64[] effort
================================================================================
MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
================================================================================
MSG: builtin_interfaces/Time
int32 sec
uint32 nanosec"""


def arm(rpy="0.3 0.5 -0.2", tool="0 0 0.2", axis="0 1 0", first="j1", limits="", mass=3):
    """Two joints, a link whose inertial is turned, and a tool on a fixed joint; some of it changed."""
    text = f"""<robot name="arm"><link name="base"/>
      <link name="upper">{LINK.format(c="0.05 0 0.2", rpy=rpy, m=mass)}</link>
      <link name="lower">{LINK.format(c="0 0.02 0.15", rpy="0 0 0", m=2)}</link>
      <link name="tool">{LINK.format(c="0 0 0.05", rpy="0 0 0", m=1)}</link>
      {JOINT.format(first, "base", "upper", "0 0 0.3", "1 0 0")}
      {JOINT.format("j2", "upper", "lower", "0 0 0.4", axis)}
      <joint name="flange" type="fixed"><parent link="lower"/><child link="tool"/>
        <origin xyz="{tool}"/></joint></robot>"""
    return text.replace('upper="2" effort="50"', limits) if limits else text


def laid_otherwise():
    """The same arm; the axes of its upper link are turned about the joint that moves it, by 0.4 rad."""
    back = pin.rpy.matrixToRpy(pin.utils.rotate("x", -0.4) @ pin.rpy.rpyToMatrix(0.3, 0.5, -0.2))
    turn = pin.utils.rotate("x", -0.4)
    text = arm(rpy=" ".join(map(repr, back.tolist())))
    text = text.replace('<origin xyz="0 0 0.3"/>', '<origin xyz="0 0 0.3" rpy="0.4 0 0"/>')
    centre, elbow = (" ".join(map(repr, (turn @ p).tolist())) for p in (CENTRE, ELBOW))
    text = text.replace('xyz="0.05 0 0.2"', f'xyz="{centre}"')
    return text.replace('<origin xyz="0 0 0.4"/>', f'<origin xyz="{elbow}" rpy="-0.4 0 0"/>')


def found(a, b):
    return compare_models(load_urdf(a), load_urdf(b))


def mjcf_of(text, path):
    """The same robot as MuJoCo's compiler writes it."""
    text = text.replace("<robot ", "<robot ", 1).replace(
        "</robot>", '<mujoco><compiler fusestatic="false"/></mujoco></robot>'
    )
    model = mujoco.MjModel.from_xml_string(text)
    mujoco.mj_saveLastXML(str(path), model)
    return path


# ---- agreement ----


@pytest.mark.parametrize("name", ["ur5_robot", "panda", "kinova"])
def test_a_robot_agrees_with_itself(name):
    assert main(["parity", str(urdf_path(name)), str(urdf_path(name))]) == 0


def test_a_urdf_agrees_with_what_mujoco_makes_of_it(tmp_path):
    ours = load_urdf(arm())
    theirs = load_description(str(mjcf_of(arm(), tmp_path / "arm.xml")))
    # MuJoCo has no velocity limits, and takes the URDF's efforts for actuators that are not there
    notes = compare_models(ours, theirs)
    assert notes and all(re.match("velocity limit|effort limit", each.text) for each in notes)
    assert {each.size for each in notes} == {0.0} and {each.subject for each in notes} == {
        "j1",
        "j2",
    }


@pytest.mark.parametrize("name", ["ur5_robot", "kinova"])
def test_a_real_robot_passes_beside_what_mujoco_makes_of_it_with_the_base_fused(
    name, tmp_path, capsys
):
    text = re.sub(
        r"<(visual|collision)\b.*?</\1>", "", urdf_path(name).read_text(), flags=re.DOTALL
    )
    (tmp_path / "robot.urdf").write_text(text)
    mujoco.mj_saveLastXML(str(tmp_path / "robot.xml"), mujoco.MjModel.from_xml_string(text))
    assert main(["parity", str(tmp_path / "robot.urdf"), str(tmp_path / "robot.xml")]) == 0
    said = capsys.readouterr().out
    assert "velocity limit" in said and "agree: joints, limits" in said.replace("\n", " ")


@pytest.mark.parametrize("name", ["arm7", "asimo"])
def test_a_urdf_agrees_with_the_sdf_that_gazebo_gets(name):
    ours = load_robot(name, base="fixed")
    text = document(robot_sdf(ours, ours.neutral()).element)
    theirs = load_sdf(text)
    bad = [each for each in compare_models(ours, theirs) if "limit" not in each.text]
    assert not bad, bad[:5]


@pytest.mark.parametrize("name", ["arm7", "asimo", "free_flyer"])
def test_a_world_that_begins_at_the_start_pose_differs_in_where_its_joints_count_from(
    name, tmp_path, capsys
):
    assert main(["gazebo", name, "--out", str(tmp_path)]) == 0
    start = node_parameters(shipped_path("config", f"{name}.yaml"), "opspace_simulator")
    model = load_description(name)
    zeros = dict(zip(model.joint_names, start["initial_positions"]))
    differences = compare_models(model, load_description(str(tmp_path / "model.sdf")))
    found = {each.subject: float(each.text.split()[-4]) for each in differences}
    assert found == pytest.approx({joint: zero for joint, zero in zeros.items() if zero}, abs=1e-4)
    assert main(["parity", name, str(tmp_path / "model.sdf")]) == 1
    capsys.readouterr()
    assert main(["parity", name, str(tmp_path / "model.sdf"), "--free-zeros"]) == 0
    assert "is at zero where the first says" in capsys.readouterr().out


def test_a_sliding_joint_that_counts_from_elsewhere_is_told_with_its_way():
    slide = arm().replace('"revolute"', '"prismatic"', 1)
    moved = slide.replace('<origin xyz="0 0 0.3"/>', '<origin xyz="0.25 0 0.3"/>')
    moved = moved.replace('lower="-2" upper="2"', 'lower="-2.25" upper="1.75"', 1)
    assert [(each.subject, each.text) for each in found(slide, moved)] == [
        ("j1", "is at zero where the first says 0.25 rad (or m)")
    ]


def test_a_link_whose_axes_are_laid_otherwise_counts_from_the_same_zero():
    """The link is turned about the joint's axis, and all that it carries is turned back."""
    turned = arm().replace('<origin xyz="0 0 0.3"/>', '<origin xyz="0 0 0.3" rpy="0.4 0 0"/>')
    assert any("is at zero" in each.text for each in found(arm(), turned))
    model = load_urdf(arm())
    assert zeros_apart(model, load_urdf(turned)) == pytest.approx({"j1": 0.4})
    same = load_urdf(laid_otherwise())
    assert not compare_models(model, same)


def test_sdf_with_relative_poses_is_read_as_pinocchio_reads_the_urdf():
    text = """<sdf version="1.9"><model name="m">
      <link name="a"/><joint name="fix" type="fixed"><parent>world</parent><child>a</child></joint>
      <link name="b"><pose relative_to="turn">0.1 0 0 0 0 0.4</pose>
        <inertial><pose>0 0.2 0 0.3 0 0</pose><mass>2</mass>
        <inertia><ixx>0.1</ixx><iyy>0.2</iyy><izz>0.15</izz><ixy>0</ixy><ixz>0</ixz><iyz>0</iyz>
        </inertia></inertial></link>
      <joint name="turn" type="revolute"><pose relative_to="a">0 0 1 0.5 0 0</pose>
        <parent>a</parent><child>b</child><axis><xyz expressed_in="a">0 1 0</xyz>
        <limit><lower>-1</lower><upper>1</upper></limit></axis></joint></model></sdf>"""
    model = load_sdf(text)
    urdf = """<robot name="m"><link name="a"/><link name="b"><inertial>
      <origin xyz="{} {} 0" rpy="0 0 0"/><mass value="2"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="turn" type="revolute"><origin xyz="0 0 1" rpy="0.5 0 0"/><parent link="a"/>
      <child link="b"/><axis xyz="0 {} {}"/><limit lower="-1" upper="1" effort="1" velocity="1"/>
      </joint></robot>"""
    centre = np.array([0.1, 0.0]) + 0.2 * np.array([-np.sin(0.4), np.cos(0.4)])
    twin = pin.buildModelFromXML(urdf.format(*centre, np.cos(0.5), -np.sin(0.5)))
    for angle in (-0.7, 0.2, 0.9):
        expected = pin.computeGeneralizedGravity(twin, twin.createData(), np.array([angle]))
        from opspace_ctrl import bias_forces

        np.testing.assert_allclose(bias_forces(model, [angle], [0.0]), expected, rtol=1e-9)
    moments = np.linalg.eigvalsh(model.inertia[0])
    np.testing.assert_allclose(moments, [0.1, 0.15, 0.2], rtol=1e-12)


# ---- planted defects ----


def test_a_lost_inertial_rpy_is_found_and_named():
    """As mujoco #3559: the rpy of a URDF's inertial was dropped."""
    texts = [each.text for each in found(arm(), arm(rpy="0 0 0"))]
    assert any("rpy lost" in text for text in texts)


def test_a_fused_link_that_lost_its_place_is_phantom_gravity():
    """A tool fused into the link before it at the wrong place: the joint before it feels another weight."""
    several = found(arm(), arm(tool="0.1 0 0.2"))
    gravity = {each.subject for each in several if "gravity torque" in each.text}
    assert gravity == {"j1", "j2"} or gravity == {"j2"}
    assert any("centre of mass: 33" in each.text for each in several)  # 1 of 3 kg by 0.1 m


def test_worst_comes_first():
    several = found(arm(), arm(axis="0 -1 0", limits='upper="1.9" effort="50"'))
    assert "opposite" in several[0].text and several[0].subject == "j2"
    assert [each.size for each in several] == sorted((e.size for e in several), reverse=True)
    assert any("upper limit: 2 and 1.9" in each.text for each in several)


@pytest.mark.parametrize(
    "changed, said",
    [
        ({"mass": 3.1}, "mass: 3 and 3.1 kg"),
        ({"axis": "0 0.99 0.14"}, "its axis is turned by"),
        ({"first": "joint1"}, "is no joint of the second"),
        ({"limits": 'upper="2" effort="40"'}, "effort limit: 50 and 40"),
    ],
)
def test_other_differences_are_told(changed, said):
    assert any(said in each.text for each in found(arm(), arm(**changed)))


def test_damping_friction_and_armature_are_compared():
    other = load_urdf(arm().replace('damping="0.5"', 'damping="0.7"'), armature={"j2": 0.01})
    texts = {(each.subject, each.text) for each in compare_models(load_urdf(arm()), other)}
    assert ("j1", "damping: 0.5 and 0.7") in texts and ("j2", "armature: 0 and 0.01") in texts


def test_another_order_of_joints_is_found():
    a = """<robot name="r"><link name="w"/><link name="x">{0}</link><link name="y">{0}</link>{1}{2}</robot>"""
    link = LINK.format(c="0 0 0.1", rpy="0 0 0", m=1)
    one, two = (JOINT.format(f"j{k}", "w", k, "0 0 0", "1 0 0") for k in "xy")
    several = found(a.format(link, one, two), a.format(link, two, one))
    assert any("another order: place 0 is jx first and jy then" in each.text for each in several)


# ---- recordings ----


def bag(path, model, efforts, poses, speed=0.0):
    """A bag of joint states: the model's joints in these poses with these efforts."""
    with path.open("wb") as stream:
        writer = Writer(stream)
        schema = writer.register_msgdef("sensor_msgs/msg/JointState", STATE)
        for k, (q, tau) in enumerate(zip(poses, efforts)):
            header = {"stamp": {"sec": k, "nanosec": 0}, "frame_id": ""}
            writer.write_message(
                topic="/joint_states",
                schema=schema,
                message={
                    "header": header,
                    "name": list(model.joint_names)[::-1],
                    "position": q[::-1].tolist(),
                    "velocity": [speed] * len(q),
                    "effort": tau[::-1].tolist(),
                },
                log_time=k * 10**9,
                publish_time=k * 10**9,
            )
        writer.finish()


def at_rest(text, count=12):
    """(model, poses, gravity torques of Pinocchio)."""
    model, twin = load_urdf(text), pin.buildModelFromXML(text)
    poses = np.random.default_rng(0).uniform(-1.5, 1.5, size=(count, 2))
    data = twin.createData()
    return model, poses, [pin.computeGeneralizedGravity(twin, data, q).copy() for q in poses]


def test_a_recording_that_the_model_explains(tmp_path, capsys):
    model, poses, efforts = at_rest(arm())
    bag(tmp_path / "run.mcap", model, efforts, poses)
    (tmp_path / "arm.urdf").write_text(arm())
    assert main(["parity", str(tmp_path / "arm.urdf"), str(tmp_path / "run.mcap")]) == 0
    assert "12 poses at rest" in capsys.readouterr().out


def test_gravity_torques_that_the_robot_does_not_have_are_found(tmp_path, capsys):
    """As gz_ros2_control #551: what the other side holds is not what the URDF weighs."""
    model, poses, efforts = at_rest(arm(mass=4.0))
    bag(tmp_path / "run.mcap", model, efforts, poses)
    (tmp_path / "arm.urdf").write_text(arm())
    assert main(["parity", str(tmp_path / "arm.urdf"), str(tmp_path / "run.mcap")]) == 1
    assert "gravity torque" in capsys.readouterr().out
    several = compare_recording(load_urdf(arm()), read_recording(tmp_path / "run.mcap"))
    assert several[0].subject == "j1"  # it carries the wrong mass, j2 does not
    assert {each.subject for each in several} == {"j1"}


def test_a_recording_in_motion_is_refused_by_name(tmp_path):
    model, poses, efforts = at_rest(arm())
    bag(tmp_path / "run.mcap", model, efforts, poses, speed=0.5)
    with pytest.raises(RecordingError, match="holding still"):
        read_recording(tmp_path / "run.mcap")


# ---- slips ----


@pytest.mark.parametrize(
    "text, said",
    [
        ("<collada/>", "valid are URDF"),
        ("<sdf/>", "not SDF"),
        ('<sdf><model name="m"><joint name="j" type="screw"/></model></sdf>', "type 'screw'"),
    ],
)
def test_other_files_are_refused_by_name(tmp_path, capsys, text, said):
    (tmp_path / "a.xml").write_text(text)
    assert main(["parity", str(tmp_path / "a.xml"), "arm7"]) == 2
    assert said in capsys.readouterr().err


def test_a_bag_first_and_a_bag_that_is_none_are_refused(tmp_path, capsys):
    (tmp_path / "a.mcap").write_bytes(b"no bag")
    assert main(["parity", str(tmp_path / "a.mcap"), "arm7"]) == 2
    assert main(["parity", "arm7", str(tmp_path / "a.mcap")]) == 2
    assert main(["parity", "arm7", str(tmp_path / "b.mcap")]) == 2
    err = capsys.readouterr().err
    assert "the description first" in err and "no MCAP bag" in err and "cannot read" in err


def test_sdf_numbers_are_checked():
    with pytest.raises(SdfError, match="not 6 finite numbers"):
        load_sdf('<sdf><model name="m"><link name="a"><pose>1 2</pose></link></model></sdf>')
