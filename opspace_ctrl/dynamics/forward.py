# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics by name: every published recursion behind one function, and what else each of them gives."""

from collections.abc import Sequence
from functools import cache
from pkgutil import resolve_name

import numpy as np
from numpy import empty
from numpy.typing import ArrayLike, NDArray

from ..compiled.jit import MISFIT
from ..errors import MethodError
from ..model import Model
from . import entries
from .forward_method import Aba, ForwardMethod
from .functions import (
    Wrenches,
    call,
    external_wrenches,
    joint_losses,
    result_of,
    tree_of,
)
from .state import OK

__all__ = ["forward_dynamics", "forward_method", "forward_methods", "link_accelerations"]

# Loaded when asked for: those of the papers live in `algebra`. Algorithm FD of [Rodriguez1991] is algorithm 1.
_METHODS = {
    "aba": ".dynamics.forward_method:Aba",
    "crba_ltdl": ".dynamics.forward_method:CrbaLtdl",
    "algorithm1": ".algebra.recursions.algorithm1:Algorithm1",
    "algorithm2": ".algebra.recursions.algorithm2:Algorithm2",
    "algorithm3": ".dynamics.forward_method:Aba",
    "algorithm4": ".algebra.recursions.algorithm4:Algorithm4",
    "two_sweep": ".algebra.recursions.two_sweep:UndelayedTwoSweep",
    "kalman": ".algebra.recursions.kalman:Kalman",
    "decoupled": ".algebra.recursions.decoupled:Decoupled",
}
_ROOT = __name__.partition(".")[0]


@cache
def _loaded(name: str) -> type[ForwardMethod]:
    method: type[ForwardMethod] = resolve_name(_ROOT + _METHODS[name])
    return method


def forward_methods(model: Model | None = None) -> tuple[str, ...]:
    """Names for `forward_dynamics(method=...)`; given a model, those that can carry it."""
    return tuple(name for name in _METHODS if model is None or not _loaded(name).missing(model))


def forward_method(model: Model, name: str) -> type[ForwardMethod]:
    """The method of that name, "auto" being the fastest that can carry the model.

    Raises:
        MethodError: There is none of that name, or it cannot carry the model.
    """
    if isinstance(name, str) and name == "auto":
        name = "crba_ltdl" if Aba.missing(model) else "aba"
    if not isinstance(name, str) or name not in _METHODS:
        reason = "is not a forward-dynamics method"
    elif lacking := _loaded(name).missing(model):
        reason = f"cannot carry {' or '.join(lacking)}"
    else:
        return _loaded(name)
    raise MethodError(
        f"{name!r} {reason}; {model.name} can use {', '.join(forward_methods(model))}"
    )


def _new_method(model: Model, name: str) -> ForwardMethod:
    """A method for a model, with its memory; this thread will find it in its tree."""
    tree = tree_of(model)
    tree.forward_methods[name] = method = forward_method(model, name).for_tree(tree)
    return method


def forward_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    external: Wrenches | None = None,
    method: str = "auto",
    damping: bool = False,
    friction: bool = False,
) -> NDArray[np.float64]:
    """Acceleration dv/dt (nv,) for the joint forces tau and wrenches on the robot.

    Args:
        method: One of `forward_methods(model)`, or "auto": the fastest that can carry the model.
        damping: Also take the joints' viscous damping off tau.
        friction: Also take the joints' Coulomb friction, friction * sign(v), off tau.

    Raises:
        MethodError: The method is unknown, or cannot carry the robot's mimic joints or its fixed base.
    """
    tree = tree_of(model)
    try:
        own = tree.forward_methods[method]
    except (KeyError, TypeError):  # not used here before, or no name at all
        own = _new_method(model, method)
    if external is None and not (damping or friction):  # these lines are all that happens in a loop
        qdd = empty(model.nv)
        try:
            if entries.forward_dynamics(q, v, tau, qdd, own.address, tree.address) == OK:
                return qdd
        except MISFIT:
            pass
    if damping or friction:
        v = model.check_velocity(v)
        tau = model.check_velocity(tau, "tau") - joint_losses(model, v, damping, friction)
    with external_wrenches(model, q, external):
        return result_of(model, entries.forward_dynamics, (q, v, tau), "v tau", own.address)


def link_accelerations(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    external: Wrenches | None = None,
    method: str = "algorithm2",
    frames: Sequence[str] | None = None,
) -> NDArray[np.float64]:
    """Classical accelerations (k, 6) of links (default: every body) or tips, as the algorithm itself finds them.

    Linear first, world axes, at the frames' origins: alpha(k) and alpha(0) of [Rodriguez1992] (56), (57), or those of
    each link by itself for method "decoupled" ([Jain1995] lemma 3.2).

    Raises:
        MethodError: The method gives no link accelerations, or cannot carry the model.
        UnknownFrameError: The model has no such frame.
    """
    chosen = forward_method(model, method)
    if not _finds_links(chosen):
        able = [name for name in forward_methods(model) if _finds_links(_loaded(name))]
        raise MethodError(
            f"{method!r} finds no link accelerations; {model.name} can use {', '.join(able) or 'none'}"
        )
    indices = [
        model.frame_index(frame) for frame in (model.body_names if frames is None else frames)
    ]
    forward_dynamics(model, q, v, tau, external, method)
    tree = tree_of(model)
    chosen.find_link_accelerations(tree)
    motion, out = empty(12), empty((len(indices), 6))
    for row, index in zip(out, indices):
        call(entries.frame_motion, index, motion, tree.address)
        row[:] = motion[6:]
    return out


def _finds_links(method: type[ForwardMethod]) -> bool:
    return method.find_link_accelerations is not ForwardMethod.find_link_accelerations
