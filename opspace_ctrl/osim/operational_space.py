"""`OperationalSpace`: the operational-space quantities of a robot and its tasks, by a method that can change."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..compiled.jit import MISFIT, prepare
from ..dynamics.build import RobotTree
from ..dynamics.fields import Tree
from ..dynamics.state import TOO_LARGE
from ..errors import ConfigurationError
from ..model import Model, check_model
from ..model.configuration import check_vector
from . import entries
from .auto import choose
from .build import TaskSpace
from .fields import Space
from .method import Method
from .registry import able_methods, get_method
from .response import typical_response
from .tasks import Tasks, blocks_of, parse_tasks
from .tick import BIAS, INERTIA, INERTIA_INV, JACOBIAN, JBAR, NULL_SPACE, STATE

__all__ = ["OperationalSpace"]

FIRST = "sparse_ltdl"  # the method that every space begins with
TRIP, DAMPING, CUT = 1e-7, 1e-7, 1e-9


class OperationalSpace:
    """Task Jacobian, operational-space inertia, null space and torque of a robot.

    Give it a state with `update` and read what you need; each quantity is computed when first read, and what was read
    of one state is computed with the next at once, in one compiled call. Or call `control`, which does everything in
    one compiled call. Results, torques among them, are read-only views that the next call overwrites: copy to keep.

    Contiguous float64 arrays are taken as they are, in microseconds; lists and other arrays are converted first, which
    takes ten more. Task rows are linear first, then angular, in world axes at the frame's origin. An object belongs to
    one thread at a time: another one would overwrite its results.

    Args:
        model: The robot.
        tasks: A frame name, (name, rows), `Task`, `CenterOfMass`, or a list of these.
        method: One of `osim.methods()`, or "auto": the fastest here, see `choice`.

    Attributes:
        choice: What "auto" chose and why (for a method asked for by name, that it was).

    Raises:
        MethodError: The method is unknown or cannot carry the robot or the tasks.
        UnknownFrameError: A task names no frame of the model.
    """

    def __init__(self, model: Model, tasks: Tasks, method: str = "auto"):
        check_model(model)
        self.model, self.tasks = model, parse_tasks(tasks)
        self._blocks = blocks_of(model, self.tasks)
        prepare(self.needed_stages(method))
        self._space = space = TaskSpace(RobotTree(model), self._blocks)
        space.trip, space.damping, space.cut = TRIP, DAMPING, CUT
        self.m: int = space.m
        self._address = space.address
        self._no_force, self._no_tau0 = np.zeros(self.m), np.zeros(model.nv)
        self._built: dict[str, Method] = {}
        self._done = self._read = (
            0  # bits of `tick`: what is computed, and has been read, of the state at hand
        )
        self._show()
        self._use(FIRST)
        space.scale[: self.m] = np.sqrt(typical_response(self))
        self._select(method, timed_on=self)
        self._done = self._read = 0

    def needed_stages(self, method: str) -> list[object]:
        """What has to be compiled: any of the able methods may be auto's choice, or timed for it."""
        able = able_methods(self.model, self._blocks)
        names = [name for name in able if method in ("auto", name) or name == FIRST]
        stages = [stage for name in names for stage in get_method(name).stages.values()]
        return [*Tree.stages.values(), *Space.stages.values(), *stages, *entries.ALL]

    def _show(self) -> None:
        """Make the read-only views of results."""
        space, m, nv = self._space, self.m, self.model.nv
        self._tau = _read_only(space.tau)
        self._jacobian = _read_only(space.J_dense)
        self._bias_acceleration = _read_only(space.Jdot_v[:m])
        self._bias_forces = _read_only(space.tree.h)
        self._inertia_inv = _read_only(space.Lambda_inv[:m, :m])
        self._inertia = _read_only(space.Lambda[:m, :m])
        self._jbar = _read_only(space.Jbar[:nv, :m])
        self._null_space = _read_only(space.N_T.T)

    # ---- the method ----

    @property
    def method(self) -> str:
        """Name of the method in use. Setting it takes effect with the next computation, and misses no tick.

        A method never used on this machine is compiled first, which takes the thread that sets it seconds: `prepare`.
        """
        return self._method

    @method.setter
    def method(self, name: str) -> None:
        self._select(name)

    def _select(self, name: str, timed_on: OperationalSpace | None = None) -> None:
        """Use a method by name; "auto" is timed on a twin unless told otherwise, since this one may be ticking."""
        able = able_methods(self.model, self._blocks)
        if name == "auto":
            timed_on = timed_on or OperationalSpace(self.model, self.tasks, FIRST)
            name, self.choice = choose(timed_on, able)
        else:
            get_method(name).check(self.model, self._blocks, able)
            self.choice = f"{name}: asked for by name"
        self._use(name)

    def prepare(self, *names: str) -> None:
        """Compile methods (all that are able, if none is named) so that switching to them later takes no time."""
        able = able_methods(self.model, self._blocks)
        for name in names:
            get_method(name).check(self.model, self._blocks, able)
        prepare(stage for name in names or able for stage in get_method(name).stages.values())
        for name in names or able:
            self._build(name)

    def _build(self, name: str) -> Method:
        """Compile a method and make its tables, once: another thread may be ticking."""
        if name not in self._built:
            self._built[name] = get_method(name).for_space(self._space)
        return self._built[name]

    def _use(self, name: str) -> None:
        self._space.method = self._build(
            name
        )  # one write: a tick sees the old method or the new one
        self._method = name
        self._forget()

    def _forget(self) -> None:
        """Results are no longer those of the state at hand."""
        self._done &= STATE
        self._read &= STATE
        self._space.done = self._done

    # ---- the state ----

    def update(self, q: ArrayLike, v: ArrayLike | None = None) -> OperationalSpace:
        """Take a configuration and a velocity (zero if not given), and compute at once what was read of the last.

        Raises:
            ConfigurationError: Wrong size or non-finite; the object keeps its last good state.
        """
        if v is None:
            v = self._no_tau0
        try:
            done = entries.update(q, v, self._read, self._address)
        except MISFIT:  # a list, a strided view ...: not what the entry is compiled for
            done = 0
        self._done = done or self._update_checked(q, v)
        self._read = STATE
        return self

    def _update_checked(self, q: ArrayLike, v: ArrayLike) -> int:
        """`update` with what was refused, converted and checked in words."""
        q, v = self.model.check_configuration(q), self.model.check_velocity(v)
        return self._accepted(entries.update(q, v, self._read, self._address))

    def _accepted(self, done: int) -> int:
        """What an entry made of arguments that have been checked."""
        if not done:
            raise ConfigurationError(f"{self.model.name}: {TOO_LARGE}")
        return done

    def _find(self, bit: int) -> None:
        """Compute a result unless it is there."""
        if not self._done & bit:
            if not self._done:
                raise ConfigurationError("no state yet: call update(q, v) or control(...) first")
            self._done = entries.find(bit, self._address)
        self._read |= bit

    def _inertia_inv_at(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        """`update(q).inertia_inv`, whatever a subclass makes of these."""
        OperationalSpace.update(self, q)
        self._find(INERTIA_INV)
        return self._inertia_inv

    # ---- the results ----

    @property
    def jacobian(self) -> NDArray[np.float64]:
        """J (m, nv)."""
        self._find(JACOBIAN)
        return self._jacobian

    @property
    def bias_acceleration(self) -> NDArray[np.float64]:
        """Jdot v (m,): the classical acceleration of the task rows when dv/dt = 0 componentwise."""
        self._find(BIAS)
        return self._bias_acceleration

    @property
    def bias_forces(self) -> NDArray[np.float64]:
        """h(q, v) (nv,)."""
        self._find(BIAS)
        return self._bias_forces

    @property
    def inertia_inv(self) -> NDArray[np.float64]:
        """Lambda^-1 = J H^-1 J^T (m, m), symmetric."""
        self._find(INERTIA_INV)
        return self._inertia_inv

    @property
    def inertia(self) -> NDArray[np.float64]:
        """Lambda (m, m); damped along directions that are nearly lost (see `singular`)."""
        self._find(INERTIA)
        return self._inertia

    @property
    def jbar(self) -> NDArray[np.float64]:
        """Jbar = H^-1 J^T Lambda (nv, m), the dynamically consistent inverse of J."""
        self._find(JBAR)
        return self._jbar

    @property
    def null_space(self) -> NDArray[np.float64]:
        """N = 1 - Jbar J (nv, nv), a projector also where tasks are singular."""
        self._find(NULL_SPACE)
        return self._null_space

    @property
    def rank(self) -> int:
        """How many independent directions the tasks have here."""
        self._find(INERTIA)
        return self._space.rank

    @property
    def damped(self) -> bool:
        """Is a direction so nearly lost that the inertia along it is damped?"""
        self._find(INERTIA)
        return bool(self._space.is_damped)

    @property
    def condition(self) -> float:
        """Condition number of Lambda^-1, its rows measured in their typical response; inf if it is singular."""
        scale = self._space.scale[: self.m]
        values = np.linalg.eigvalsh(self.inertia_inv / np.outer(scale, scale))
        return float(values[-1] / values[0]) if values[0] > 0.0 else float("inf")

    def torque(
        self,
        force: ArrayLike | None = None,
        tau0: ArrayLike | None = None,
        compensate: bool = False,
    ) -> NDArray[np.float64]:
        """J^T F + N^T tau0 (nv,), [Featherstone2010] (11), without forming N; plus h if `compensate`.

        Args:
            force: F (m,) [N, Nm], row by row of the tasks; zero if not given.
            tau0: Joint forces (nv,) for the null space; zero if not given.

        Returns:
            A read-only view that the next call overwrites.

        Raises:
            ConfigurationError: Wrong size or non-finite.
        """
        force = self._no_force if force is None else force
        tau0 = self._no_tau0 if tau0 is None else tau0
        self._find(STATE)
        try:
            done = entries.torque(force, tau0, compensate, self._address)
        except MISFIT:
            done = 0
        if not done:
            forces = check_vector(force, self.m, "force"), self.model.check_velocity(tau0, "tau0")
            done = self._accepted(entries.torque(*forces, bool(compensate), self._address))
        self._done = done
        return self._tau

    def control(
        self,
        q: ArrayLike,
        v: ArrayLike,
        force: ArrayLike | None = None,
        tau0: ArrayLike | None = None,
        compensate: bool = True,
    ) -> NDArray[np.float64]:
        """The control tick: `update` and `torque` (plus h if `compensate`) in one compiled call.

        With a floating base the first six entries are the force and torque that the base would need: nothing on a
        robot can supply them. A law for such robots has to put them on contacts.

        Args:
            q, v: The state, (nq,) and (nv,).
            force: F (m,) [N, Nm], row by row of the tasks; zero if not given.
            tau0: Joint forces (nv,) for the null space; zero if not given.

        Returns:
            A read-only view (nv,) that the next call overwrites.

        Raises:
            ConfigurationError: Wrong size or non-finite; the object keeps its last good state.
        """
        if force is None:
            force = self._no_force
        if tau0 is None:
            tau0 = self._no_tau0
        tick = entries.control if compensate else entries.control_uncompensated
        try:
            done = tick(q, v, force, tau0, self._address)
        except MISFIT:
            done = 0
        self._done = done or self._control_checked(tick, q, v, force, tau0)
        return self._tau

    def _control_checked(
        self,
        tick: Callable[..., int],
        q: ArrayLike,
        v: ArrayLike,
        force: ArrayLike,
        tau0: ArrayLike,
    ) -> int:
        """The control tick on what was refused, converted and checked in words."""
        return self._accepted(
            tick(
                self.model.check_configuration(q),
                self.model.check_velocity(v),
                check_vector(force, self.m, "force"),
                self.model.check_velocity(tau0, "tau0"),
                self._address,
            )
        )

    def __reduce__(self) -> tuple[type[OperationalSpace], tuple[object, ...]]:
        # copies and pickles are built anew
        return type(self), (self.model, self.tasks, self._method)

    def __repr__(self) -> str:
        return f"OperationalSpace({self.model.name!r}, m={self.m}, method={self._method!r})"


def _read_only(array: NDArray[np.float64]) -> NDArray[np.float64]:
    view = np.asarray(array).view()
    view.setflags(write=False)
    return view
