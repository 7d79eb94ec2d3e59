# SPDX-License-Identifier: Apache-2.0
"""`Prepared`: tasks of a robot with all that is needed to compute with them, exchanged as one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..dynamics.build import RobotTree
from ..errors import ConfigurationError
from ..model import Model
from . import entries
from .auto import choose
from .build import TaskSpace
from .method import Method
from .registry import able_methods, get_method
from .response import typical_response
from .tasks import AnyTask, Block
from .tick import INERTIA_INV, STATE

FIRST = "sparse_ltdl"  # the method that every space begins with
TRIP, DAMPING, CUT = 1e-7, 1e-7, 1e-9


class Prepared:
    """Memory of a robot and its tasks, methods, views of results, and which of these are those of the state at hand.

    It has a robot's tree of its own: while it is prepared, another thread may tick with another one.

    Attributes:
        space: The memory; `address` is its own.
        asked, method: The method as it was asked for, and its name: they differ if that was "auto".
        choice: Why that method.
        done, read: Bits of `tick`: what is computed, and has been read, of the state at hand.
        tau, jacobian, ...: Read-only views of results.
    """

    asked: str
    choice: str

    def __init__(self, model: Model, tasks: tuple[AnyTask, ...], blocks: Sequence[Block]):
        self.model, self.tasks, self.blocks = model, tasks, blocks
        self.space = space = TaskSpace(RobotTree(model), blocks)
        space.trip, space.damping, space.cut = TRIP, DAMPING, CUT
        self.m: int = space.m
        self.address = space.address
        self.no_force, self.no_tau0 = np.zeros(self.m), np.zeros(model.nv)
        self._built: dict[str, Method] = {}
        self.done = self.read = 0
        self._show()
        self.use(FIRST)
        space.scale[: self.m] = np.sqrt(typical_response(self))

    def _show(self) -> None:
        """Make the read-only views of results."""
        space, m, nv = self.space, self.m, self.model.nv
        self.tau = _read_only(space.tau)
        self.jacobian = _read_only(space.J_dense)
        self.bias_acceleration = _read_only(space.Jdot_v[:m])
        self.bias_forces = _read_only(space.tree.h)
        self.inertia_inv = _read_only(space.Lambda_inv[:m, :m])
        self.inertia = _read_only(space.Lambda[:m, :m])
        self.jbar = _read_only(space.Jbar[:nv, :m])
        self.null_space = _read_only(space.N_T.T)

    # ---- the method ----

    def able(self) -> tuple[str, ...]:
        """Names of the methods that can carry the robot and the tasks."""
        return able_methods(self.model, self.blocks)

    def check(self, *names: str) -> None:
        """Raise MethodError for a method that cannot carry the robot or the tasks."""
        able = self.able()
        for name in names:
            get_method(name).check(self.model, self.blocks, able)

    def select(self, asked: str, timed_on: Prepared | None = None) -> None:
        """Use a method by name; "auto" is timed on a twin unless told otherwise, since this one may be ticking."""
        if isinstance(asked, str) and asked == "auto":
            timed_on = timed_on or Prepared(self.model, self.tasks, self.blocks)
            name, choice = choose(timed_on, self.able())
        else:
            self.check(asked)
            name, choice = asked, f"{asked}: asked for by name"
        self.use(name)
        self.asked, self.choice = asked, choice

    def build(self, name: str) -> Method:
        """Compile a method and make its tables, once: another thread may be ticking."""
        if name not in self._built:
            self._built[name] = get_method(name).for_space(self.space)
        return self._built[name]

    def use(self, name: str) -> None:
        """Compute by a method from the next computation on."""
        self.space.method = self.build(name)  # one write: a tick sees the old method or the new one
        self.method = name
        self._forget()

    def _forget(self) -> None:
        """Results are no longer those of the state at hand."""
        self.done &= STATE
        self.read &= STATE
        self.space.done = self.done

    # ---- results ----

    def find(self, bit: int) -> Prepared:
        """Compute a result unless it is there.

        Raises:
            ConfigurationError: These tasks have not been given a state.
        """
        if not self.done & bit:
            if not self.done:
                raise ConfigurationError("no state yet: call update(q, v) or control(...) first")
            self.done = entries.find(bit, self.address)
        self.read |= bit
        return self

    def inertia_inv_at(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        """Lambda^-1 (m, m) at a configuration, which is known to be one."""
        self.done = entries.update(q, self.no_tau0, INERTIA_INV, self.address)
        return self.inertia_inv


def _read_only(array: NDArray[np.float64]) -> NDArray[np.float64]:
    view = np.asarray(array).view()
    view.setflags(write=False)
    return view
