# SPDX-License-Identifier: Apache-2.0
"""The link-by-link numbers the operators are made of, in world axes at each body's origin, angular rows first."""

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ...dynamics.clusters import hangs_on, wide_clusters
from ...errors import MethodError, SingularInertiaError
from ...model import Model
from ...model.joints import NV, motion_subspace
from ...model.placements import body_placements
from . import sweeps


def cross_matrix(a: np.ndarray) -> np.ndarray:
    """The matrices (..., 3, 3) of a x, for vectors a (..., 3)."""
    a = np.asarray(a, float)
    matrix = np.zeros((*a.shape, 3))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        matrix[..., k, j], matrix[..., j, k] = a[..., i], -a[..., i]
    return matrix


def transition(l: np.ndarray) -> np.ndarray:
    """phi(i, j) = [1, l x; 0, 1] for the vector l (..., 3) [m] from O_i to O_j ([Rodriguez1992] (3))."""
    phi = np.zeros((*np.shape(l)[:-1], 6, 6))
    phi[..., range(6), range(6)] = 1.0
    phi[..., :3, 3:] = cross_matrix(l)
    return phi


def square_roots(blocks: np.ndarray) -> np.ndarray:
    """The symmetric square roots (N, 6, 6) of positive semi-definite blocks; what rounding made negative is zero."""
    values, vectors = np.linalg.eigh(blocks)
    roots = np.sqrt(np.maximum(values, 0.0))
    return (vectors * roots[:, None, :]) @ vectors.transpose(0, 2, 1)


