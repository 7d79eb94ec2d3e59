# SPDX-License-Identifier: Apache-2.0
"""What a URDF says, element by element, before it becomes a tree of moving bodies."""

from dataclasses import dataclass

import numpy as np

from .joints import JointType


@dataclass(frozen=True, eq=False)
class LinkSpec:
    """A link: its mass [kg], centre of mass (3,) [m] and inertia (3, 3) [kg m^2] about it, in link axes."""

    name: str
    mass: float
    com: np.ndarray
    inertia: np.ndarray


@dataclass(frozen=True)
class MimicSpec:
    """position = multiplier * (position of `leader`) + offset."""

    leader: str
    multiplier: float
    offset: float


@dataclass(frozen=True, eq=False)
class JointSpec:
    """A joint: its frame in the parent link, unit axis in that frame, limits and passive forces.

    Limits are infinite where the URDF sets none.
    """

    name: str
    joint_type: JointType
    parent: str
    child: str
    rotation: np.ndarray
    translation: np.ndarray
    axis: np.ndarray
    lower: float = -np.inf
    upper: float = np.inf
    velocity: float = np.inf
    effort: float = np.inf
    damping: float = 0.0
    friction: float = 0.0
    mimic: MimicSpec | None = None
    is_base: bool = False  # it frees a root link: a floating base

    @property
    def moves(self) -> bool:
        """Does the joint move, that is, is it anything but fixed?"""
        return self.joint_type != JointType.FIXED


@dataclass(frozen=True)
class RobotSpec:
    """One robot, links and joints in document order, and what its file has that nobody knows, in words."""

    name: str
    links: tuple[LinkSpec, ...]
    joints: tuple[JointSpec, ...]
    unknown_parts: tuple[str, ...] = ()
