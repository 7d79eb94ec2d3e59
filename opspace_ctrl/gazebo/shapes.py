# SPDX-License-Identifier: Apache-2.0
"""The visuals and collisions of a URDF as SDF, on the bodies that carry their links."""

from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from ..errors import GazeboError, quoted
from ..model.rotations import from_rpy
from .meshes import find_mesh
from .xml import add, add_pose

# The shapes that SDF calls as URDF does: their sizes, and what URDF takes where one is missing.
_ROUND = {"radius": "1", "length": "1"}
SIZES = {
    "box": {"size": "1 1 1"},
    "sphere": {"radius": "1"},
    "cylinder": _ROUND,
    "capsule": _ROUND,
}


class Shapes:
    """The shapes of a URDF document.

    Attributes:
        missing: meshes that were not found, in order; their shapes are left out.
    """

    def __init__(self, robot: Element, folder: Path | None) -> None:
        self._links = {link.get("name", "").strip(): link for link in robot.findall("link")}
        self._colours = {
            material.get("name"): colour
            for material in robot.iter("material")
            if (colour := _colour(material)) is not None
        }
        self._folder = folder
        self.missing: list[str] = []

    def add_to(
        self, body: Element, link: str, rotation: np.ndarray, translation: np.ndarray
    ) -> None:
        """Add the visuals and collisions of a link that sits at this pose in the body's axes."""
        for tag in ("visual", "collision"):
            for count, shape in enumerate(self._links[link].findall(tag)):
                try:
                    self._add_shape(body, shape, f"{link}_{tag}_{count}", rotation, translation)
                except ValueError as error:
                    raise GazeboError(f"link {quoted(link)}, <{tag}>: {error}") from None

    def _add_shape(
        self,
        body: Element,
        shape: Element,
        name: str,
        rotation: np.ndarray,
        translation: np.ndarray,
    ) -> None:
        geometry = self._geometry(shape.find("geometry"))
        if geometry is None:
            return
        R, p = _origin(shape)
        element = add(body, shape.tag, name=name)
        add_pose(element, rotation @ R, translation + rotation @ p)
        element.append(geometry)
        if shape.tag == "visual":
            self._add_material(element, shape.find("material"))

    def _geometry(self, geometry: Element | None) -> Element | None:
        """The SDF <geometry>, None for a shape that is unknown or whose mesh is missing."""
        out = Element("geometry")
        shape = next(iter(geometry), None) if geometry is not None else None
        if shape is None:
            return None
        if shape.tag in SIZES:
            sizes = {
                key: _numbers(shape.get(key, default), len(default.split()))
                for key, default in SIZES[shape.tag].items()
            }
            add(out, shape.tag, sizes)
        elif shape.tag == "mesh":
            name = shape.get("filename", "").strip()
            path = find_mesh(name, self._folder)
            if path is None:
                self.missing += [name] if name not in self.missing else []
                return None
            mesh = add(out, "mesh", {"uri": path.as_uri()})
            if shape.get("scale"):
                add(mesh, "scale", _numbers(shape.get("scale", ""), 3))
        else:
            return None
        return out

    def _add_material(self, visual: Element, material: Element | None) -> None:
        if material is None:
            return
        own = _colour(material)
        colour = own if own is not None else self._colours.get(material.get("name"))
        if colour is not None:
            add(visual, "material", {"ambient": colour, "diffuse": colour})


def _origin(shape: Element) -> tuple[np.ndarray, np.ndarray]:
    origin = shape.find("origin")
    if origin is None:
        return np.eye(3), np.zeros(3)
    return from_rpy(_numbers(origin.get("rpy", "0 0 0"), 3)), _numbers(
        origin.get("xyz", "0 0 0"), 3
    )


def _colour(material: Element) -> np.ndarray | None:
    colour = material.find("color")
    return None if colour is None else _numbers(colour.get("rgba", "0.5 0.5 0.5 1"), 4)


def _numbers(text: str, count: int) -> np.ndarray:
    values = np.array(text.split(), dtype=float)
    if len(values) != count:
        raise ValueError(f"{quoted(text)} has {len(values)} numbers, not {count}")
    return values
