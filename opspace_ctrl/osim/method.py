"""What a method is: a kernel, and what it can carry."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..compiled.jit import METHOD
from ..dynamics.dual import held_bases
from ..errors import MethodError
from ..model import Model
from .pack import Supports
from .tasks import Block

__all__ = ["Method"]

_FEATURES = {
    "mimic": "mimic joints",
    "relative": "relative tasks",
    "center_of_mass": "centre-of-mass tasks",
}


def _no_tables(work: Workspace, supports: Supports) -> None:
    """A method that needs no tables of its own."""


@dataclass(frozen=True, eq=False)
class Method:
    """A way to compute the inverse operational-space inertia.

    Attributes:
        name: What users call it.
        inertia_inv: A kernel `int64(int64)` (see `jit.kernel`): takes the address of a workspace in which kinematics
            and task Jacobian are done, writes Lambda^-1 to LI (upper triangle of blocks at least) and J H^-1 W to X,
            may spoil W, returns 0. It allocates nothing and never raises.
        factor: "ltdl" or "ltl" if it leaves H so factored, else "".
        carries: Which of "mimic", "relative", "center_of_mass" it can carry.
        floating_only: Only for robots whose trees all have floating bases, free of armature.
        tables: Called once when the method is built for a robot and tasks, to `put` into the slots METHOD .. + 7.
    """

    name: str
    inertia_inv: Callable
    factor: str = ""
    carries: tuple[str, ...] = ()
    floating_only: bool = False
    tables: Callable[[Workspace, Supports], None] = _no_tables

    @property
    def kernel(self) -> tuple:
        """For `compile_ahead.together`."""
        return self.inertia_inv, METHOD

    def missing(self, model: Model, blocks: Iterable[Block]) -> list[str]:
        """What the model and tasks ask for that this method does not carry."""
        wanted = {
            "mimic": bool(model.is_mimic.any()),
            "relative": any(b.is_relative for b in blocks),
            "center_of_mass": any(b.is_center_of_mass for b in blocks),
        }
        lacking = [
            _FEATURES[name] for name, asked in wanted.items() if asked and name not in self.carries
        ]
        if self.floating_only:
            lacking += held_bases(model)
        return lacking

    def check(self, model: Model, blocks: Iterable[Block], able: Iterable[str]) -> None:
        """Raise MethodError, naming the methods that are able, if this one cannot carry the model and tasks."""
        lacking = self.missing(model, blocks)
        if lacking:
            raise MethodError(
                f"method {self.name!r} cannot carry {' or '.join(lacking)} ({model.name}); "
                f"able: {', '.join(able) or 'none'}"
            )
