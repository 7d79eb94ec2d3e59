# SPDX-License-Identifier: Apache-2.0
"""Rigid-body dynamics in dense 3-D vector algebra, the long way: what the recursions are compared with.

Poses come from multiplying transforms, accelerations from the rules for rotating axes, and forces from Kane's
equations, tau = sum_b J_b^T (forces of inertia - gravity - external forces). No spatial vectors, no recursion
over forces, and nothing from opspace_ctrl but the arrays of the model.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.linalg import norm
from scipy.spatial.transform import Rotation

from opspace_ctrl.model import JointType

EPS = np.finfo(float).eps
SIZE = {
    JointType.REVOLUTE: 1,
    JointType.PRISMATIC: 1,
    JointType.PLANAR: 3,
    JointType.FLOATING: 6,
    JointType.SPHERICAL: 3,
}


def assert_close(actual, expected, scale, tolerance: float = 1e-12) -> None:
    """The largest difference is at most `tolerance` of `scale` (a number, or an array like `expected`)."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape
    error = np.max(np.abs(actual - expected) / np.maximum(scale, 1e-300), initial=0.0)
    assert error <= tolerance, f"off by {error:.2e} of its scale, more than {tolerance:.2e}"


def derived_tolerance(H: np.ndarray) -> float:
    """What is lost in solving with H: max(1e-12, 50 eps cond H)."""
    return max(1e-12, 50.0 * EPS * np.linalg.cond(H)) if H.size else 1e-12


class Reference:
    """A model at q and v; n free coordinates, one for each freedom of each joint, mimic followers included.

    Attributes:
        G: (n, nv) free velocities from v.
        R, p: (N, 3, 3), (N, 3) body poses in the world.
        J_free: (N, 6, n) of body origins (linear, angular; world axes) from the free velocities.
        omega, alpha, acceleration: (N, 3) angular velocity, and accelerations while dv/dt = 0.
    """

    def __init__(self, model, q, v=None):
        self.model, count = model, len(model.parent)
        v = np.zeros(model.nv) if v is None else v
        sizes = [SIZE[kind] for kind in model.joint_type]
        first = np.cumsum([0, *sizes])
        self.G = np.zeros((first[-1], model.nv))
        for b, at in enumerate(model.v_index):
            for k in range(sizes[b]):
                self.G[first[b] + k, at + k] = model.multiplier[b]
        self.R, self.p = np.zeros((count, 3, 3)), np.zeros((count, 3))
        self.J_free = np.zeros((count, 6, first[-1]))
        self.omega, self.alpha, self.acceleration = np.zeros((3, count, 3))
        rates = self.G @ v
        for b in range(count):
            self._add_body(b, q, slice(first[b], first[b + 1]), rates[first[b] : first[b + 1]])

    def _add_body(self, b, q, mine, rate):
        """Body b from its parent; its joint moves it by U v and W v, linear and angular in its own axes."""
        model, parent = self.model, self.model.parent[b]
        R_p, p_p, J_p, omega, alpha, acceleration = self._of(parent)
        R_j, p_j, U, W = _joint(model, b, q)
        rotation, translation = model.placement_rotation[b], model.placement_translation[b]
        r = R_p @ (translation + rotation @ p_j)
        self.R[b], self.p[b] = R_p @ rotation @ R_j, p_p + r
        self.J_free[b] = _moved(J_p, r)
        self.J_free[b, :3, mine] += self.R[b] @ U
        self.J_free[b, 3:, mine] += self.R[b] @ W
        u, w = self.R[b] @ U @ rate, self.R[b] @ W @ rate
        self.omega[b] = omega + w
        self.alpha[b] = alpha + skew(omega) @ w
        self.acceleration[b] = (
            acceleration
            + skew(alpha) @ r
            + skew(omega) @ skew(omega) @ r
            + 2.0 * skew(omega) @ u
            + skew(w) @ u
        )

    def _of(self, b):
        """Pose, J_free and motion of body b; of the world for -1."""
        if b < 0:
            return np.eye(3), np.zeros(3), np.zeros(self.J_free.shape[1:]), *np.zeros((3, 3))
        return (
            self.R[b],
            self.p[b],
            self.J_free[b],
            self.omega[b],
            self.alpha[b],
            self.acceleration[b],
        )

    def point(self, b, offset):
        """Position (3,), J (6, nv) and bias acceleration (6,) of a point fixed to body b, `offset` in its axes."""
        R, p, J, omega, alpha, acceleration = self._of(b)
        r = R @ offset
        linear = acceleration + skew(alpha) @ r + skew(omega) @ skew(omega) @ r
        return p + r, _moved(J, r) @ self.G, np.concatenate([linear, alpha])

    def frame(self, name):
        """Orientation (3, 3), position (3,), J (6, nv) and bias acceleration (6,) of a frame."""
        f = self.model.frame_names.index(name)
        b = self.model.frame_body[f]
        return self._of(b)[0] @ self.model.frame_rotation[f], *self.point(
            b, self.model.frame_translation[f]
        )

    @cached_property
    def _inertias(self):
        """Mass, centre, its J and bias acceleration, and the world inertia about it, body by body."""
        bodies = enumerate(zip(self.model.mass, self.model.com, self.model.inertia))
        return [
            (b, m, *self.point(b, c), self.R[b] @ inertia @ self.R[b].T)
            for b, (m, c, inertia) in bodies
        ]

    def mass_matrix(self):
        """H = sum m J_c^T J_c + J_w^T I J_w + armature."""
        H = np.diag(self.model.armature)
        for _, m, _, J, _, inertia in self._inertias:
            H += m * J[:3].T @ J[:3] + J[3:].T @ inertia @ J[3:]
        return H

    def mass_matrix_scale(self):
        """Size (nv, nv) of the terms H is summed from when spatial vectors are taken at each tree's root body."""
        root = list(range(len(self.model.parent)))
        squares = self.model.armature.copy()
        for b, m, c, J, _, inertia in self._inertias:
            if self.model.parent[b] >= 0:
                root[b] = root[self.model.parent[b]]
            linear, angular = norm(J[:3], axis=0), norm(J[3:], axis=0)
            squares += m * (linear + angular * norm(c - self.p[root[b]])) ** 2 + angular**2 * norm(
                inertia, 2
            )
        return np.sqrt(np.outer(squares, squares))

    def inverse_dynamics(self, a=None, external=None):
        """tau (nv,) and the size of the largest term it is summed from."""
        a = np.zeros(self.model.nv) if a is None else a
        terms = [self.model.armature * a]
        for b, m, _, J, bias, inertia in self._inertias:
            motion, omega = J @ a + bias, self.omega[b]
            terms.append(J[:3].T @ (m * (motion[:3] - self.model.gravity)))
            terms.append(J[3:].T @ (inertia @ motion[3:] + skew(omega) @ inertia @ omega))
        terms += [-self.frame(name)[2].T @ wrench for name, wrench in (external or {}).items()]
        return np.sum(terms, axis=0), np.abs(terms).max(initial=0.0)

    def center_of_mass(self):
        """Position (3,), J (3, nv) and bias acceleration (3,) of the centre of the moving mass."""
        parts = [(m * p, m * J[:3], m * bias[:3]) for _, m, p, J, bias, _ in self._inertias]
        return tuple(np.sum(part, axis=0) / self.model.mass.sum() for part in zip(*parts))

    def energies(self, v):
        """Kinetic and potential energy [J]."""
        kinetic = self.model.armature @ v**2 / 2.0
        potential = 0.0
        for b, m, p, J, _, inertia in self._inertias:
            velocity = J[:3] @ v
            kinetic += m * velocity @ velocity / 2.0 + self.omega[b] @ inertia @ self.omega[b] / 2.0
            potential -= m * self.model.gravity @ p
        return kinetic, potential


