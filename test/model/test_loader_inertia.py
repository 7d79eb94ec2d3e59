# SPDX-License-Identifier: Apache-2.0
"""Doubtful inertias and singular robots: warned of, refused, cured."""

import warnings

import numpy as np
import pytest
from helpers.urdf_text import arm, joint, limit, link, mimic, robot

from opspace_ctrl import load_urdf
from opspace_ctrl.errors import InertiaError, InertiaWarning, SingularInertiaError
from opspace_ctrl.model.singular import joint_space_inertia


def diagonal(x, y, z):
    return f'ixx="{x}" ixy="0" ixz="0" iyy="{y}" iyz="0" izz="{z}"'


DOUBTFUL = {
    "negative moment": (diagonal(-0.1, 1, 1), "not positive semi-definite"),
    "large product of inertia": (
        'ixx="1" ixy="2" ixz="0" iyy="1" iyz="0" izz="1"',
        "not positive semi-definite",
    ),
    "triangle inequality": (diagonal(1, 1, 2.01), "breaks the triangle inequality"),
}
SOUND = {
    "sphere": diagonal(1, 1, 1),
    "disc": diagonal(1, 1, 2),
    "rod": diagonal(0, 1, 1),
    "point": diagonal(0, 0, 0),
    "disc, rounded": diagonal(0.333333, 0.333333, 0.6666664),
    "rounding noise": 'ixx="0" ixy="1e-30" ixz="0" iyy="0" iyz="0" izz="0"',
}


@pytest.mark.parametrize("case", DOUBTFUL)
def test_doubtful_inertias_are_warned_of_by_link(case):
    inertia, message = DOUBTFUL[case]
    text = robot(link("good"), link("bad", inertia=inertia), joint("j", "good", "bad", "fixed"))
    with pytest.warns(InertiaWarning, match=f"link 'bad' .{message}") as caught:
        load_urdf(text)
    assert "good" not in str(caught[0].message)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("case", DOUBTFUL)
def test_doubtful_inertias_are_errors_if_strict(case):
    inertia, message = DOUBTFUL[case]
    with pytest.raises(InertiaError, match=f"link 'bad' .{message}"):
        load_urdf(robot(link("bad", inertia=inertia)), strict=True)


@pytest.mark.parametrize("case", SOUND)
def test_sound_inertias_pass_without_a_word_at_any_orientation(case):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_urdf(robot(link("a", inertia=SOUND[case], rpy="0.3 -1 2")), strict=True)


def test_a_link_without_inertial_is_massless_and_one_without_inertia_a_point():
    text = robot(
        link("w"),
        link("a", None),
        link("b", 2.0, inertia=None),
        joint("j", "w", "a"),
        joint("f", "a", "b", "fixed"),
    )
    model = load_urdf(text)
    np.testing.assert_allclose(model.mass, [2.0])
    np.testing.assert_allclose(model.com, [[0.1, 0.02, 0.33]])
    np.testing.assert_allclose(model.inertia[0], 0.0, atol=1e-17)


def test_an_inertial_frame_turns_the_inertia_into_link_axes():
    text = robot(
        link("w"),
        link("a", inertia=diagonal(1, 2, 3), rpy=f"0 0 {np.pi / 2}"),
        joint("j", "w", "a"),
    )
    np.testing.assert_allclose(load_urdf(text).inertia[0], np.diag([2.0, 1.0, 3.0]), atol=1e-15)


