"""The operational-space inertia of every link of a free flyer at once ([Jain1995], algorithm 8)."""

from __future__ import annotations

import numpy as np
from numba.types import int64, void

from ..compiled.jit import entry
from ..dynamics import aba, dual, entries
from ..dynamics.pack import Nodes, pack
from ..dynamics.state import OK, TOO_LARGE
from ..errors import ConfigurationError
from ..model import Model
from ..model.rotations import skew
from .methods import base_invariant
from .registry import methods

__all__ = ["link_inertias"]


@entry(void(int64))
def _find(space):
    aba.articulated_inertias(space.tree)
    dual.dual_inertias(space.tree)


def link_inertias(model: Model, q) -> np.ndarray:
    """Lambda(k) (N, 6, 6) of every link: wrench at its origin from acceleration, linear first, world axes.

    Lambda(k) = P(k) + S(k), two recursions over the tree for all links together; independent of which link is the base.

    Raises:
        MethodError: The base is fixed, or there are mimic joints.
        ConfigurationError: q is no configuration.
    """
    base_invariant.method.check(model, (), methods(model))
    nodes, work = Nodes(model), pack(model)
    dual.lay_out(work)
    if entries.at_configuration.call(model.check_configuration(q), work.address) != OK:
        raise ConfigurationError(f"{model.name}: {TOO_LARGE}")
    _find.call(work.address)
    P, S = (work[slot].reshape(-1, 6, 8)[nodes.last, :, :6] for slot in ("IA", "DUAL"))
    return np.array(
        [_moved(inertia, work["p"][:, node]) for inertia, node in zip(P + S, nodes.last)]
    )


def _moved(inertia: np.ndarray, p: np.ndarray) -> np.ndarray:
    """A spatial inertia (angular first) at the tree's origin, seen at the point p, linear first."""
    # [w; v_O] from [v_p; w]
    motion = np.block([[np.zeros((3, 3)), np.eye(3)], [np.eye(3), skew(p)]])
    return motion.T @ inertia @ motion
