# SPDX-License-Identifier: Apache-2.0
"""Between messages and numbers: stamps, vectors, poses, arrays, diagnostics."""

from array import array
from collections.abc import Iterable

import numpy as np
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticStatus, KeyValue
from geometry_msgs.msg import Pose, Quaternion, Twist, Vector3, Wrench
from std_msgs.msg import Float64MultiArray, MultiArrayDimension

__all__ = [
    "LEVELS",
    "diagnostic",
    "full_name",
    "matrix_message",
    "nanoseconds",
    "pose_message",
    "quaternion_message",
    "quaternion_of",
    "stamp_of",
    "twist_message",
    "twist_of",
    "vector_message",
    "vector_of",
    "wrench_of",
]

SECOND = 1_000_000_000  # [ns]
LEVELS = {
    "ok": DiagnosticStatus.OK,
    "warn": DiagnosticStatus.WARN,
    "error": DiagnosticStatus.ERROR,
    "stale": DiagnosticStatus.STALE,
}


def nanoseconds(stamp: Time) -> int:
    """A stamp as one integer [ns]."""
    return stamp.sec * SECOND + stamp.nanosec


def stamp_of(time: int) -> Time:
    """The stamp of a time [ns]."""
    seconds, rest = divmod(time, SECOND)
    return Time(sec=seconds, nanosec=rest)


def vector_of(message) -> np.ndarray:
    """(3,) of a Point or Vector3."""
    return np.array([message.x, message.y, message.z])


def quaternion_of(message: Quaternion) -> np.ndarray:
    """(4,) xyzw."""
    return np.array([message.x, message.y, message.z, message.w])


def twist_of(message: Twist) -> np.ndarray:
    """(6,) linear, angular."""
    return np.concatenate((vector_of(message.linear), vector_of(message.angular)))


def wrench_of(message: Wrench) -> np.ndarray:
    """(6,) force, torque."""
    return np.concatenate((vector_of(message.force), vector_of(message.torque)))


def pose_message(position, quaternion) -> Pose:
    """A Pose of (3,) and xyzw (4,)."""
    pose = Pose()
    pose.position.x, pose.position.y, pose.position.z = map(float, position)
    pose.orientation = quaternion_message(quaternion)
    return pose


def quaternion_message(quaternion) -> Quaternion:
    """A Quaternion of xyzw (4,)."""
    x, y, z, w = map(float, quaternion)
    return Quaternion(x=x, y=y, z=z, w=w)


def vector_message(vector) -> Vector3:
    """A Vector3 of (3,)."""
    x, y, z = map(float, vector)
    return Vector3(x=x, y=y, z=z)


def twist_message(twist) -> Twist:
    """A Twist of (6,) linear, angular."""
    return Twist(linear=vector_message(twist[:3]), angular=vector_message(twist[3:]))


def matrix_message(matrix: np.ndarray) -> Float64MultiArray:
    """A matrix (rows, columns), row by row."""
    rows, columns = matrix.shape
    message = Float64MultiArray()
    message.layout.dim = [
        MultiArrayDimension(label="rows", size=rows, stride=rows * columns),
        MultiArrayDimension(label="columns", size=columns, stride=columns),
    ]
    message.data = array("d", np.ascontiguousarray(matrix, dtype=float).tobytes())
    return message


def full_name(node, name: str) -> str:
    """A name in the namespace of a node, without a slash before it: who is meant where robots are many."""
    return f"{node.get_namespace()}/{name}".strip("/")


def diagnostic(
    name: str, hardware_id: str, level: str, text: str, values: Iterable[tuple[str, object]]
) -> DiagnosticStatus:
    """A status with its numbers; level: a key of LEVELS."""
    pairs = [
        KeyValue(key=key, value=f"{value:.6g}" if isinstance(value, float) else str(value))
        for key, value in values
    ]
    return DiagnosticStatus(
        name=name, hardware_id=hardware_id, level=LEVELS[level], message=text, values=pairs
    )
