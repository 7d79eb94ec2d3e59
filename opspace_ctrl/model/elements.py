# SPDX-License-Identifier: Apache-2.0
"""The part of a URDF that the model needs, with every number and attribute of it checked.

urdf_parser_py stops at any texture or transmission it does not know, reads a missing attribute as the
string "None" and takes nan, inf and 1_0 for numbers. So the document is first reduced to the elements
below, whose attributes are checked here, where the offending element can still be named.
"""

import math
import re
from xml.etree.ElementTree import Element, SubElement

from ..errors import (
    InertiaError,
    JointError,
    LimitError,
    MimicError,
    OpspaceError,
    UrdfSyntaxError,
    listed,
    quoted,
)
from .joints import URDF_TYPES

LONGEST_NAME = 1000  # characters
LONGEST_NUMBER = 400
# {attribute: (how many numbers it holds, 0 for a name; whether it is required)}
Attributes = dict[str, tuple[int, bool]]
# {child element: its attributes, its children}
Children = dict[str, tuple[Attributes, "Children"]]

_ORIGIN: Attributes = {"xyz": (3, False), "rpy": (3, False)}
LINK_PARTS: Children = {
    "inertial": (
        {},
        {
            "origin": (_ORIGIN, {}),
            "mass": ({"value": (1, True)}, {}),
            "inertia": (dict.fromkeys(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), (1, True)), {}),
        },
    )
}
_FIXED_JOINT: Children = {
    "origin": (_ORIGIN, {}),
    "parent": ({"link": (0, True)}, {}),
    "child": ({"link": (0, True)}, {}),
}
_MOVING_PARTS: Children = {
    "axis": ({"xyz": (3, True)}, {}),
    "limit": (
        {"lower": (1, False), "upper": (1, False), "effort": (1, True), "velocity": (1, True)},
        {},
    ),
    "dynamics": ({"damping": (1, False), "friction": (1, False)}, {}),
    "mimic": ({"joint": (0, True), "multiplier": (1, False), "offset": (1, False)}, {}),
}
JOINT_PARTS: Children = _FIXED_JOINT | _MOVING_PARTS
_REQUIRED = {"joint": ("parent", "child"), "inertial": ("mass",)}
_ERRORS = {"inertial": InertiaError, "limit": LimitError, "mimic": MimicError}

# Numbers of elements the model does not use: only their finiteness matters.
_OTHER_NUMBERS = {
    "xyz",
    "rpy",
    "size",
    "radius",
    "length",
    "scale",
    "rgba",
    "rising",
    "falling",
    "k_velocity",
    "k_position",
    "soft_lower_limit",
    "soft_upper_limit",
    "lower",
    "upper",
    "effort",
    "velocity",
    "damping",
    "friction",
    "multiplier",
    "offset",
}
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def reduce_urdf(root: Element) -> Element:
    """A new <robot> with only the names, inertials and joints of the given one.

    Raises:
        UrdfSyntaxError: not a URDF, a missing name or attribute, a malformed or non-finite number.
        JointError, LimitError, MimicError, InertiaError: the same inside a joint, limit, mimic or inertial.
    """
    if root.tag != "robot":
        raise UrdfSyntaxError(f"the document is a <{root.tag[:40]}>, not a URDF <robot>")
    robot = Element("robot", {"name": _name(root, "the <robot>")})
    for child in root:
        if child.tag.startswith("xacro:"):
            raise UrdfSyntaxError(f"<{child.tag[:40]}> needs xacro: give the path of a .xacro file")
        if child.tag == "link":
            where = f"link {quoted(_name(child, 'a <link>'))}"
            _reduce(child, robot, {"name": (0, True)}, LINK_PARTS, where, UrdfSyntaxError)
            _check_finite(child, where)
        elif child.tag == "joint":
            where = f"joint {quoted(_name(child, 'a <joint>'))}"
            attributes = {"name": (0, True), "type": (0, True)}
            _reduce(child, robot, attributes, _parts_of_joint(child, where), where, JointError)
            _check_finite(child, where)
    return robot


def _parts_of_joint(joint: Element, where: str) -> Children:
    """The children of a joint that matter; exporters leave any axis, limit and mimic in a fixed one."""
    kind = joint.get("type", "").strip()
    if kind not in URDF_TYPES:
        raise JointError(
            f"{where} has the unknown type {quoted(kind)}; valid: {listed(URDF_TYPES)}"
        )
    return _FIXED_JOINT if kind == "fixed" else JOINT_PARTS


def _name(element: Element, what: str) -> str:
    name = element.get("name", "").strip()
    if not name:
        raise UrdfSyntaxError(f"{what} has no name")
    return checked_name(name, what, UrdfSyntaxError)


def checked_name(name: str, what: str, error: type[OpspaceError]) -> str:
    """A name that can be shown wherever names are; else the error is raised."""
    if len(name) > LONGEST_NAME or not name.isprintable():
        raise error(
            f"{what} is named {quoted(name)}: at most {LONGEST_NAME} printable characters are valid"
        )
    return name


def _reduce(
    element: Element,
    into: Element,
    attributes: Attributes,
    children: Children,
    where: str,
    error: type[OpspaceError],
) -> None:
    """Copy `element` below `into`: the listed attributes, and the first child of each listed kind."""
    copy = SubElement(into, element.tag, _checked(element, attributes, where, error))
    for tag, (child_attributes, grandchildren) in children.items():
        child = element.find(tag)
        if child is not None:
            child_error = _ERRORS.get(tag, error)
            _reduce(child, copy, child_attributes, grandchildren, f"{where}, <{tag}>", child_error)
        elif tag in _REQUIRED.get(element.tag, ()):
            there = dict.fromkeys(f"<{part.tag[:40]}>" for part in element)
            raise error(f"{where} has no <{tag}>; it has {listed(there)}")


def _checked(
    element: Element, attributes: Attributes, where: str, error: type[OpspaceError]
) -> dict[str, str]:
    values = {}
    for key, (count, required) in attributes.items():
        value = element.get(key)
        if value is None and not required:
            continue
        if value is None or not value.strip():
            raise error(f"{where} has no {key}")
        if count:
            _check_numbers(value, count, f"{where}, {key}", error)
        values[key] = value.strip()
    return values


def _check_numbers(value: str, count: int, where: str, error: type[OpspaceError]) -> None:
    tokens = value.split()
    if len(tokens) != count:
        raise error(f"{where} = {quoted(value)} has {len(tokens)} numbers, not {count}")
    for token in tokens:
        is_short = len(token) <= LONGEST_NUMBER
        if not is_short or not _NUMBER.fullmatch(token) or not math.isfinite(float(token)):
            raise error(f"{where}: {quoted(token)} is not a finite number")


def _check_finite(element: Element, where: str) -> None:
    """Refuse nan and infinity in what the model does not use, too (visuals, limits of fixed joints)."""
    for part in element.iter():
        for key in _OTHER_NUMBERS.intersection(part.attrib):
            for token in part.attrib[key].split():
                if not _is_finite(token):
                    raise UrdfSyntaxError(
                        f"{where}, <{part.tag[:40]}> {key}: {quoted(token)} is not finite"
                    )


def _is_finite(token: str) -> bool:
    try:
        return math.isfinite(float(token))
    except ValueError:
        return True  # a word: not ours to judge
