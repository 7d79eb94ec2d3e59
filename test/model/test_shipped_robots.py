# SPDX-License-Identifier: Apache-2.0
"""The robots in urdf/ as they are written: connectivity, inertias, limits, frames, MuJoCo's view of them."""

from __future__ import annotations

import warnings

import mujoco
import numpy as np
import pytest
from helpers.shipped_robots import (
    CORNERS,
    ROBOTS,
    SIDES,
    configuration,
    home,
    link_of,
    mass_matrix,
    origin,
    ours,
    pinocchio_of,
    placement,
    vector,
    xml_of,
)

from opspace_ctrl import load_robot

# [Featherstone2010] fig. 11, 0-based with -1 for the world: torso, head, left arm and fingers, right arm
# and fingers, waist, left leg, right leg.
ASIMO_PARENT = [
    -1, 0, 1, 2,
    0, 4, 5, 6, 7, 8, 9, 10, 10,
    0, 13, 14, 15, 16, 17, 18, 19, 19,
    0, 22, 23, 24, 25, 26, 27, 22, 29, 30, 31, 32, 33,
]  # fmt: skip


def test_asimo_has_the_connectivity_of_the_paper():
    model = ours("asimo")
    assert model.parent.tolist() == ASIMO_PARENT
    assert (model.nv, len(model.parent), model.depth) == (40, 35, 14)


def test_asimo_has_as_many_nonzeros_in_l_h_and_j_as_the_paper():
    model = ours("asimo")
    depth = np.zeros(model.nv, dtype=int)
    for i, parent in enumerate(model.parent_expanded):
        depth[i] = 1 + (depth[parent] if parent >= 0 else 0)
    frames = [model.frame_index(f"{side}_{part}") for part in ("hand", "foot") for side in SIDES]
    nonzeros_l = depth.sum()
    nonzeros_j = 6 * depth[model.v_index[model.frame_body[frames]]].sum()
    assert (nonzeros_l, 2 * nonzeros_l - model.nv, nonzeros_j) == (374, 708, 312)


def test_asimo_carries_its_task_frames_on_the_bodies_of_the_paper():
    model = ours("asimo")
    frames = ("left_hand", "right_hand", "left_foot", "right_foot", "head")
    assert [model.frame_body[model.frame_index(frame)] for frame in frames] == [10, 19, 28, 34, 3]


@pytest.mark.parametrize("name", ROBOTS)
def test_document_order_is_also_the_order_of_pinocchio(name):
    names = tuple(pinocchio_of(name)[0].names)
    assert names[1 if name == "arm7" else 2 :] == ours(name).joint_names


def test_free_flyer_floats_without_gravity_asimo_floats_and_the_arm_is_fixed():
    sizes = {name: (ours(name).nq, ours(name).nv) for name in ROBOTS}
    assert sizes == {"arm7": (7, 7), "asimo": (41, 40), "free_flyer": (21, 20)}
    weights = {name: ours(name).gravity.tolist() for name in ROBOTS}
    assert weights == {"arm7": [0, 0, -9.81], "asimo": [0, 0, -9.81], "free_flyer": [0, 0, 0]}


