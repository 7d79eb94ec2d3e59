# SPDX-License-Identifier: Apache-2.0
"""The robot in the scene: its shapes on moving bodies, the ground, frames, and the trails of tasks."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from ..dynamics import frame_pose
from ..model import Model
from ..model.rotations import from_quaternion, to_quaternion
from .geometry import body_poses
from .shapes import Shape

__all__ = ["COLOURS", "RobotScene", "Trail", "wxyz"]

COLOURS = ((230, 110, 30), (30, 120, 200), (50, 160, 80), (170, 70, 180), (200, 60, 60))
STILL = 5e-5  # [m, -] a pose that has changed by less, far below a pixel, is not sent again
AXES = 0.12  # [m]
TRAIL = 400  # points
FADED = 0.35  # opacity of a robot that is seen through
VIEW = np.array([0.75, -0.6, 0.28])  # where the camera is, seen from the robot
DISTANCE = 1.9  # of the camera, in sizes of the robot
FIELD = 0.8  # [rad] that it sees from top to bottom


def wxyz(quaternion: np.ndarray) -> np.ndarray:
    """viser's order of a quaternion x y z w."""
    return np.roll(quaternion, 1)


class RobotScene:
    """A robot as nodes of a scene, one a body, each below the one that carries it: a hinge that turns is one message.

    Args:
        server: viser's.
        model: The robot.
        shapes: What is drawn of it.

    Attributes:
        meshes: The parts of each body that are drawn.
        positions: (bodies, 3) where they were shown last [m].
    """

    def __init__(self, server: Any, model: Model, shapes: Iterable[Shape]):
        self._scene, self._model = server.scene, model
        self.meshes: dict[int, list[Any]] = {}
        self._body_of: dict[str, int] = {}
        self._colours: dict[int, list[tuple[int, ...]]] = {}
        self._opacities: dict[str, float | None] = {}
        self._nodes = {-1: self._frame("/robot")}
        for body, name in enumerate(model.body_names):
            carrier = self._nodes[int(model.parent[body])]
            self._nodes[body] = self._frame(f"{carrier.name}/{body}_{_safe(name)}")
        count = len(model.body_names)
        self.positions = np.full((count, 3), np.nan)
        self._carriers = np.asarray(model.parent) + 1  # of bodies, in a list that the world leads
        self._sent = np.full((count, 3), np.nan), np.full((count, 4), np.nan)
        self._draw(shapes)

    def _frame(self, name: str) -> Any:
        return self._scene.add_frame(
            name, show_axes=False, axes_length=AXES, axes_radius=0.05 * AXES
        )

    def _draw(self, shapes: Iterable[Shape]) -> None:
        def key(shape: Shape) -> Any:
            return shape.body, shape.colour, shape.is_smooth

        parts = groupby(sorted(shapes, key=key), key)
        for number, ((body, colour, is_smooth), several) in enumerate(parts):
            vertices, faces = _joined(several)
            mesh = self._scene.add_mesh_simple(
                f"{self._nodes[body].name}/part{number}",
                vertices,
                faces,
                color=_bytes(colour),
                opacity=None if colour[3] >= 1.0 else colour[3],
                flat_shading=not is_smooth,
                side="double",
            )
            self._body_of[mesh.name] = body
            self._opacities[mesh.name] = mesh.opacity
            self.meshes.setdefault(body, []).append(mesh)
            self._colours.setdefault(body, []).append(_bytes(colour))

    def show(self, q: np.ndarray) -> None:
        """Place every body that has moved against the one that carries it."""
        poses = body_poses(self._model, q)
        rotations, self.positions = poses[:, :9].reshape(-1, 3, 3), poses[:, 9:]
        carrying = np.concatenate([np.eye(3)[None], rotations])[self._carriers]
        origins = np.concatenate([np.zeros((1, 3)), self.positions])[self._carriers]
        places = np.einsum("nji,nj->ni", carrying, self.positions - origins)
        turned = Rotation.from_matrix(np.einsum("nji,njk->nik", carrying, rotations))
        turns = np.roll(turned.as_quat(), 1, axis=1)
        for name, sent, wanted in zip(("position", "wxyz"), self._sent, (places, turns)):
            is_still = np.abs(wanted - sent).max(axis=1) < STILL
            for body in np.flatnonzero(~is_still).tolist():
                sent[body] = wanted[body]
                setattr(self._nodes[body], name, wanted[body])

    def show_frames(self, is_shown: bool) -> None:
        """Draw the axes of every body, or not."""
        for node in self._nodes.values():
            node.show_axes = is_shown

    def fade(self, is_faded: bool) -> None:
        """Let what is inside the robot be seen, or not."""
        for meshes in self.meshes.values():
            for mesh in meshes:
                own = self._opacities[mesh.name]
                mesh.opacity = min(FADED, own or 1.0) if is_faded else own

    def paint(self, colours: Mapping[int, tuple[int, int, int]] | None) -> None:
        """Give bodies colours, or, where there is none, their own."""
        for body, meshes in self.meshes.items():
            for mesh, own in zip(meshes, self._colours[body]):
                wanted = own if colours is None else colours.get(body, own)
                if tuple(mesh.color) != wanted:
                    mesh.color = wanted

    def body_at(self, mesh: Any) -> int:
        """The body that a part belongs to."""
        return self._body_of[mesh.name]


