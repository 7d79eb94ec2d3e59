# SPDX-License-Identifier: Apache-2.0
"""What overlays draw, as numbers: ellipsoids, singular directions, support polygon, centre of pressure, colours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..control.contacts import Contact
from ..control.tasks import ControlTask
from ..dynamics import center_of_mass, entries, frame_pose
from ..dynamics.functions import call, run
from ..model import Model
from ..model.rotations import from_quaternion, quaternion_conjugate, quaternion_product

__all__ = [
    "belted_ellipsoid",
    "body_poses",
    "centre_of_pressure",
    "colour_of",
    "cone",
    "convex_hull",
    "limit_share",
    "lost_wrenches",
    "manipulability",
    "ring",
    "sole_corners",
    "task_pose",
]

SINGULAR = 0.05  # a direction whose response is this share of the largest counts as nearly lost


def body_poses(model: Model, q: np.ndarray) -> np.ndarray:
    """(bodies, 12) where all bodies are, by one pass over the robot: rotation by rows and position [m]."""
    tree, poses = (
        run(model, entries.at_configuration, (q,), ""),
        np.empty((len(model.body_names), 12)),
    )
    for name, pose in zip(model.body_names, poses):
        call(entries.frame_pose, model.frame_index(name), pose, tree.address)
    return poses


def task_pose(model: Model, q: np.ndarray, task: ControlTask) -> tuple[np.ndarray, np.ndarray]:
    """Position (3,) [m] and quaternion xyzw (4,) of what a task moves, in the axes that it is relative to."""
    if not task.moved_frame:
        return center_of_mass(model, q), np.array([0.0, 0.0, 0.0, 1.0])
    position, turn = frame_pose(model, q, task.moved_frame)
    if not task.reference_frame:
        return position, turn
    origin, axes = frame_pose(model, q, task.reference_frame)
    relative = from_quaternion(axes).T @ (position - origin)
    return relative, quaternion_product(quaternion_conjugate(axes), turn)


def belted_ellipsoid(inertia_inv: np.ndarray, directions: np.ndarray, largest: float) -> np.ndarray:
    """Points (n, 3) of the effective mass in every direction u, r = 1 / (u^T Lambda_v^-1 u) [Khatib1995].

    Args:
        inertia_inv: Lambda_v^-1 (3, 3) of a point [1/kg].
        directions: (n, 3) of length one.
        largest: Masses are drawn as no larger than this [kg].
    """
    response = np.einsum("ni,ij,nj->n", directions, inertia_inv, directions)
    return directions * (1.0 / np.maximum(response, 1.0 / largest))[:, None]


def manipulability(jacobian: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Points (n, 3) of the ellipsoid of velocities J v with |v| = 1, for directions (n, 3) of length one."""
    values, axes = np.linalg.eigh(jacobian @ jacobian.T)
    root = axes @ np.diag(np.sqrt(np.maximum(values, 0.0))) @ axes.T
    return directions @ root


def lost_wrenches(inertia_inv: np.ndarray, selection: np.ndarray) -> np.ndarray:
    """Forces and moments (n, 2, 3) to which a damped task hardly gives way, the least of all at least.

    Eigenvectors of Lambda^-1, its rows measured in their own response, so that metres and radians compare. The lengths
    of a force and its moment are their shares of the eigenvector, their directions those that bear the robot.

    Args:
        inertia_inv: Lambda^-1 of the task's rows (k, k).
        selection: The rows in world axes (k, 6).
    """
    unit = 1.0 / np.sqrt(np.maximum(np.diag(inertia_inv), 1e-12))
    values, axes = np.linalg.eigh(inertia_inv * np.outer(unit, unit))
    is_lost = values < SINGULAR * values[-1]
    is_lost[0] = True
    shares = (selection.T @ axes[:, is_lost]).T.reshape(-1, 2, 3)
    wrenches = (selection.T @ (unit[:, None] * axes[:, is_lost])).T.reshape(-1, 2, 3)
    sizes = np.linalg.norm(wrenches, axis=2, keepdims=True)
    lengths = np.linalg.norm(shares, axis=2, keepdims=True)
    found: np.ndarray = wrenches / np.maximum(sizes, 1e-12) * lengths
    return found


