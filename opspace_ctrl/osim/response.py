# SPDX-License-Identifier: Apache-2.0
"""The typical response of a task: how large the diagonal of Lambda^-1 gets over the workspace.

It makes rows of different units, and tasks of light and heavy parts, comparable where singular directions are told from
regular ones. It is a constant of robot and tasks, so that the thresholds made from it do not move with the robot.
"""

from weakref import WeakKeyDictionary

import numpy as np

from ..model import Model

SAMPLES = 16
ROUNDING = 1e-20  # of what a joint responds alone: so little is what rounding makes of a row that nothing moves
# [rad or m] from neutral: some robots have limits of kilometres, where nothing is typical
REACH = np.pi


# by model: they take longer than all the rest of an operational space
_sampled: WeakKeyDictionary[Model, list[np.ndarray]] = WeakKeyDictionary()


def sampled_configurations(model: Model) -> list[np.ndarray]:
    """Configurations (nq,) all over the workspace, always the same ones."""
    if model not in _sampled:
        rng, neutral = np.random.default_rng(0), model.neutral()
        steps = [model.difference(neutral, model.random_configuration(rng)) for _ in range(SAMPLES)]
        _sampled[model] = [
            model.integrate(neutral, np.clip(step, -REACH, REACH), 1.0) for step in steps
        ]
    return _sampled[model]


def typical_response(prepared) -> np.ndarray:
    """Largest diagonal of Lambda^-1 (m,) over sampled configurations, shared by rows of one kind of one task."""
    largest, of_joints = np.zeros(prepared.m), 0.0
    for q in sampled_configurations(prepared.model):
        np.maximum(largest, np.diagonal(prepared.inertia_inv_at(q)), out=largest)
        of_joints = max(of_joints, prepared.space.tree.D_inv.max())
    for block in prepared.blocks:
        kinds = [(row[:3].any(), row[3:].any()) for row in block.selection]
        for kind in set(kinds):  # sharing keeps the rule independent of how the axes are turned
            rows = [block.row + i for i, other in enumerate(kinds) if other == kind]
            largest[rows] = largest[rows].max()
    selection = np.vstack([block.selection for block in prepared.blocks])
    rounding = ROUNDING * of_joints * np.square(selection).sum(axis=1)
    return np.maximum.reduce([largest, rounding, np.full(prepared.m, 1e-12 * largest.max() or 1.0)])
