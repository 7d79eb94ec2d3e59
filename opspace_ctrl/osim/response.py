"""The typical response of a task: how large the diagonal of Lambda^-1 gets over the workspace.

It makes rows of different units, and tasks of light and heavy parts, comparable where singular directions are told from
regular ones. It is a constant of robot and tasks, so that the thresholds made from it do not move with the robot.
"""

from __future__ import annotations

import numpy as np

__all__ = ["typical_response"]

SAMPLES = 16
ROUNDING = 1e-20  # of what a joint responds alone: so little is what rounding makes of a row that nothing moves
# [rad or m] from neutral: some robots have limits of kilometres, where nothing is typical
REACH = np.pi


def typical_response(ospace) -> np.ndarray:
    """Largest diagonal of Lambda^-1 (m,) over sampled configurations, shared by rows of one kind of one task."""
    rng, model = np.random.default_rng(0), ospace.model
    largest, of_joints = np.zeros(ospace.m), 0.0
    for _ in range(SAMPLES):
        step = model.difference(model.neutral(), model.random_configuration(rng))
        q = model.integrate(model.neutral(), np.clip(step, -REACH, REACH), 1.0)
        np.maximum(largest, np.diagonal(ospace._inertia_inv_at(q)), out=largest)
        of_joints = max(of_joints, ospace._space.tree.D_inv.max())
    for block in ospace._blocks:
        kinds = [(row[:3].any(), row[3:].any()) for row in block.selection]
        for kind in set(kinds):  # sharing keeps the rule independent of how the axes are turned
            rows = [block.row + i for i, other in enumerate(kinds) if other == kind]
            largest[rows] = largest[rows].max()
    selection = np.vstack([block.selection for block in ospace._blocks])
    rounding = ROUNDING * of_joints * np.square(selection).sum(axis=1)
    return np.maximum.reduce([largest, rounding, np.full(ospace.m, 1e-12 * largest.max() or 1.0)])
