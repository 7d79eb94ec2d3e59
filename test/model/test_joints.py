# SPDX-License-Identifier: Apache-2.0
"""Joint placements and motion subspaces of every type, axes of any direction."""

import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial.transform import Rotation

from opspace_ctrl.model.joints import NV, JointType, joint_placement, motion_subspace, planar_axes
from opspace_ctrl.model.rotations import from_quaternion, from_rpy, quaternion_exp, to_quaternion

AXES = [
    np.array(axis) / np.linalg.norm(axis)
    for axis in (
        [1.0, 0, 0],
        [0, -1, 0],
        [0, 0, 1],
        [0, 0, -1],
        [1, 2, 3],
        [-1, 0.5, -2],
        [1e-9, 0, -1],
        [3e-8, 4e-8, 1],
    )
]
ONE_FREEDOM_EACH = {
    JointType.REVOLUTE: np.array([0.7]),
    JointType.PRISMATIC: np.array([0.3]),
    JointType.PLANAR: np.array([0.2, -0.4, 0.9]),
    JointType.FLOATING: np.array([0.1, 0.2, 0.3, *quaternion_exp(np.array([0.3, -0.5, 0.2]))]),
}


def log_of_motion(before, after):
    """The twist [angular, linear] in body axes between two near poses."""
    R, p = before
    S, s = after
    return np.concatenate([pin.log3(R.T @ S), R.T @ (s - p)])


@pytest.mark.parametrize("normal", AXES)
def test_planar_axes_is_a_rotation_onto_the_normal(normal):
    Q = planar_axes(normal)
    np.testing.assert_allclose(Q @ Q.T, np.eye(3), atol=1e-15)
    assert np.linalg.det(Q) > 0.0
    np.testing.assert_allclose(Q[:, 2], normal, atol=1e-15)


@pytest.mark.parametrize("normal", AXES)
def test_planar_axes_is_the_shortest_rotation(normal):
    # Its angle is the angle between e_z and the normal, and its axis lies in the plane of e_x and e_y.
    Q = planar_axes(normal)
    np.testing.assert_allclose((np.trace(Q) - 1.0) / 2.0, normal[2], atol=1e-14)
    np.testing.assert_allclose(Q[0, 1], Q[1, 0], atol=1e-15)


def test_planar_axes_of_the_coordinate_normals():
    np.testing.assert_array_equal(planar_axes(np.array([0.0, 0.0, 1.0])), np.eye(3))
    np.testing.assert_array_equal(
        planar_axes(np.array([0.0, 0.0, -1.0])), np.diag([1.0, -1.0, -1.0])
    )


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("kind", [JointType.REVOLUTE, JointType.PRISMATIC, JointType.PLANAR])
def test_placement_leaves_the_axis_where_it_was(kind, axis):
    R, p = joint_placement(kind, axis, ONE_FREEDOM_EACH[kind])
    np.testing.assert_allclose(R @ axis, axis, atol=1e-15)
    assert abs(p @ axis) == pytest.approx(0.3 if kind == JointType.PRISMATIC else 0.0, abs=1e-15)


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("kind", ONE_FREEDOM_EACH)
def test_motion_subspace_is_the_derivative_of_the_placement(kind, axis):
    q = ONE_FREEDOM_EACH[kind]
    S = motion_subspace(kind, axis)
    step = 1e-6
    for k in range(NV[kind]):
        v = np.zeros(NV[kind])
        v[k] = step
        twist = log_of_motion(
            joint_placement(kind, axis, q), joint_placement(kind, axis, moved(kind, q, v))
        )
        np.testing.assert_allclose(twist / step, S[:, k], atol=1e-5)


def moved(kind, q, v):
    """q after the small displacement v in body axes, to first order."""
    if kind == JointType.PLANAR:
        c, s = np.cos(q[2]), np.sin(q[2])
        return q + np.array([c * v[0] - s * v[1], s * v[0] + c * v[1], v[2]])
    if kind == JointType.FLOATING:
        R = from_quaternion(q[3:])
        turned = pin.Quaternion(R @ pin.exp3(v[3:])).coeffs()
        return np.concatenate([q[:3] + R @ v[:3], turned])
    return q + v


def test_rpy_is_the_urdf_convention():
    rpy = np.array([0.3, -1.2, 2.5])
    np.testing.assert_allclose(from_rpy(rpy), pin.rpy.rpyToMatrix(rpy), atol=1e-15)


def test_a_rotation_becomes_the_quaternion_that_scipy_finds():
    turns = Rotation.concatenate(
        [
            Rotation.random(200, random_state=1),
            Rotation.identity(1),
            Rotation.from_rotvec(
                np.pi * np.vstack([np.eye(3), np.full(3, 3**-0.5)])
            ),  # half turns: w is 0
            Rotation.from_rotvec((np.pi - 1e-9) * np.eye(3)),
            Rotation.from_rotvec(1e-9 * np.eye(3)),
        ]
    )
    for R, quaternion in zip(turns.as_matrix(), Rotation.from_matrix(turns.as_matrix()).as_quat()):
        assert np.allclose(to_quaternion(R), quaternion, rtol=0.0, atol=1e-15)
