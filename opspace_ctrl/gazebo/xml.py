"""Small helpers to write SDF: elements, numbers that survive the text, poses by quaternion."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import numpy as np
from scipy.spatial.transform import Rotation

__all__ = ["SDF_VERSION", "add", "add_pose", "document", "numbers", "xml_text"]

SDF_VERSION = "1.9"  # the newest that Fortress reads, and the first with poses by quaternion


def numbers(values: float | Sequence[float] | np.ndarray) -> str:
    """Numbers as text, each the shortest that reads back as the same double."""
    return " ".join(repr(float(value) + 0.0) for value in np.ravel(values))  # + 0.0: no "-0.0"


def add(
    parent: Element,
    tag: str,
    text: str | bool | float | Sequence[float] | np.ndarray | None = None,
    **attributes: str,
) -> Element:
    """A new child element; its text is a name, a bool, or numbers."""
    element = SubElement(parent, tag, attributes)
    if isinstance(text, bool):
        element.text = str(text).lower()
    elif isinstance(text, (str, int)):
        element.text = str(text)
    elif text is not None:
        element.text = numbers(text)
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
