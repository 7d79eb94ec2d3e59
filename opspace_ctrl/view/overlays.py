# SPDX-License-Identifier: Apache-2.0
"""What is drawn over the robot on demand: ellipsoids, singular directions, balance, contact forces, joints' loads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..control.settings import ControllerSettings
from ..dynamics import center_of_mass, frame_jacobian, frame_pose
from ..model import Model
from ..model.joints import NV
from ..model.rotations import from_quaternion
from ..osim import OperationalSpace
from ..sim.joint_index import position_index
from . import geometry
from .scene import RobotScene, wxyz

__all__ = ["Overlays"]

SIZE = 0.22  # [m] from the centre of an ellipsoid to its furthest point
LARGEST_MASS = 100.0  # [kg] that is drawn
# in heights of the centre of mass above the floor: the arrow of a force that is the robot's weight, and a friction cone
WEIGHT, CONE = 1.5, 0.25
LEAST_HEIGHT = 0.05  # [m]
LINE, RING = 0.25, 0.12  # [m] of a singular direction, and of one about which nothing turns
SMALL = 0.2  # share of a lost direction that is not drawn
BEFORE_TASKS = 2  # levels of a row before those of tasks: bias and limits
PAINTS = ("own colours", "distance to limits", "torque share")


class Overlays:
    """The overlays of one robot, each with a box in the panel.

    Args:
        server: viser's.
        model, settings: The robot and its controller.
        robot: In the scene.
        ground: Height of the floor [m].
    """

    def __init__(
        self,
        server: Any,
        model: Model,
        settings: ControllerSettings,
        robot: RobotScene,
        ground: float,
    ):
        self._scene, self._model, self._settings = server.scene, model, settings
        self._robot, self._ground = robot, ground
        self._tasks = [task for task in settings.tasks if task.moved_frame]
        self._spaces = {
            task.name: OperationalSpace(model, [(task.moved_frame, "position")], "dense")
            for task in self._tasks
        }
        self._own = {task.name: OperationalSpace(model, [task.task()]) for task in self._tasks}
        self._level_of = {
            settings.tasks[i].name: BEFORE_TASKS + number
            for number, level in enumerate(settings.levels())
            for i in level
        }
        self._sphere = _sphere()
        self._places = position_index(model, of_all=False)
        self._nodes: dict[str, Any] = {}
        self._is_on: dict[str, bool] = {}
        self._paint = PAINTS[0]
        self._height = (
            0.0  # of the centre of mass above the floor, when the first force is drawn [m]
        )
        self._add_boxes(server.gui)

    def _add_boxes(self, gui: Any) -> None:
        boxes: dict[str, Callable[..., None]] = {
            "inertia (belted ellipsoid)": self._inertia,
            "manipulability": self._manipulability,
            "singular directions": self._singular,
        }
        if self._model.gravity.any():
            boxes["centre of mass"] = self._balance
        if self._settings.contacts:
            boxes["contact forces"] = self._forces
        self._drawn = boxes
        on = {"singular directions", "contact forces"}
        if self._settings.contacts:
            on.add("centre of mass")
        for title in boxes:
            box = gui.add_checkbox(title, title in on)
            self._is_on[title] = title in on
            box.on_update(lambda _, box=box, title=title: self._switch(title, box.value))
        paint = gui.add_dropdown("paint joints by", PAINTS)
        paint.on_update(lambda _: self._repaint(paint.value))

    def _switch(self, title: str, is_on: bool) -> None:
        self._is_on[title] = is_on
        if not is_on:
            for name, node in self._nodes.items():
                if name.startswith(title):
                    node.visible = False

    def _repaint(self, kind: str) -> None:
        self._paint = kind
        if kind == PAINTS[0]:
            self._robot.paint(None)

    def show(self, row: np.void) -> None:
        """Draw those that are on."""
        for title, draw in self._drawn.items():
            if self._is_on[title]:
                draw(title, row)
        if self._paint != PAINTS[0]:
            self._robot.paint(self._loads(row))

    # ---- each of them ----

    def _inertia(self, title: str, row: np.void) -> None:
        directions, faces = self._sphere
        for task in self._tasks:
            position, _ = frame_pose(self._model, row["q"], task.moved_frame)
            inverse = self._spaces[task.name].update(row["q"]).inertia_inv
            points = geometry.belted_ellipsoid(inverse, directions, LARGEST_MASS)
            masses = np.linalg.norm(points, axis=1)
            self._blob(f"{title}/{task.name}", position, points, faces, (240, 150, 40))
            text = f"{masses.min():.1f} to {masses.max():.1f} kg"
            self._label(f"{title}/{task.name}/mass", position, text)

    def _manipulability(self, title: str, row: np.void) -> None:
        directions, faces = self._sphere
        for task in self._tasks:
            position, _ = frame_pose(self._model, row["q"], task.moved_frame)
            jacobian = frame_jacobian(self._model, row["q"], task.moved_frame)[:3]
            points = geometry.manipulability(jacobian, directions)
            self._blob(f"{title}/{task.name}", position, points, faces, (60, 160, 220))

    def _singular(self, title: str, row: np.void) -> None:
        """Red lines along what the tasks of a damped level have nearly lost, and rings about lost turns."""
        lines = [np.zeros((0, 2, 3))]
        for task in self._tasks:
            if not row["damped"][self._level_of[task.name]]:
                continue
            position, _ = frame_pose(self._model, row["q"], task.moved_frame)
            inverse = self._own[task.name].update(row["q"]).inertia_inv
            lost = geometry.lost_wrenches(inverse, task.task().selection())
            if task.reference_frame:
                _, turn = frame_pose(self._model, row["q"], task.reference_frame)
                lost = lost @ from_quaternion(turn).T
            for force, moment in lost:
                if np.linalg.norm(force) > SMALL:
                    lines.append(position + LINE * np.array([[-force, force]]))
                if np.linalg.norm(moment) > SMALL:
                    radius = RING * float(np.linalg.norm(moment))
                    lines.append(position + geometry.ring(moment, radius))
        self._lines(title, np.concatenate(lines), (220, 30, 30))

    def _balance(self, title: str, row: np.void) -> None:
        model, contacts = self._model, self._settings.contacts
        com = center_of_mass(model, row["q"])
        below = np.array([com[0], com[1], self._ground])
        self._ball(f"{title}/com", com, 0.03, (250, 190, 40))
        self._lines(f"{title}/plumb", np.array([[com, below]]), (180, 140, 40), 0.003)
        if not contacts:
            return
        hull = geometry.convex_hull(geometry.sole_corners(model, row["q"], contacts)[:, :2])
        if len(hull) > 2:
            lifted = np.column_stack([hull, np.full(len(hull), self._ground + 0.002)])
            edges = np.stack([lifted, np.roll(lifted, -1, axis=0)], axis=1)
            self._lines(f"{title}/polygon", edges, (40, 140, 90), 0.006)
        points = np.array([frame_pose(model, row["q"], each.held_frame)[0] for each in contacts])
        centre = geometry.centre_of_pressure(points, row["wrench"], self._ground)
        if centre is not None:
            self._ball(f"{title}/pressure", centre, 0.018, (200, 40, 160))

    def _forces(self, title: str, row: np.void) -> None:
        if not self._height:
            high = center_of_mass(self._model, row["q"])[2] - self._ground
            self._height = max(float(high), LEAST_HEIGHT)
        weight = self._model.total_mass * max(float(np.linalg.norm(self._model.gravity)), 1.0)
        scale = WEIGHT * self._height / weight
        arrows = []
        for contact, wrench in zip(self._settings.contacts, row["wrench"]):
            position, quaternion = frame_pose(self._model, row["q"], contact.held_frame)
            arrows.append([position, position + scale * wrench[:3]])
            name = f"{title}/cone/{contact.name}"
            if name not in self._nodes:
                vertices, faces = geometry.cone(contact.friction, CONE * self._height)
                self._nodes[name] = self._scene.add_mesh_simple(
                    f"/overlays/{name}",
                    vertices,
                    faces,
                    color=(60, 170, 110),
                    opacity=0.25,
                    side="double",
                    cast_shadow=False,
                )
            node = self._nodes[name]
            node.position, node.wxyz, node.visible = position, wxyz(quaternion), True
        name = f"{title}/arrows"
        if name not in self._nodes:
            self._nodes[name] = self._scene.add_arrows(
                f"/overlays/{name}",
                np.array(arrows, np.float32),
                np.array([30, 130, 80], np.uint8),
                shaft_radius=0.012 * self._height,
                head_radius=0.03 * self._height,
                head_length=0.07 * self._height,
            )
        self._nodes[name].points = np.array(arrows, np.float32)
        self._nodes[name].visible = True

    def _loads(self, row: np.void) -> dict[int, tuple[int, int, int]]:
        """The colour of every body that a joint moves."""
        model = self._model
        if self._paint == PAINTS[1]:
            shares = geometry.limit_share(model, row["q"][self._places])
        else:
            limits = np.where(np.isfinite(model.effort_limits), model.effort_limits, np.inf)
            shares = np.abs(row["effort"]) / np.maximum(limits, 1e-9)
        base = int(model.is_base_coordinate.sum())
        colours = {}
        for body, kind in enumerate(model.joint_type):
            at = model.v_index[body] - base
            if at >= 0:
                colours[body] = geometry.colour_of(float(np.max(shares[at : at + NV[kind]])))
        return colours

    # ---- drawing ----

    def _label(self, name: str, position: np.ndarray, text: str) -> None:
        if name not in self._nodes:
            self._nodes[name] = self._scene.add_label(f"/texts/{name}", text)
        node = self._nodes[name]
        node.position, node.visible = position + [0.0, 0.0, SIZE], True
        if node.text != text:
            node.text = text

    def _blob(self, name: str, position: Any, points: Any, faces: Any, colour: Any) -> None:
        points = points * (SIZE / max(float(np.linalg.norm(points, axis=1).max()), 1e-9))
        if name not in self._nodes:
            self._nodes[name] = self._scene.add_mesh_simple(
                f"/overlays/{name}",
                points.astype(np.float32),
                faces,
                color=colour,
                opacity=0.35,
                cast_shadow=False,
                receive_shadow=False,
            )
        node = self._nodes[name]
        node.position, node.vertices, node.visible = position, points.astype(np.float32), True

    def _ball(self, name: str, position: Any, radius: float, colour: Any) -> None:
        if name not in self._nodes:
            self._nodes[name] = self._scene.add_icosphere(
                f"/overlays/{name}", radius=radius, color=colour
            )
        self._nodes[name].position, self._nodes[name].visible = position, True

    def _lines(self, name: str, ends: np.ndarray, colour: Any, thickness: float = 0.01) -> None:
        if name not in self._nodes:
            self._nodes[name] = self._scene.add_line_segments(
                f"/overlays/{name}",
                np.zeros((1, 2, 3), np.float32),
                np.array(colour, np.uint8),
                thickness=thickness,
            )
        node = self._nodes[name]
        node.visible = bool(len(ends))
        if len(ends):
            node.points = ends.astype(np.float32)


def _sphere() -> tuple[np.ndarray, np.ndarray]:
    """Directions (n, 3) of length one, and triangles between them."""
    from trimesh import creation

    ball = creation.icosphere(subdivisions=3, radius=1.0)
    return np.asarray(ball.vertices), np.asarray(ball.faces, np.uint32)
