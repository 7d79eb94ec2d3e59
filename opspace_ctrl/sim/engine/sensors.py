# SPDX-License-Identifier: Apache-2.0
"""Simulated force-torque sensors: what acts on a part of the robot from outside, or goes through its joint."""

from collections.abc import Sequence

import numpy as np

from ...dynamics import entries, frame_pose
from ...dynamics.functions import external_wrenches, result_of, tree_of
from ...model import Model

Wrenches = Sequence[tuple[str, np.ndarray]]  # (frame, wrench at its origin, world axes)


def outside_wrench(model: Model, q: np.ndarray, frame: str, wrenches: Wrenches) -> np.ndarray:
    """Sum (6,) of the wrenches on the body of `frame` and all it carries, at the frame's origin."""
    carried = set(model.subtree(int(model.frame_body[model.frame_index(frame)])))
    place, total = frame_pose(model, q, frame)[0], np.zeros(6)
    for name, wrench in wrenches:
        if int(model.frame_body[model.frame_index(name)]) in carried:
            total += moved(wrench, frame_pose(model, q, name)[0] - place)
    return total


def joint_wrench(
    model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray, frame: str, wrenches: Wrenches
) -> np.ndarray:
    """Wrench (6,) that the body of `frame` and all it carries take from the joint that moves them, at the frame.

    It is what is left of their change of momentum when weight and wrenches from outside are taken off: the force of the
    recursive Newton-Euler algorithm at that body.
    """
    f = model.frame_index(frame)
    summed: dict[str, np.ndarray] = {}
    for name, wrench in wrenches:
        summed[name] = summed.get(name, 0.0) + wrench
    with external_wrenches(model, q, summed):
        result_of(model, entries.inverse_dynamics, (q, v, a), "v a")
        tree = tree_of(model)
        node = tree.frame_node[f]
        torque, force = tree.force[:3, node].copy(), tree.force[3:, node].copy()
        origin = tree.origin[tree.tree_number[node]].copy()
    return moved(np.concatenate([force, torque]), origin - frame_pose(model, q, frame)[0])


def moved(wrench: np.ndarray, arm: np.ndarray) -> np.ndarray:
    """The wrench that does the same at another point; `arm` leads from there to where it was given."""
    return np.concatenate([wrench[:3], wrench[3:] + np.cross(arm, wrench[:3])])
