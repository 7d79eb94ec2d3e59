# SPDX-License-Identifier: Apache-2.0
"""Parts of the papers that the control path does not need: operators, recursions, closed chains, free flyers, counts.

A leaf: forward dynamics finds a recursion here by its name, when it is asked for, and nothing else of the control path
imports it.
"""

from importlib import import_module
from types import ModuleType

__all__ = ["closure", "counts", "free_flyer", "operators", "recursions"]


def __getattr__(name: str) -> ModuleType:
    """The parts, imported when first asked for."""
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
