# SPDX-License-Identifier: Apache-2.0
"""Correct digits of Lambda^-1 and of forward dynamics, method by method, against extended precision (mpmath).

The reference is dense algebra in 50 digits on the numbers of the model and of q as they are: poses, J, H, J H^-1 J^T.
An element is judged by sqrt(Lambda^-1_ii Lambda^-1_jj), so that metres and radians, heavy and light bodies count alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..algebra.recursions.square_root import SquareRootFilter
from ..dynamics import forward_dynamics, forward_methods
from ..errors import MethodError
from ..model import JointType, Model
from ..osim import OperationalSpace, methods

DIGITS = 50
MOST = 16.0  # what a double can have


@dataclass(frozen=True)
class Accuracy:
    """Digits that are right, the fewest over some states.

    Attributes:
        robot: Its name; condition: the largest condition number of H among the states.
        inertia_inv: By method of Lambda^-1, "square_root" among them.
        forward: By method of forward dynamics, at rest under gravity.
    """

    robot: str
    condition: float
    inertia_inv: dict[str, float]
    forward: dict[str, float]


def accuracy(model: Model, frames: Sequence[str], states: int = 3, name: str = "") -> Accuracy:
    """The fewest correct digits of every method over random states.

    Raises:
        MethodError: mpmath is not installed, or the robot has mimic joints or joints other than revolute, prismatic and
            floating ones.
    """
    rng = np.random.default_rng(0)
    least: dict[str, dict[str, float]] = {"osim": {}, "forward": {}}
    condition = 0.0
    for _ in range(states):
        q, tau = model.random_configuration(rng), rng.normal(size=model.nv)
        exact = Reference(model, q)
        condition = max(condition, exact.condition)
        expected, qdd = exact.inertia_inv(frames), exact.accelerations(tau)
        scale = np.sqrt(np.diag(expected).astype(float))
        for method in methods(model):
            found = OperationalSpace(model, list(frames), method).update(q).inertia_inv
            _keep(least["osim"], method, _digits(found, expected, np.outer(scale, scale)))
        found = SquareRootFilter(model, q).inertia_inv(*frames)
        _keep(least["osim"], "square_root", _digits(found, expected, np.outer(scale, scale)))
        size = np.full(model.nv, max(1e-300, float(max(abs(x) for x in qdd))))
        for method in forward_methods(model):
            found = forward_dynamics(model, q, np.zeros(model.nv), tau, method=method)
            _keep(least["forward"], method, _digits(found, qdd, size))
    return Accuracy(name or model.name, condition, least["osim"], least["forward"])


def with_light_links(model: Model, factor: float = 1e-6) -> Model:
    """The robot with the outer half of each branch lighter by a factor: badly scaled, and still possible."""
    depth = np.array([len(model.support(k)) for k in range(len(model.parent))])
    shrunk = np.where(depth > 0.5 * depth.max(), factor, 1.0)
    return replace(model, mass=model.mass * shrunk, inertia=model.inertia * shrunk[:, None, None])


def _keep(least: dict[str, float], name: str, digits: float) -> None:
    least[name] = min(digits, least.get(name, MOST))


def _digits(found: np.ndarray, expected: np.ndarray, scale: np.ndarray) -> float:
    error = np.abs(found.astype(object) - expected) / scale
    worst = float(error.max())
    return MOST if worst < 10.0**-MOST else float(-np.log10(worst))


class Reference:
    """A robot at q in extended precision; arrays hold mpmath's numbers."""

    def __init__(self, model: Model, q: np.ndarray):
        self._mp = _mpmath()
        simple = {JointType.REVOLUTE, JointType.PRISMATIC, JointType.FLOATING}
        if model.is_mimic.any() or not simple.issuperset(model.joint_type):
            raise MethodError(
                f"{model.name}: digits are counted for revolute, prismatic and floating joints "
                "without mimic tags"
            )
        self.model, N = model, len(model.parent)
        self.R: list[Any] = [None] * N
        self.p: list[Any] = [None] * N
        self.J = [self._zeros(6, model.nv) for _ in range(N)]  # linear first, world axes
        for k in range(N):
            self._place(k, self._exact(q))
        self.H, self.gravity = self._inertia()

    @property
    def condition(self) -> float:
        """Condition number of H."""
        return float(np.linalg.cond(self.H.astype(float)))

    def inertia_inv(self, frames: Sequence[str]) -> np.ndarray:
        """J H^-1 J^T of the frames' poses."""
        J = np.vstack([self._frame_jacobian(frame) for frame in frames])
        return J @ self._solve(J.T)

    def accelerations(self, tau: np.ndarray) -> np.ndarray:
        """H^-1 (tau - gravity) at rest."""
        return self._solve((self._exact(tau) - self.gravity)[:, None])[:, 0]

    def _place(self, k: int, q: np.ndarray) -> None:
        model, p = self.model, int(self.model.parent[k])
        at, dof, kind = model.q_index[k], model.v_index[k], model.joint_type[k]
        R, x = self._exact(model.placement_rotation[k]), self._exact(model.placement_translation[k])
        if p >= 0:
            R, x = self.R[p] @ R, self.p[p] + self.R[p] @ x
            self.J[k][:] = self.J[p]
            self.J[k][:3] -= _skew(x - self.p[p]) @ self.J[p][3:]
        axis = self._exact(model.axis[k])
        if kind == JointType.REVOLUTE:
            self.J[k][3:, dof] += R @ axis
            R = R @ self._turn(axis, q[at])
        elif kind == JointType.PRISMATIC:
            x = x + R @ axis * q[at]
            self.J[k][:3] -= _skew(R @ axis * q[at]) @ self.J[k][3:]
            self.J[k][:3, dof] += R @ axis
        else:
            x = x + R @ q[at : at + 3]
            R = R @ self._quaternion(q[at + 3 : at + 7])
            self.J[k][:3, dof : dof + 3], self.J[k][3:, dof + 3 : dof + 6] = R, R
        self.R[k], self.p[k] = R, x

    def _inertia(self) -> tuple[np.ndarray, np.ndarray]:
        model = self.model
        H, gravity = self._zeros(model.nv, model.nv), self._zeros(1, model.nv)[0]
        for i, armature in enumerate(self._exact(model.armature)):
            H[i, i] += armature
        g = self._exact(model.gravity)
        for k in range(len(model.parent)):
            m, c = self._mp.mpf(model.mass[k]), self.R[k] @ self._exact(model.com[k])
            linear = self.J[k][:3] - _skew(c) @ self.J[k][3:]
            turned = self.R[k] @ self._exact(model.inertia[k]) @ self.R[k].T
            H = H + m * linear.T @ linear + self.J[k][3:].T @ turned @ self.J[k][3:]
            gravity = gravity - m * (linear.T @ g)
        return H, gravity

    def _frame_jacobian(self, frame: str) -> np.ndarray:
        index = self.model.frame_index(frame)
        k = int(self.model.frame_body[index])
        J = self.J[k].copy()
        J[:3] -= _skew(self.R[k] @ self._exact(self.model.frame_translation[index])) @ J[3:]
        return J

    def _solve(self, right: np.ndarray) -> np.ndarray:
        """H^-1 right by elimination without pivoting: H is positive definite."""
        A = np.hstack([self.H, right])
        n = len(self.H)
        for i in range(n):
            A[i] = A[i] / A[i, i]
            for r in range(n):
                if r != i and A[r, i] != 0:
                    A[r] = A[r] - A[r, i] * A[i]
        return A[:, n:]

    def _turn(self, axis: np.ndarray, angle: Any) -> np.ndarray:
        x = _skew(axis / self._mp.sqrt(axis @ axis))
        return self._exact(np.eye(3)) + self._mp.sin(angle) * x + (1 - self._mp.cos(angle)) * x @ x

    def _quaternion(self, q: np.ndarray) -> np.ndarray:
        x = _skew(q[:3])
        return self._exact(np.eye(3)) + (2 * q[3] * x + 2 * x @ x) / (q @ q)

    def _exact(self, x: Any) -> np.ndarray:
        """The doubles as they are, in 50 digits."""
        return np.vectorize(lambda e: self._mp.mpf(float(e)), otypes=[object])(np.asarray(x))

    def _zeros(self, rows: int, columns: int) -> np.ndarray:
        return self._exact(np.zeros((rows, columns)))


def _skew(a: np.ndarray) -> np.ndarray:
    zero = a[0] * 0
    return np.array([[zero, -a[2], a[1]], [a[2], zero, -a[0]], [-a[1], a[0], zero]], dtype=object)


def _mpmath() -> Any:
    try:
        import mpmath
    except ImportError:
        raise MethodError(
            "--accuracy needs mpmath: pip install 'opspace_ctrl[study]', or pip install mpmath"
        ) from None
    mpmath.mp.dps = DIGITS
    return mpmath