class Quantities:
    """A model at q, body by body; what needs the Riccati recursion is computed when first asked for.

    Bodies that mimic joints tie together are the members of a cluster (`dynamics.clusters`): all hang on the body below
    it, and H*(k) is their motion from there. Unless other joints are between them: then everything is as the URDF has
    it, and the Riccati recursion refuses.

    Attributes:
        parent, dofs: (N,) lambda (or what its cluster hangs on) and the number of freedoms of each body's joint.
        clusters: the members of each, one body each without mimic joints, in the order of the first ones.
        rows: (N, 6) coordinate of each freedom in v; unused entries are nv.
        R, p: (N, 3, 3), (N, 3) body axes and origins O_k in the world.
        phi: (N, 6, 6) phi(parent, k); zero where the parent is the world.
        axes: (N, 6, 6) H*(k): V(k) = phi* V(parent) + H*(k) v(k), columns beyond dofs[k] zero.
        M: (N, 6, 6) spatial inertia about O_k.
        armature: (nv,).
    """

    def __init__(self, model: Model, q: ArrayLike):
        self.model, self.wide = model, wide_clusters(model)
        self.parent = np.array(
            model.parent if self.wide else hangs_on(model.parent, model.v_index), dtype=np.int64
        )
        first = np.unique(model.v_index, return_index=True)[1]
        self.clusters = [np.flatnonzero(model.v_index == model.v_index[k]) for k in np.sort(first)]
        self.has_clusters = len(self.clusters) < len(self.parent)
        self.dofs = np.array([NV[kind] for kind in model.joint_type], dtype=np.int64)
        steps = np.arange(6)
        self.rows = np.where(steps < self.dofs[:, None], model.v_index[:, None] + steps, model.nv)
        self.R, self.p = body_placements(model, model.check_configuration(q))
        carried = self.parent >= 0
        self.phi = transition(self.p - np.where(carried[:, None], self.p[self.parent], 0.0))
        self.phi[~carried] = 0.0
        self.axes = np.zeros((len(self.parent), 6, 6))
        for k, (kind, axis) in enumerate(zip(model.joint_type, model.axis)):
            S = model.multiplier[k] * motion_subspace(kind, axis)
            self.axes[k, :3, : self.dofs[k]] = self.R[k] @ S[:3]
            self.axes[k, 3:, : self.dofs[k]] = self.R[k] @ S[3:]
            p = model.parent[k]
            if self.parent[k] != p:  # a member that hangs on another
                self.axes[k] += transition(self.p[k] - self.p[p]).T @ self.axes[p]
        self.M = _spatial_inertias(model, self.R)
        self.armature = np.array(model.armature)

    @cached_property
    def r(self) -> np.ndarray:
        """(N, 6, 6) composite inertias, (31)."""
        r = self.M.copy()
        sweeps.composite(self.parent, self.phi, r)
        return r

    @cached_property
    def _riccati(self) -> tuple[np.ndarray, ...]:
        if self.wide:
            raise MethodError(
                f"the articulated operators (P, D, G, psi ...) cannot carry {self.wide[0]}; "
                "H, phi, Phi, M, r, A, B, E_phi and J can"
            )
        P, armature = self.M.copy(), np.append(self.armature, 0.0)[self.rows]
        D, D_inverse, G, P_plus = (np.zeros_like(P) for _ in range(4))
        with np.errstate(all="ignore"):
            if self.has_clusters:
                self._cluster_riccati(armature, P, D, D_inverse, G)
            else:
                sweeps.articulated(
                    self.parent,
                    self.phi,
                    self.axes,
                    self.dofs,
                    armature,
                    P,
                    D,
                    D_inverse,
                    G,
                    P_plus,
                )
        sound = np.isfinite(D_inverse).all((1, 2)) & (np.diagonal(D_inverse, 0, 1, 2) >= 0.0).all(1)
        if not sound.all():
            name = self.model.body_joint_names[int(np.flatnonzero(~sound)[-1])]
            raise SingularInertiaError(
                f"D of joint {name} is not positive: it moves no inertia here"
            )
        return P, D, D_inverse, G, P_plus

    def _cluster_riccati(self, armature, P, D, D_inverse, G) -> None:
        """(34)-(37) by cluster: D = sum H P H* + armature, P(parent) += sum phi P phi* - K D K*, K = sum phi G."""
        for own in reversed(self.clusters):
            k, phi, axes = own[0], self.phi[own], self.axes[own]
            U, d = P[own] @ axes, self.dofs[k]
            D[k] = np.einsum("nji,njk->ik", axes, U) + np.diag(armature[k])
            D_inverse[k, :d, :d] = np.linalg.inv(D[k, :d, :d])
            G[own] = U @ D_inverse[k]
            if self.parent[k] >= 0:
                K = (phi @ G[own]).sum(axis=0)
                added = (phi @ P[own] @ phi.transpose(0, 2, 1)).sum(axis=0) - K @ D[k] @ K.T
                P[self.parent[k]] += (added + added.T) / 2.0

    @property
    def P(self) -> np.ndarray:
        """(N, 6, 6) articulated-body inertias, (35)."""
        return self._riccati[0]

    @property
    def D(self) -> np.ndarray:
        """(N, 6, 6) H P H* + armature in the leading dofs x dofs block, zero elsewhere; of a cluster at its first."""
        return self._riccati[1]

    @property
    def D_inverse(self) -> np.ndarray:
        """(N, 6, 6) D^-1, laid out as D."""
        return self._riccati[2]

    @cached_property
    def D_root(self) -> np.ndarray:
        """(N, 6, 6) D^1/2, laid out as D."""
        return square_roots(self.D)

    @property
    def G(self) -> np.ndarray:
        """(N, 6, 6) Kalman gains P H* D^-1, columns beyond dofs[k] zero."""
        return self._riccati[3]

    @property
    def P_plus(self) -> np.ndarray:
        """(N, 6, 6) P+ = (1 - G H) P = P - G D G*: P seen from the other side of the joint. Not with clusters."""
        return self._riccati[4]

    @cached_property
    def taubar(self) -> np.ndarray:
        """(N, 6, 6) 1 - G H. Not with clusters."""
        return np.eye(6) - self.G @ self.axes.transpose(0, 2, 1)

    @cached_property
    def psi(self) -> np.ndarray:
        """(N, 6, 6) psi(parent, k) = phi(parent, k) (1 - G(k) H(k)), (39); of a cluster phi(parent, k) - K H(k)."""
        if not self.has_clusters:
            return self.phi @ self.taubar
        K = self.phi @ self.G
        for own in self.clusters:
            K[own] = K[own].sum(axis=0)
        return self.phi - K @ self.axes.transpose(0, 2, 1)

    @cached_property
    def Upsilon(self) -> np.ndarray:
        """(N, 6, 6) inverse operational-space inertia of every body, (4.7) of [Jain1995]."""
        D_inverse = self.D_inverse.copy()
        for own in self.clusters:
            D_inverse[own] = D_inverse[own[0]]
        Y = self.axes @ D_inverse @ self.axes.transpose(0, 2, 1)
        sweeps.dual_composite(self.parent, self.psi, Y)
        return (Y + Y.transpose(0, 2, 1)) / 2.0


