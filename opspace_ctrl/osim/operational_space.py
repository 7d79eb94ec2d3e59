# SPDX-License-Identifier: Apache-2.0
"""`OperationalSpace`: the operational-space quantities of a robot and its tasks, by a method that can change."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..compiled.jit import MISFIT, prepare
from ..dynamics.fields import Tree
from ..dynamics.state import TOO_LARGE
from ..errors import ConfigurationError
from ..model import Model, check_model
from ..model.configuration import check_vector
from ..turns import giving_way
from . import entries
from .build import TaskSpace
from .equation import EquationOfMotion
from .fields import Space
from .prepared import FIRST, Prepared
from .registry import able_methods, get_method
from .tasks import AnyTask, Block, Tasks, blocks_of, parse_tasks
from .tick import BIAS, INERTIA, INERTIA_INV, JACOBIAN, JBAR, NULL_SPACE, STATE


class OperationalSpace(EquationOfMotion):
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

    Raises:
        MethodError: The method is unknown or cannot carry the robot or the tasks.
        UnknownFrameError: A task names no frame of the model.
    """

    def __init__(self, model: Model, tasks: Tasks, method: str = "auto"):
        check_model(model)
        self.model = model
        self._now = self._prepared(tasks, method)

    def _prepared(self, tasks: Tasks, method: str) -> Prepared:
        """Make what computes with these tasks by this method; it is not in use yet."""
        parsed = parse_tasks(tasks)
        blocks = blocks_of(self.model, parsed)
        prepare(self.needed_stages(method, blocks))
        made = Prepared(self.model, parsed, blocks)
        made.select(method, timed_on=made)
        made.done = made.read = made.space.done = 0
        return made

    def needed_stages(self, method: str, blocks: Sequence[Block]) -> list[object]:
        """What has to be compiled: any of the able methods may be auto's choice, or timed for it."""
        able = able_methods(self.model, blocks)
        names = [name for name in able if str(method) in ("auto", name) or name == FIRST]
        stages = [stage for name in names for stage in get_method(name).stages.values()]
        return [*Tree.stages.values(), *Space.stages.values(), *stages, *entries.ALL]

    # ---- the tasks and the method ----

    @property
    def tasks(self) -> tuple[AnyTask, ...]:
        """The tasks in use. Setting others prepares them beside these, and then exchanges all in one assignment.

        A method that was asked for by name is kept, "auto" chooses again. There is no result of the new tasks before
        the next `update` or `control`; views of old results stay as they are. Another thread may tick meanwhile: each
        of its calls works with the old tasks or with the new ones, and this thread gives way to it every `turns.TURN`
        (`turns.giving_way`). Whatever is refused, by the same errors as when an
        object is made, changes nothing.
        """
        return self._now.tasks

    @tasks.setter
    def tasks(self, tasks: Tasks) -> None:
        with giving_way():
            self._now = self._prepared(tasks, self._now.asked)

    @property
    def m(self) -> int:
        """Rows of all tasks."""
        return self._now.m

    @property
    def method(self) -> str:
        """Name of the method in use. Setting it takes effect with the next computation, and misses no tick.

        A method never used on this machine is compiled first, which takes the thread that sets it seconds: `prepare`.
        """
        return self._now.method

    @method.setter
    def method(self, name: str) -> None:
        self._now.select(name)

    @property
    def choice(self) -> str:
        """What "auto" chose and why (for a method asked for by name, that it was)."""
        return self._now.choice

    def prepare(self, *names: str) -> None:
        """Compile methods (all that are able, if none is named) so that switching to them later takes no time."""
        now = self._now
        now.check(*names)
        names = names or now.able()
        prepare(stage for name in names for stage in get_method(name).stages.values())
        for name in names:
            now.build(name)

    @property
    def _space(self) -> TaskSpace:
        return self._now.space

    @property
    def _blocks(self) -> Sequence[Block]:
        return self._now.blocks

    # ---- the state ----

    def update(self, q: ArrayLike, v: ArrayLike | None = None) -> OperationalSpace:
        """Take a configuration and a velocity (zero if not given), and compute at once what was read of the last.

        Raises:
            ConfigurationError: Wrong size or non-finite; the object keeps its last good state.
        """
        now = self._now
        if v is None:
            v = now.no_tau0
        try:
            done = entries.update(q, v, now.read, now.address)
        except MISFIT:  # a list, a strided view ...: not what the entry is compiled for
            done = 0
        now.done = done or self._update_checked(now, q, v)
        now.read = STATE
        return self

    def _update_checked(self, now: Prepared, q: ArrayLike, v: ArrayLike) -> int:
        """`update` with what was refused, converted and checked in words."""
        q, v = self.model.check_configuration(q), self.model.check_velocity(v)
        return self._accepted(entries.update(q, v, now.read, now.address))

    def _accepted(self, done: int) -> int:
        """Pass on `done` of an entry whose arguments have been checked: 0 means that they are too large."""
        if not done:
            raise ConfigurationError(f"{self.model.name}: {TOO_LARGE}")
        return done

    # ---- the results ----

    @property
    def jacobian(self) -> NDArray[np.float64]:
        """J (m, nv)."""
        return self._now.find(JACOBIAN).jacobian

    @property
    def bias_acceleration(self) -> NDArray[np.float64]:
        """Jdot v (m,): the classical acceleration of the task rows when dv/dt = 0 componentwise."""
        return self._now.find(BIAS).bias_acceleration

    @property
    def bias_forces(self) -> NDArray[np.float64]:
        """h(q, v) (nv,)."""
        return self._now.find(BIAS).bias_forces

    @property
    def inertia_inv(self) -> NDArray[np.float64]:
        """Lambda^-1 = J H^-1 J^T (m, m), symmetric."""
        return self._now.find(INERTIA_INV).inertia_inv

    @property
    def inertia(self) -> NDArray[np.float64]:
        """Lambda (m, m); damped along directions that are nearly lost (see `singular`)."""
        return self._now.find(INERTIA).inertia

    @property
    def jbar(self) -> NDArray[np.float64]:
        """Jbar = H^-1 J^T Lambda (nv, m), the dynamically consistent inverse of J."""
        return self._now.find(JBAR).jbar

    @property
    def null_space(self) -> NDArray[np.float64]:
        """N = 1 - Jbar J (nv, nv), a projector also where tasks are singular."""
        return self._now.find(NULL_SPACE).null_space

    @property
    def rank(self) -> int:
        """How many independent directions the tasks have here."""
        return self._now.find(INERTIA).space.rank

    @property
    def damped(self) -> bool:
        """Is a direction so nearly lost that the inertia along it is damped?"""
        return bool(self._now.find(INERTIA).space.is_damped)

    @property
    def condition(self) -> float:
        """Condition number of Lambda^-1, its rows measured in their typical response; inf if it is singular."""
        now = self._now.find(INERTIA_INV)
        scale = now.space.scale[: now.m]
        values = np.linalg.eigvalsh(now.inertia_inv / np.outer(scale, scale))
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
        now = self._now.find(STATE)
        force = now.no_force if force is None else force
        tau0 = now.no_tau0 if tau0 is None else tau0
        try:
            done = entries.torque(force, tau0, compensate, now.address)
        except MISFIT:
            done = 0
        if not done:
            forces = check_vector(force, now.m, "force"), self.model.check_velocity(tau0, "tau0")
            done = self._accepted(entries.torque(*forces, bool(compensate), now.address))
        now.done = done
        return now.tau

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
        now = self._now
        if force is None:
            force = now.no_force
        if tau0 is None:
            tau0 = now.no_tau0
        tick = entries.control if compensate else entries.control_uncompensated
        try:
            done = tick(q, v, force, tau0, now.address)
        except MISFIT:
            done = 0
        now.done = done or self._control_checked(now, tick, q, v, force, tau0)
        return now.tau

    def _control_checked(
        self,
        now: Prepared,
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
                check_vector(force, now.m, "force"),
                self.model.check_velocity(tau0, "tau0"),
                now.address,
            )
        )

    def __reduce__(self) -> tuple[type[OperationalSpace], tuple[object, ...]]:
        # copies and pickles are built anew
        return type(self), (self.model, self.tasks, self.method)

    def __repr__(self) -> str:
        return f"OperationalSpace({self.model.name!r}, m={self.m}, method={self.method!r})"
