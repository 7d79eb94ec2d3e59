# SPDX-License-Identifier: Apache-2.0
"""The limbs of a robot: chains from a branching of the tree to its tips, what each is for, and the frame at its end."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..model import Model

__all__ = ["Limb", "find_limbs"]

HEAD = re.compile(
    r"head|neck|camera|laser|lidar|velodyne|d435|kinect|imu|eye|antenna", re.IGNORECASE
)
TRUNK = re.compile(r"torso|trunk|chest|spine|waist", re.IGNORECASE)
LEG = re.compile(
    r"foot|sole|toe|ankle|(^|_)leg(_|$)|lower_?leg|calf|shank|thigh|knee|hip", re.IGNORECASE
)
ARM = re.compile(r"arm|hand|wrist|shoulder|gripper|elbow", re.IGNORECASE)
# Which frame at the end of an arm is the one to move, best first; else the link that the last joint moves.
TOOLS = (
    r"tcp",
    r"tool_?(center|frame)|grasp",
    r"tool_?0$",
    r"end_?effector|(^|_)eef?(_|$)",
    r"tool",
    r"tip(\b|_|$)",
    r"gripper|rubber_hand",
    r"palm|hand",
)
FAR = 0.01  # [m] from the last joint
A_LEG = "a leg by its names, of a robot that hangs in the air"
FEET = (r"sole|contact", r"foot", r"toe|wheel")


@dataclass(frozen=True)
class Limb:
    """A chain that ends at a tip.

    Attributes:
        kind: "hand", "foot", "head" or "trunk".
        frame: The frame at its end.
        joints: Coordinates (of v) that move it alone, base to tip.
        reason: Why it is taken for that.
    """

    kind: str
    frame: str
    joints: tuple[int, ...]
    reason: str


def find_limbs(model: Model) -> list[Limb]:
    """Every limb in the order of the tree; only a robot with a floating base has feet."""
    tips = [i for i in range(len(model.parent)) if not model.children(i)]
    return [_limb(model, tip) for tip in tips if _own_coordinates(model, _own_bodies(model, tip))]


def _limb(model: Model, tip: int) -> Limb:
    bodies = _own_bodies(model, tip)
    frames = [name for name, body in zip(model.frame_names, model.frame_body) if body == tip]
    words = [*(model.body_names[i] for i in bodies), *(model.body_joint_names[i] for i in bodies)]
    is_floating = bool(model.is_base_coordinate.any())
    joints = _own_coordinates(model, bodies)
    is_leg = _any(LEG, frames) or (_any(LEG, words) and not _any(ARM, words))
    if is_floating and is_leg:
        return Limb("foot", _best(model, tip, FEET), joints, "a leg by its names")
    for kind, pattern in (("head", HEAD), ("trunk", TRUNK)):
        if pattern.search(model.body_names[tip]):
            return Limb(kind, model.body_names[tip], joints, f"a {kind} by its name")
    frame = _best(model, tip, (*TOOLS, *FEET))
    return Limb("hand", frame, joints, A_LEG if is_leg else "a tip of the tree")


def _own_bodies(model: Model, tip: int) -> list[int]:
    """Bodies from the last branching (or the base) to the tip."""
    own, body = [tip], int(model.parent[tip])
    while body >= 0 and len(model.children(body)) == 1 and not _is_base(model, body):
        own.append(body)
        body = int(model.parent[body])
    return own[::-1]


def _is_base(model: Model, body: int) -> bool:
    return bool(model.is_base_coordinate[model.v_index[body]])


def _own_coordinates(model: Model, bodies: Sequence[int]) -> tuple[int, ...]:
    return tuple(
        int(model.v_index[i]) for i in bodies if not model.is_mimic[i] and not _is_base(model, i)
    )


def _any(pattern: re.Pattern[str], words: Sequence[str]) -> bool:
    return any(pattern.search(word) for word in words)


def _best(model: Model, tip: int, wishes: Sequence[str]) -> str:
    """The tip's frame that fits the first wish that any fits, by the shortest name; else the one furthest out."""
    frames = [i for i, body in enumerate(model.frame_body) if body == tip]
    names = [model.frame_names[i] for i in frames]
    for wish in wishes:
        fitting = [name for name in names if re.search(wish, name, re.IGNORECASE)]
        if fitting:
            return min(fitting, key=len)
    own = model.body_names[tip]
    distances = np.linalg.norm(model.frame_translation[frames], axis=1)
    return names[int(np.argmax(distances))] if distances.max() > FAR else own
