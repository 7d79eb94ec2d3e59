# SPDX-License-Identifier: Apache-2.0
"""Links with their own poses and velocities, and the hinges between them: non-minimal coordinates, 6 a link."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ...dynamics import frame_pose, frame_velocity
from ...dynamics.dual import held_bases
from ...errors import MethodError
from ...model import Model
from ...model.joints import NV, motion_subspace
from ...model.rotations import from_quaternion, skew

Wrenches: TypeAlias = Iterable[tuple[int, np.ndarray]]


@dataclass(frozen=True)
class LinkState:
    """The pose and the velocity of every link, each for itself.

    Attributes:
        rotation, position: (N, 3, 3), (N, 3) pose of each link's frame in the world.
        velocity: (N, 6) angular, then that of the link's origin; world axes.
    """

    rotation: np.ndarray
    position: np.ndarray
    velocity: np.ndarray


@dataclass(frozen=True)
class LinkTree:
    """A tree of links at one state; spatial vectors angular first, world axes, at the origin of the robot's base link.

    Attributes:
        order: The links from the base outward; parent: (N,) of each, -1 for a base.
        H: For each link (6, d): the motion of its hinge, outward; of a base the identity.
        M: (N, 6, 6) spatial inertias.
        V, a, b: (N, 6) velocities, hinge accelerations (Coriolis) and body forces (gyroscopic less weight).
        armature: For each link (d, d).
        T: For each link (d,): hinge forces; of a base the spatial force on it.
        coordinates: For each link the slice of v that moves it.
        offset: (N, 3) each link's origin from that of its base.
    """

    order: list[int]
    parent: np.ndarray
    H: list[np.ndarray]
    M: np.ndarray
    V: np.ndarray
    a: np.ndarray
    b: np.ndarray
    armature: list[np.ndarray]
    T: list[np.ndarray]
    coordinates: list[slice]
    offset: np.ndarray


def link_state(model: Model, q: ArrayLike, v: ArrayLike) -> LinkState:
    """The links' poses and velocities (6 N numbers each) of a configuration and velocity."""
    poses = [frame_pose(model, q, name) for name in model.body_names]
    velocity = np.array([frame_velocity(model, q, v, name) for name in model.body_names])
    return LinkState(
        np.array([from_quaternion(quaternion) for _, quaternion in poses]),
        np.array([position for position, _ in poses]),
        np.roll(velocity, 3, axis=1),
    )


def link_tree(model: Model, state: LinkState, tau: ArrayLike, external: Wrenches = ()) -> LinkTree:
    """Hinges, inertias and biases from the links' own poses: q and v do not appear.

    Args:
        model, state, tau: The robot, its links, and the hinge forces (nv,).
        external: (number of a frame, force and torque (6,) on it), world axes, at the frame's origin.

    Raises:
        MethodError: The robot does not float freely, or has mimic joints.
    """
    lacking = held_bases(model) + (["mimic joints"] if model.is_mimic.any() else [])
    if lacking:
        raise MethodError(f"links by themselves cannot carry {' or '.join(lacking)} ({model.name})")
    tau, N = model.check_velocity(tau, "tau"), len(model.parent)
    sizes = np.array(NV)[model.joint_type]
    where = [slice(v, v + d) for v, d in zip(model.v_index, sizes)]
    base = np.arange(N)
    for k, p in enumerate(model.parent):
        base[k] = k if p < 0 else base[p]
    offset = state.position - state.position[base]
    hinges = [moved(h, r) for h, r in zip(_hinges(model, state), offset)]
    M = np.array([_inertia(model, state, k, offset[k]) for k in range(N)])
    V = np.array([moved(x, r) for x, r in zip(state.velocity, offset)])
    before = np.vstack([V, np.zeros(6)])[model.parent]
    b = [-cross(x).T @ m @ x - m @ np.append(np.zeros(3), model.gravity) for x, m in zip(V, M)]
    for frame, wrench in external:
        k = int(model.frame_body[frame])
        r = offset[k] + state.rotation[k] @ model.frame_translation[frame]
        b[k] -= np.append(wrench[3:] + np.cross(r, wrench[:3]), wrench[:3])
    return LinkTree(
        order=list(range(N)),
        parent=model.parent.copy(),
        M=M,
        V=V,
        offset=offset,
        coordinates=where,
        H=[np.eye(6) if p < 0 else h for p, h in zip(model.parent, hinges)],
        a=np.array([cross(x) @ y for x, y in zip(before, V)]),
        b=np.array(b),
        armature=[np.diag(model.armature[s]) for s in where],
        T=[h @ tau[s] if p < 0 else tau[s] for p, h, s in zip(model.parent, hinges, where)],
    )


def cross(V: np.ndarray) -> np.ndarray:
    """The matrix (6, 6) of V x for motions, angular first."""
    return np.block([[skew(V[:3]), np.zeros((3, 3))], [skew(V[3:]), skew(V[:3])]])


def moved(motion: np.ndarray, r: np.ndarray) -> np.ndarray:
    """Motions at a point, seen at the origin it is r away from: v_O = v_p + r x w."""
    return np.concatenate([motion[:3], motion[3:] + skew(r) @ motion[:3]])


def _hinges(model: Model, state: LinkState) -> list[np.ndarray]:
    """H* (6, d) of each hinge at its link's origin: the axes are fixed in the outer link."""
    subspaces = [motion_subspace(kind, axis) for kind, axis in zip(model.joint_type, model.axis)]
    return [np.vstack([R @ S[:3], R @ S[3:]]) for S, R in zip(subspaces, state.rotation)]


def _inertia(model: Model, state: LinkState, k: int, offset: np.ndarray) -> np.ndarray:
    """M(k) (6, 6) at the base's origin."""
    R, m = state.rotation[k], model.mass[k]
    c = skew(offset + R @ model.com[k])
    return np.block([[R @ model.inertia[k] @ R.T - m * c @ c, m * c], [-m * c, m * np.eye(3)]])
