# SPDX-License-Identifier: Apache-2.0
"""Elements and attributes of a URDF that nobody knows: misspelt ones would be ignored in silence."""

import warnings
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from itertools import islice
from xml.etree.ElementTree import Element

from ..errors import UrdfWarning, quoted
from .elements import JOINT_PARTS, LINK_PARTS, Attributes, Children
from .specs import RobotSpec

MAX_PARTS = 10  # that a warning names
MAX_LETTERS = 40

# What others put into a URDF: Gazebo, ros_control, MoveIt, Drake, MuJoCo, Bullet, older URDF. What has a prefix, such
# as <drake:joint>, is foreign by that.
_FOREIGN = {
    "robot": (
        "actuator",
        "author",
        "disable_collisions",
        "end_effector",
        "frame",
        "gazebo",
        "group",
        "group_state",
        "loop_joint",
        "material",
        "mujoco",
        "passive_joint",
        "plugin",
        "ros2_control",
        "sensor",
        "static",
        "transmission",
        "virtual_joint",
        "world",
    ),
    "link": (
        "audio_source",
        "collision",
        "collision_checking",
        "contact",
        "gazebo",
        "gravity",
        "kinematic",
        "material",
        "origin",
        "self_collide",
        "self_collision_checking",
        "self_filter",
        "sensor",
        "surface",
        "velocity_decay",
        "verbose",
        "visual",
    ),
    "joint": (
        "actuator",
        "calibration",
        "gazebo",
        "hardwareInterface",
        "joint_properties",
        "physics",
        "safety_controller",
        "safety_limits",
        "sensor",
    ),
}


def unknown_parts(root: Element) -> tuple[str, ...]:
    """What is unknown in a <robot>, in words: its name, where it is, and the nearest valid name if there is one.

    An unknown attribute counts only if it is like one that the model uses and that is missing: programs add their own.
    """
    return tuple(islice(_all_unknown(root), MAX_PARTS))


def warn_of_unknown_parts(robot: RobotSpec) -> None:
    """One UrdfWarning for all of them."""
    parts = robot.unknown_parts
    if parts:
        more = "; and more" if len(parts) == MAX_PARTS else ""
        warnings.warn(
            f"robot {quoted(robot.name)}, unknown and ignored: {'; '.join(parts)}{more}",
            UrdfWarning,
            stacklevel=3,
        )


def _all_unknown(root: Element) -> Iterator[str]:
    yield from _unknown_elements(root, ("link", "joint"), "the robot")
    for element in root:
        if element.tag in ("link", "joint"):
            parts = LINK_PARTS if element.tag == "link" else JOINT_PARTS
            yield from _unknown_below(
                element, parts, f"{element.tag} {quoted(element.get('name', ''))}"
            )


def _unknown_below(element: Element, parts: Children, where: str) -> Iterator[str]:
    yield from _unknown_elements(element, parts, where)
    for child in element:
        if child.tag in parts:
            attributes, below = parts[child.tag]
            inside = f"<{child.tag}> of {where}"
            yield from _unknown_attributes(child, attributes, inside)
            yield from _unknown_below(child, below, inside)


def _unknown_elements(element: Element, parts: Iterable[str], where: str) -> Iterator[str]:
    known = [*parts, *_FOREIGN.get(element.tag, ())]
    for child in element:
        if child.tag not in known and ":" not in child.tag:
            name = child.tag[:MAX_LETTERS]
            near = get_close_matches(name, known, 1)
            yield f"<{name}> in {where}" + (f" (did you mean <{near[0]}>?)" if near else "")


def _unknown_attributes(element: Element, attributes: Attributes, where: str) -> Iterator[str]:
    missing = [name for name in attributes if name not in element.attrib]
    for name in element.attrib:
        near = get_close_matches(name[:MAX_LETTERS], missing, 1)
        if name not in attributes and near:
            yield f"{name[:MAX_LETTERS]}= in {where} (did you mean {near[0]}=?)"
