# SPDX-License-Identifier: Apache-2.0
"""Several robots in one model."""

import numpy as np
import pytest
from helpers.support import load_quietly, urdf_path
from helpers.urdf_text import arm, mimic

from opspace_ctrl import load_urdf
from opspace_ctrl.errors import TreeError
from opspace_ctrl.model.placements import body_placements
from opspace_ctrl.model.singular import joint_space_inertia


@pytest.fixture(scope="module")
def parts():
    return load_quietly(urdf_path("panda"), "fixed"), load_quietly(
        urdf_path("g1_29dof_rev_1_0"), "floating"
    )


@pytest.fixture(scope="module")
def forest():
    paths = [urdf_path("panda"), urdf_path("g1_29dof_rev_1_0")]
    return load_quietly(paths, base=["fixed", "floating"], prefixes=["left/", "right/"])


def test_a_forest_is_its_robots_one_after_the_other(parts, forest):
    a, b = parts
    assert forest.name == "left/panda+right/g1_29dof_rev_1_0"
    assert (forest.nq, forest.nv) == (a.nq + b.nq, a.nv + b.nv)
    assert forest.total_mass == pytest.approx(a.total_mass + b.total_mass, rel=1e-15)
    for kind in ("joint_names", "body_names", "body_joint_names", "frame_names"):
        expected = [f"left/{name}" for name in getattr(a, kind)] + [
            f"right/{name}" for name in getattr(b, kind)
        ]
        assert list(getattr(forest, kind)) == expected
    assert "right/root_joint" in forest.body_joint_names
    assert forest.depth == max(a.depth, b.depth)
    assert isinstance(forest.source, tuple) and forest.source == (a.source, b.source)


def test_parents_and_coordinates_of_the_second_robot_are_shifted(parts, forest):
    a, b = parts
    N, nv = len(a.parent), a.nv
    np.testing.assert_array_equal(forest.parent[N:], np.where(b.parent < 0, -1, b.parent + N))
    np.testing.assert_array_equal(forest.parent_expanded[:nv], a.parent_expanded)
    # The panda's mimic finger makes all of the forest use the elimination tree, which here is lambda_e again.
    np.testing.assert_array_equal(
        forest.parent_expanded[nv:], np.where(b.parent_expanded < 0, -1, b.parent_expanded + nv)
    )
    np.testing.assert_array_equal(forest.v_index[N:], b.v_index + nv)
    np.testing.assert_array_equal(
        forest.frame_body[len(a.frame_names) :], np.where(b.frame_body < 0, -1, b.frame_body + N)
    )
    np.testing.assert_array_equal(
        forest.position_limits, np.concatenate([a.position_limits, b.position_limits])
    )
    assert forest.is_base_coordinate.sum() == 6


def test_robots_of_a_forest_move_apart(parts, forest):
    a, b = parts
    rng = np.random.default_rng(0)
    q_a, q_b = a.random_configuration(rng), b.random_configuration(rng)
    q = np.concatenate([q_a, q_b])
    H = joint_space_inertia(forest, q)[0]
    np.testing.assert_array_equal(H[: a.nv, a.nv :], 0.0)
    np.testing.assert_allclose(
        H[: a.nv, : a.nv], joint_space_inertia(a, q_a)[0], rtol=0.0, atol=1e-13
    )
    np.testing.assert_allclose(
        H[a.nv :, a.nv :], joint_space_inertia(b, q_b)[0], rtol=0.0, atol=1e-12
    )
    np.testing.assert_array_equal(
        body_placements(forest, q)[1],
        np.concatenate([body_placements(a, q_a)[1], body_placements(b, q_b)[1]]),
    )


def test_one_base_is_for_all_robots():
    model = load_urdf([arm(2), arm(2)], base="floating", prefixes=["a", "b"])
    assert model.is_base_coordinate.sum() == 12
    assert model.position_limits.shape == (4, 2)


def test_names_that_collide_are_refused_with_prefixes_as_the_remedy():
    with pytest.raises(TreeError, match="'l0' is in two robots.*prefixes"):
        load_urdf([arm(2), arm(2)])


def test_mimics_locks_and_armature_use_prefixed_names():
    text = arm(3, j2={"extra": mimic("j1")})
    model = load_urdf(
        [text, text], prefixes=["a_", "b_"], locked={"b_j1": 0.2}, armature={"a_j3": 0.5}
    )
    assert model.joint_names == ("a_j1", "a_j3", "b_j3")
    np.testing.assert_array_equal(model.armature, [0.0, 0.5, 0.0])


def test_a_prefix_may_be_given_to_one_robot():
    assert load_urdf(arm(1), prefixes="x_").joint_names == ("x_j1",)
