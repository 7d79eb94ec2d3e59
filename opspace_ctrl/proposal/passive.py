# SPDX-License-Identifier: Apache-2.0
"""Which joints are not for the controller: fingers, wheels and joints without a drive are held where they are."""

import re
from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from ..model.joints import NV
from ..model.specs import JointSpec, RobotSpec

__all__ = ["passive_joints"]

# A word of an axis after it means a joint of the wrist: "gripper_yaw" turns the gripper and does not close it.
FINGER = re.compile(
    r"(finger|thumb|jaw|knuckle|gripper|index_|pinky|claw)(?!.*(yaw|roll|pitch))", re.IGNORECASE
)
WHEEL = re.compile(r"wheel|caster|suspension|rotor|propeller", re.IGNORECASE)
# Several short branches at the end of an arm are a hand, whatever they are called.
ARM_JOINTS, FINGER_JOINTS = 3, 8
LIGHT = 0.1  # share of the robot's mass that a hand's fingers do not exceed
STUCK = 1e-3  # [rad or m]


def passive_joints(robot: RobotSpec) -> dict[str, tuple[float, str]]:
    """{joint: (position, reason)} of the joints to lock: at zero, or the limit next to it.

    Followers are left out: they go with their leaders.
    """
    own = [
        joint
        for joint in robot.joints
        if joint.moves and joint.mimic is None and NV[joint.joint_type] == 1
    ]
    in_hands = set(_hand_joints(robot))
    idle = {joint.name: why for joint in own if (why := _why_idle(joint))}
    held = {joint.name: why for joint in own if (why := _why_other(joint, in_hands))}
    if len(idle | held) == len(own):
        held = {}  # a robot of nothing but fingers, or wheels: they are what it has
    reasons = held | idle
    limits = {joint.name: (joint.lower, joint.upper) for joint in own}
    return {
        joint.name: (float(np.clip(0.0, *limits[joint.name])), reasons[joint.name])
        for joint in own
        if joint.name in reasons
    }


def _why_idle(joint: JointSpec) -> str:
    """Why nobody can move it; "" if one can."""
    if joint.effort == 0.0:
        return "its effort limit is 0: it has no drive"
    return "its limits leave it no motion" if joint.upper - joint.lower < STUCK else ""


def _why_other(joint: JointSpec, in_hands: set[str]) -> str:
    """Why it is on a controller of its own; "" if it is not."""
    if WHEEL.search(joint.name):
        return "a wheel by its name"
    if FINGER.search(joint.name):
        return "a finger by its name"
    return "one of several short branches at the end of an arm" if joint.name in in_hands else ""


def _hand_joints(robot: RobotSpec) -> Iterator[str]:
    """Joints of short branches that part at the end of a longer chain."""
    below: dict[str, list[JointSpec]] = defaultdict(list)
    for joint in robot.joints:
        below[joint.parent].append(joint)
    roots = {link.name for link in robot.links} - {joint.child for joint in robot.joints}
    masses = {link.name: link.mass for link in robot.links}
    waiting = [(root, 0) for root in roots]
    while waiting:
        link, depth = waiting.pop()
        branches = _branches(below, link)
        is_hand = depth >= ARM_JOINTS and len(branches) > 1
        joints = [each for joint in branches for each in _moving(below, joint)]
        is_light = sum(masses[each.child] for each in joints) < LIGHT * sum(masses.values())
        if is_hand and is_light and max(_height(below, on) for on in branches) <= FINGER_JOINTS:
            yield from (each.name for each in joints)
        else:
            waiting += [(joint.child, depth + 1) for joint in branches]


def _branches(below: dict[str, list[JointSpec]], link: str) -> list[JointSpec]:
    """The moving joints on a link and on all that is fixed to it."""
    found = []
    for joint in below[link]:
        found += [joint] if joint.moves else _branches(below, joint.child)
    return found


def _moving(below: dict[str, list[JointSpec]], joint: JointSpec) -> list[JointSpec]:
    """A moving joint and those it carries."""
    return [joint, *(each for on in _branches(below, joint.child) for each in _moving(below, on))]


def _height(below: dict[str, list[JointSpec]], joint: JointSpec) -> int:
    """Moving joints in a row from this one on."""
    return 1 + max((_height(below, on) for on in _branches(below, joint.child)), default=0)
