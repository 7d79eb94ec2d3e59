# SPDX-License-Identifier: Apache-2.0
"""What the tests of osim/ share: tasks on a robot's ends, and the textbook formulas with the error they may have."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from opspace_ctrl import CenterOfMass, Model, Task

EPS = np.finfo(float).eps


def norm(matrix) -> float:
    """Largest singular value, or length of a vector."""
    return float(np.linalg.norm(matrix, 2)) if np.size(matrix) else 0.0


def end_frames(model: Model, most: int = 4) -> list[str]:
    """The links at the ends of the tree: the first ones, and always the last."""
    ends = [name for body, name in enumerate(model.body_names) if not model.children(body)]
    return ends[: most - 1] + ends[-1:] if len(ends) >= most else ends


def random_state(model: Model, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """q and v within two radians, metres and their rates of neutral (some robots have limits of 1e16 rad)."""
    rng = np.random.default_rng(seed)
    return model.integrate(model.neutral(), rng.uniform(-2.0, 2.0, model.nv), 1.0), rng.uniform(
        -2.0, 2.0, model.nv
    )


class Dense:
    """J H^-1 J^T and what follows from it, by numpy's dense algebra, each with the size of its factors.

    Derived quantities are compared to max(1e-12, 50 eps cond(H)) times that size.
    """

    def __init__(self, H: np.ndarray, J: np.ndarray) -> None:
        self.H, self.J = H, J
        self.tolerance = max(1e-12, 50.0 * EPS * np.linalg.cond(H))
        self.response = np.linalg.solve(H, J.T)  # H^-1 J^T

    @cached_property
    def inertia_inv(self) -> np.ndarray:
        product = self.J @ self.response
        return 0.5 * (product + product.T)

    @cached_property
    def inertia(self) -> np.ndarray:
        return np.linalg.inv(self.inertia_inv)

    @cached_property
    def jbar(self) -> np.ndarray:
        return self.response @ self.inertia

    @cached_property
    def null_space(self) -> np.ndarray:
        return np.eye(len(self.H)) - self.jbar @ self.J

    def torque(self, force, tau0) -> np.ndarray:
        return self.J.T @ force + self.null_space.T @ tau0

    def size(self, name: str) -> float:
        """Norm of the factors of a result; an inverse also counts how it magnifies the error of its argument."""
        if name == "inertia_inv":
            return norm(self.J) * norm(self.response)
        magnified = norm(self.inertia) * norm(self.inertia_inv)
        size = norm(self.inertia) * magnified
        if name in ("jbar", "null_space"):
            size *= norm(self.response)
        return 1.0 + size * norm(self.J) if name == "null_space" else size

    def check(self, name: str, ours: np.ndarray) -> None:
        """Compare a result with its dense twin; the message says which."""
        bound = self.tolerance * self.size(name)
        error = np.abs(ours - getattr(self, name)).max()
        assert error <= bound, f"{name}: error {error:.2e}, allowed {bound:.2e}"

    def check_all(self, ospace) -> None:
        """Every matrix of an `OperationalSpace` in a regular state."""
        for name in ("inertia_inv", "inertia", "jbar", "null_space"):
            self.check(name, getattr(ospace, name))

    def check_torque(self, ours: np.ndarray, force: np.ndarray, tau0: np.ndarray) -> None:
        """J^T F + N^T tau0."""
        size = norm(self.J) * norm(force) + self.size("null_space") * norm(tau0)
        error = np.abs(ours - self.torque(force, tau0)).max()
        assert error <= self.tolerance * size, (
            f"torque: error {error:.2e}, allowed {self.tolerance * size:.2e}"
        )


def regular_tasks(frames: list[str], jacobian_of, H: np.ndarray, worst: float = 1e4) -> list[Task]:
    """A task on each frame with as many rows as the robot can move independently (pose, position, one axis).

    Args:
        jacobian_of: Frame name to (6, nv).
        worst: The largest condition of Lambda^-1, rows scaled to a unit diagonal.
    """
    tasks, J = [], np.zeros((0, len(H)))
    for frame in frames:
        for rows in ("pose", "position", "orientation", *np.eye(6)[:, None]):
            task = Task(frame, rows)
            more = np.vstack([J, task.selection() @ jacobian_of(frame)])
            if scaled_condition(more @ np.linalg.solve(H, more.T)) < worst:
                tasks, J = [*tasks, task], more
                break
    return tasks


def scaled_condition(matrix: np.ndarray) -> float:
    """Condition of a symmetric matrix after scaling its diagonal to one; inf if a row is zero."""
    diagonal = np.diagonal(matrix)
    if not (diagonal > 1e-12).all():
        return np.inf
    values = np.linalg.eigvalsh(matrix / np.sqrt(np.outer(diagonal, diagonal)))
    return values[-1] / max(values[0], 1e-300)


def task_motion(reference, task, v) -> tuple[np.ndarray, np.ndarray]:
    """J (k, nv) and Jdot v (k,) of a task from the vector algebra of `Reference`."""
    if isinstance(task, CenterOfMass):
        _, J, bias = reference.center_of_mass()
        rows = task.selection()[:, :3]
        return rows @ J, rows @ bias
    R, x, J, bias = reference.frame(task.frame)
    if task.relative_to is None:
        return task.selection() @ J, task.selection() @ bias
    # u = R_a^T (v_x - v_a - w_a x r), seen from frame a, and its derivative
    R, x_a, J_a, bias_a = reference.frame(task.relative_to)
    r, apart = x - x_a, J - J_a
    seen = apart.copy()
    seen[:3] -= np.cross(J_a[3:], r, axisa=0, axisc=0)
    omega, rate = J_a[3:] @ v, bias - bias_a
    rate[:3] -= (
        np.cross(bias_a[3:], r) + np.cross(omega, apart[:3] @ v) + np.cross(omega, seen[:3] @ v)
    )
    rate[3:] -= np.cross(omega, seen[3:] @ v)
    rows = task.selection() @ np.kron(np.eye(2), R.T)
    return rows @ seen, rows @ rate


def body_of(model: Model, frame: str) -> int:
    """The body that carries a frame, -1 for the world."""
    return int(model.frame_body[model.frame_index(frame)])


def random_tasks(
    model: Model, seed: int, most: int = 5, kinds: tuple[str, ...] = ("frame", "relative", "center")
):
    """Any tasks: poses, parts of them, 1 to 8 combined rows; several on a link, an ancestor and its descendant."""
    rng, weight = np.random.default_rng([seed, 7]), {"frame": 0.7, "relative": 0.2, "center": 0.1}
    frames = [name for name, body in zip(model.frame_names, model.frame_body) if body >= 0]
    tasks = []
    for _ in range(rng.integers(1, most + 1)):
        kind = rng.choice(
            kinds, p=np.array([weight[k] for k in kinds]) / sum(weight[k] for k in kinds)
        )
        rows = ("pose", "position", "orientation", rng.normal(size=(rng.integers(1, 9), 6)))[
            rng.integers(4)
        ]
        frame, other = str(rng.choice(frames)), str(rng.choice(model.frame_names))
        if kind == "center":
            tasks.append(
                CenterOfMass(
                    rng.normal(size=(rng.integers(1, 4), 3)) if rng.random() < 0.3 else "position"
                )
            )
        elif kind == "relative" and body_of(model, frame) != body_of(model, other):
            tasks.append(Task(frame, rows, relative_to=other))
        else:
            tasks.append(Task(frame, rows))
    return tasks
