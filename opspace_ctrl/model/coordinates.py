# SPDX-License-Identifier: Apache-2.0
"""The coordinates of a model: who owns which, their limits, and what acts along them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InertiaError, LimitError, TreeError, quoted
from . import connectivity
from .joints import NQ, NV, JointType
from .mimic import moving_joint
from .specs import JointSpec, MimicSpec
from .tree import Body

# Far beyond any robot; a bound on what a malformed file can make us allocate.
MAX_COORDINATES = 3000


@dataclass(frozen=True, eq=False)
class Coordinates:
    """The coordinates of N bodies, as in Model."""

    nq: int
    nv: int
    q_index: np.ndarray
    v_index: np.ndarray
    multiplier: np.ndarray
    offset: np.ndarray
    is_mimic: np.ndarray


def number_coordinates(bodies: list[Body], followers: dict[str, MimicSpec]) -> Coordinates:
    """Number the coordinates in the order of the bodies; followers share their ultimate leader's.

    Raises:
        TreeError: more than MAX_COORDINATES coordinates.
    """
    is_mimic = np.array(
        [not body.is_base and body.joint.name in followers for body in bodies], dtype=bool
    )
    nq = np.array([NQ[body.joint.joint_type] for body in bodies], dtype=np.int64) * ~is_mimic
    nv = np.array([NV[body.joint.joint_type] for body in bodies], dtype=np.int64) * ~is_mimic
    q_index, v_index = np.cumsum(nq) - nq, np.cumsum(nv) - nv
    if nv.sum() > MAX_COORDINATES:
        raise TreeError(f"{nv.sum()} coordinates; at most {MAX_COORDINATES} are carried")
    number = {body.joint.name: i for i, body in enumerate(bodies) if not body.is_base}
    multiplier, offset = np.ones(len(bodies)), np.zeros(len(bodies))
    for i in np.flatnonzero(is_mimic):
        mimic = followers[bodies[i].joint.name]
        leader = number[mimic.leader]
        q_index[i], v_index[i] = q_index[leader], v_index[leader]
        multiplier[i], offset[i] = mimic.multiplier, mimic.offset
    return Coordinates(int(nq.sum()), int(nv.sum()), q_index, v_index, multiplier, offset, is_mimic)


def expanded_parent(bodies: list[Body], coordinates: Coordinates) -> np.ndarray:
    """lambda_e (nv,); with mimic joints the elimination tree of the merged pattern, where branches meet."""
    parent = np.array([body.place.body for body in bodies], dtype=np.int64)
    dof = np.array([NV[body.joint.joint_type] for body in bodies], dtype=np.int64)
    if not coordinates.is_mimic.any():
        return connectivity.expand(parent, dof)[0]
    supports: list[set[int]] = []
    for p, n, at in zip(parent, dof, coordinates.v_index):
        supports.append(set(range(at, at + n)) | (supports[p] if p >= 0 else set()))
    return connectivity.elimination_tree(connectivity.merged_pattern(supports, coordinates.nv))


def passive_forces(
    bodies: list[Body], coordinates: Coordinates, armature: dict[str, float]
) -> dict[str, Any]:
    """Armature, damping and friction (nv,); a follower's seen at its leader's rate: m^2 a, m^2 d, |m| f."""
    forces = {
        "armature": np.zeros(coordinates.nv),
        "damping": np.zeros(coordinates.nv),
        "friction": np.zeros(coordinates.nv),
    }
    for body, at, m in zip(bodies, coordinates.v_index, coordinates.multiplier):
        if body.is_base:
            continue
        joint = body.joint
        mine = slice(at, at + NV[joint.joint_type])
        forces["armature"][mine] += m**2 * armature.get(joint.name, 0.0)
        forces["damping"][mine] += m**2 * joint.damping
        forces["friction"][mine] += abs(m) * joint.friction
    return forces


def limits(bodies: list[Body], followers: dict[str, MimicSpec]) -> dict[str, Any]:
    """Limits of the coordinates outside floating bases; followers tighten their leader's positions.

    Raises:
        LimitError: a follower's limits and its leader's exclude each other.
    """
    joints = {body.joint.name: body.joint for body in bodies if not body.is_base}
    ranges = {
        name: (joint.lower, joint.upper) for name, joint in joints.items() if name not in followers
    }
    for name, mimic in followers.items():
        joint = joints[name]
        ends = sorted((end - mimic.offset) / mimic.multiplier for end in (joint.lower, joint.upper))
        lower, upper = max(ranges[mimic.leader][0], ends[0]), min(ranges[mimic.leader][1], ends[1])
        if lower > upper:
            raise LimitError(
                f"joint {quoted(name)}: no position of its leader {quoted(mimic.leader)} "
                "satisfies the limits of both"
            )
        ranges[mimic.leader] = lower, upper
    repeats = [NV[joints[name].joint_type] for name in ranges]
    return {
        "position_limits": np.repeat(
            np.array(list(ranges.values())).reshape(-1, 2), repeats, axis=0
        ),
        "velocity_limits": np.repeat([joints[name].velocity for name in ranges], repeats),
        "effort_limits": np.repeat([joints[name].effort for name in ranges], repeats),
    }


def armature_by_joint(
    armature: float | Mapping[str, float] | None, joints: dict[str, JointSpec]
) -> dict[str, float]:
    """The armature of each joint, from what the user gave: None, one number, or {joint: value}.

    One number is for every moving joint except floating ones, mimic followers included.

    Raises:
        UnknownJointError: a joint that does not exist or does not move.
        InertiaError: a value that is negative or not finite.
    """
    if armature is None:
        return {}
    if not isinstance(armature, Mapping):
        armature = {
            name: armature
            for name, joint in joints.items()
            if joint.moves and joint.joint_type != JointType.FLOATING
        }
    values = {}
    for name, value in armature.items():
        moving_joint(joints, name, "armature")
        try:
            values[name] = float(value)
        except (TypeError, ValueError, OverflowError):
            values[name] = np.nan
        if not 0.0 <= values[name] < np.inf:
            raise InertiaError(
                f"armature of joint {quoted(name)} is {quoted(value)}: "
                "a finite number >= 0 is valid"
            )
    return values