def skew(a):
    """The matrix of a x."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def _moved(J, r):
    """J of a point r further on."""
    return np.vstack([J[:3] + skew(r).T @ J[3:], J[3:]])


def _joint(model, b, q):
    """Pose of body b in its joint frame, and its velocity from the joint's: U linear, W angular, in body axes."""
    kind, axis, at = model.joint_type[b], model.axis[b], model.q_index[b]
    none = np.zeros((3, 1))
    position = model.multiplier[b] * q[at] + model.offset[b]
    if kind == JointType.REVOLUTE:
        return Rotation.from_rotvec(position * axis).as_matrix(), np.zeros(3), none, axis[:, None]
    if kind == JointType.PRISMATIC:
        return np.eye(3), position * axis, axis[:, None], none
    if kind == JointType.PLANAR:
        x, y = in_plane(axis)
        R = Rotation.from_rotvec(q[at + 2] * axis).as_matrix()
        return (
            R,
            q[at] * x + q[at + 1] * y,
            np.stack([x, y, 0 * x], 1),
            np.stack([0 * x, 0 * x, axis], 1),
        )
    if kind == JointType.SPHERICAL:
        return (
            Rotation.from_quat(q[at : at + 4]).as_matrix(),
            np.zeros(3),
            np.zeros((3, 3)),
            np.eye(3),
        )
    U, W = np.hstack([np.eye(3), np.zeros((3, 3))]), np.hstack([np.zeros((3, 3)), np.eye(3)])
    return Rotation.from_quat(q[at + 3 : at + 7]).as_matrix(), q[at : at + 3], U, W


def in_plane(normal):
    """Where the shortest rotation from e_z to the normal takes e_x and e_y."""
    turn = np.cross([0.0, 0.0, 1.0], normal)
    sine = np.linalg.norm(turn)
    if sine == 0.0:
        # any; about x by half a turn for the normal -e_z
        turn, sine = (np.array([1.0, 0.0, 0.0]), 1.0)
    rotation = Rotation.from_rotvec(
        np.arctan2(np.hypot(normal[0], normal[1]), normal[2]) * turn / sine
    )
    return rotation.apply([1.0, 0.0, 0.0]), rotation.apply([0.0, 1.0, 0.0])
