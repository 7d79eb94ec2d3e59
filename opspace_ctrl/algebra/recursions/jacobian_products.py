# SPDX-License-Identifier: Apache-2.0
"""J J*, J* J and its inverse, and inverse kinematics, by sweeps and one 6 x 6 matrix ([Rodriguez1991] section 2)."""

import numpy as np
from numpy.typing import ArrayLike

from ...dynamics import frame_pose
from ...errors import ConfigurationError, IllPosedError
from ...model import Model
from ...model.configuration import check_vector
from ...model.rotations import from_quaternion
from ..operators import SpatialOperators
from ..operators.sweeps import dual_composite

SINGULAR = 1e-12  # of the least eigenvalue of J J* in its largest, rows scaled to a unit diagonal


def jj_star(model: Model, q: ArrayLike, frame: str) -> np.ndarray:
    """J J* (6, 6) of a frame, linear first, world axes: one sweep outward, J never formed.

        Y(k) = phi* Y(parent) phi + H* H,    J J* = B* Y B
    the recursion (20) of Omega(0) with unit inertias in the place of D.
    """
    return _jj_star(SpatialOperators(model, q, [frame]))


def jtj_inverse(model: Model, q: ArrayLike, frame: str, x: ArrayLike) -> np.ndarray:
    """(J* J)^-1 x (nv,) of an arm with as many joints as its frame has freedoms, in O(n).

        J* (J J*)^-2 J
    which is the inverse where J is square, and its pseudo-inverse where the arm is redundant.

    Raises:
        IllPosedError: J J* is singular here.
    """
    o = SpatialOperators(model, q, [frame])
    found = _solve(_jj_star(o), _first_linear(o.J @ model.check_velocity(x, "x")), frame)
    return np.asarray(o.J.T @ _first_linear(_solve(_jj_star(o), found, frame)))


def inverse_kinematics(
    model: Model,
    frame: str,
    position: ArrayLike,
    quaternion: ArrayLike,
    q: ArrayLike,
    tolerance: float = 1e-10,
    steps: int = 200,
) -> np.ndarray:
    """A configuration near q where the frame has a pose, by steps J* (J J* + damping)^-1 e, each O(n).

    Args:
        position, quaternion: (3,) [m] and (4,) x y z w of the frame, world axes.
        q: Where to start.
        tolerance: Largest error [m, rad] that is left.
        steps: How many are tried.

    Raises:
        IllPosedError: No such configuration was found; the message says how near it came.
    """
    wanted = check_vector(position, 3, "position"), check_vector(quaternion, 4, "quaternion")
    size = np.linalg.norm(wanted[1])
    if not size > 0.0:
        raise ConfigurationError("quaternion: its length is zero")
    goal, target = from_quaternion(wanted[1] / size), wanted[0]
    q = model.check_configuration(q)
    error = _pose_error(model, q, frame, target, goal)
    for _ in range(steps):
        left = float(np.abs(error).max())
        if left <= tolerance:
            return q
        o = SpatialOperators(model, q, [frame])
        damping = min(1e-2, left**2) * np.eye(6)
        force = np.linalg.solve(_jj_star(o) + damping, error * min(1.0, 0.5 / left))
        q = model.integrate(q, o.J.T @ _first_linear(force), 1.0)
        error = _pose_error(model, q, frame, target, goal)
    raise IllPosedError(
        f"{model.name}: {frame} stays {np.abs(error).max():.3g} away from the pose after {steps} steps"
    )


def _jj_star(o: SpatialOperators) -> np.ndarray:
    n = o.quantities
    Y = n.axes @ n.axes.transpose(0, 2, 1)
    dual_composite(n.parent, n.phi, Y)
    blocks = np.einsum("kij,kjc->kic", Y, o.B.dense().reshape(-1, 6, 6)).reshape(-1, 6)
    found = o.B.T @ blocks
    return np.roll(found, 3, axis=(0, 1))


def _solve(matrix: np.ndarray, right: np.ndarray, frame: str) -> np.ndarray:
    scale = 1.0 / np.sqrt(np.maximum(np.diag(matrix), np.finfo(float).tiny))
    values = np.linalg.eigvalsh(scale[:, None] * matrix * scale)
    if not values[0] > SINGULAR * values[-1]:
        raise IllPosedError(f"J J* of {frame} is singular: the frame cannot move in all directions")
    return np.linalg.solve(matrix, right)


def _first_linear(x: np.ndarray) -> np.ndarray:
    """Angular first to linear first, and back."""
    return np.roll(x, 3)


def _pose_error(
    model: Model, q: np.ndarray, frame: str, target: np.ndarray, goal: np.ndarray
) -> np.ndarray:
    # here: it would triple the time to import the package
    from scipy.spatial.transform import Rotation

    position, quaternion = frame_pose(model, q, frame)
    turn = Rotation.from_matrix(goal @ from_quaternion(quaternion).T).as_rotvec()
    return np.concatenate([target - position, turn])
