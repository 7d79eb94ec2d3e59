# SPDX-License-Identifier: Apache-2.0
"""How forces at the tips change the joint accelerations ([Rodriguez1991] 5.1, (17), (18)).

    qdd = qdd_f + delta,   delta = -(1 - H psi K)* D^-1 H psi B f(0)
f(0) is what the tip exerts on its surroundings; a wrench ON the robot, as everywhere in this package, is -f(0).
"""

import numpy as np
from numpy.typing import ArrayLike

from ...dynamics.build import RobotTree
from ...dynamics.functions import Wrenches, external_wrenches
from ...model import Model
from .smoother import FilterSmoother


def tip_force_correction(model: Model, q: ArrayLike, external: Wrenches) -> np.ndarray:
    """delta (nv,) of wrenches on the robot at named frames: what to add to the free accelerations.

    z(k) = psi z(k-1) from the tips, nu = D^-1 H z; then the smoother, base to tips. No bias forces, no joint forces.
    """
    s = FilterSmoother(model, q)
    n = len(s.D)
    z, lambda_e, delta = np.zeros((n + 1, 6)), np.zeros((n + 1, 6)), np.empty(model.nv)
    z[:n] = _at_nodes(model, q, external)
    nu = np.zeros(n)
    for own in reversed(s.clusters):
        k, felt = own[0], np.sum(s.H[own] * z[own])
        nu[own] = felt / s.D[k]
        z[s.parent[k]] += z[own].sum(axis=0) - s.G[k] * felt
    for k, p in enumerate(s.parent):
        delta[s.coordinate[k]] = nu[k] - s.G[k] @ lambda_e[p]
        lambda_e[k] = lambda_e[p] + s.H[k] * delta[s.coordinate[k]]
    return delta


def _at_nodes(model: Model, q: ArrayLike, external: Wrenches) -> np.ndarray:
    """B f (n, 6): the wrenches on their nodes, angular first, at the tree's origin."""
    tree = RobotTree(model)
    with external_wrenches(model, q, external, tree):
        return tree.external[:, : tree.n].T.copy()
