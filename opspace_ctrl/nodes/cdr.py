# SPDX-License-Identifier: Apache-2.0
"""Serialised messages read and written in place: a state comes and a command goes a thousand times a second.

rclpy's own conversion makes a Python object of every string and number of a message; here only what is used is looked
at, and names that have not changed are recognised by their bytes. Layout: plain CDR, little endian: four bytes that say
so, then the fields, each aligned to its size. Whatever is laid out otherwise is left to rclpy.
"""

import struct
from typing import NamedTuple

import numpy as np
from nav_msgs.msg import Odometry
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from .messages import SECOND, nanoseconds

__all__ = [
    "Command",
    "JointStateReader",
    "OdometryReader",
    "State",
    "Trajectory",
    "read_joint_state",
    "read_odometry",
    "read_trajectory",
]

START = 4  # the fields begin after the bytes that name the layout, and are aligned from there
PLAIN = b"\x00\x01"  # plain CDR, little endian
_stamp = struct.Struct("<iI").unpack_from
_count = struct.Struct("<I").unpack_from
_pose = struct.Struct("<7d").unpack_from
_twist = struct.Struct("<6d").unpack_from
POSE_BYTES, TWIST_BYTES, COVARIANCE_BYTES = 7 * 8, 6 * 8, 36 * 8


class State(NamedTuple):
    """What is used of a JointState: stamp [ns], names, position and velocity as arrays (or buffers) of doubles."""

    stamp: int
    names: list[str]
    position: np.ndarray
    velocity: np.ndarray


class Base(NamedTuple):
    """What is used of an Odometry: stamp [ns], frames, seven numbers of the pose and six of the twist."""

    stamp: int
    frame_id: str
    child_frame_id: str
    pose: tuple[float, ...]
    twist: tuple[float, ...]


class Trajectory(NamedTuple):
    """What is used of a MultiDOFJointTrajectory.

    Attributes:
        stamp, frame_id: Of its header; the stamp in ns.
        times: (n,) of each point from the start [ns].
        transforms: (n, 7) position [m] and quaternion xyzw.
        twists: (n, 6) linear and angular velocity, None where not every point has one.
    """

    stamp: int
    frame_id: str
    times: np.ndarray
    transforms: np.ndarray
    twists: np.ndarray | None


EMPTY = np.empty(0)
MOST_NAMES = 2_000  # in a message, which takes a millisecond to read; no robot has so many joints


class JointStateReader:
    """Reads joint states; remembers the names of the last message."""

    def __init__(self) -> None:
        self._bytes = b""
        self._names: list[str] = []

    def __call__(self, data: bytes) -> State:
        """The state in a serialised message.

        Raises:
            Exception: The bytes are no JointState; which one depends on where that shows.
        """
        if data[:2] != PLAIN:
            return read_joint_state(deserialize_message(data, JointState))
        seconds, rest = _stamp(data, START)
        start = _after_string(data, START + 8)
        end = start + len(self._bytes)
        if not self._bytes or data[start:end] != self._bytes:
            names, end = _strings(data, start)
            self._bytes, self._names = _part(data, start, end), names
        position, end = _doubles(data, end)
        velocity, _ = _doubles(data, end)
        return State(seconds * SECOND + rest, self._names, position, velocity)


class OdometryReader:
    """Reads odometry; remembers the frames of the last message."""

    def __init__(self) -> None:
        self._bytes, self._frames = b"", ("", "")

    def __call__(self, data: bytes) -> Base:
        """The base in a serialised message; raises as `JointStateReader`."""
        if data[:2] != PLAIN:
            return read_odometry(deserialize_message(data, Odometry))
        seconds, rest = _stamp(data, START)
        start = START + 8
        end = start + len(self._bytes)
        if not self._bytes or data[start:end] != self._bytes:
            frame, middle = _string(data, start)
            child, end = _string(data, middle)
            self._bytes, self._frames = _part(data, start, end), (frame, child)
        at = _aligned(end, 8)
        twist = at + POSE_BYTES + COVARIANCE_BYTES
        return Base(seconds * SECOND + rest, *self._frames, _pose(data, at), _twist(data, twist))


class Command:
    """A Float64MultiArray of `count` numbers, serialised.

    Attributes:
        values: (count,) write here.
    """

    def __init__(self, count: int):
        # no dimensions, no offset, the count, four bytes to align
        self._data = bytearray(START + 16 + 8 * count)
        self._data[:2] = PLAIN
        struct.pack_into("<III", self._data, START, 0, 0, count)
        self.values = np.frombuffer(self._data, dtype=float, count=count, offset=START + 16)

    def message(self) -> bytes:
        """The serialised message with the present values."""
        return bytes(self._data)