class Trail:
    """Where a task's frame has been."""

    def __init__(self, server: Any, name: str, colour: tuple[int, int, int]):
        self._points: deque[np.ndarray] = deque(maxlen=TRAIL)
        self._colour, self._drawn = np.array(colour), 0
        self._node = server.scene.add_line_segments(
            name, np.zeros((1, 2, 3), np.float32), np.zeros((1, 2, 3), np.uint8), thickness=0.004
        )

    def add(self, positions: np.ndarray) -> None:
        """Go on through positions (n, 3) [m]; those that hardly differ are left out."""
        for position in positions:
            if not self._points or np.linalg.norm(position - self._points[-1]) > 2e-3:
                self._points.append(position)
                self._drawn = 0

    def draw(self) -> None:
        """Show what has been added, the past paler."""
        if self._drawn or len(self._points) < 2:
            return
        points = np.array(self._points, np.float32)
        share = np.linspace(0.25, 1.0, len(points))[:, None]
        colours = (share * self._colour + (1.0 - share) * 235).astype(np.uint8)
        self._node.points = np.stack([points[:-1], points[1:]], axis=1)
        self._node.colors = np.stack([colours[:-1], colours[1:]], axis=1)
        self._drawn = 1

    def clear(self) -> None:
        """Forget it."""
        self._points.clear()
        self._node.points = np.zeros((1, 2, 3), np.float32)
        self._node.colors = np.zeros((1, 2, 3), np.uint8)

    def show(self, is_shown: bool) -> None:
        """Draw it, or not."""
        self._node.visible = is_shown


def add_ground(server: Any, model: Model, height: float) -> Any:
    """A floor where there is gravity; None for a robot in space."""
    if not model.gravity.any():
        return None
    return server.scene.add_grid(
        "/ground",
        infinite_grid=True,
        cell_size=0.1,
        section_size=0.5,
        cell_color=(222, 226, 230),
        section_color=(190, 196, 204),
        fade_distance=12.0,
        shadow_opacity=0.25,
        position=(0.0, 0.0, height),
    )


def ghost(server: Any, name: str, model: Model, frame: str, shapes: Iterable[Shape]) -> list[Any]:
    """The shapes of a frame's body below a node that stands for the frame, transparent."""
    number = model.frame_index(frame)
    body, R, p = (
        int(model.frame_body[number]),
        model.frame_rotation[number],
        model.frame_translation[number],
    )
    own = [shape for shape in shapes if shape.body == body]
    if not own:
        return []
    vertices, faces = _joined(own)
    moved = ((vertices - p) @ R).astype(np.float32)
    return [
        server.scene.add_mesh_simple(
            f"{name}/ghost",
            moved,
            faces,
            color=(70, 150, 230),
            opacity=0.28,
            side="double",
            cast_shadow=False,
            receive_shadow=False,
        )
    ]


def extent(model: Model, q: np.ndarray, shapes: Iterable[Shape]) -> tuple[np.ndarray, np.ndarray]:
    """The corners (3,) of the box that a robot fills [m]."""
    corners = [np.zeros((1, 3))]
    for shape in shapes:
        box = np.array([shape.vertices.min(axis=0), shape.vertices.max(axis=0)])
        points = np.array([[box[i, 0], box[j, 1], box[k, 2]] for i, j, k in np.ndindex(2, 2, 2)])
        if shape.body >= 0:
            position, quaternion = frame_pose(model, q, model.body_names[shape.body])
            points = points @ from_quaternion(quaternion).T + position
        corners.append(points)
    found = np.concatenate(corners[1:] or corners)
    return found.min(axis=0), found.max(axis=0)


def look_at_robots(server: Any, boxes: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
    """Put the camera where all of some boxes (corners (3,), (3,) [m]) is seen, from the front and a little above."""
    low = np.min([box[0] for box in boxes], axis=0)
    high = np.max([box[1] for box in boxes], axis=0)
    centre, size = 0.5 * (low + high), float(np.linalg.norm(high - low))
    server.initial_camera.look_at = tuple(centre)
    server.initial_camera.fov = FIELD
    server.initial_camera.position = tuple(centre + DISTANCE * size * VIEW)


def add_lights(server: Any) -> None:
    """Light from all sides and a sun, for viser's own light is a picture that would have to be fetched."""
    scene = server.scene
    scene.configure_environment_map(hdri=None)
    scene.configure_default_lights(enabled=True, cast_shadow=True)
    scene.add_light_hemisphere(
        "/lights/sky", sky_color=(255, 255, 255), ground_color=(150, 150, 160), intensity=2.4
    )


def rotation_wxyz(pose: np.ndarray) -> np.ndarray:
    """The quaternion of a pose (12,): rotation by rows (zeros for a point) and position."""
    rotation = pose[:9].reshape(3, 3)
    return wxyz(to_quaternion(rotation)) if rotation.any() else np.array([1.0, 0.0, 0.0, 0.0])


def _joined(shapes: Iterable[Shape]) -> tuple[np.ndarray, np.ndarray]:
    vertices, faces, at = [], [], 0
    for shape in shapes:
        vertices.append(shape.vertices)
        faces.append(shape.faces + at)
        at += len(shape.vertices)
    return np.concatenate(vertices).astype(np.float32), np.concatenate(faces).astype(np.uint32)


def _bytes(colour: Iterable[float]) -> tuple[int, int, int]:
    red, green, blue = (round(255 * min(max(each, 0.0), 1.0)) for each in list(colour)[:3])
    return red, green, blue


def _safe(name: str) -> str:
    """A name without what means something in the path of a node."""
    return "".join(each if each.isalnum() or each in "_-" else "_" for each in name)
