# SPDX-License-Identifier: Apache-2.0
"""RJK in link coordinates on a real robot: frames by the rule of Denavit and Hartenberg, on a tree.

A link's frame has its z axis on its joint and is free to turn about and slide along it. That freedom is spent on one
child: its joint is then reached by two axial screws (x, then z); every other child needs a third, about the link's own
z ([Featherstone2010] appendix B). Two axes have a common normal, so three always do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...errors import MethodError
from ...model import JointType, Model
from ...model.connectivity import children, subtree
from ...model.joints import planar_axes
from ...model.placements import body_placements
from ...model.rotations import skew
from ...osim.need import need_table
from . import rjk_counted
from .screws import Link, Screw

_STILL = Link(())


@dataclass(frozen=True)
class LinkFrames:
    """A robot at q as figure 14 wants it.

    Attributes:
        rotation, position: (N, 3, 3), (N, 3) the links' frames in the world, z on the joint's axis.
        links: The screws from each link to its parent, two or three; none for roots.
        M: (N, 6, 6) spatial inertias in link coordinates, angular first.
        floats: Whether the roots move freely; else they are revolute.
    """

    parent: np.ndarray
    rotation: np.ndarray
    position: np.ndarray
    links: tuple[Link, ...]
    M: np.ndarray
    floats: bool


def link_frames(model: Model, q: ArrayLike) -> LinkFrames:
    """Place the frames; of a link's children the one with the largest subtree is reached by two screws.

    Raises:
        MethodError: The robot has other joints than revolute ones and floating bases, mimic joints, or armature.
    """
    is_root = np.asarray(model.parent) < 0
    floats = bool((np.asarray(model.joint_type)[is_root] == JointType.FLOATING).all())
    inner = np.asarray(model.joint_type)[~is_root if floats else slice(None)]
    if model.is_mimic.any() or (inner != JointType.REVOLUTE).any() or model.armature.any():
        raise MethodError(
            f"figure 14 in link coordinates needs revolute joints without armature or mimic tags, "
            f"and may have a floating base ({model.name})"
        )
    R, p = body_placements(model, model.check_configuration(q))
    for k, axis in enumerate(model.axis):
        if not (is_root[k] and floats):
            R[k] = R[k] @ planar_axes(axis)
    for k in range(len(R)):
        chosen = _largest_child(model.parent, k)
        if chosen is not None:
            own = three_screws(R[k].T @ R[chosen], R[k].T @ (p[chosen] - p[k])).screws[2]
            turn, shift = own.pose
            R[k], p[k] = R[k] @ turn, p[k] + R[k] @ shift
    links = tuple(_link(model.parent, k, R, p) for k in range(len(R)))
    return LinkFrames(np.asarray(model.parent), R, p, links, _inertias(model, q, R, p), floats)


def rjk_in_link_coordinates(frames: LinkFrames, bodies: Sequence[int]) -> np.ndarray:
    """Lambda^-1 (6 k, 6 k) of the spatial velocities of bodies, each in its own link coordinates, angular first."""
    d_inv, tau, P = rjk_counted.articulated(frames.parent, frames.links, frames.M)
    roots = np.zeros_like(P)
    for i in np.flatnonzero(frames.parent < 0):
        roots[i] = (
            np.linalg.inv(P[i]) if frames.floats else rjk_counted.add_d_inv(roots[i], d_inv[i])
        )
    need = need_table(frames.parent, bodies)
    Omega = rjk_counted.omega(frames.parent, frames.links, need, roots, d_inv, tau)
    return np.block([[Omega[i, j] for j in bodies] for i in bodies])


def three_screws(R: np.ndarray, p: np.ndarray) -> Link:
    """Any pose as Z(theta_1, d_1) X(alpha, a) Z(theta_2, d_2), by the common normal of the two z axes."""
    sine = math.hypot(R[0, 2], R[1, 2])
    alpha = math.atan2(sine, R[2, 2])
    theta_1 = math.atan2(R[0, 2], -R[1, 2]) if sine > 1e-9 else math.atan2(p[1], p[0])
    normal = np.array([math.cos(theta_1), math.sin(theta_1), 0.0])
    across = np.array([-math.sin(theta_1), math.cos(theta_1), 0.0])
    theta_2 = math.atan2(-(R[:, 1] @ normal), R[:, 0] @ normal)
    d_2 = -(p @ across) / sine if sine > 1e-9 else 0.0
    d_1 = p[2] - d_2 * R[2, 2]
    return Link((Screw(2, theta_2, d_2), Screw(0, alpha, p @ normal), Screw(2, theta_1, d_1)))


def _link(parent: np.ndarray, k: int, R: np.ndarray, p: np.ndarray) -> Link:
    """The screws from link k to its parent: two where the parent's frame was placed for k."""
    i = parent[k]
    if i < 0:
        return _STILL
    pose = R[i].T @ R[k], R[i].T @ (p[k] - p[i])
    return two_screws(*pose) if _largest_child(parent, i) == k else three_screws(*pose)


def two_screws(R: np.ndarray, p: np.ndarray) -> Link:
    """A pose as X(alpha, a) Z(theta, d), where the parent's x is the common normal already."""
    alpha = math.atan2(-R[1, 2], R[2, 2])
    d = p[2] * math.cos(alpha) - p[1] * math.sin(alpha)
    return Link((Screw(2, math.atan2(-R[0, 1], R[0, 0]), d), Screw(0, alpha, p[0])))


def _largest_child(parent: np.ndarray, k: int) -> int | None:
    """The child with the largest subtree, the first of equals; None of a tip."""
    below = children(parent, k)
    return max(below, key=lambda child: len(subtree(parent, child))) if below else None


def _inertias(model: Model, q: ArrayLike, R: np.ndarray, p: np.ndarray) -> np.ndarray:
    """M(k) about the origin of the link's frame, in its axes."""
    body, origin = body_placements(model, model.check_configuration(q))
    M = np.zeros((len(R), 6, 6))
    for k, m in enumerate(model.mass):
        turn = R[k].T @ body[k]
        c = skew(R[k].T @ (origin[k] + body[k] @ model.com[k] - p[k]))
        M[k] = np.block(
            [[turn @ model.inertia[k] @ turn.T - m * c @ c, m * c], [-m * c, m * np.eye(3)]]
        )
    return M
