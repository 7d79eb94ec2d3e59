# SPDX-License-Identifier: Apache-2.0
"""Joints of one robot that count from other zeros in another description: by how much, and the same count for both.

A Gazebo model is such a description: its joints are at zero where the robot starts.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from ..model import JointType, Model

__all__ = ["counted_from", "zeros_apart"]

CLOSE = 1e-6  # [rad or m] what rounding makes of a file's digits


def zeros_apart(a: Model, b: Model) -> dict[str, float]:
    """Where b's joints are at zero, as a counts them: {joint: [rad or m]}, without those that are at zero there too.

    It goes by the links' axes, which two formats may lay differently: a joint whose link is displaced otherwise than
    along or about its own axis is left out, and what is found is a guess.
    """
    found = {}
    for name in a.joint_names:
        if name not in b.joint_names:
            continue
        apart = _apart(a, a.body_joint_names.index(name), b, b.body_joint_names.index(name))
        if abs(apart) > CLOSE:
            found[name] = apart
    return found


def _apart(a: Model, i: int, b: Model, j: int) -> float:
    """How far a's joint i has gone where b's joint j is at zero; 0 where that does not explain where b's link is."""
    R, axis = a.placement_rotation[i], a.axis[i]
    shift = R.T @ (b.placement_translation[j] - a.placement_translation[i])
    turn = Rotation.from_matrix(R.T @ b.placement_rotation[j]).as_rotvec()
    if a.joint_type[i] == JointType.REVOLUTE:
        along, across = turn, shift
    elif a.joint_type[i] == JointType.PRISMATIC:
        along, across = shift, turn
    else:
        return 0.0
    apart = float(axis @ along)
    is_explained = np.allclose(along, apart * axis, atol=CLOSE) and np.allclose(
        across, 0.0, atol=CLOSE
    )
    return apart if is_explained else 0.0


def counted_from(model: Model, zeros: dict[str, float]) -> Model:
    """The same robot, whose joints are at these positions where they were at zero."""
    rotation, translation = model.placement_rotation.copy(), model.placement_translation.copy()
    limits = model.position_limits.copy()
    base = int(model.is_base_coordinate.sum())
    for name, zero in zeros.items():
        i = model.body_joint_names.index(name)
        back = -zero * model.axis[i]
        if model.joint_type[i] == JointType.REVOLUTE:
            rotation[i] = rotation[i] @ Rotation.from_rotvec(back).as_matrix()
        else:
            translation[i] = translation[i] + rotation[i] @ back
        limits[model.v_index[i] - base] += zero
    return replace(
        model,
        placement_rotation=rotation,
        placement_translation=translation,
        position_limits=limits,
    )
