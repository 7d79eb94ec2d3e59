# SPDX-License-Identifier: Apache-2.0
"""Mimic joints, locked joints, armature: coordinates shared, frozen, and weighed."""

import numpy as np
import pinocchio as pin
import pytest
from helpers.support import PinTwin, load_pair, pin_model
from helpers.urdf_text import arm, joint, limit, link, mimic, robot

from opspace_ctrl import load_urdf
from opspace_ctrl.errors import MimicError
from opspace_ctrl.model.connectivity import elimination_tree, support
from opspace_ctrl.model.placements import body_placements
from opspace_ctrl.model.singular import joint_space_inertia

# The leader "b2" is deep in the second branch; its followers are in the first, one before it in body order.
BRANCHES = robot(
    *(link(name) for name in ("base", "a1", "a2", "a3", "b1", "b2", "b3")),
    joint("a1", "base", "a1", axis="0 1 0"),
    joint("a2", "a1", "a2", axis="1 0 0", extra=mimic("b2", -2.0, 0.5)),
    joint("a3", "a2", "a3", axis="0 0 1"),
    joint("b1", "base", "b1", axis="1 1 0", xyz="0.2 0 0"),
    joint("b2", "b1", "b2", axis="0 1 0"),
    joint("b3", "b2", "b3", "prismatic", axis="0 1 1", extra=limit() + mimic("a2", 0.25, 1.0)),
)


def dense_inertia(model, twin, q):
    pin.crba(twin.model, twin.data, twin.q(q))
    free = np.triu(twin.data.M) + np.triu(twin.data.M, 1).T
    return twin.G.T @ free @ twin.G


def test_followers_share_their_ultimate_leaders_coordinate():
    model = load_urdf(BRANCHES)
    assert model.joint_names == ("a1", "a3", "b1", "b2")
    assert model.nq == model.nv == 4
    np.testing.assert_array_equal(model.v_index, [0, 3, 1, 2, 3, 3])
    np.testing.assert_array_equal(model.is_mimic, [False, True, False, False, False, True])
    # b3 = 0.25 (-2 b2 + 0.5) + 1
    np.testing.assert_allclose(model.multiplier, [1, -2, 1, 1, 1, -0.5])
    np.testing.assert_allclose(model.offset, [0, 0.5, 0, 0, 0, 1.125])


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_inertia_of_followers_on_another_branch_agrees_through_G(base):
    model = load_urdf(BRANCHES, base)
    twin = PinTwin(model, pin_model(BRANCHES, base))
    q = model.random_configuration(np.random.default_rng(0))
    np.testing.assert_allclose(
        joint_space_inertia(model, q)[0], dense_inertia(model, twin, q), atol=1e-12
    )


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_parent_expanded_is_the_elimination_tree_of_the_merged_pattern(base):
    model = load_urdf(BRANCHES, base)
    twin = PinTwin(model, pin_model(BRANCHES, base))
    H = dense_inertia(model, twin, model.random_configuration(np.random.default_rng(1)))
    np.testing.assert_array_equal(model.parent_expanded, elimination_tree(np.abs(H) > 1e-12))
    if base == "fixed":
        # The branches a (0, 1) and b (2, 3) meet: eliminating b2 (3) couples b1 (2) to a3 (1) and a1 (0).
        np.testing.assert_array_equal(model.parent_expanded, [-1, 0, 1, 2])
        assert model.depth == 4


def test_without_mimics_the_same_branches_stay_apart():
    model = load_urdf(
        robot(link("w"), link("a"), link("b"), joint("a", "w", "a"), joint("b", "w", "b"))
    )
    np.testing.assert_array_equal(model.parent_expanded, [-1, -1])
    assert model.depth == 1


def test_passive_forces_of_followers_are_reflected():
    dynamics = '<dynamics damping="0.5" friction="0.2"/>'
    text = arm(2, j1={"extra": dynamics}, j2={"extra": dynamics + mimic("j1", -3.0)})
    model = load_urdf(text, armature={"j1": 0.1, "j2": 0.01})
    np.testing.assert_allclose(model.damping, [0.5 + 9 * 0.5])
    np.testing.assert_allclose(model.friction, [0.2 + 3 * 0.2])
    np.testing.assert_allclose(model.armature, [0.1 + 9 * 0.01])


def test_followers_tighten_their_leaders_limits():
    text = arm(
        3,
        j1={"kind": "revolute", "extra": limit(-1, 1, effort=7, velocity=3)},
        j2={
            "kind": "revolute",
            "extra": limit(-1, 1, effort=99, velocity=99) + mimic("j1", -4.0, 0.2),
        },
        j3={"extra": mimic("j2")},
    )
    model = load_urdf(text)
    np.testing.assert_allclose(model.position_limits, [[-0.2, 0.3]])
    assert (model.velocity_limits, model.effort_limits) == (3.0, 7.0)


def test_one_armature_is_for_every_joint_but_floating_ones():
    text = arm(3, j1={"kind": "floating"}, j3={"extra": mimic("j2", 2.0)})
    model = load_urdf(text, "floating", armature=0.1)
    np.testing.assert_allclose(model.armature, [*np.zeros(12), 0.1 + 4 * 0.1])


def test_armature_enters_the_inertia_matrix():
    model, twin = load_pair("panda", armature=0.3)
    q = model.random_configuration(np.random.default_rng(2))
    np.testing.assert_allclose(
        joint_space_inertia(model, q)[0], dense_inertia(model, twin, q), atol=1e-12
    )


def test_mimic_tags_on_fixed_joints_are_ignored():
    text = arm(2, j2={"kind": "fixed", "extra": mimic("no_such_joint")})
    assert load_urdf(text).nv == 1


