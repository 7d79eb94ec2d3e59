# SPDX-License-Identifier: Apache-2.0
"""Efforts of a robot at rest, from the joint states of an MCAP bag."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import OpspaceError, SourceError, quoted

__all__ = ["Recorded", "RecordingError", "read_recording"]

AT_REST = 0.01  # [rad/s or m/s]
APART = 0.02  # [rad or m] poses that differ by less are one
MOST = 64


class RecordingError(OpspaceError):
    """A recording has no joint states with efforts at rest."""


@dataclass(frozen=True, eq=False)
class Recorded:
    """A robot at rest in some poses.

    Attributes:
        name: The file's.
        joints: Names (k).
        positions, efforts: (poses, k), means over each rest.
    """

    name: str
    joints: tuple[str, ...]
    positions: NDArray[np.float64]
    efforts: NDArray[np.float64]


def read_recording(path: str | Path) -> Recorded:
    """The poses of a bag (topics whose type is sensor_msgs/JointState) in which the robot was at rest.

    Raises:
        SourceError: The file cannot be read, or mcap-ros2-support is not installed.
        RecordingError: No message has positions, velocities and efforts, or the robot never rested.
    """
    joints: tuple[str, ...] = ()
    rests: list[tuple[NDArray[np.float64], list[NDArray[np.float64]]]] = []
    messages = 0
    for message in _states(Path(path)):
        messages += 1
        names, k = tuple(message.name), len(message.name)
        if not k or min(map(len, (message.position, message.velocity, message.effort))) < k:
            continue
        joints = joints or names
        if set(names) != set(joints):
            continue
        order = [names.index(name) for name in joints]
        q, v, tau = (
            np.array(each, dtype=float)[order]
            for each in (message.position, message.velocity, message.effort)
        )
        if not np.isfinite([q, v, tau]).all() or np.abs(v).max() > AT_REST:
            continue
        for pose, efforts in rests:
            if np.abs(pose - q).max() < APART:
                efforts.append(tau)
                break
        else:
            if len(rests) < MOST:
                rests.append((q, [tau]))
    if not rests:
        raise RecordingError(
            f"{quoted(Path(path))}: none of {messages} joint states has positions, velocities below "
            f"{AT_REST} rad/s and efforts: record the robot holding still in several poses"
        )
    positions = np.array([pose for pose, _ in rests])
    means = np.array([np.mean(each, axis=0) for _, each in rests])
    return Recorded(Path(path).name, joints, positions, means)


def _states(path: Path) -> Iterator[Any]:
    try:
        from mcap.exceptions import McapError
        from mcap_ros2.reader import read_ros2_messages
    except ImportError:
        raise SourceError(
            "a bag needs mcap-ros2-support: pip install 'opspace_ctrl[record]'"
        ) from None
    try:
        for each in read_ros2_messages(str(path)):
            if each.channel.topic.endswith("joint_states"):
                yield each.ros_msg
    except OSError as error:
        raise SourceError(f"cannot read {quoted(path)}: {error.strerror or error}") from None
    except (McapError, struct.error, ValueError) as error:
        raise SourceError(f"{quoted(path)} is no MCAP bag: {error}") from None
