# SPDX-License-Identifier: Apache-2.0
"""Points on the collision shapes of a link: enough of them to find where it touches the ground."""

from itertools import product
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from ..gazebo.meshes import find_mesh
from ..model.rotations import from_rpy
from ..reading import read_regular

__all__ = ["collision_points"]

LARGEST_MESH = 1 << 28  # [bytes]
CIRCLE = np.linspace(0.0, 2.0 * np.pi, 12, endpoint=False)


def collision_points(link: Element, folder: Path | None) -> NDArray[np.float64]:
    """Points (p, 3) of a link's collision shapes in its axes [m]; none for meshes that are missing or of other formats.

    A sphere is its six poles, a cylinder two rims, a box its corners, a mesh (STL or OBJ) its vertices.

    Args:
        link: the URDF's <link>.
        folder: where the URDF lies.
    """
    found = [np.zeros((0, 3))]
    for collision in link.findall("collision"):
        geometry = collision.find("geometry")
        shape = next(iter(geometry), None) if geometry is not None else None
        points = np.zeros((0, 3)) if shape is None else _points(shape, folder)
        origin = collision.find("origin")
        at = {} if origin is None else origin.attrib
        found.append(points @ from_rpy(_row(at.get("rpy"))).T + _row(at.get("xyz")))
    return np.vstack(found)


def _points(shape: Element, folder: Path | None) -> NDArray[np.float64]:
    number = {key: float(shape.get(key, "0")) for key in ("radius", "length")}
    if shape.tag == "box":
        return 0.5 * _row(shape.get("size")) * np.array(list(product((-1, 1), repeat=3)))
    if shape.tag == "sphere":
        return number["radius"] * np.vstack([np.eye(3), -np.eye(3)])
    if shape.tag == "cylinder":
        rim = number["radius"] * np.column_stack([np.cos(CIRCLE), np.sin(CIRCLE), 0.0 * CIRCLE])
        return np.vstack([rim + [0.0, 0.0, z * number["length"]] for z in (-0.5, 0.5)])
    path = find_mesh(shape.get("filename", ""), folder) if shape.tag == "mesh" else None
    scale = _row(shape.get("scale", "1 1 1"))
    return np.zeros((0, 3)) if path is None else scale * _vertices(path)


def _vertices(path: Path) -> NDArray[np.float64]:
    """Vertices (p, 3) of an STL or OBJ file; none of another or a broken one."""
    try:
        data = read_regular(path, LARGEST_MESH)
        if path.suffix.lower() == ".obj":
            return _after(data, b"v ")
        if path.suffix.lower() != ".stl":
            return np.zeros((0, 3))
        count = int.from_bytes(data[80:84], "little")
        if (
            len(data) == 84 + 50 * count
        ):  # binary: 12 numbers and two bytes a triangle, the normal first
            facets = np.frombuffer(data[84:], dtype=[("xyz", "<f4", 12), ("rest", "<u2")])
            return facets["xyz"].reshape(-1, 4, 3)[:, 1:].reshape(-1, 3).astype(float)
        return _after(data, b"vertex ")
    except (OSError, ValueError):
        return np.zeros((0, 3))


def _after(data: bytes, word: bytes) -> NDArray[np.float64]:
    """Three numbers of every line that begins with a word."""
    lines = (line.strip() for line in data.splitlines())
    rows = [line[len(word) :].split()[:3] for line in lines if line.startswith(word)]
    return np.array(rows, dtype=float).reshape(-1, 3)


def _row(text: str | None) -> NDArray[np.float64]:
    return np.array((text or "0 0 0").split(), dtype=float)