def test_followers_of_a_fixed_joint_stand_still_at_their_offset():
    model = load_urdf(arm(3, j1={"kind": "fixed"}, j2={"extra": mimic("j1", 2.0, 0.7)}))
    reference = load_urdf(arm(3, j1={"kind": "fixed"}), locked={"j2": 0.7})
    assert model.joint_names == ("j3",)
    np.testing.assert_allclose(model.placement_rotation, reference.placement_rotation, atol=1e-15)


def test_followers_with_the_multiplier_zero_stand_still_at_their_offset():
    model = load_urdf(arm(3, j2={"extra": mimic("j1", 0.0, 0.7)}))
    assert model.joint_names == ("j1", "j3")
    np.testing.assert_allclose(model.mass, [2.0, 1.0])


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_locked_joints_are_lumped_as_pinocchio_reduces_them(base):
    locked = {"j2": 0.4, "j4": -0.9}
    text = arm(5, j4={"kind": "prismatic", "extra": limit()})
    model = load_urdf(text, base, locked=locked)
    full = pin_model(text, base)
    reference = pin.neutral(full)
    for name, position in locked.items():
        joint_model = full.joints[full.getJointId(name)]
        reference[joint_model.idx_q : joint_model.idx_q + joint_model.nq] = (
            position if joint_model.nq == 1 else [np.cos(position), np.sin(position)]
        )
    twin = PinTwin(
        model, pin.buildReducedModel(full, [full.getJointId(name) for name in locked], reference)
    )
    q = model.random_configuration(np.random.default_rng(3))
    assert model.joint_names == ("j1", "j3", "j5")
    assert model.total_mass == 6.0
    np.testing.assert_allclose(
        joint_space_inertia(model, q)[0], dense_inertia(model, twin, q), atol=1e-12
    )
    pin.framesForwardKinematics(twin.model, twin.data, twin.q(q))
    R, p = body_placements(model, q)
    for f, name in enumerate(model.frame_names):
        if (body := model.frame_body[f]) >= 0:
            pose = twin.data.oMf[twin.model.getFrameId(name, pin.FrameType.BODY)]
            np.testing.assert_allclose(
                p[body] + R[body] @ model.frame_translation[f], pose.translation, atol=1e-13
            )
            np.testing.assert_allclose(R[body] @ model.frame_rotation[f], pose.rotation, atol=1e-13)


def test_a_locked_leader_freezes_its_followers_where_they_follow_it():
    model = load_urdf(BRANCHES, locked={"b2": 0.3})
    plain = load_urdf(BRANCHES)
    assert model.joint_names == ("a1", "a3", "b1")
    q = np.array([0.1, 0.2, 0.4])
    R, p = body_placements(model, q)
    R_plain, p_plain = body_placements(plain, np.append(q, 0.3))
    for name in model.body_names:
        i, j = model.body_names.index(name), plain.body_names.index(name)
        np.testing.assert_allclose(R[i], R_plain[j], atol=1e-14)
        np.testing.assert_allclose(p[i], p_plain[j], atol=1e-14)


@pytest.mark.parametrize(
    "kind, position", [("planar", [0.1, 0.2, 0.3]), ("floating", [1, 2, 3, 0, 0, 0, 2])]
)
def test_joints_of_several_coordinates_can_be_locked(kind, position):
    model = load_urdf(arm(2, j1={"kind": kind, "axis": "0 0 1"}), locked={"j1": position})
    free = load_urdf(arm(2, j1={"kind": kind, "axis": "0 0 1"}))
    R, p = body_placements(model, np.array([0.5]))
    R_free, p_free = body_placements(free, free.check_configuration([*position, 0.5]))
    np.testing.assert_allclose(p[0], p_free[1], atol=1e-15)
    np.testing.assert_allclose(R[0], R_free[1], atol=1e-15)


def test_locking_everything_leaves_a_model_without_coordinates():
    model = load_urdf(arm(2), locked={"j1": 0.0, "j2": 0.0})
    assert (model.nq, model.nv, model.depth, model.total_mass) == (0, 0, 0, 3.0)
    assert model.position_limits.shape == (0, 2)
    np.testing.assert_array_equal(model.frame_body, [-1, -1, -1])
    assert model.integrate([], [], 0.1).shape == (0,)


def test_locking_a_follower_locks_its_leader_where_they_agree():
    plain = load_urdf(BRANCHES)
    a2 = plain.body_joint_names.index("a2")
    leader = 0.3
    follower = plain.multiplier[a2] * leader + plain.offset[a2]
    by_leader = load_urdf(BRANCHES, locked={"b2": leader})
    for locked in ({"a2": follower}, {"a2": follower, "b2": leader}):
        by_follower = load_urdf(BRANCHES, locked=locked)
        assert by_follower.joint_names == by_leader.joint_names
        np.testing.assert_allclose(
            by_follower.frame_translation, by_leader.frame_translation, atol=1e-12
        )
        np.testing.assert_allclose(by_follower.com, by_leader.com, atol=1e-12)


def test_a_leader_and_a_follower_locked_at_positions_that_exclude_each_other_are_refused():
    with pytest.raises(
        MimicError, match="'b2' and its followers are locked at positions that exclude each other"
    ):
        load_urdf(BRANCHES, locked={"a2": 0.5, "b2": 0.5})


def test_support_of_a_follower_includes_the_leaders_coordinate():
    model = load_urdf(BRANCHES)
    for body in range(len(model.parent)):
        moved_by = {int(model.v_index[i]) for i in model.support(body)}
        assert moved_by <= set(support(model.parent_expanded, max(moved_by)))
