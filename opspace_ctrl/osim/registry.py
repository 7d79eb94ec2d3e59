# SPDX-License-Identifier: Apache-2.0
"""The methods by name: ours, and those that other packages offer (entry-point group `opspace_ctrl.osim_methods`)."""

import warnings
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

from ..compiled.jit import prepare
from ..errors import MethodError, offered, quoted
from ..model import Model, check_model
from .method import Method
from .tasks import Block

GROUP = "opspace_ctrl.osim_methods"
_OURS = {
    "dense": "Dense",
    "sparse_ltl": "SparseLtl",
    "sparse_ltdl": "SparseLtdl",
    "rjk": "Rjk",
    "efpa": "Efpa",
    "pv_osim": "PvOsim",
    "pv_osimr": "PvOsimr",
    "base_invariant": "BaseInvariant",
}
BUILT_IN = tuple(_OURS)
# Variants of the papers, for study: by name alone, in no list, never auto's choice, not in the exported library.
STUDY = {"chang_khatib": "ChangKhatib", "rjk_original": "RjkOriginal"}


@lru_cache(maxsize=1)
def _foreign() -> dict[str, EntryPoint]:
    """Entry points of other packages, not loaded yet; they cannot replace a built-in."""
    return {
        point.name: point
        for point in entry_points(group=GROUP)
        if point.name not in (*BUILT_IN, "auto")
    }


def get_method(name: str) -> type[Method]:
    """The class of the method called `name`.

    Raises:
        MethodError: There is none, or the package that offers it cannot be loaded.
    """
    if isinstance(name, str) and name in _OURS:
        ours: type[Method] = getattr(import_module(f".methods.{name}", __package__), _OURS[name])
        return ours
    if isinstance(name, str) and name in STUDY:
        return _for_study(name)
    if not isinstance(name, str) or name not in _foreign():
        raise MethodError(
            f"no method {quoted(name)}; choose auto, {', '.join((*BUILT_IN, *_foreign()))}"
            f" (for study: {', '.join(STUDY)})"
            f"{offered(name, ('auto', *BUILT_IN, *_foreign(), *STUDY))}"
        )
    loaded = _load(name)
    if isinstance(loaded, MethodError):
        raise loaded
    return loaded


@cache
def _for_study(name: str) -> type[Method]:
    """A variant of the papers, compiled; the only way from here to `algebra`."""
    method: type[Method] = getattr(import_module(f"...algebra.study.{name}", __name__), STUDY[name])
    prepare(method.stages.values())
    return method


@cache
def _load(name: str) -> type[Method] | MethodError:
    """The method of another package, compiled; or, once for all, why it is unusable."""
    point = _foreign()[name]
    try:
        method = point.load()
        if isinstance(method, type) and issubclass(method, Method):
            prepare(method.stages.values())
            return method
    except Exception as error:  # whatever another package does on import, that method is unusable
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        return MethodError(f"method {name!r} of {point.value} cannot be loaded: {reason}")
    return MethodError(f"method {name!r}: {point.value} is no subclass of opspace_ctrl.osim.Method")


def methods(model: Model | None = None) -> tuple[str, ...]:
    """Names of all methods; given a model, of those that can carry it (with tasks on frames)."""
    if model is None:
        return (*BUILT_IN, *_foreign())
    check_model(model)
    return able_methods(model, ())


def able_methods(model: Model, blocks: Sequence[Block]) -> tuple[str, ...]:
    """Names of the methods that can carry a model and its tasks."""
    able = []
    for name in (*BUILT_IN, *_foreign()):
        try:
            if not get_method(name).missing(model, blocks):
                able.append(name)
        except MethodError as error:
            warnings.warn(str(error), stacklevel=2)
    return tuple(able)
