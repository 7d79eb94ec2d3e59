# SPDX-License-Identifier: Apache-2.0
"""The filter in square-root form: factors of the articulated inertias instead of themselves ([Rodriguez1986] 12).

P = A A^T is never formed. With w = A^T H^T of one freedom, D = w.w + armature, and what the joint leaves is again a
square (Potter's update); squares of several bodies are joined by an orthogonal triangularisation:

    A+ = A - A w w^T / (D + sqrt(armature D)),      A(parent) A(parent)^T = M + sum phi A+ A+^T phi*
A difference P - G D G* loses the digits of a light link behind a heavy one; a product of factors does not, and P cannot
lose its sign. Measured by `opspace bench --accuracy`.
"""

import numpy as np
from numpy.typing import ArrayLike

from ...dynamics.dual import held_bases
from ...errors import MethodError
from ...model import Model
from ..operators import SpatialOperators


class SquareRootFilter:
    """Articulated inertias by their factors, and what is made of them.

    Attributes:
        A: (N, 6, 6) lower triangular factors, P(k) = A A^T about O_k, angular first, world axes.
        passed: (N, 6, 6) factors of P+(k), what the joint leaves.
        D: (nv,) articulated inertia about each freedom, the ones outboard of it in the same joint free.

    Raises:
        MethodError: The model has mimic joints.
    """

    def __init__(self, model: Model, q: ArrayLike):
        if model.is_mimic.any():
            raise MethodError(f"the square-root filter cannot carry mimic joints ({model.name})")
        self.model, self._q, self._operators = model, q, SpatialOperators(model, q)
        o = self._operators.quantities
        N = len(o.parent)
        self.A, self.passed = np.zeros((2, N, 6, 6))
        self.D, self._gain = np.empty(model.nv), np.empty((model.nv, 6))
        squares = [[_factor(model, o.R[k], k)] for k in range(N)]
        for k in range(N - 1, -1, -1):
            stacked = np.hstack(squares[k])
            self.A[k] = A = np.asarray(np.linalg.qr(stacked.T, mode="r")).T
            for row in reversed(range(o.dofs[k])):
                i = o.rows[k, row]
                A, self.D[i], self._gain[i] = _let_go(A, o.axes[k, :, row], model.armature[i])
            self.passed[k] = A
            if o.parent[k] >= 0:
                squares[o.parent[k]].append(o.phi[k] @ A)

    @property
    def P(self) -> np.ndarray:
        """(N, 6, 6) articulated inertias."""
        return self.A @ self.A.transpose(0, 2, 1)

    def rows(self, frame: str) -> np.ndarray:
        """Y (6, nv) of a frame's motion, linear first, world axes: J H^-1 J^T = Y Y^T, rows as of (21) of 002.

        X(parent) = X (1 - G H)* phi*, y = X H* D^-1/2, from the frame inward.
        """
        o = self._operators.quantities
        index = self.model.frame_index(frame)
        Y, k = np.zeros((6, self.model.nv)), int(self.model.frame_body[index])
        X = SpatialOperators(self.model, self._q, [frame]).B.dense().T
        X = np.roll(X, 3, axis=0)[:, 6 * k : 6 * k + 6] if k >= 0 else Y
        while k >= 0:
            for row in reversed(range(o.dofs[k])):
                i, h = o.rows[k, row], o.axes[k, :, row]
                y = X @ h
                Y[:, i] = y / np.sqrt(self.D[i])
                X = X - np.outer(y, self._gain[i])
            X, k = X @ o.phi[k].T, int(o.parent[k])
        return Y

    def inertia_inv(self, *frames: str) -> np.ndarray:
        """Lambda^-1 (6 l, 6 l) of the poses of frames, as a square: it cannot have a negative eigenvalue."""
        Y = np.vstack([self.rows(frame) for frame in frames])
        return np.asarray(Y @ Y.T)

    def solve(self, tau: ArrayLike) -> np.ndarray:
        """H^-1 tau (nv,): the filter inward, the smoother outward."""
        o = self._operators.quantities
        tau, N = self.model.check_velocity(tau, "tau"), len(o.parent)
        z, alpha, nu = np.zeros((N + 1, 6)), np.zeros((N + 1, 6)), np.empty(self.model.nv)
        for k in range(N - 1, -1, -1):
            for row in reversed(range(o.dofs[k])):
                i = o.rows[k, row]
                eps = tau[i] - o.axes[k, :, row] @ z[k]
                nu[i] = eps / self.D[i]
                z[k] = z[k] + self._gain[i] * eps
            if o.parent[k] >= 0:
                z[o.parent[k]] += o.phi[k] @ z[k]
        out = np.empty(self.model.nv)
        for k in range(N):
            alpha[k] = o.phi[k].T @ alpha[o.parent[k]]
            for row in range(o.dofs[k]):
                i = o.rows[k, row]
                out[i] = nu[i] - self._gain[i] @ alpha[k]
                alpha[k] = alpha[k] + o.axes[k, :, row] * out[i]
        return out


