# SPDX-License-Identifier: Apache-2.0
"""Motion and internal forces of an object that several arms hold ([Rodriguez1991] section 6).

Feedback linearising: the object is told an acceleration, and how it is to be squeezed. What moves it is shared
between the arms as their inertias would share it; what squeezes it does not move it, A^T F = 0. Bases that no motor
moves follow.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ...dynamics import bias_forces, mass_matrix
from ...errors import ConfigurationError
from ...model.configuration import check_vector
from .grasp import Grasp


def squeeze(grasp: Grasp, first: int, second: int, force: float) -> np.ndarray:
    """Internal wrenches (l, 6) by which two arms press an object between them.

    Args:
        first, second: Numbers of the arms in `grasp.frames`.
        force: [N] along the line from one frame to the other; positive presses.

    Raises:
        ConfigurationError: There are no two such arms.
    """
    arms = grasp.A.reshape(-1, 6, 6)
    if first == second or not {first, second} <= set(range(len(arms))):
        raise ConfigurationError(
            f"arms {first} and {second} of {len(arms)} do not squeeze; valid are two different "
            "numbers from 0 on"
        )
    r = [-np.array([a[2, 4], a[0, 5], a[1, 3]]) for a in arms]  # of A = [1, -r x; 0, 1]
    line = r[second] - r[first]
    line = line / np.linalg.norm(line)
    wrenches = np.zeros((len(arms), 6))
    wrenches[first, :3], wrenches[second, :3] = force * line, -force * line
    return wrenches


def grasp_torque(
    grasp: Grasp,
    acceleration: ArrayLike,
    internal: ArrayLike | None = None,
    qdd0: ArrayLike | None = None,
) -> np.ndarray:
    """Joint forces (nv,) that give the object an acceleration and squeeze it; zero at bases that float.

    Args:
        grasp: After `update(q, v)`.
        acceleration: (6,) of the object's centre of mass, linear first, world axes.
        internal: (l, 6) wrenches on the object at the frames; what of them would move it is taken out.
        qdd0: (nv,) what the robot does with freedoms that are left, zero if not given.

    Raises:
        IllPosedError: An arm is singular here.
        ConfigurationError: An argument is unusable.
    """
    model, (q, v) = grasp.model, grasp.state
    a = check_vector(acceleration, 6, "acceleration of the object")
    F = grasp.shared(grasp.object_inertia @ a - grasp.object_forces())
    if internal is not None:
        F = F + grasp.internal_wrenches(internal)
    F = F.ravel()
    J, Jdot_v = grasp.frames_motion
    H, h = mass_matrix(model, q), bias_forces(model, q, v)
    base = np.flatnonzero(model.is_base_coordinate)
    rows = np.vstack([J, H[base]])
    right = np.concatenate([grasp.A @ a + grasp.bias - Jdot_v, -(h + J.T @ F)[base]])
    start = np.zeros(model.nv) if qdd0 is None else model.check_velocity(qdd0, "qdd0")
    response = np.linalg.solve(H, rows.T)
    qdd = start + response @ np.linalg.lstsq(rows @ response, right - rows @ start, rcond=1e-12)[0]
    tau = H @ qdd + h + J.T @ F
    tau[base] = 0.0
    return np.asarray(tau)
