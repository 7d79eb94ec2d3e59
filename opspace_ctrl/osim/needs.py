"""Which kernels an `OperationalSpace` needs: named in advance, they are compiled together."""

from __future__ import annotations

from collections.abc import Sequence

from ..dynamics.layout import stages
from ..model import Model
from . import tick
from .registry import able_methods, get_method
from .tasks import Block

__all__ = ["FIRST", "needed_kernels"]

FIRST = "sparse_ltdl"  # the method that every space begins with


def needed_kernels(model: Model, blocks: Sequence[Block], method: str) -> list[tuple]:
    """For `compile_ahead.together`. Any of the able methods may be auto's choice, or timed for it."""
    names = [
        name for name in able_methods(model, blocks) if method in ("auto", name) or name == FIRST
    ]
    entries = tick.control, tick.update, tick.torque, tick.read
    return [
        *stages(),
        *(entry.kernel for entry in entries),
        *(get_method(name).kernel for name in names),
    ]
