# SPDX-License-Identifier: Apache-2.0
"""The sole of a foot: the rectangle of its collision shapes that touches level ground."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..dynamics import frame_pose
from ..model import Model
from ..model.rotations import from_quaternion
from ..model.xml_safety import parse_xml
from .limbs import Limb
from .shapes import collision_points

__all__ = ["Sole", "find_sole"]

SOLE_JOINTS = 5  # a leg of fewer joints cannot keep a sole flat: it stands on a point
FLAT = 0.01  # [m] what is so little above the lowest point belongs to the sole
INSET = 0.9  # share of the rectangle that is used
SMALLEST = 0.02  # [m] a narrower one is a point
UPRIGHT = 0.95  # least z component of an axis that is up
GUESSED = (0.08, 0.05, 0.03, 0.03, 0.0)  # of feet without shapes, [m]: no foot is smaller


@dataclass(frozen=True)
class Sole:
    """Where a foot touches the ground.

    Attributes:
        frame: The foot's frame.
        reach: Front, back, left, right of the frame's origin and height of the ground in its axes [m]; () for a point.
        reason: Where that comes from.
    """

    frame: str
    reach: tuple[float, ...]
    reason: str


def find_sole(model: Model, limb: Limb, folder: Path | None) -> Sole:
    """The sole of a foot, in the axes of its frame, whose z is up when the foot stands."""
    if len(limb.joints) < SOLE_JOINTS:
        return Sole(limb.frame, (), f"a point: {len(limb.joints)} joints cannot keep a sole flat")
    frame = _upright(model, limb.frame)
    if not frame:
        return Sole(limb.frame, (), "a point: no frame of the foot has its z axis up at zero")
    points = _points(model, frame, folder)
    if not len(points):
        return Sole(
            frame, GUESSED, "a small rectangle: its links have no collision shapes that are read"
        )
    low = points[points[:, 2] < points[:, 2].min() + FLAT]
    (back, right), (front, left) = low[:, :2].min(axis=0), low[:, :2].max(axis=0)
    if min(front - back, left - right) < SMALLEST:
        return Sole(frame, (), "a point: its collision shapes touch the ground in one")
    middle = 0.5 * np.array([front + back, left + right])
    x, y = 0.5 * INSET * np.array([front - back, left - right])
    reach = (middle[0] + x, x - middle[0], middle[1] + y, y - middle[1], low[:, 2].min())
    if min(reach[:4]) < 0.0:
        return Sole(frame, GUESSED, "a small rectangle: its collision shapes are beside the frame")
    rounded = tuple(round(float(each), 4) for each in reach)
    return Sole(frame, rounded, f"the lowest of its collision shapes, {INSET:.0%} of it")


def _upright(model: Model, frame: str) -> str:
    """The frame itself, or another of its body, whose z axis is up where all joints are at zero; "": none."""
    body = model.frame_body[model.frame_index(frame)]
    others = (name for i, name in enumerate(model.frame_names) if model.frame_body[i] == body)
    q = model.neutral()
    for name in (frame, *others):
        if from_quaternion(frame_pose(model, q, name)[1])[2, 2] > UPRIGHT:
            return name
    return ""


def _points(model: Model, frame: str, folder: Path | None) -> NDArray[np.float64]:
    """Points (p, 3) of all collision shapes of the foot's body, in the axes of one of its frames."""
    assert isinstance(model.source, str)
    links = {link.get("name", "").strip(): link for link in parse_xml(model.source).findall("link")}
    own = model.frame_index(frame)
    R, p = model.frame_rotation[own], model.frame_translation[own]
    found = [np.zeros((0, 3))]
    for i, name in enumerate(model.frame_names):
        if model.frame_body[i] == model.frame_body[own] and name in links:
            there = collision_points(links[name], folder)
            found.append((there @ model.frame_rotation[i].T + model.frame_translation[i] - p) @ R)
    return np.vstack(found)