def read_joint_state(message: JointState) -> State:
    """The same of a message that rclpy has read."""
    return State(
        nanoseconds(message.header.stamp),
        message.name,
        np.array(message.position),
        np.array(message.velocity),
    )


def read_odometry(message: Odometry) -> Base:
    """The same of a message that rclpy has read."""
    p, o = message.pose.pose.position, message.pose.pose.orientation
    u, w = message.twist.twist.linear, message.twist.twist.angular
    return Base(
        nanoseconds(message.header.stamp),
        message.header.frame_id,
        message.child_frame_id,
        (p.x, p.y, p.z, o.x, o.y, o.z, o.w),
        (u.x, u.y, u.z, w.x, w.y, w.z),
    )


def read_trajectory(data: bytes, most_points: int) -> Trajectory:
    """The trajectory in a serialised message, point by point, so that other threads run meanwhile.

    Raises:
        ValueError: There are no points or too many, or a point has not one transform and at most one velocity.
        Exception: The bytes are no such message; which one depends on where that shows.
    """
    if data[:2] != PLAIN:
        raise ValueError("its layout is not plain CDR, little endian")
    seconds, rest = _stamp(data, START)
    frame_id, at = _string(data, START + 8)
    _, at = _strings(data, at)
    count = _count(data, at)[0]
    if not 0 < count <= most_points:
        raise ValueError(f"a trajectory has 1 to {most_points} points, not {count}")
    times: list[int] = []
    transforms: list[tuple[float, ...]] = []
    twists: list[tuple[float, ...]] = []
    at += 4
    for _ in range(count):
        at, of_point = _sequence(data, at, _pose, POSE_BYTES)
        transforms += of_point
        if len(transforms) != len(times) + 1:
            raise ValueError("each point of a trajectory has one transform")
        at, of_point = _sequence(data, at, _twist, TWIST_BYTES)
        twists += of_point
        if len(of_point) > 1:
            raise ValueError("each point of a trajectory has at most one velocity")
        at, _ = _sequence(data, at, _twist, TWIST_BYTES)
        of_start = _stamp(data, at)
        times.append(of_start[0] * SECOND + of_start[1])
        at += 8
    return Trajectory(
        seconds * SECOND + rest,
        frame_id,
        np.array(times),
        np.array(transforms),
        np.array(twists) if len(twists) == count else None,
    )


def _sequence(data: bytes, at: int, unpack, size: int) -> tuple[int, list[tuple[float, ...]]]:
    """Where a sequence of groups of doubles ends, and the first two of them: no more is ever valid."""
    count, at = _count(data, at)[0], at + 4
    if not count:
        return at, []
    start = _aligned(at, 8)
    return start + size * count, [unpack(data, start + size * i) for i in range(min(count, 2))]


def _aligned(at: int, size: int) -> int:
    return START + (at - START + size - 1) // size * size


def _after_string(data: bytes, at: int) -> int:
    """Where the next number of four bytes is after a string."""
    return _aligned(at + 4 + _count(data, at)[0], 4)


def _part(data: bytes, start: int, end: int) -> bytes:
    """A part of a message, which must be in it as a whole."""
    if end > len(data):
        raise ValueError("a part is longer than its message")
    return data[start:end]


def _string(data: bytes, at: int) -> tuple[str, int]:
    """A string and where the next number of four bytes is."""
    length = _count(data, at)[0]
    text = _part(data, at + 4, at + 4 + length)
    return text[:-1].decode(errors="replace"), _aligned(at + 4 + length, 4)


def _strings(data: bytes, at: int) -> tuple[list[str], int]:
    """A sequence of strings and where the next number of four bytes is."""
    count, at = _count(data, at)[0], at + 4
    if count > MOST_NAMES:
        raise ValueError(f"{count} names; valid are up to {MOST_NAMES}")
    names = []
    for _ in range(count):
        name, at = _string(data, at)
        names.append(name)
    return names, at


def _doubles(data: bytes, at: int) -> tuple[np.ndarray, int]:
    """A sequence of doubles, not copied, and where the next number of four bytes is."""
    count = _count(data, at)[0]
    if not count:
        return EMPTY, at + 4
    start = _aligned(at + 4, 8)
    return np.frombuffer(data, dtype=float, count=count, offset=start), start + 8 * count
