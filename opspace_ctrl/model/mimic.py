# SPDX-License-Identifier: Apache-2.0
"""Mimic joints and locked joints: which joints have a coordinate, which follow one, which stand still."""

import math
from collections.abc import ItemsView, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import ConfigurationError, MimicError, UnknownJointError, listed, quoted
from .configuration import check_vector, unit_quaternion
from .joints import NQ, NV, QUATERNION
from .specs import JointSpec, MimicSpec

SAME = 1e-9  # [rad or m]: locked positions of a leader and a follower closer than this agree


@dataclass(frozen=True)
class Couplings:
    """The joints that have no coordinate of their own.

    `followers`: joint name -> its ultimate leader, multiplier and offset, resolved through chains.
    `frozen`: joint name -> the coordinates (nq of the joint) it is held at.
    """

    followers: dict[str, MimicSpec]
    frozen: dict[str, np.ndarray]


def couple(joints: dict[str, JointSpec], locked: Mapping[str, float] | None) -> Couplings:
    """Resolve the mimic joints and freeze the locked joints with all that follow them.

    A follower whose leader is a fixed joint, or whose multiplier is zero, stands still as well. Locking a follower
    locks its leader where the two agree.

    Args:
        joints: by name, as in the URDF.
        locked: joint name -> position (a planar or floating joint: its 3 or 7 coordinates).

    Raises:
        MimicError: a missing leader, a loop, a joint with several coordinates, or a leader and a follower locked at
            positions that exclude each other.
        UnknownJointError: a locked joint that does not exist or does not move.
        ConfigurationError: a locked position that is not finite or of the wrong length.
    """
    followers = _resolve_all(joints)
    frozen: dict[str, np.ndarray] = {}
    for name, position in _items(locked, "locked"):
        held = _position(moving_joint(joints, name, "locked"), position)
        if name in followers and followers[name].multiplier != 0.0:
            mimic = followers[name]
            name, held = mimic.leader, (held - mimic.offset) / mimic.multiplier
        if name in frozen and not np.allclose(frozen[name], held, rtol=0.0, atol=SAME):
            raise MimicError(
                f"locked: joint {quoted(name)} and its followers are locked at positions that exclude "
                f"each other, {frozen[name][0]:g} and {held[0]:g} of {quoted(name)}"
            )
        frozen[name] = held
    for name, mimic in list(followers.items()):
        if mimic.leader in frozen or not joints[mimic.leader].moves or mimic.multiplier == 0.0:
            leader_position = frozen.get(mimic.leader, np.zeros(1))
            frozen[name] = mimic.multiplier * leader_position + mimic.offset
            del followers[name]
    return Couplings(followers, frozen)


def moving_joint(joints: dict[str, JointSpec], name: str, what: str) -> JointSpec:
    """The joint of that name.

    Raises:
        UnknownJointError: it does not exist or is fixed; the message begins with `what`.
    """
    if name not in joints or not joints[name].moves:
        movable = [other for other, joint in joints.items() if joint.moves]
        raise UnknownJointError(
            f"{what}: no moving joint {quoted(name)}; moving joints: {listed(movable)}"
        )
    return joints[name]


def _items(mapping: Mapping[str, float] | None, what: str) -> ItemsView[str, float]:
    if not isinstance(mapping, (Mapping, type(None))):
        raise ConfigurationError(f"{what} = {quoted(mapping)} is not {{joint: value}}")
    return (mapping or {}).items()


def _resolve_all(joints: dict[str, JointSpec]) -> dict[str, MimicSpec]:
    """Every mimic joint's ultimate leader: p = m1 (m2 p' + o2) + o1 along the chain."""
    resolved: dict[str, MimicSpec] = {}
    for name, joint in joints.items():
        chain: dict[str, MimicSpec] = {}
        mimic = joint.mimic
        while mimic is not None and name not in resolved:
            chain[name] = mimic
            if mimic.leader not in joints:
                raise MimicError(
                    f"joint {quoted(name)} mimics the missing joint {quoted(mimic.leader)}; "
                    f"joints: {listed(joints)}"
                )
            if mimic.leader in chain:
                raise MimicError(f"mimic loop: {listed([*chain, mimic.leader])}")
            _refuse_several_coordinates(name, joints[name], joints[mimic.leader])
            name = mimic.leader
            mimic = joints[name].mimic
        for follower, step in reversed(chain.items()):
            beyond = resolved.get(step.leader, MimicSpec(step.leader, 1.0, 0.0))
            resolved[follower] = MimicSpec(
                beyond.leader,
                step.multiplier * beyond.multiplier,
                step.multiplier * beyond.offset + step.offset,
            )
            if not math.isfinite(resolved[follower].multiplier + resolved[follower].offset):
                raise MimicError(
                    f"joint {quoted(follower)}: multiplier or offset overflows along its chain"
                )
    return {name: resolved[name] for name in joints if name in resolved}


def _refuse_several_coordinates(name: str, *joints: JointSpec) -> None:
    for joint in joints:
        if NV[joint.joint_type] > 1:
            raise MimicError(
                f"joint {quoted(name)}: {quoted(joint.name)} has several coordinates; only "
                "revolute, continuous and prismatic joints can mimic or be mimicked"
            )


def _position(joint: JointSpec, position: float | Sequence[float]) -> np.ndarray:
    what = f"locked: the position of joint {quoted(joint.name)}"
    coordinates = position if hasattr(position, "__len__") else [position]
    q = check_vector(coordinates, NQ[joint.joint_type], what)
    if joint.joint_type in QUATERNION:
        at = QUATERNION[joint.joint_type]
        q[at : at + 4] = unit_quaternion(q[at : at + 4], what)
    return q