def ring(axis: np.ndarray, radius: float, sides: int = 24) -> np.ndarray:
    """Line segments (sides, 2, 3) of a circle about an axis (3,)."""
    along = axis / np.linalg.norm(axis)
    across = np.cross(along, np.eye(3)[np.argmin(np.abs(along))])
    across /= np.linalg.norm(across)
    angles = np.linspace(0.0, 2.0 * np.pi, sides + 1)[:, None]
    rim = radius * (np.cos(angles) * across + np.sin(angles) * np.cross(along, across))
    return np.stack([rim[:-1], rim[1:]], axis=1)


def sole_corners(model: Model, q: np.ndarray, contacts: Sequence[Contact]) -> np.ndarray:
    """Corners (n, 3) of all soles that carry, and points that do [m]."""
    corners = [np.zeros((0, 3))]
    for contact in contacts:
        if contact.enabled:
            position, quaternion = frame_pose(model, q, contact.held_frame)
            if contact.rows == "pose":
                x, y = (contact.front, -contact.back), (contact.left, -contact.right)
                own = np.array([[a, b, 0.0] for a in x for b in y])
            else:
                own = np.zeros((1, 3))
            corners.append(own @ from_quaternion(quaternion).T + position)
    return np.concatenate(corners)


def convex_hull(points: np.ndarray) -> np.ndarray:
    """The corners (k, 2) of the convex hull of points (n, 2), counter-clockwise (Andrew's monotone chain)."""
    ordered = sorted(map(tuple, points))
    if len(ordered) < 3:
        return np.array(ordered).reshape(-1, 2)

    def half(run: Sequence[tuple[float, ...]]) -> list[tuple[float, ...]]:
        hull: list[tuple[float, ...]] = []
        for p in run:
            while len(hull) > 1 and _turn(hull[-2], hull[-1], p) <= 0.0:
                hull.pop()
            hull.append(p)
        return hull[:-1]

    return np.array(half(ordered) + half(ordered[::-1]))


def _turn(a: Sequence[float], b: Sequence[float], c: Sequence[float]) -> float:
    """Positive where a, b, c turn to the left."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def centre_of_pressure(
    points: np.ndarray, wrenches: np.ndarray, height: float
) -> np.ndarray | None:
    """The point (3,) of the ground about which wrenches (n, 6) at points (n, 3) have no moment in the ground.

    None while nothing is carried.
    """
    force = wrenches[:, :3].sum(axis=0)
    moment = (wrenches[:, 3:] + np.cross(points, wrenches[:, :3])).sum(axis=0)
    if force[2] < 1.0:
        return None
    x = (height * force[0] - moment[1]) / force[2]
    y = (height * force[1] + moment[0]) / force[2]
    return np.array([x, y, height])


def cone(friction: float, height: float, sides: int = 24) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and faces of a friction cone that opens along z from the origin."""
    angle = np.linspace(0.0, 2.0 * np.pi, sides, endpoint=False)
    rim = height * np.stack(
        [friction * np.cos(angle), friction * np.sin(angle), np.ones(sides)], axis=1
    )
    vertices = np.concatenate([np.zeros((1, 3)), rim])
    faces = [[0, 1 + i, 1 + (i + 1) % sides] for i in range(sides)]
    return vertices.astype(np.float32), np.array(faces, np.uint32)


def limit_share(model: Model, positions: np.ndarray) -> np.ndarray:
    """(k,) how near joints are to their limits: 0 in the middle or without limits, 1 at one of them."""
    lower, upper = model.position_limits.T
    is_bounded = np.isfinite(upper - lower) & (upper > lower)
    middle = np.where(is_bounded, 0.5 * (lower + upper), 0.0)
    half = np.where(is_bounded, 0.5 * (upper - lower), 1.0)
    return np.where(is_bounded, np.abs(positions - middle) / half, 0.0)


def colour_of(share: float) -> tuple[int, int, int]:
    """Green at 0, yellow at a half, red at 1 and beyond."""
    share = float(np.clip(share, 0.0, 1.0))
    stops = np.array([[60, 170, 90], [245, 200, 60], [215, 45, 45]], float)
    at = 2.0 * share
    i = min(int(at), 1)
    red, green, blue = stops[i] + (at - i) * (stops[i + 1] - stops[i])
    return round(red), round(green), round(blue)
