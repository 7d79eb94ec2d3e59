# SPDX-License-Identifier: Apache-2.0
"""Where the bodies are: plain forward kinematics, for checks when a model is loaded and as a reference."""

import numpy as np

from .joints import NQ, joint_placement
from .model import Model


def body_placements(model: Model, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Poses of all bodies in the world, base to tip.

    Args:
        q: configuration (nq,), quaternions of unit length.

    Returns:
        Rotations (N, 3, 3) and origins (N, 3) [m] in world axes.
    """
    N = len(model.parent)
    R, p = np.zeros((N, 3, 3)), np.zeros((N, 3))
    for i in range(N):
        kind, at = model.joint_type[i], model.q_index[i]
        position = q[at : at + NQ[kind]]
        if model.is_mimic[i]:
            position = model.multiplier[i] * position + model.offset[i]
        R_q, p_q = joint_placement(kind, model.axis[i], position)
        R_i = model.placement_rotation[i] @ R_q
        p_i = model.placement_translation[i] + model.placement_rotation[i] @ p_q
        j = model.parent[i]
        R[i], p[i] = (R_i, p_i) if j < 0 else (R[j] @ R_i, p[j] + R[j] @ p_i)
    return R, p
