# SPDX-License-Identifier: Apache-2.0
"""The shapes of a robot's links as triangles: primitives, meshes, and placeholders for meshes that are missing."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from ..errors import MeshWarning, UrdfSyntaxError, quoted
from ..gazebo.meshes import find_mesh
from ..model import Model
from ..model.rotations import from_rpy
from ..model.xml_safety import parse_xml

__all__ = ["Shape", "robot_shapes"]

PLAIN = (0.62, 0.65, 0.70, 1.0)  # where the URDF gives no colour
MISSING = (0.85, 0.30, 0.75, 0.5)
PLACEHOLDER = 0.03  # [m] radius
BONE = 0.012  # [m] radius of a bone of a robot that has no shapes
MOST_FACES = 20_000  # of one shape: what is finer is thinned out
FORMATS = (".stl", ".obj", ".dae", ".ply", ".glb", ".gltf", ".off")


@dataclass(frozen=True, eq=False)
class Shape:
    """Triangles of one colour on a body.

    Attributes:
        link: The link that it belongs to.
        body: The number of the body that carries it, -1 for the world.
        vertices, faces: (n, 3) [m] in the body's axes, and (m, 3).
        colour: (4,) red, green, blue and opacity, 0 to 1.
        is_smooth: Its edges are not to be seen.
    """

    link: str
    body: int
    vertices: np.ndarray
    faces: np.ndarray
    colour: tuple[float, ...]
    is_smooth: bool


def robot_shapes(model: Model, folder: Path | None = None) -> list[Shape]:
    """What is to be drawn of a robot: visuals, of a link without any its collisions; bones if no link has either.

    A mesh that is not found or cannot be read is warned of (`MeshWarning`), and a small ball stands for it.

    Args:
        model: The robot.
        folder: Where its URDF lies.

    Raises:
        UrdfSyntaxError: A number of a shape cannot be read.
    """
    texts = (model.source,) if isinstance(model.source, str) else model.source
    robots = [parse_xml(text) for text in texts if text]
    found: list[Shape] = []
    at = 0
    for robot in robots:  # a robot's frames stand together
        names = model.frame_names[at : at + len(robot.findall("link"))]
        found += _of_robot(model, robot, names, folder)
        at += len(names)
    return found or list(_bones(model))


def _of_robot(
    model: Model, robot: Element, frames: Sequence[str], folder: Path | None
) -> Iterator[Shape]:
    colours = {
        each.get("name"): _colour(each)
        for each in robot.iter("material")
        if each.find("color") is not None
    }
    for link in robot.findall("link"):
        name = _frame_of(link.get("name", "").strip(), frames)
        shown = link.findall("visual") or link.findall("collision")
        for element in shown:
            try:
                yield from _shapes(model, name, element, colours, folder)
            except ValueError as error:
                raise UrdfSyntaxError(
                    f"link {quoted(name)}, <{element.tag}>: {quoted(str(error))}"
                ) from None


def _frame_of(link: str, frames: Sequence[str]) -> str:
    """The frame of a link, which has a prefix in a forest."""
    return min((name for name in frames if name.endswith(link)), key=len)


def _shapes(
    model: Model, link: str, element: Element, colours: dict[Any, Any], folder: Path | None
) -> Iterator[Shape]:
    """What one <visual> or <collision> is, in the axes of the link's body."""
    frame = model.frame_index(link)
    R, p = _origin(element)
    rotation = model.frame_rotation[frame] @ R
    translation = model.frame_translation[frame] + model.frame_rotation[frame] @ p
    material = element.find("material")
    given = None
    if material is not None:
        own = material.find("color")
        given = _colour(material) if own is not None else colours.get(material.get("name"))
    geometry = element.find("geometry")
    if geometry is None or len(geometry) == 0:
        return
    for mesh, colour, is_smooth in _triangles(geometry[0], link, folder):
        yield Shape(
            link,
            int(model.frame_body[frame]),
            np.asarray(mesh.vertices) @ rotation.T + translation,
            np.asarray(mesh.faces),
            tuple(given or colour or PLAIN),
            is_smooth,
        )


def _triangles(shape: Element, link: str, folder: Path | None) -> Iterator[tuple[Any, Any, bool]]:
    """(trimesh.Trimesh, its own colour or None, whether it is smooth) of a geometry."""
    from trimesh import creation

    if shape.tag == "box":
        yield creation.box(extents=_numbers(shape.get("size", "1 1 1"), 3)), None, False
    elif shape.tag == "sphere":
        yield creation.icosphere(subdivisions=3, radius=_number(shape, "radius")), None, True
    elif shape.tag == "cylinder":
        sizes = {"radius": _number(shape, "radius"), "height": _number(shape, "length")}
        yield creation.cylinder(sections=40, **sizes), None, False
    elif shape.tag == "capsule":
        sizes = {"radius": _number(shape, "radius"), "height": _number(shape, "length")}
        yield creation.capsule(**sizes), None, True
    elif shape.tag == "mesh":
        yield from _mesh(shape, link, folder)


