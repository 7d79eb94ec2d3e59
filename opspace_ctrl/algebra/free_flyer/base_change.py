# SPDX-License-Identifier: Apache-2.0
"""Any link as base ([Jain1995], appendix A): new velocity coordinates, the same robot."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ...dynamics import frame_jacobian
from ...dynamics.dual import held_bases
from ...errors import MethodError
from ...model import Model
from ...model.configuration import check_vector
from ...model.rotations import skew
from .link_tree import LinkTree


def base_change(model: Model, q: ArrayLike, link: str) -> np.ndarray:
    """T (nv, nv) with v = T v_k: v_k has the velocity of `link` (linear first, world axes) in place of the base's.

    The mass matrix becomes M_k = T^T H T, forces T^T tau ((A.1)-(A.6)).

    Raises:
        MethodError: The model is not one freely floating robot.
        UnknownFrameError: There is no such link.
    """
    _check_one_flyer(model)
    J = frame_jacobian(model, q, link)
    T = np.eye(model.nv)
    T[:6, :6] = np.linalg.inv(J[:, :6])
    T[:6, 6:] = -T[:6, :6] @ J[:, 6:]
    return T


def base_point_change(model: Model, point: ArrayLike) -> np.ndarray:
    """T (nv, nv) with v = T v': v' has the base's linear velocity at another point of the root link.

    The fictitious joint of a mobile base may be anywhere on it ([Rodriguez1992] VIII): H' = T^T H T, forces T^T tau,
    and every factorization holds with O(N+1) there.

    Args:
        point: (3,) from the root link's origin, in its axes [m].

    Raises:
        MethodError: The model is not one freely floating robot.
    """
    _check_one_flyer(model)
    T = np.eye(model.nv)
    T[:3, 3:6] = skew(check_vector(point, 3, "point of the base"))
    return T


def reroot(tree: LinkTree, link: int) -> LinkTree:
    """Make `link` the base of the same links: hinges on the way to the old base turn round, H becomes -H ((A.10)).

    Hinge k keeps its number: it now belongs to the link that was its parent. T of the new base is the old base's
    force; the old base's hinge is the reversed one towards `link`.
    """
    path = [link]
    while tree.parent[path[-1]] >= 0:
        path.append(int(tree.parent[path[-1]]))
    parent, H, a, T = tree.parent.copy(), list(tree.H), tree.a.copy(), list(tree.T)
    armature, where = list(tree.armature), list(tree.coordinates)
    for inner, outer in zip(path[1:], path[:-1]):
        parent[inner] = outer
        H[inner], a[inner], T[inner] = -tree.H[outer], -tree.a[outer], tree.T[outer]
        armature[inner], where[inner] = tree.armature[outer], tree.coordinates[outer]
    base = path[-1]
    parent[link], H[link], a[link] = -1, np.eye(6), 0.0
    T[link], armature[link], where[link] = np.zeros(6), np.zeros((6, 6)), tree.coordinates[base]
    b = tree.b.copy()
    b[base] -= tree.T[base]  # a force on the old base is now an external one
    return replace(
        tree,
        order=_outward(parent),
        parent=parent,
        H=H,
        a=a,
        b=b,
        T=T,
        armature=armature,
        coordinates=where,
    )


def composite_mass_matrix(tree: LinkTree) -> np.ndarray:
    """H_k phi_k M phi_k* H_k* + armature ((A.9)), by composite inertias; rows in the order of the robot's v."""
    R, size = tree.M.copy(), max(s.stop for s in tree.coordinates)
    out = np.zeros((size, size))
    for k in reversed(tree.order):
        mine, f = tree.coordinates[k], R[k] @ tree.H[k]
        out[mine, mine] = tree.H[k].T @ f + tree.armature[k]
        p = tree.parent[k]
        if p >= 0:
            R[p] += R[k]
        while p >= 0:
            out[tree.coordinates[p], mine] = tree.H[p].T @ f
            out[mine, tree.coordinates[p]] = out[tree.coordinates[p], mine].T
            p = tree.parent[p]
    return out


def _check_one_flyer(model: Model) -> None:
    lacking = held_bases(model) + (["several robots"] if np.sum(model.parent < 0) != 1 else [])
    if lacking:
        raise MethodError(f"the base cannot be changed for {' or '.join(lacking)} ({model.name})")


def _outward(parent: np.ndarray) -> list[int]:
    """The links in an order where each comes after its parent."""
    depth = np.zeros(len(parent), int)
    for k in range(len(parent)):
        p = parent[k]
        while p >= 0:
            depth[k], p = depth[k] + 1, parent[p]
    return np.argsort(depth, kind="stable").tolist()
