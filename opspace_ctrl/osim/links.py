# SPDX-License-Identifier: Apache-2.0
"""The operational-space inertia of every link of a free flyer at once ([Jain1995], algorithm 8)."""

import numpy as np

from ..compiled.jit import address, entry
from ..compiled.workspace import workspace_at
from ..dynamics import aba
from ..dynamics.dual import dual_inertias, dual_of
from ..dynamics.entries import at_configuration, tree_at
from ..dynamics.fields import Dual
from ..dynamics.functions import call, run
from ..model import Model
from ..model.rotations import skew
from .methods.base_invariant import BaseInvariant
from .registry import methods

_dual_at = workspace_at(Dual)


@entry(address, address)
def _find(dual_address, address):
    """Articulated inertias and their duals, after the kinematics."""
    tree = tree_at(address)
    aba.articulated_inertias(tree)
    dual_inertias(tree, _dual_at(dual_address))


def link_inertias(model: Model, q) -> np.ndarray:
    """Lambda(k) (N, 6, 6) of every link: wrench at its origin from acceleration, linear first, world axes.

    Lambda(k) = P(k) + S(k), two recursions over the tree for all links together; independent of which link is the base.

    Raises:
        MethodError: The base is fixed, or mimic joints have others between them.
        ConfigurationError: q is no configuration.
    """
    BaseInvariant.check(model, (), methods(model))
    tree = run(model, at_configuration, (q,), "")
    dual, last = dual_of(tree), tree.nodes.last
    call(_find, dual.address, tree.address)
    P, S = (rows.reshape(-1, 6, 8)[last, :, :6] for rows in (tree.IA, dual.S))
    return np.array([_moved(inertia, tree.p[:, node]) for inertia, node in zip(P + S, last)])


def _moved(inertia: np.ndarray, p: np.ndarray) -> np.ndarray:
    """A spatial inertia (angular first) at the tree's origin, seen at the point p, linear first."""
    # [w; v_O] from [v_p; w]
    motion = np.block([[np.zeros((3, 3)), np.eye(3)], [np.eye(3), skew(p)]])
    return motion.T @ inertia @ motion
