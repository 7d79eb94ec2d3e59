# SPDX-License-Identifier: Apache-2.0
"""Where robots come from: text, paths, xacro files, and the robots of the package."""

import sys

import numpy as np
import pytest
from helpers.support import load_quietly, urdf_path
from helpers.urdf_text import arm

import opspace_ctrl
from opspace_ctrl import load_mjcf, load_robot, load_urdf
from opspace_ctrl.errors import SourceError, UnknownRobotError, UrdfSyntaxError

XACRO = """<?xml version="1.0"?>
<robot name="chain" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="joints" default="2"/>
  <xacro:arg name="mass" default="1.0"/>
  <xacro:macro name="segment" params="i">
    <link name="l${i}"><inertial><mass value="$(arg mass)"/>
      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
    <joint name="j${i}" type="continuous"><parent link="l${i - 1}"/><child link="l${i}"/>
      <origin xyz="0 0 ${1.0 / 4}" rpy="${pi / 2} 0 0"/></joint>
    <xacro:if value="${i &lt; int('$(arg joints)')}"><xacro:segment i="${i + 1}"/></xacro:if>
  </xacro:macro>
  <link name="l0"/>
  <xacro:segment i="1"/>
</robot>
"""


def test_text_path_and_string_of_a_path_give_the_same_model():
    path = urdf_path("panda")
    models = [
        load_quietly(source) for source in (path, str(path), path.read_text(), path.read_bytes())
    ]
    for model in models:
        assert model.body_names == models[0].body_names
        np.testing.assert_array_equal(model.inertia, models[0].inertia)
        assert model.source == path.read_text()


def test_text_may_begin_with_space_or_a_byte_order_mark():
    assert load_urdf("\ufeff\n  " + arm()).nv == 3


@pytest.mark.parametrize(
    "path", ["no_such_robot.urdf", ".", "\0", "x" * 5000, "no such robot, and no XML"]
)
def test_paths_that_cannot_be_read_are_refused_by_name(path):
    with pytest.raises(SourceError, match="no file|cannot read"):
        load_urdf(path)


def test_a_file_that_is_no_xml_is_refused(tmp_path):
    path = tmp_path / "notes.urdf"
    path.write_text("nothing to see")
    with pytest.raises(UrdfSyntaxError, match=r"notes\.urdf.*: not XML"):
        load_urdf(path)
    path.write_bytes(b"<robot name='\xff'/>")
    with pytest.raises(UrdfSyntaxError, match=r"notes\.urdf.*: not XML"):
        load_urdf([path], prefixes=["one_"])


@pytest.mark.parametrize(
    "arguments, nv, mass", [(None, 2, 2.0), ({"joints": 5, "mass": 0.5}, 5, 2.5)]
)
def test_xacro_files_are_expanded_with_their_arguments(tmp_path, arguments, nv, mass):
    path = tmp_path / "chain.urdf.xacro"
    path.write_text(XACRO)
    model = load_urdf(path, xacro_args=arguments)
    assert (model.nv, model.total_mass) == (nv, mass)
    np.testing.assert_allclose(model.placement_translation[0], [0.0, 0.0, 0.25])
    assert "xacro:" not in model.source


@pytest.mark.parametrize(
    "text",
    [
        XACRO.replace("${pi / 2}", "${1 / 0}"),
        XACRO.replace("</robot>", ""),
        XACRO.replace('params="i"', 'params="i missing"'),
        XACRO.replace('<link name="l0"/>', '<xacro:include filename="no_such_file.xacro"/>'),
    ],
)
def test_failures_of_xacro_are_named(tmp_path, text):
    path = tmp_path / "broken.xacro"
    path.write_text(text)
    with pytest.raises(
        (SourceError, UrdfSyntaxError), match="xacro failed on .*broken.xacro|not XML"
    ):
        load_urdf(path)


def test_without_xacro_the_extra_is_named(tmp_path, monkeypatch):
    path = tmp_path / "chain.xacro"
    path.write_text(XACRO)
    monkeypatch.setitem(sys.modules, "xacro", None)
    with pytest.raises(SourceError, match=r"opspace_ctrl\[xacro\]"):
        load_urdf(path)


def test_shipped_robots_load_with_their_own_defaults():
    arm7, asimo, free_flyer = (load_robot(name) for name in ("arm7", "asimo", "free_flyer"))
    assert (arm7.nv, asimo.nv) == (7, 40)
    assert [model.is_base_coordinate.sum() for model in (arm7, asimo, free_flyer)] == [0, 6, 6]
    np.testing.assert_array_equal(asimo.gravity, [0.0, 0.0, -9.81])
    np.testing.assert_array_equal(free_flyer.gravity, np.zeros(3))


def test_defaults_of_shipped_robots_can_be_overridden():
    model = load_robot("free_flyer", base="fixed", gravity=(0.0, 0.0, -1.62))
    assert not model.is_base_coordinate.any()
    assert model.gravity[2] == -1.62


@pytest.mark.parametrize("name", ["arm8", "", "../urdf/arm7", None, "arm7.urdf"])
def test_unknown_robots_are_refused_with_the_names_there_are(name):
    with pytest.raises(UnknownRobotError, match="arm7, asimo, free_flyer"):
        load_robot(name)


def test_public_names_exist():
    for name in opspace_ctrl.__all__:
        assert hasattr(opspace_ctrl, name)


@pytest.mark.parametrize(
    "load, source, words",
    [
        (load_urdf, "", "the robot is empty; valid is the path of a URDF or .xacro file, or XML"),
        (load_urdf, " \n", "the robot is empty"),
        (load_mjcf, "", "the robot is empty; valid is the path of an MJCF file, or XML text"),
        (load_mjcf, "missing.xml", "no file 'missing.xml'; a robot is the path of an MJCF file"),
        (load_urdf, "missing.urdf", "no file 'missing.urdf'; a robot is the path of a URDF or"),
        (load_urdf, None, "a robot is the path of a URDF or .xacro file, or XML text, not None"),
    ],
)
def test_a_source_that_is_none_is_refused_with_what_would_be_one(load, source, words):
    with pytest.raises(SourceError, match=words):
        load(source)
