# SPDX-License-Identifier: Apache-2.0
"""Every robot of the example-robot-data wheel, against Pinocchio."""

import xml.etree.ElementTree as ET

import numpy as np
import pinocchio as pin
import pytest
from helpers.support import BASES, REFUSED, load_pair, load_quietly, robots, urdf_path, urdf_paths

from opspace_ctrl.model.connectivity import support
from opspace_ctrl.model.placements import body_placements
from opspace_ctrl.model.singular import joint_space_inertia

# What cures the two that are singular as they come.
CURED = {
    "romeo": {"armature": 1e-3},
    "romeo_laas_small": {"armature": {"r_gripper_joint": 1e-3, "l_gripper_joint": 1e-3}},
}
ALL = [(name, base) for name in (*robots(), *CURED) for base in BASES]


@pytest.fixture(params=ALL, ids=[f"{name}-{base}" for name, base in ALL], scope="module")
def pair(request):
    name, base = request.param
    return load_pair(name, base, **CURED.get(name, {}))


def free_joint_order(name):
    """Joint names depth first in document order, straight from the XML."""
    root = ET.parse(urdf_path(name)).getroot()
    below = {}
    for joint in root.findall("joint"):
        below.setdefault(joint.find("parent").get("link"), []).append(joint)
    children = {joint.find("child").get("link") for joint in root.findall("joint")}

    def walk(link):
        for joint in below.get(link, []):
            if joint.get("type") != "fixed":
                yield joint.get("name")
            yield from walk(joint.find("child").get("link"))

    (start,) = [
        link.get("name") for link in root.findall("link") if link.get("name") not in children
    ]
    return tuple(walk(start))


def test_the_wheel_has_the_robots_we_speak_of():
    assert len(urdf_paths()) >= 65
    assert set(REFUSED) <= set(urdf_paths())


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("base", BASES)
def test_robots_that_do_not_load_are_refused_for_a_named_reason(name, base):
    error, reason = REFUSED[name]
    with pytest.raises(error, match=reason):
        load_quietly(urdf_path(name), base)


def test_locking_its_massless_joints_also_cures_romeo():
    model = load_quietly(urdf_path("romeo"), locked={"LHand": 0.0, "RHand": 0.0})
    assert not model.is_mimic.any()
    assert not {"LHand", "RHand"} & set(model.joint_names)


@pytest.mark.parametrize("name", robots())
def test_joints_keep_document_order_depth_first(name):
    model = load_quietly(urdf_path(name))
    assert model.body_joint_names == free_joint_order(name)
    assert (model.parent < np.arange(len(model.parent))).all()


def test_joint_set_and_nv_agree(pair):
    model, twin = pair
    assert sorted(model.body_joint_names) == sorted(set(twin.model.names) - {"universe"})
    assert model.nv == twin.model.nv - model.is_mimic.sum()


def test_masses_agree(pair):
    model, twin = pair
    moving = pin.computeTotalMass(twin.model)
    np.testing.assert_allclose(model.mass.sum(), moving, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(model.total_mass, moving + twin.model.inertias[0].mass, rtol=1e-13)


def test_lumped_inertias_agree(pair):
    model, twin = pair
    for i, name in enumerate(model.body_joint_names):
        theirs = twin.model.inertias[twin.model.getJointId(name)]
        scale = max(1e-6, np.abs(theirs.inertia).max())
        np.testing.assert_allclose(model.mass[i], theirs.mass, rtol=1e-13)
        np.testing.assert_allclose(model.inertia[i], theirs.inertia, rtol=0.0, atol=1e-11 * scale)
        if model.mass[i] > 0.0:
            np.testing.assert_allclose(model.com[i], theirs.lever, rtol=0.0, atol=1e-12)


def test_frame_poses_agree_at_random_configurations(pair):
    model, twin = pair
    rng = np.random.default_rng(7)
    for _ in range(3):
        q = model.random_configuration(rng)
        pin.framesForwardKinematics(twin.model, twin.data, twin.q(q))
        R, p = body_placements(model, q)
        for f, name in enumerate(model.frame_names):
            body, rotation, translation = (
                model.frame_body[f],
                model.frame_rotation[f],
                model.frame_translation[f],
            )
            if body >= 0:
                rotation, translation = R[body] @ rotation, p[body] + R[body] @ translation
            pose = twin.data.oMf[twin.model.getFrameId(name, pin.FrameType.BODY)]
            np.testing.assert_allclose(rotation, pose.rotation, rtol=0.0, atol=1e-12)
            np.testing.assert_allclose(translation, pose.translation, rtol=0.0, atol=1e-12)


def test_inertia_matrix_agrees_through_G_and_its_factor_fits_parent_expanded(pair):
    model, twin = pair
    q = model.random_configuration(np.random.default_rng(8))
    pin.crba(twin.model, twin.data, twin.q(q))
    free = np.triu(twin.data.M) + np.triu(twin.data.M, 1).T
    H = twin.G.T @ free @ twin.G
    np.testing.assert_allclose(
        joint_space_inertia(model, q)[0], H, rtol=0.0, atol=1e-10 * np.abs(H).max(initial=1e-3)
    )
    allowed = np.zeros((model.nv, model.nv), dtype=bool)
    for k in range(model.nv):
        allowed[k, support(model.parent_expanded, k)] = True
    L = np.linalg.cholesky(H[::-1, ::-1])[::-1, ::-1].T if model.nv else H
    np.testing.assert_allclose(L[~allowed], 0.0, atol=1e-9)
    assert model.depth == max(allowed.sum(axis=1), default=0)


def test_limits_and_passive_forces_agree_where_pinocchio_has_the_same_coordinate(pair):
    model, twin = pair
    outside_base = np.flatnonzero(~model.is_base_coordinate)
    for k, limits in zip(outside_base, model.position_limits):
        rows = np.flatnonzero(twin.G[:, k])
        if len(rows) > 1:  # followers have a say here and not there
            continue
        joint = next(joint for joint in twin.model.joints if joint.idx_v == rows[0])
        if joint.nq == 1:
            at = joint.idx_q
            assert limits[0] == twin.model.lowerPositionLimit[at]
            assert limits[1] == twin.model.upperPositionLimit[at]
        else:
            assert tuple(limits) == (-np.inf, np.inf)
        assert model.damping[k] == twin.model.damping[rows[0]]
    assert len(model.effort_limits) == len(model.velocity_limits) == len(outside_base)
