"""Which kernels a controller needs: named in advance, they are compiled together."""

from __future__ import annotations

from collections.abc import Sequence

from ..compile_ahead import together
from ..dynamics.entries import inverse_dynamics
from ..model import Model
from ..osim.needs import needed_kernels
from ..osim.tasks import blocks_of, parse_tasks
from .law import tick

__all__ = ["compile_needed"]

ENTRIES = tick.tick, tick.look, inverse_dynamics  # the last for a safe command


def compile_needed(model: Model, tasks: Sequence, method: str) -> None:
    """Compile all that an `OperationalSpace` of these tasks and the control law on it call, or load it."""
    wanted = needed_kernels(model, blocks_of(model, parse_tasks(tasks)), method)
    together([*wanted, *(entry.kernel for entry in ENTRIES)])
