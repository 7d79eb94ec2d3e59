# SPDX-License-Identifier: Apache-2.0
"""Rotations: roll-pitch-yaw, axis and angle, quaternions [x, y, z, w], exponentials of SO(3) and SE(3)."""

import numpy as np
from numpy.typing import ArrayLike

# Below this angle the trigonometric quotients are replaced by series (error below 1e-17 there).
_SMALL_ANGLE = 1e-4


def skew(a: np.ndarray) -> np.ndarray:
    """The matrix (3, 3) of the cross product, skew(a) b = a x b."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def from_rpy(rpy: ArrayLike) -> np.ndarray:
    """R = Rz(yaw) Ry(pitch) Rx(roll) (3, 3), the URDF convention; angles in [rad]."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def from_axis_angle(axis: np.ndarray, angle: float) -> np.ndarray:
    """R = 1 + sin(angle) [a] + (1 - cos(angle)) [a]^2 (3, 3) for a unit axis a, angle in [rad]."""
    A = skew(axis)
    # 1 - cos written as 2 sin^2 of the half angle: exact for small angles.
    return np.eye(3) + np.sin(angle) * A + 2.0 * np.sin(0.5 * angle) ** 2 * (A @ A)


def from_quaternion(quaternion: np.ndarray) -> np.ndarray:
    """R (3, 3) of a unit quaternion [x, y, z, w]."""
    x, y, z, w = quaternion
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def to_quaternion(R: np.ndarray) -> np.ndarray:
    """The unit quaternion (4,) [x, y, z, w] of a rotation R (3, 3), from its largest entry: nothing cancels.

    Its sign is that of SciPy's `Rotation.as_quat`, whose import takes longer than all else that a controller imports
    after Numba.
    """
    trace = R[0, 0] + R[1, 1] + R[2, 2]
    largest = int(np.argmax([R[0, 0], R[1, 1], R[2, 2], trace]))
    if largest == 3:
        found = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1], 1.0 + trace])
    else:
        i, j, k = largest, (largest + 1) % 3, (largest + 2) % 3
        found = np.empty(4)
        found[i] = 1.0 - trace + 2.0 * R[i, i]
        found[j], found[k], found[3] = R[j, i] + R[i, j], R[k, i] + R[i, k], R[k, j] - R[j, k]
    return found / np.linalg.norm(found)


def quaternion_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The Hamilton product a b (4,), both [x, y, z, w]: first b, then a."""
    u, v = a[:3], b[:3]
    return np.append(a[3] * v + b[3] * u + np.cross(u, v), a[3] * b[3] - u @ v)


def quaternion_conjugate(a: np.ndarray) -> np.ndarray:
    """The inverse (4,) of a unit quaternion [x, y, z, w]."""
    return np.append(-a[:3], a[3])


def quaternion_exp(phi: np.ndarray) -> np.ndarray:
    """The unit quaternion (4,) of the rotation vector phi (3,) in [rad]."""
    angle = np.linalg.norm(phi)
    return np.append(0.5 * np.sinc(0.5 * angle / np.pi) * phi, np.cos(0.5 * angle))


def quaternion_log(quaternion: np.ndarray) -> np.ndarray:
    """The rotation vector (3,) in [rad], of norm at most pi, of a unit quaternion [x, y, z, w]."""
    vector, w = quaternion[:3], quaternion[3]
    if w < 0.0:  # q and -q are the same rotation: take the short way round
        vector, w = -vector, -w
    norm = np.linalg.norm(vector)
    return vector * (2.0 if norm == 0.0 else 2.0 * np.arctan2(norm, w) / norm)


def left_jacobian(phi: np.ndarray) -> np.ndarray:
    """V (3, 3) of the SE(3) exponential: exp([rho, phi]) has the translation V(phi) rho."""
    angle = np.linalg.norm(phi)
    if angle < _SMALL_ANGLE:
        b, c = 0.5 - angle**2 / 24.0, 1.0 / 6.0 - angle**2 / 120.0
    else:
        b, c = 2.0 * np.sin(0.5 * angle) ** 2 / angle**2, (angle - np.sin(angle)) / angle**3
    P = skew(phi)
    return np.eye(3) + b * P + c * (P @ P)


def left_jacobian_inverse(phi: np.ndarray) -> np.ndarray:
    """V(phi)^-1 (3, 3), for |phi| < 2 pi."""
    angle = np.linalg.norm(phi)
    if angle < _SMALL_ANGLE:
        c = 1.0 / 12.0 + angle**2 / 720.0
    else:
        c = (1.0 - 0.5 * angle / np.tan(0.5 * angle)) / angle**2
    P = skew(phi)
    return np.eye(3) - 0.5 * P + c * (P @ P)
