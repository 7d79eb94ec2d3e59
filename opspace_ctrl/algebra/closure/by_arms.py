# SPDX-License-Identifier: Apache-2.0
"""Arms that share nothing, holding one object: O(n) + O(l) ([Rodriguez1991] sections 5.3 and 6).

Where every arm has a base of its own, Omega is block diagonal. Each arm gives its Lambda_i, O(n) for all together; they
add up in the object's frame, and one 6 x 6 system decides, whatever the number l of arms:

    (M_obj + sum A_i^T Lambda_i A_i) a = w + sum A_i^T Lambda_i (alpha_i - c_i)
    F_i = Lambda_i (alpha_i - A_i a - c_i)
"""

import numpy as np
from numpy.typing import ArrayLike

from ...dynamics import forward_dynamics, link_accelerations
from ...errors import MethodError
from ...model import Model
from ..operators import SpatialOperators
from .grasp import Grasp, GraspMotion
from .incremental import solve_well_posed


def forward_by_arms(grasp: Grasp, tau: ArrayLike, wrench: ArrayLike | None = None) -> GraspMotion:
    """`Grasp.forward` for arms on bases of their own, without a matrix of all contacts.

    Raises:
        MethodError: Two of the frames are on the same robot.
        IllPosedError: An arm is singular: then use `Grasp.forward`, in O(n) + O(l^3).
    """
    model, frames = grasp.model, grasp.frames
    roots = [_root(model, frame) for frame in frames]
    if len(set(roots)) < len(roots):
        raise MethodError(
            f"{model.name}: arms that share a robot are coupled; use Grasp.forward ({', '.join(frames)})"
        )
    q, v = grasp.state
    free = link_accelerations(model, q, v, tau, method="kalman", frames=frames)
    total, right = grasp.object_inertia.copy(), grasp.object_forces(wrench)
    arms = []
    for i, (frame, response) in enumerate(zip(frames, frame_responses(model, q, frames))):
        rows = slice(6 * i, 6 * i + 6)
        A, push = grasp.A[rows], free[i] - grasp.bias[rows]
        solved = solve_well_posed(response, np.column_stack([A, push]), f"Lambda^-1 of {frame}")
        arms.append(solved)
        total += A.T @ solved[:, :6]
        right = right + A.T @ solved[:, 6]
    acceleration = np.linalg.solve(total, right)
    wrenches = np.array([solved[:, 6] - solved[:, :6] @ acceleration for solved in arms])
    qdd = forward_dynamics(model, q, v, tau, dict(zip(frames, -wrenches)))
    return GraspMotion(qdd, acceleration, wrenches)


def frame_responses(model: Model, q: ArrayLike, frames: tuple[str, ...]) -> np.ndarray:
    """Lambda_i^-1 (l, 6, 6) of each frame by itself, linear first: Upsilon of all links in one sweep ((20))."""
    o = SpatialOperators(model, q, frames)
    Y, found = o.quantities.Upsilon, np.empty((len(frames), 6, 6))
    for i, frame in enumerate(frames):
        k = int(model.frame_body[model.frame_index(frame)])
        column = np.zeros((6 * len(frames), 6))
        column[6 * i : 6 * i + 6] = np.eye(6)
        B = (o.B @ column)[6 * k : 6 * k + 6]
        found[i] = np.roll(B.T @ Y[k] @ B, 3, axis=(0, 1))
    return found


def _root(model: Model, frame: str) -> int:
    k = int(model.frame_body[model.frame_index(frame)])
    while model.parent[k] >= 0:
        k = int(model.parent[k])
    return k
