# SPDX-License-Identifier: Apache-2.0
"""The stages that the library consists of, and what identifies them."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from ..compiled.jit import Stage
from ..compiled.workspace import Workspace
from ..control import controller  # brings the stages of the law and its references with it
from ..control.fields import Law
from ..control.safety import calls  # noqa: F401  # brings those of the gates
from ..control.safety.fields import Gates
from ..control.targets.references import References
from ..dynamics.fields import Tree
from ..dynamics.forward_method import Aba, CrbaLtdl
from ..errors import ExportError
from ..osim.fields import Space
from ..osim.registry import BUILT_IN, get_method
from ..sim.engine import constraints, integrators, moves
from ..sim.engine.inverse import INVERSES

__all__ = ["kernel_hash", "library_stages", "number_of"]

PACKAGE = Path(controller.__file__).parents[1]
LAYERS = (
    "compiled",
    "dynamics",
    "osim",
    "control",
    "sim/engine",
)  # what kernels and their memory are made of


@cache
def library_stages() -> dict[str, Stage]:
    """By the names of their C functions, in the order of their numbers: of every robot, all methods among them."""
    owners: tuple[type[Workspace], ...] = (
        *(Tree, Space, References, Law, Gates),
        *map(get_method, BUILT_IN),
        *(Aba, CrbaLtdl, *INVERSES.values()),
    )
    of_engine = {**integrators.STAGES, **constraints.STAGES, **moves.STAGES}
    return {
        f"opspace_{owner.__name__.lower()}_{name}": stage
        for owner in owners
        for name, stage in owner.stages.items()
    } | {f"opspace_engine_{name}": stage for name, stage in of_engine.items()}


def number_of(stage: Stage) -> int:
    """Its place in the library.

    Raises:
        ExportError: It is not one of ours.
    """
    for number, each in enumerate(library_stages().values()):
        if each is stage:
            return number
    raise ExportError(
        f"{stage.name} is not in the library; what other packages bring cannot be exported"
    )


@cache
def kernel_hash() -> int:
    """64 bits of all sources that kernels and their memory are made of: a library takes images with the same only."""
    found = hashlib.blake2b(digest_size=8)
    for layer in LAYERS:
        for path in sorted((PACKAGE / layer).rglob("*.py")):
            found.update(path.read_bytes())
    return int.from_bytes(found.digest(), "little")
