# SPDX-License-Identifier: Apache-2.0
"""Misspelt parts of a URDF are warned of by name and place; what other programs put there is not."""

import warnings

import pytest
from helpers.support import urdf_path, urdf_paths
from helpers.urdf_text import arm, joint, limit, link, robot

from opspace_ctrl import load_urdf
from opspace_ctrl.errors import JointError, OpspaceError, TreeError, UrdfWarning
from opspace_ctrl.model.source import ROBOTS, robot_text
from opspace_ctrl.model.spelling import unknown_parts
from opspace_ctrl.model.xml_safety import parse_xml

ARM = arm(2, j2={"kind": "revolute", "extra": limit() + '<dynamics damping="1" friction="2"/>'})
FOREIGN = """<gazebo reference="l1"/><transmission/><ros2_control/><sensor/><material name="m"/><mujoco/><drake:x/>"""


@pytest.mark.parametrize(
    "right, wrong, words",
    [
        ("<axis", "<axes", "<axes> in joint 'j1' (did you mean <axis>?)"),
        ("<limit", "<limt", "<limt> in joint 'j2' (did you mean <limit>?)"),
        ("<dynamics", "<dinamics", "<dinamics> in joint 'j2' (did you mean <dynamics>?)"),
        ("<inertia ", "<inerta ", "<inerta> in <inertial> of link 'l0' (did you mean <inertia>?)"),
        (
            'damping="1"',
            'dampin="1"',
            "dampin= in <dynamics> of joint 'j2' (did you mean damping=?)",
        ),
        (
            '<link name="l0">',
            '<link name="l0"><colision/>',
            "<colision> in link 'l0' (did you mean <collision>?)",
        ),
        (
            '<link name="l0">',
            '<links/><link name="l0">',
            "<links> in the robot (did you mean <link>?)",
        ),
        ('<link name="l0">', '<zebra/><link name="l0">', "<zebra> in the robot"),
    ],
)
def test_a_misspelt_part_is_named_with_its_place_and_the_nearest_name(right, wrong, words):
    text = ARM.replace(right, wrong, 1).replace(f"</{right[1:]}", f"</{wrong[1:]}", 1)
    if right == "<limit":
        text = text.replace('"revolute"', '"continuous"')
    with pytest.warns(UrdfWarning) as caught:
        load_urdf(text)
    assert [str(warning.message) for warning in caught] == [
        f"robot 'robot', unknown and ignored: {words}"
    ]
    assert caught[0].filename == __file__


def test_misspelt_origins_and_inertials_are_named_in_one_warning():
    text = ARM.replace("<origin", "<orgin").replace("inertial>", "inertail>")
    with pytest.warns(UrdfWarning) as caught, pytest.raises(OpspaceError, match="inertia"):
        load_urdf(text)  # nothing has mass any more
    (message,) = [str(warning.message) for warning in caught]
    assert "<inertail> in link 'l0' (did you mean <inertial>?); <inertail> in link 'l1'" in message
    assert "<orgin> in joint 'j1' (did you mean <origin>?)" in message


def test_what_fails_for_a_misspelling_is_explained_by_it():
    with (
        pytest.warns(UrdfWarning, match="<jiont> in the robot .did you mean <joint>"),
        pytest.raises(TreeError),
    ):
        load_urdf(robot(link("a"), link("b"), joint("j", "a", "b").replace("joint", "jiont")))
    with pytest.raises(
        JointError, match="'j' has no <parent>; it has <parnet>, <child>, <origin>, <axis>"
    ):
        load_urdf(robot(link("a"), link("b"), joint("j", "a", "b").replace("<parent", "<parnet")))


def test_a_thousand_unknown_elements_make_one_warning_of_bounded_length():
    with pytest.warns(UrdfWarning) as caught:
        load_urdf(robot(link("a"), "<nonsense/>" * 1000, f"<{'x' * 10_000}/>"))
    assert (
        len(caught) == 1
        and str(caught[0].message).endswith("; and more")
        and len(str(caught[0].message)) < 1000
    )


@pytest.mark.parametrize(
    "text",
    [
        ARM.replace("<link", FOREIGN + "<link", 1),
        ARM.replace(
            '<link name="l0">',
            '<link name="l0"><visual/><collision/><contact/><self_collision_checking/>',
        ),
        ARM.replace("<axis", '<safety_controller k_velocity="1"/><calibration/><axis'),
        ARM.replace("<limit", '<limit command_effort="3"').replace(
            "<dynamics", '<dynamics D="1" mu_coulomb="0"'
        ),
    ],
)
def test_what_other_programs_put_into_a_urdf_is_no_misspelling(text):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_urdf(text)


@pytest.mark.parametrize("name", [*urdf_paths(), *ROBOTS])
def test_no_real_robot_is_taken_for_misspelt(name):
    text = robot_text(name) if name in ROBOTS else urdf_path(name).read_text()
    assert unknown_parts(parse_xml(text)) == ()
