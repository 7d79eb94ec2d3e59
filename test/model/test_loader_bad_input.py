# SPDX-License-Identifier: Apache-2.0
"""Bad URDFs and bad arguments: a named error that says which element is wrong."""

import numpy as np
import pytest
from helpers.urdf_text import arm, joint, limit, link, mimic, robot

from opspace_ctrl import OpspaceError, errors, load_urdf
from opspace_ctrl.errors import (
    ConfigurationError,
    InertiaError,
    JointError,
    LimitError,
    MimicError,
    SourceError,
    TreeError,
    UnknownJointError,
    UrdfSyntaxError,
)

AB = link("a") + link("b")

BAD = {
    # not a URDF
    "not XML": ("<robot name='r'", UrdfSyntaxError, "not XML"),
    "text after the root": ("<robot name='r'/>x", UrdfSyntaxError, "not XML"),
    "another document": ("<sdf version='1.7'/>", UrdfSyntaxError, "<sdf>"),
    "no name": ("<robot><link name='a'/></robot>", UrdfSyntaxError, "no name"),
    "link without a name": (robot("<link/>"), UrdfSyntaxError, "<link> has no name"),
    "link with an empty name": (robot('<link name=" "/>'), UrdfSyntaxError, "<link> has no name"),
    "raw xacro": (robot('<xacro:macro name="m"/>'), UrdfSyntaxError, "xacro"),
    "undefined entity": (robot('<link name="&lol;"/>'), UrdfSyntaxError, "undefined entity"),
    "null character": (robot(link("a\0b")), UrdfSyntaxError, "not XML"),
    "lone surrogate": (robot(link("\ud800")), UrdfSyntaxError, "character"),
    # not a tree
    "no links": (robot(), TreeError, "no links"),
    "two roots": (
        robot(link("a"), link("b"), link("c"), joint("j", "a", "b")),
        TreeError,
        "2 root links.*a, c",
    ),
    "no root": (robot(AB, joint("j", "a", "b"), joint("k", "b", "a")), TreeError, "no root"),
    "a cycle beside the root": (
        robot(AB, link("c"), joint("j", "a", "b"), joint("k", "b", "a")),
        TreeError,
        "cycle through link",
    ),
    "a joint from a link to itself": (
        robot(AB, joint("j", "b", "b")),
        TreeError,
        "cycle through link 'b'",
    ),
    "two parents": (
        robot(AB, link("c"), joint("j", "a", "c"), joint("k", "b", "c")),
        TreeError,
        "'c' is the child of two",
    ),
    "missing child": (
        robot(AB, joint("j", "a", "c")),
        TreeError,
        "'j' connects the missing link 'c'.*a, b",
    ),
    "missing parent": (
        robot(AB, joint("j", "c", "b")),
        TreeError,
        "'j' connects the missing link 'c'",
    ),
    "duplicate link": (robot(AB, link("a")), TreeError, "link name 'a' is used twice"),
    "duplicate joint": (
        robot(AB, link("c"), joint("j", "a", "b"), joint("j", "b", "c")),
        TreeError,
        "joint name 'j' is used twice",
    ),
    # joints
    "unknown type": (
        robot(AB, joint("j", "a", "b", "hinge")),
        JointError,
        "'j'.*'hinge'.*revolute",
    ),
    "urdf_parser_py's type unknown": (
        robot(AB, joint("j", "a", "b", "unknown")),
        JointError,
        "'j'.*'unknown'",
    ),
    "no type": (
        robot(AB, joint("j", "a", "b").replace(' type="continuous"', "")),
        JointError,
        "'j' has the unknown type ''",
    ),
    "no parent": (
        robot(AB, joint("j", "a", "b").replace('<parent link="a"/>', "")),
        JointError,
        "'j'.*<parent>",
    ),
    "no child": (
        robot(AB, joint("j", "a", "b").replace('<child link="b"/>', "")),
        JointError,
        "'j'.*<child>",
    ),
    "parent without a link": (
        robot(AB, joint("j", "a", "b").replace('link="a"', "")),
        JointError,
        "'j'.*link",
    ),
    "zero axis": (robot(AB, joint("j", "a", "b", axis="0 0 0")), JointError, "'j' has a zero axis"),
    "short axis": (
        robot(AB, joint("j", "a", "b", axis="0 1")),
        JointError,
        "'j'.*2 numbers, not 3",
    ),
    "axis without xyz": (
        robot(AB, joint("j", "a", "b", axis=None, extra="<axis/>")),
        JointError,
        "'j'.*xyz",
    ),
    "nan axis": (robot(AB, joint("j", "a", "b", axis="0 nan 1")), JointError, "'j', <axis>.*'nan'"),
    "infinite origin": (
        robot(AB, joint("j", "a", "b", xyz="inf 0 0")),
        JointError,
        "'j', <origin>.*'inf'",
    ),
    "overflowing origin": (robot(AB, joint("j", "a", "b", xyz="1e999 0 0")), JointError, "'1e999'"),
    "number with an underscore": (
        robot(AB, joint("j", "a", "b", rpy="1_0 0 0")),
        JointError,
        "'1_0'",
    ),
    "number in other digits": (
        robot(AB, joint("j", "a", "b", rpy="\u0661 0 0")),
        JointError,
        "not a finite number",
    ),
    "a word for a number": (
        robot(AB, joint("j", "a", "b", rpy="a b c")),
        JointError,
        "'a' is not a finite number",
    ),
    "negative damping": (
        robot(AB, joint("j", "a", "b", extra='<dynamics damping="-1"/>')),
        JointError,
        "'j': damping -1.0",
    ),
    "nan friction": (
        robot(AB, joint("j", "a", "b", extra='<dynamics friction="NaN"/>')),
        JointError,
        "'j', <dynamics>",
    ),
    # limits
    "lower above upper": (
        robot(AB, joint("j", "a", "b", "revolute", extra=limit(1, -1))),
        LimitError,
        "'j': lower limit 1.0 is above",
    ),
    "limit without effort": (
        robot(AB, joint("j", "a", "b", "revolute", extra='<limit velocity="1"/>')),
        LimitError,
        "'j'.*effort",
    ),
    "negative effort": (
        robot(AB, joint("j", "a", "b", "revolute", extra=limit(effort=-1))),
        LimitError,
        "'j'.*effort -1.0",
    ),
    "nan limit": (
        robot(AB, joint("j", "a", "b", "revolute", extra=limit("nan"))),
        LimitError,
        "'j'.*lower.*'nan'",
    ),
    # inertias
    "negative mass": (robot(link("a", mass=-1.0)), InertiaError, "'a'.*negative mass -1.0"),
    "nan mass": (robot(link("a", mass="nan")), InertiaError, "'a', <inertial>, <mass>.*'nan'"),
    "inertial without mass": (
        robot('<link name="a"><inertial/></link>'),
        InertiaError,
        "'a'.*<mass>",
    ),
    "mass without a value": (
        robot('<link name="a"><inertial><mass/></inertial></link>'),
        InertiaError,
        "'a'.*value",
    ),
    "incomplete inertia": (robot(link("a", inertia='ixx="1"')), InertiaError, "'a'.*ixy"),
    "infinite inertia": (
        robot(link("a", inertia='ixx="inf" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"')),
        InertiaError,
        "'a'.*ixx",
    ),
    "nan centre of mass": (
        robot(link("a", xyz="0 0 NAN")),
        InertiaError,
        "'a', <inertial>, <origin>",
    ),
    "masses that overflow": (
        robot(link("a", 1e308), link("b", 1e308), joint("j", "a", "b", "fixed")),
        InertiaError,
        "total_mass",
    ),
    # what the model does not use must be finite, too
    "nan in the limit of a fixed joint": (
        robot(AB, joint("j", "a", "b", "fixed", extra='<limit lower="nan"/>')),
        UrdfSyntaxError,
        "'j', <limit> lower",
    ),
    "nan in a visual": (
        robot('<link name="a"><visual><geometry><sphere radius="nan"/></geometry></visual></link>'),
        UrdfSyntaxError,
        "'a', <sphere> radius",
    ),
    # mimics
    "mimic of a missing joint": (
        robot(AB, joint("j", "a", "b", extra=mimic("k"))),
        MimicError,
        "'j' mimics the missing joint 'k'.*j",
    ),
    "mimic of itself": (
        robot(AB, joint("j", "a", "b", extra=mimic("j"))),
        MimicError,
        "loop: j, j",
    ),
    "mimic loop": (
        arm(3, j1={"extra": mimic("j3")}, j2={"extra": mimic("j1")}, j3={"extra": mimic("j2")}),
        MimicError,
        "loop: j1, j3, j2, j1",
    ),
    "mimic of a planar joint": (
        arm(2, j1={"kind": "planar"}, j2={"extra": mimic("j1")}),
        MimicError,
        "'j1' has several coordinates",
    ),
    "planar mimic": (
        arm(2, j2={"kind": "planar", "extra": mimic("j1")}),
        MimicError,
        "'j2' has several coordinates",
    ),
    "mimic without a joint": (
        robot(AB, joint("j", "a", "b", extra="<mimic/>")),
        MimicError,
        "'j', <mimic>",
    ),
    "nan multiplier": (
        arm(2, j2={"extra": mimic("j1", "nan")}),
        MimicError,
        "'j2', <mimic>.*'nan'",
    ),
    "multipliers that overflow": (
        arm(3, j2={"extra": mimic("j1", 1e200)}, j3={"extra": mimic("j2", 1e200)}),
        MimicError,
        "'j3'.*overflow",
    ),
    "limits of a follower that exclude its leader's": (
        arm(
            2,
            j1={"kind": "revolute", "extra": limit(0, 1)},
            j2={"kind": "revolute", "extra": limit(2, 3) + mimic("j1")},
        ),
        LimitError,
        "'j2'.*leader 'j1'",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_urdf_is_refused_naming_the_element(case):
    text, error, message = BAD[case]
    with pytest.raises(error, match=message):
        load_urdf(text)


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"base": "flying"}, ConfigurationError, "'flying' is not one of fixed, floating"),
        ({"base": None}, ConfigurationError, "base"),
        ({"base": ["fixed", "fixed"]}, ConfigurationError, "base.*for 1 robots"),
        ({"gravity": (0, 0)}, ConfigurationError, "gravity"),
        ({"gravity": (0, 0, np.nan)}, ConfigurationError, "gravity"),
        ({"gravity": "down"}, ConfigurationError, "gravity"),
        ({"armature": -1.0}, InertiaError, "armature of joint 'j1' is -1.0"),
        ({"armature": {"j1": np.inf}}, InertiaError, "armature of joint 'j1'"),
        ({"armature": "much"}, InertiaError, "armature of joint 'j1' is 'much'"),
        (
            {"armature": {"j9": 1.0}},
            UnknownJointError,
            "armature: no moving joint 'j9'.*j1, j2, j3",
        ),
        ({"locked": {"j9": 1.0}}, UnknownJointError, "locked: no moving joint 'j9'.*j1, j2, j3"),
        ({"locked": {"j1": np.nan}}, ConfigurationError, "locked.*'j1'"),
        ({"locked": {"j1": [0.0, 1.0]}}, ConfigurationError, "locked.*'j1'"),
        ({"locked": {"j1": "up"}}, ConfigurationError, "locked.*'j1'"),
        ({"locked": {"j1": [[0.0], [1.0, 2.0]]}}, ConfigurationError, "locked.*'j1'"),
        ({"locked": {"j1": 10**400}}, ConfigurationError, "locked.*'j1'"),
        ({"armature": {"j1": 10**400}}, InertiaError, "armature of joint 'j1'"),
        ({"locked": ["j1"]}, ConfigurationError, "locked"),
        ({"prefixes": ["a", "b"]}, ConfigurationError, "prefixes.*for 1 robots"),
        ({"prefixes": 3}, ConfigurationError, "prefixes"),
    ],
)
def test_bad_arguments_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        load_urdf(arm(), **options)


