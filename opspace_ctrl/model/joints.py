# SPDX-License-Identifier: Apache-2.0
"""The joint types: how many coordinates each has, and where it puts its body."""

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from .rotations import from_axis_angle, from_quaternion


class JointType(IntEnum):
    """The joint types; URDF's continuous is a revolute joint without position limits.

    FIXED joints are lumped when a robot is loaded: a Model has none. SPHERICAL is MJCF's ball; URDF has no word for it.
    """

    REVOLUTE = 0
    PRISMATIC = 1
    PLANAR = 2
    FLOATING = 3
    FIXED = 4
    SPHERICAL = 5


# Coordinates in q and in v, by joint type.
NQ = (1, 1, 3, 7, 0, 4)
NV = (1, 1, 3, 6, 0, 3)

# Where a unit quaternion x y z w begins among a joint's coordinates in q, for types that have one; they have no axis.
QUATERNION = {JointType.FLOATING: 3, JointType.SPHERICAL: 0}

# The URDF's words for the types.
URDF_TYPES = {
    "revolute": JointType.REVOLUTE,
    "continuous": JointType.REVOLUTE,
    "prismatic": JointType.PRISMATIC,
    "planar": JointType.PLANAR,
    "floating": JointType.FLOATING,
    "fixed": JointType.FIXED,
}


def planar_axes(normal: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rotation Q whose columns are the in-plane axes and the normal of a planar joint.

    Q is the shortest rotation taking e_z to the normal n, so that n = e_z gives the joint frame's own
    x and y; n = -e_z, where the shortest is not unique, is the half turn about x (axes x and -y).

    Args:
        normal: unit normal n (3,) in the joint frame.

    Returns:
        Q (3, 3): columns Q e_x, Q e_y (in-plane axes) and n.
    """
    nx, ny, nz = normal
    sine2 = nx * nx + ny * ny
    if sine2 == 0.0:
        return np.diag([1.0, 1.0, 1.0]) if nz > 0.0 else np.diag([1.0, -1.0, -1.0])
    # 1 / (1 + nz), written for nz near -1 without cancellation.
    k = 1.0 / (1.0 + nz) if nz > 0.0 else (1.0 - nz) / sine2
    return np.array(
        [
            [1.0 - k * nx * nx, -k * nx * ny, nx],
            [-k * nx * ny, 1.0 - k * ny * ny, ny],
            [-nx, -ny, nz],
        ]
    )


def joint_placement(
    joint_type: int, axis: NDArray[np.float64], q: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Pose of a joint's body in the joint frame.

    revolute: R = exp(q [a]); prismatic: p = q a; planar: R = Q Rz(theta) Q^T, p = Q [x, y, 0] with
    Q = planar_axes(a); floating: p = [x, y, z], R of the quaternion [qx, qy, qz, qw]; spherical: R alone.

    Args:
        joint_type: a JointType.
        axis: unit axis a (3,) in the joint frame.
        q: the joint's coordinates (1,), (3,), (4,) or (7,), in [rad] and [m].

    Returns:
        Rotation (3, 3) and translation (3,) in [m].
    """
    if joint_type == JointType.REVOLUTE:
        return from_axis_angle(axis, q[0]), np.zeros(3)
    if joint_type == JointType.PRISMATIC:
        return np.eye(3), q[0] * axis
    if joint_type == JointType.PLANAR:
        return from_axis_angle(axis, q[2]), planar_axes(axis)[:, :2] @ q[:2]
    if joint_type == JointType.SPHERICAL:
        return from_quaternion(q), np.zeros(3)
    return from_quaternion(q[3:]), np.array(q[:3])


def motion_subspace(joint_type: int, axis: NDArray[np.float64]) -> NDArray[np.float64]:
    """S (6, nv of the joint): the body's velocity [angular, linear] in body axes is S v, with S constant."""
    if joint_type == JointType.REVOLUTE:
        return np.concatenate([axis, np.zeros(3)])[:, None]
    if joint_type == JointType.PRISMATIC:
        return np.concatenate([np.zeros(3), axis])[:, None]
    S = np.zeros((6, NV[joint_type]))
    if joint_type == JointType.PLANAR:
        Q = planar_axes(axis)
        S[3:, :2], S[:3, 2] = Q[:, :2], Q[:, 2]
    elif joint_type == JointType.SPHERICAL:
        S[:3] = np.eye(3)
    else:
        S[3:, :3], S[:3, 3:] = np.eye(3), np.eye(3)
    return S