def bias_terms(
    quantities: Quantities, joint_velocities: np.ndarray, gravity: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The velocity terms of the equations of motion ([Rodriguez1992] (8), (11); [Jain1995] (2.1), (2.2)).

    They are a(k) and b(k) of alpha = phi* (H* vdot + a), f = phi (M alpha + b), in world axes at O_k,

        a(k) = [w(k) x w_J; w(p) x (v(k) - v(p)) + w(k) x v_J],  b(k) = [w x J w; m w x (w x p)]

    with w_J, v_J the motion H*(k) v(k) in the joint; H* turns with the body, hence w(k) x, which for prismatic
    joints is the extra term of the errata of the papers.

    Args:
        joint_velocities: H* v (6N,).
        gravity: add the upward acceleration -g to a of the root bodies.

    Returns:
        a, b: (6N,).
    """
    parent, M = quantities.model.parent, quantities.M
    own = np.reshape(joint_velocities, (-1, 6)).copy()
    V = own[:, :, None].copy()
    sweeps.outward(quantities.parent, quantities.phi, V)
    tied = np.flatnonzero(
        parent != quantities.parent
    )  # members that hang on others of their cluster
    steps = transition(quantities.p[tied] - quantities.p[parent[tied]]).transpose(0, 2, 1)
    for k, step in zip(tied[::-1], steps[::-1]):
        own[k] -= step @ own[parent[k]]
    w, v = V[:, :3, 0], V[:, 3:, 0]
    carried = (parent >= 0)[:, None]
    w_p, v_p = np.where(carried, w[parent], 0.0), np.where(carried, v[parent], 0.0)
    a = np.hstack([np.cross(w, own[:, :3]), np.cross(w_p, v - v_p) + np.cross(w, own[:, 3:])])
    for k, step in zip(tied, steps):
        a[k] += step @ a[parent[k]]
    if gravity:
        a[quantities.parent < 0, 3:] -= quantities.model.gravity
    spin = np.einsum("kij,kj->ki", M[:, :3, :3], w)
    # M's lower left block is -m p x, so that times w it is m w x p
    mass_times_w_cross_p = np.einsum("kij,kj->ki", M[:, 3:, :3], w)
    b = np.hstack([np.cross(w, spin), np.cross(w, mass_times_w_cross_p)])
    return a.ravel(), b.ravel()


def _spatial_inertias(model: Model, R: np.ndarray) -> np.ndarray:
    """M = [J, m p x; -m p x, m 1] about O_k, J = R I R^T + m (p.p 1 - p p^T), p = R com ([Rodriguez1992] (2))."""
    p = np.einsum("kij,kj->ki", R, model.com)
    arm = cross_matrix(p)
    m = model.mass[:, None, None]
    M = np.zeros((len(R), 6, 6))
    J = R @ model.inertia @ R.transpose(0, 2, 1) - m * (arm @ arm)
    M[:, :3, :3] = (
        J + J.transpose(0, 2, 1)
    ) / 2.0  # to the last bit, which all that is computed from M keeps
    M[:, :3, 3:], M[:, 3:, :3] = m * arm, -m * arm
    M[:, 3:, 3:] = m * np.eye(3)
    return M
