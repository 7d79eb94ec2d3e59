"""Forward dynamics by name: every published recursion behind one function, and what else each of them gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pkgutil import resolve_name

import numpy as np

from ..errors import MethodError
from ..model import Model
from . import dual, entries
from . import layout as at
from .api import Wrenches, bound, dynamics_of, joint_losses, workspace
from .layout import Workspace

__all__ = ["forward_dynamics", "forward_methods", "link_accelerations"]


_OURS = entries.__name__
# Loaded when one of its names is asked for.
_PAPERS = "opspace_ctrl.algebra.recursions.forward_entries"


@dataclass(frozen=True)
class _Method:
    """A compiled forward dynamics.

    Attributes:
        source: Where its entry is, "module:attribute".
        links: Called after it, leaves the links' accelerations (less gravity) in ACCELERATION; None if it gives none.
        carries_mimic: Whether it can carry mimic joints.
        floating_only: Only for robots whose trees all float freely.
    """

    source: str
    links: Callable[[Workspace], None] | None = None
    carries_mimic: bool = False
    floating_only: bool = False

    @cached_property
    def entry(self):
        """Takes q, v, tau, the accelerations to write, and the workspace."""
        return resolve_name(self.source)

    def missing(self, model: Model) -> list[str]:
        """What of the model this method cannot carry, in words."""
        lacking = [] if self.carries_mimic or not model.is_mimic.any() else ["mimic joints"]
        return lacking + (dual.held_bases(model) if self.floating_only else [])


def _from_bias(work: Workspace) -> None:
    resolve_name(f"{_PAPERS}:links_from_bias").call(work.address)


def _less_gravity(work: Workspace) -> None:
    resolve_name(f"{_PAPERS}:links_as_found").call(1.0, work.address)


def _as_found(work: Workspace) -> None:
    resolve_name(f"{_PAPERS}:links_as_found").call(0.0, work.address)


def _already(work: Workspace) -> None:
    """The algorithm has left them there itself."""


# `aba` starts from the D'Alembert forces M phi* a + b of every body: it is algorithm 3 of [Rodriguez1992].
# Algorithm FD of [Rodriguez1991] is algorithm 1.
_METHODS = {
    "aba": _Method(f"{_OURS}:forward_aba", _from_bias),
    "crba_ltdl": _Method(f"{_OURS}:forward_crba", carries_mimic=True),
    "algorithm1": _Method(f"{_PAPERS}:algorithm1"),
    "algorithm2": _Method(f"{_PAPERS}:algorithm2", _already),
    "algorithm3": _Method(f"{_OURS}:forward_aba", _from_bias),
    "algorithm4": _Method(f"{_PAPERS}:algorithm4", _as_found),
    "two_sweep": _Method(f"{_PAPERS}:two_sweep", _as_found),
    "kalman": _Method(f"{_PAPERS}:kalman", _less_gravity),
    "decoupled": _Method(f"{_PAPERS}:decoupled", _less_gravity, floating_only=True),
}


def forward_methods(model: Model | None = None) -> tuple[str, ...]:
    """Names for `forward_dynamics(method=...)`; given a model, those that can carry it."""
    return tuple(
        name for name, method in _METHODS.items() if model is None or not method.missing(model)
    )


def _method(model: Model, name: str) -> _Method:
    """The method of that name; MethodError if there is none or it cannot carry the model."""
    method = _METHODS.get(name) if isinstance(name, str) else None
    if method is None or (not method.carries_mimic and model.is_mimic.any()):
        why = "is not a forward-dynamics method" if method is None else "cannot carry mimic joints"
        raise MethodError(
            f"{name!r} {why}; {model.name} can use {', '.join(forward_methods(model))}"
        )
    lacking = method.missing(model)
    if lacking:
        raise MethodError(
            f"{name!r} cannot carry {' or '.join(lacking)}; {model.name} can use "
            f"{', '.join(forward_methods(model))}"
        )
    return method


def _by_all_means(
    model: Model, method: _Method, q, v, tau, external: Wrenches | None
) -> np.ndarray:
    """Forward dynamics in this thread's own workspace."""
    work = workspace(model)
    if method.floating_only and at.DUAL not in work:
        dual.lay_out(work)
    return dynamics_of(model, work, method.entry, q, v, tau, "tau", external)


def _bound(model: Model, method: _Method) -> Callable:
    """The compiled method for a loop."""
    function = bound(model, method.entry)
    if method.floating_only and at.DUAL not in model._compiled[Workspace]:
        dual.lay_out(model._compiled[Workspace])
    return function


def forward_dynamics(
    model: Model,
    q,
    v,
    tau,
    external: Wrenches | None = None,
    method: str = "aba",
    damping: bool = False,
    friction: bool = False,
) -> np.ndarray:
    """Acceleration dv/dt (nv,) for the joint forces tau and wrenches on the robot.

    Args:
        method: One of `forward_methods(model)`.
        damping: Also take the joints' viscous damping off tau.
        friction: Also take the joints' Coulomb friction, friction * sign(v), off tau.

    Raises:
        MethodError: The method is unknown, or cannot carry the robot's mimic joints or its fixed base.
    """
    try:
        function = model._compiled[method]
    except (KeyError, TypeError):  # not used here before, or no name at all
        function = model._compiled[method] = _bound(model, _method(model, method))
    if not (external or damping or friction):  # all that happens in a simulator's loop
        found = function(q, v, tau)
        if found is not None:
            return found
    if damping or friction:
        v = model.check_velocity(v)
        tau = model.check_velocity(tau, "tau") - joint_losses(model, v, damping, friction)
    return _by_all_means(model, _METHODS[method], q, v, tau, external)


def link_accelerations(
    model: Model,
    q,
    v,
    tau,
    external: Wrenches | None = None,
    method: str = "algorithm2",
    frames: Sequence[str] | None = None,
) -> np.ndarray:
    """Classical accelerations (k, 6) of links (default: every body) or tips, as the algorithm itself finds them.

    Linear first, world axes, at the frames' origins: alpha(k) and alpha(0) of [Rodriguez1992] (56), (57), or those of
    each link by itself for method "decoupled" ([Jain1995] lemma 3.2).

    Raises:
        MethodError: The method gives no link accelerations, or cannot carry the model.
        UnknownFrameError: The model has no such frame.
    """
    chosen = _method(model, method)
    if chosen.links is None:
        able = [name for name in forward_methods(model) if _METHODS[name].links]
        raise MethodError(
            f"{method!r} finds no link accelerations; {model.name} can use {', '.join(able) or 'none'}"
        )
    indices = [
        model.frame_index(frame) for frame in (model.body_names if frames is None else frames)
    ]
    work, motion, out = workspace(model), np.empty(12), np.empty((len(indices), 6))
    _by_all_means(model, chosen, q, v, tau, external)
    chosen.links(work)
    for row, index in zip(out, indices):
        entries.frame_motion.call(index, motion, work.address)
        row[:] = motion[6:]
    return out