@pytest.mark.parametrize("name", ROBOTS)
def test_strict_loading_finds_nothing_doubtful(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load_robot(name, strict=True).body_names == ours(name).body_names


@pytest.mark.parametrize("name", ROBOTS)
def test_total_mass_is_realistic(name):
    least, most = {"arm7": (17, 19), "asimo": (52, 56), "free_flyer": (300, 400)}[name]
    assert least <= ours(name).total_mass <= most


def inertial(link):
    """(mass, centre, inertia about it) of a link, link axes."""
    tag = link.find("inertial")
    entry = {key: float(value) for key, value in tag.find("inertia").attrib.items()}
    inertia = np.array([[entry["i" + "".join(sorted(a + b))] for b in "xyz"] for a in "xyz"])
    return float(tag.find("mass").get("value")), origin(tag)[0], inertia


def volume_and_unit_inertia(shape):
    """Volume [m^3] and inertia per kg about the middle of a box, cylinder or sphere."""
    if shape.tag == "box":
        squares = vector(shape, "size") ** 2
        return np.sqrt(squares.prod()), np.diag(squares.sum() - squares) / 12
    radius = float(shape.get("radius"))
    if shape.tag == "sphere":
        return 4 / 3 * np.pi * radius**3, 0.4 * radius**2 * np.eye(3)
    length = float(shape.get("length"))
    across = radius**2 / 4 + length**2 / 12
    return np.pi * radius**2 * length, np.diag([across, across, radius**2 / 2])


def filled_evenly(link, mass):
    """(centre, inertia about it) of the link's visual shapes filled with its mass at even density."""
    visuals = link.findall("visual")
    parts = [
        (*origin(visual), *volume_and_unit_inertia(visual.find("geometry")[0]))
        for visual in visuals
    ]
    total = sum(volume for _, _, volume, _ in parts)
    centre = sum(volume * at for at, _, volume, _ in parts) / total
    inertia = np.zeros((3, 3))
    for at, rotation, volume, unit in parts:
        d = at - centre
        inertia += (
            mass
            * volume
            / total
            * (rotation @ unit @ rotation.T + d @ d * np.eye(3) - np.outer(d, d))
        )
    return centre, inertia


@pytest.mark.parametrize("name", ROBOTS)
def test_inertias_are_possible_and_those_of_the_shapes_evenly_filled(name):
    heavy = [link for link in xml_of(name).findall("link") if link.find("inertial") is not None]
    assert len(heavy) == len(ours(name).parent) + (name == "arm7")  # the arm's base does not move
    for link in heavy:
        mass, centre, inertia = inertial(link)
        principal = np.linalg.eigvalsh(inertia)
        assert mass > 0 and principal[0] > 0, link.get("name")
        assert principal[0] + principal[1] > principal[2], link.get("name")
        expected_centre, expected = filled_evenly(link, mass)
        np.testing.assert_allclose(centre, expected_centre, atol=1e-6, err_msg=link.get("name"))
        np.testing.assert_allclose(
            inertia, expected, atol=1e-5 * principal[2], err_msg=link.get("name")
        )


def shapes(link, kind):
    """Pose and geometry of each visual or collision element."""
    tags = [(tag, tag.find("geometry")[0]) for tag in link.findall(kind)]
    return [
        (*(part.tolist() for part in origin(tag)), shape.tag, shape.attrib) for tag, shape in tags
    ]


@pytest.mark.parametrize("name", ROBOTS)
def test_collision_shapes_are_the_visual_ones(name):
    for link in xml_of(name).findall("link"):
        assert shapes(link, "collision") == shapes(link, "visual"), link.get("name")


@pytest.mark.parametrize("name", ROBOTS)
def test_limits_are_finite_and_hold_zero_and_home(name):
    model = ours(name)
    joints = len(model.joint_names)
    lower, upper = model.position_limits.T
    reference = home(name)[-joints:]
    assert np.isfinite(model.position_limits).all()
    assert (lower < 0).all() and (upper > 0).all()
    assert (lower < reference - 0.04).all() and (reference + 0.04 < upper).all()
    passive = (model.damping[-joints:], model.friction[-joints:])
    for positive in (model.velocity_limits, model.effort_limits, *passive):
        assert positive.shape == (joints,) and np.isfinite(positive).all() and (positive > 0).all()


@pytest.mark.parametrize("side", SIDES)
def test_sole_and_corner_frames_lie_in_the_sole_of_the_foot_shape(side):
    sole = link_of("asimo", f"{side}_foot_link").find("collision")
    half, (middle, _) = vector(sole.find("geometry/box"), "size") / 2, origin(sole)
    q = configuration("asimo", {})
    ankle = placement("asimo", q, f"{side}_foot_link")
    for corner in CORNERS:
        x, y = corner.split("_")
        outward = [1 if x == "front" else -1, 1 if y == "left" else -1, -1]
        actual = placement("asimo", q, f"{side}_foot_{corner}").translation - ankle.translation
        np.testing.assert_allclose(actual, middle + half * outward, atol=1e-12)
    below = placement("asimo", q, f"{side}_foot")
    np.testing.assert_allclose(
        below.translation - ankle.translation, [0, 0, middle[2] - half[2]], atol=1e-12
    )
    np.testing.assert_allclose(below.rotation, np.eye(3), atol=1e-12)


def mujoco_of(name):
    """The same URDF in MuJoCo, every link kept as a body, on a free joint unless it is the arm."""
    keep = '<mujoco><compiler fusestatic="false"/></mujoco></robot>'
    spec = mujoco.MjSpec.from_string(ours(name).source.replace("</robot>", keep))
    if name != "arm7":
        spec.worldbody.first_body().add_freejoint()
    return spec.compile()


@pytest.mark.parametrize("name", ROBOTS)
def test_mujoco_agrees_on_mass_and_inertia_and_sees_no_self_collision(name):
    model = mujoco_of(name)
    data = mujoco.MjData(model)
    assert model.body_mass.sum() == pytest.approx(ours(name).total_mass)
    for q in (configuration(name, {}), home(name)):
        # MuJoCo's quaternion is scalar first; ours is the identity, so base and world axes are the same.
        data.qpos[:] = q if name == "arm7" else [*q[:3], 1, 0, 0, 0, *q[7:]]
        mujoco.mj_forward(model, data)
        assert data.ncon == 0
        inertia = np.zeros((model.nv, model.nv))
        for row, unit in zip(inertia, np.eye(model.nv), strict=True):
            mujoco.mj_mulM(model, data, row, unit)
        np.testing.assert_allclose(inertia, mass_matrix(name, q), rtol=1e-6, atol=1e-8)
