# SPDX-License-Identifier: Apache-2.0
"""Small helpers to write SDF: elements, numbers that survive the text, poses by quaternion."""

from collections.abc import Mapping, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import numpy as np
from scipy.spatial.transform import Rotation

SDF_VERSION = "1.9"  # the newest that Fortress reads, and the first with poses by quaternion


def numbers(values: float | Sequence[float] | np.ndarray) -> str:
    """Numbers as text, each the shortest that reads back as the same double."""
    return " ".join(repr(float(value) + 0.0) for value in np.ravel(values))  # + 0.0: no "-0.0"


Content = str | bool | float | Sequence[float] | np.ndarray | Mapping[str, "Content"] | None


def add(parent: Element, tag: str, content: Content = None, **attributes: str) -> Element:
    """A new child element; its content is a name, a bool, numbers, or {tag: content} of children of its own."""
    element = SubElement(parent, tag, attributes)
    if isinstance(content, Mapping):
        for child, inside in content.items():
            add(element, child, inside)
    elif isinstance(content, bool):
        element.text = str(content).lower()
    elif isinstance(content, (str, int)):
        element.text = str(content)
    elif content is not None:
        element.text = numbers(content)
    return element


def add_pose(
    parent: Element, rotation: np.ndarray, translation: np.ndarray, **attributes: str
) -> None:
    """A <pose>; as quaternion, for roll, pitch and yaw lose half the digits near a pitch of 90 degrees."""
    quaternion = Rotation.from_matrix(rotation).as_quat()
    add(
        parent,
        "pose",
        np.concatenate([translation, quaternion]),
        rotation_format="quat_xyzw",
        **attributes,
    )


def document(*children: Element) -> str:
    """An SDF document with these children."""
    root = Element("sdf", {"version": SDF_VERSION})
    root.extend(children)
    return xml_text(root)


def xml_text(root: Element) -> str:
    """An XML document, indented."""
    indent(root)
    return f'<?xml version="1.0"?>\n{tostring(root, encoding="unicode")}\n'