def _factor(model: Model, R: np.ndarray, k: int) -> np.ndarray:
    """A (6, 6) with M = A A^T about O_k: the roots of the mass, seen from O_k, and of the inertia about its centre."""
    values, vectors = np.linalg.eigh(model.inertia[k])
    A = np.zeros((6, 6))
    A[:3, :3] = R @ (vectors * np.sqrt(np.maximum(values, 0.0)))
    p, root = R @ model.com[k], np.sqrt(model.mass[k])
    A[3:, 3:] = root * np.eye(3)
    A[:3, 3:] = root * np.array([[0.0, -p[2], p[1]], [p[2], 0.0, -p[0]], [-p[1], p[0], 0.0]])
    return A


class SquareRootDual:
    """Lambda of every link of a free flyer with the dual inertias as squares, too: S = B B^T ([Jain1995] (4.10)).

    S of a light link behind a heavy robot is the difference of two heavy matrices, and must vanish along the hinge: in
    doubles it leaves 1e-16 of the heavy one there, of which a link lighter by a million keeps ten digits. As a square,
    what is left along the hinge is the square of that, and nothing is lost.

    Attributes:
        B: (N, 6, 6) factors of S(k), about O_k, angular first, world axes.

    Raises:
        MethodError: The model has mimic joints, or does not float freely.
    """

    def __init__(self, model: Model, q: ArrayLike):
        lacking = held_bases(model)
        if lacking:
            raise MethodError(f"dual inertias need a free flyer, not {' or '.join(lacking)}")
        self._filter = inward = SquareRootFilter(model, q)
        o = inward._operators.quantities
        N = len(o.parent)
        self.B = np.zeros((N, 6, 6))
        for k in range(N):
            p = o.parent[k]
            if p < 0:
                continue
            brothers = [j for j in np.flatnonzero(o.parent == p) if j != k]
            squares = [_factor(model, o.R[p], p), self.B[p]]
            squares += [o.phi[j] @ inward.passed[j] for j in brothers]
            # from O_p to O_k: the inverse of phi(p, k)
            B = np.linalg.solve(o.phi[k], np.hstack(squares))
            B = np.asarray(np.linalg.qr(B.T, mode="r")).T
            for row in range(o.dofs[k]):
                B = _let_go(B, o.axes[k, :, row], model.armature[o.rows[k, row]])[0]
            self.B[k] = B

    def link_inertia_inv(self, k: int) -> np.ndarray:
        """Lambda^-1 (6, 6) of link k at its origin, linear first, world axes: (A A^T + B B^T)^-1 by triangles."""
        R = np.linalg.qr(np.hstack([self._filter.A[k], self.B[k]]).T, mode="r")
        half = np.linalg.solve(np.asarray(R).T, np.eye(6))
        return np.roll(half.T @ half, 3, axis=(0, 1))


def _let_go(A: np.ndarray, h: np.ndarray, armature: float) -> tuple[np.ndarray, float, np.ndarray]:
    """A+ after a freedom along h is let go (Potter), its D, and the gain A w / D."""
    w = A.T @ h
    D = float(w @ w + armature)
    Aw = A @ w
    return A - np.outer(Aw, w) / (D + np.sqrt(armature * D)), D, Aw / D