ON_AXIS = {"xyz": "0 0 0.1", "inertia": None}  # a point mass on the z axis
SINGULAR = {
    "massless tip": (
        robot(link("w"), link("a"), link("b", None), joint("j", "w", "a"), joint("k", "a", "b")),
        "k",
    ),
    "massless branch": (
        robot(
            *(link(n) for n in "wa"),
            *(link(n, None) for n in "bc"),
            joint("j", "w", "a"),
            joint("k", "a", "b"),
            joint("l", "b", "c"),
        ),
        "l",
    ),
    "massless slider": (
        robot(link("w"), link("a", None), joint("j", "w", "a", "prismatic", extra=limit())),
        "j",
    ),
    "zero mass written out": (
        robot(link("w"), link("a", 0.0, inertia=None), joint("j", "w", "a")),
        "j",
    ),
    "point mass on the axis": (robot(link("w"), link("a", **ON_AXIS), joint("j", "w", "a")), "j"),
    "point masses along a skew axis far away": (
        robot(
            link("w"),
            link("a", xyz="0.1 0.2 -0.3", inertia=None),
            joint("j", "w", "a", axis="1 2 -3", xyz="100 -200 300", rpy="1 2 3"),
        ),
        "j",
    ),
    "two coaxial joints without anything between": (
        robot(link("w"), link("a", None), link("b"), joint("j", "w", "a"), joint("k", "a", "b")),
        "j",
    ),
    "four joints about one point with three freedoms": (
        robot(
            link("w"),
            *(link(n, None) for n in "abc"),
            link("d"),
            *(
                joint(f"j{i}", p, c, axis=axis, xyz="0 0 0")
                for i, (p, c, axis) in enumerate(
                    [
                        ("w", "a", "1 0 0"),
                        ("a", "b", "0 1 0"),
                        ("b", "c", "0 0 1"),
                        ("c", "d", "1 0 0"),
                    ]
                )
            ),
        ),
        "j0",
    ),
    "planar joint with a point on its normal": (
        robot(link("w"), link("a", **ON_AXIS), joint("j", "w", "a", "planar")),
        "j",
    ),
    "follower and leader both massless": (
        robot(
            link("w"),
            link("a", None),
            link("b", None),
            joint("j", "w", "a"),
            joint("k", "w", "b", extra=mimic("j")),
        ),
        "j",
    ),
}


@pytest.mark.parametrize("case", SINGULAR)
def test_robots_with_a_singular_inertia_are_refused_naming_the_joint(case):
    text, name = SINGULAR[case]
    with pytest.raises(
        SingularInertiaError, match=f"joint '{name}' moves no inertia.*armature.*lock"
    ):
        load_urdf(text)


@pytest.mark.parametrize("case", SINGULAR)
def test_armature_cures_a_singular_inertia(case):
    model = load_urdf(SINGULAR[case][0], armature=0.01)
    H, _ = joint_space_inertia(model, model.neutral())
    assert np.linalg.eigvalsh(H)[0] > 1e-4


@pytest.mark.parametrize(
    "base, link_options", [("floating", {"mass": None}), ("floating", {"inertia": None})]
)
def test_a_free_body_without_inertia_is_refused(base, link_options):
    with pytest.raises(SingularInertiaError, match="'root_joint'"):
        load_urdf(robot(link("a", **link_options)), base)


def test_locking_cures_a_massless_tip():
    text, name = SINGULAR["massless tip"]
    assert load_urdf(text, locked={name: 0.3}).joint_names == ("j",)


REGULAR = {
    "massless links between three axes": robot(
        link("w"),
        link("a", None),
        link("b", None),
        link("c"),
        *(
            joint(f"j{i}", p, c, axis=axis, xyz="0 0 0")
            for i, (p, c, axis) in enumerate(
                [("w", "a", "1 0 0"), ("a", "b", "0 1 0"), ("b", "c", "0 0 1")]
            )
        ),
    ),
    "a massless follower with a heavy leader": robot(
        link("w"),
        link("a"),
        link("b", None),
        joint("j", "w", "a"),
        joint("k", "w", "b", extra=mimic("j")),
    ),
    "a point off the axis": robot(link("w"), link("a", inertia=None), joint("j", "w", "a")),
    "inertia without mass": robot(link("w"), link("a", 0.0), joint("j", "w", "a")),
    "a micrometre machine": robot(
        link("w"),
        link("a", 1e-9, xyz="1e-6 0 0", inertia=diagonal(1e-22, 1e-22, 1e-22)),
        joint("j", "w", "a"),
    ),
    "a speck on a ship": robot(
        link("w"),
        link("a", 1e8, inertia=diagonal(1e11, 1e11, 1e11)),
        link("b", 1e-6, xyz="1e-3 0 0", inertia=diagonal(1e-13, 1e-13, 1e-13)),
        joint("j", "w", "a"),
        joint("k", "a", "b", axis="0 1 0", xyz="50 0 0"),
    ),
}


@pytest.mark.parametrize("case", REGULAR)
@pytest.mark.filterwarnings("error")
def test_robots_that_move_some_inertia_load(case):
    assert load_urdf(REGULAR[case]).nv >= 1


def test_a_long_chain_is_not_mistaken_for_a_singular_one():
    assert load_urdf(arm(300)).depth == 300


def test_a_base_a_thousand_kilometres_away_does_not_matter():
    text = arm(4, j1={"xyz": "1000000 0 0"})
    assert load_urdf(text).nv == 4
