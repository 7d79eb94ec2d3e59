# SPDX-License-Identifier: Apache-2.0
"""The robots in urdf/ as they move: mirror symmetry, home poses, strength to stand, squat and carry."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from helpers.shipped_robots import (
    CORNERS,
    HOME,
    SIDES,
    both_sides,
    configuration,
    gravity_torque,
    home,
    jacobian,
    link_of,
    mass_matrix,
    on_the_ground,
    ours,
    pinocchio_of,
    placement,
    vector,
    xml_of,
)

MIRROR = np.array([1, -1, 1])  # reflection through the plane y = 0


def twin(name):
    """The name with its first left or right exchanged for the other, or itself."""
    side, _, rest = name.partition("_")
    return {"left": f"right_{rest}", "right": f"left_{rest}"}.get(side, name)


def mirror_map(name):
    """(order, sign) such that the mirror image of joint positions q is sign * q[order]."""
    names = ours(name).joint_names
    axis = {
        tag.get("name"): vector(tag.find("axis"), "xyz")
        for tag in xml_of(name).iterfind("joint[axis]")
    }
    # A rotation vector is a pseudovector: its mirror image is -MIRROR * axis.
    sign = [-axis[joint] @ (MIRROR * axis[twin(joint)]) for joint in names]
    return np.array([names.index(twin(joint)) for joint in names]), np.array(sign)


@pytest.mark.parametrize("name", ["asimo", "free_flyer"])
def test_limits_are_the_same_in_the_mirror(name):
    model = ours(name)
    order, sign = mirror_map(name)
    assert (abs(sign) == 1).all()
    lower, upper = model.position_limits.T
    np.testing.assert_array_equal(np.where(sign > 0, lower[order], -upper[order]), lower)
    for limits in (model.velocity_limits, model.effort_limits):
        np.testing.assert_array_equal(limits[order], limits)


@pytest.mark.parametrize("name", ["asimo", "free_flyer"])
def test_mass_matrix_and_frames_of_a_mirrored_pose_are_the_mirror_image(name):
    order, sign = mirror_map(name)
    q = configuration(name, {})
    q[7:] = np.random.default_rng(1).uniform(*ours(name).position_limits.T)
    mirrored = np.concatenate([q[:7], sign * q[7:][order]])

    order_v = np.concatenate([np.arange(6), 6 + order])
    sign_v = np.concatenate([MIRROR, -MIRROR, sign])
    expected = np.outer(sign_v, sign_v) * mass_matrix(name, q)[np.ix_(order_v, order_v)]
    np.testing.assert_allclose(mass_matrix(name, mirrored), expected, atol=1e-12)

    for frame in ("left_hand", "left_foot", "head") if name == "asimo" else ("left_tool",):
        image, original = placement(name, mirrored, twin(frame)), placement(name, q, frame)
        np.testing.assert_allclose(image.translation, MIRROR * original.translation, atol=1e-12)
        rotation = np.outer(MIRROR, MIRROR) * original.rotation
        np.testing.assert_allclose(image.rotation, rotation, atol=1e-12)


@pytest.mark.parametrize("bend", [0.0, 0.35, 0.7, 1.05])
def test_asimo_stands_and_squats_in_balance_with_half_its_strength(bend):
    legs = both_sides({"hip_pitch": -bend, "knee_pitch": 2 * bend, "ankle_pitch": -bend})
    q = on_the_ground(configuration("asimo", HOME["asimo"] | legs))
    frames = [f"{side}_foot_{corner}" for side in SIDES for corner in CORNERS]
    corners = np.array([placement("asimo", q, frame).translation for frame in frames])
    np.testing.assert_allclose(corners[:, 2], 0, atol=1e-12)

    # The feet are parallel and side by side, so the support polygon is a rectangle.
    com = pin.centerOfMass(*pinocchio_of("asimo"), q)[:2]
    assert (corners[:, :2].min(0) + 0.05 < com).all() and (com < corners[:, :2].max(0) - 0.05).all()

    contact = np.vstack([jacobian("asimo", q, frame)[:3] for frame in frames])
    load = gravity_torque("asimo", q)
    force = np.linalg.lstsq(contact[:, :6].T, load[:6], rcond=None)[0]
    torque = load - contact.T @ force
    np.testing.assert_allclose(torque[:6], 0, atol=1e-9)
    x, y, z = force.reshape(-1, 3).T
    assert (np.hypot(x, y) < 0.5 * z).all()
    assert (abs(torque[6:]) < 0.5 * ours("asimo").effort_limits).all()


def test_asimo_stands_as_tall_as_asimo():
    radius = float(link_of("asimo", "head_roll_link").find("visual/geometry/sphere").get("radius"))
    assert 1.28 < placement("asimo", home("asimo"), "head").translation[2] + radius < 1.32


def test_arm7_holds_three_kilograms_in_any_pose():
    poses = np.random.default_rng(2).uniform(*ours("arm7").position_limits.T, (300, 7))
    stretched = configuration("arm7", {"joint2": np.pi / 2})
    for q in (stretched, *poses):
        weight = jacobian("arm7", q, "tool")[2] * 3 * 9.81
        assert (abs(gravity_torque("arm7", q) + weight) < 0.8 * ours("arm7").effort_limits).all()


def test_arm7_reaches_as_far_as_its_links_add_up_to():
    q = configuration("arm7", {"joint2": np.pi / 2})
    reach = placement("arm7", q, "tool").translation - placement("arm7", q, "link2").translation
    np.testing.assert_allclose(reach, [0.92, 0, 0], atol=1e-12)


@pytest.mark.parametrize(
    "task", ["arm7/tool", "asimo/left_hand", "asimo/right_hand", "free_flyer/left_tool"]
)
def test_home_is_away_from_singularities(task):
    name, frame = task.split("/")
    joints = len(ours(name).joint_names)
    assert (
        np.linalg.svd(jacobian(name, home(name), frame)[:, -joints:], compute_uv=False)[-1] > 0.08
    )


def test_tools_point_down_at_home_on_the_arm_and_forward_on_the_free_flyer():
    np.testing.assert_allclose(
        placement("arm7", home("arm7"), "tool").rotation[:, 2], [0, 0, -1], atol=1e-12
    )
    for side in SIDES:
        approach = placement("free_flyer", home("free_flyer"), f"{side}_tool").rotation[:, 2]
        np.testing.assert_allclose(approach, [1, 0, 0], atol=1e-12)


@pytest.mark.parametrize("side", SIDES)
def test_hand_frame_is_parallel_to_the_torso_when_the_forearm_is_level(side):
    q = configuration("asimo", {f"{side}_elbow_pitch": -np.pi / 2})
    np.testing.assert_allclose(
        placement("asimo", q, f"{side}_hand").rotation, np.eye(3), atol=1e-12
    )