def _mesh(shape: Element, link: str, folder: Path | None) -> Iterator[tuple[Any, Any, bool]]:
    name = shape.get("filename", "").strip()
    path = find_mesh(name, folder)
    trouble = "" if path else "there is no such file"
    if path is not None:
        try:
            scale = _numbers(shape.get("scale") or "1 1 1", 3)
            parts = list(_read(path))
            for mesh, colour in parts:
                mesh.apply_scale(scale)
                yield mesh, colour, True
            if parts:
                return
            trouble = "it holds no triangles"
        except Exception as error:  # the readers of the formats raise all kinds
            trouble = str(error) or type(error).__name__
    warnings.warn(
        MeshWarning(f"link {quoted(link)}: mesh {quoted(name)} is not shown: {quoted(trouble)}"),
        stacklevel=2,
    )
    from trimesh import creation

    yield creation.icosphere(subdivisions=2, radius=PLACEHOLDER), MISSING, True


def _read(path: Path) -> Iterator[tuple[Any, Any]]:
    """(trimesh.Trimesh, colour or None) of every part of a file, in metres and with z up as URDF has it."""
    import trimesh

    if path.suffix.lower() not in FORMATS:
        raise ValueError(f"{path.suffix or 'no suffix'} is not one of {', '.join(FORMATS)}")
    scene = trimesh.load_scene(path)
    for mesh in scene.dump():
        if not isinstance(mesh, trimesh.Trimesh) or not len(mesh.faces):
            continue
        colour = _own_colour(mesh)
        if len(mesh.faces) > MOST_FACES:
            mesh = _thinned(mesh)
        yield trimesh.Trimesh(mesh.vertices, mesh.faces, process=False), colour


def _thinned(mesh: Any) -> Any:
    """The same shape with fewer triangles: vertices of one cell of a grid become one."""
    import trimesh

    cell = float(np.max(mesh.extents)) / np.sqrt(MOST_FACES / 6.0)
    cells = np.round(mesh.vertices / cell).astype(np.int64)
    _, first, number = np.unique(cells, axis=0, return_index=True, return_inverse=True)
    faces = number.reshape(-1)[mesh.faces]
    is_flat = (faces == np.roll(faces, 1, axis=1)).any(axis=1)
    return trimesh.Trimesh(mesh.vertices[first], faces[~is_flat], process=False)


def _own_colour(mesh: Any) -> tuple[float, ...] | None:
    """The colour that a file gives a mesh; trimesh's grey stands for none."""
    if getattr(mesh.visual, "kind", None) is None:
        return None
    colour = getattr(getattr(mesh.visual, "material", None), "main_color", None)
    if colour is None:
        colour = getattr(mesh.visual, "main_color", None)
    return None if colour is None else tuple(np.asarray(colour, float)[:4] / 255.0)


def _bones(model: Model) -> Iterator[Shape]:
    """A robot that has no shapes, as its joints and what lies between them."""
    from trimesh import creation

    for body, parent in enumerate(model.parent):
        ball = creation.icosphere(subdivisions=2, radius=1.6 * BONE)
        yield Shape(model.body_names[body], body, ball.vertices, ball.faces, PLAIN, True)
        end = model.placement_translation[body]
        if np.linalg.norm(end) > 1e-3:
            bone = creation.cylinder(radius=BONE, segment=[np.zeros(3), end])
            link = model.body_names[parent] if parent >= 0 else model.frame_names[0]
            yield Shape(link, int(parent), bone.vertices, bone.faces, PLAIN, False)


def _origin(element: Element) -> tuple[np.ndarray, np.ndarray]:
    origin = element.find("origin")
    if origin is None:
        return np.eye(3), np.zeros(3)
    return (
        from_rpy(_numbers(origin.get("rpy", "0 0 0"), 3)),
        _numbers(origin.get("xyz", "0 0 0"), 3),
    )


def _colour(material: Element) -> tuple[float, ...] | None:
    colour = material.find("color")
    return None if colour is None else tuple(_numbers(colour.get("rgba", "0.5 0.5 0.5 1"), 4))


def _number(element: Element, name: str) -> float:
    return float(_numbers(element.get(name, "1"), 1)[0])


def _numbers(text: str, count: int) -> np.ndarray:
    values = np.array(text.split(), dtype=float)
    if len(values) != count or not np.isfinite(values).all():
        raise ValueError(f"{text!r} is not {count} finite numbers")
    return values