@pytest.mark.parametrize("source", [None, 3, {}, object()])
def test_sources_that_are_neither_path_nor_text_are_refused(source):
    with pytest.raises(SourceError, match="path of a URDF.*or XML text"):
        load_urdf(source)


def test_an_empty_forest_is_refused():
    with pytest.raises(ConfigurationError, match="0 robots"):
        load_urdf([])


def test_too_many_coordinates_are_refused():
    with pytest.raises(TreeError, match="3001 coordinates; at most 3000"):
        load_urdf(arm(3001))


def test_messages_stay_short_when_the_input_is_not():
    with pytest.raises(JointError) as caught:
        load_urdf(robot(AB, joint("j" * 1000, "a", "b", axis="9" * 10**5)))
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("what", ["robot", "link", "joint"])
@pytest.mark.parametrize(
    "name",
    [
        "a&#10;ok limits",
        "a&#9;b",
        "a\u202eb",
        "a\u2028b",
        "a\x9b2J",
        "a\u200fb",
        "\u2066a",
        "x" * 10**7,
    ],
)
def test_a_name_that_could_write_on_a_terminal_is_refused(what, name):
    names = {"robot": "r", "link": "a", "joint": "j", what: name}
    text = robot(
        link(names["link"]),
        link("b"),
        joint(names["joint"], names["link"], "b"),
        name=names["robot"],
    )
    with pytest.raises(UrdfSyntaxError, match=f"<{what}> is named .* printable") as caught:
        load_urdf(text)
    assert str(caught.value).isprintable() and len(str(caught.value)) < 500


@pytest.mark.parametrize("name", ["grün", "机器人 1", "ذراع", "a/b:c-d.e", "x" * 1000])
def test_names_in_all_languages_are_names(name):
    text = robot(link(name), link("b"), joint(name, name, "b"), name=name)
    assert load_urdf(text).joint_names == (name,)


def test_every_error_is_an_opspace_error_with_one_line_of_documentation():
    children = [
        item
        for item in vars(errors).values()
        if isinstance(item, type) and issubclass(item, Exception)
    ]
    assert len(children) >= 15
    for child in children:
        assert issubclass(child, (OpspaceError, UserWarning))
        assert child.__doc__ and "\n" not in child.__doc__


def test_gravity_that_would_overflow_is_refused():
    with pytest.raises(ConfigurationError, match="gravity = .* is beyond"):
        load_urdf(robot(AB, joint("j", "a", "b")), gravity=(0.0, 0.0, 1e308))
