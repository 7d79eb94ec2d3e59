# SPDX-License-Identifier: Apache-2.0
"""`Core`: the compiled control tick of a robot, and the memory of everything in it that can change while it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from ..compiled.jit import MISFIT
from ..dynamics.state import OK, REFUSED, TOO_LARGE
from ..errors import ConfigurationError, quoted
from ..model import Model
from ..osim import OperationalSpace, Task
from ..osim.registry import able_methods
from ..osim.tasks import Block
from . import entries
from .build import ControlLaw
from .fields import Law
from .law.tick import FAR
from .law.typical import measure_typical
from .settings import ControllerSettings
from .targets.motion import Motion
from .targets.references import MOTION

__all__ = ["Core", "read_only"]

NAN = float("nan")


class Core:
    """From q, v and the time to joint torques, in one compiled call that allocates nothing.

    All numbers of the tick are fields of `law`, described in `fields.Law`. Its settings are written in place
    (`core.law.task_stiffness[0] = 400.0`, `core.law.mode = RAW_MODE`), and the next tick uses what it finds; it expects
    finite numbers in the ranges given, which the owner of the core checks. Its results are those of the last tick, and
    the next one overwrites them.

    Args:
        model: The robot.
        settings: What is controlled and how; a payload is carried once `live.write_live` was called.

    Attributes:
        settings: What it was built with.
        law: Settings and results.
        tau: (k,) the last command, in the order of the command, read-only.

    Raises:
        ConfigurationError, UnknownFrameError, MethodError: As `check_robot` and `OperationalSpace` say.
    """

    def __init__(self, model: Model, settings: ControllerSettings):
        settings.check_robot(model)
        self.model, self.settings = model, settings
        tasks = settings.operational_tasks() or [_some_task(model)]
        self._space = _ControlledSpace(model, tasks, settings.method)
        self.law = ControlLaw(self._space._space, model, settings)
        self._address = self.law.address
        self.tau = read_only(self.law.door.sent)
        self.law.last_time = -np.inf
        measure_typical(self)
        entries.derive(self._address)
        self.law.door.open()

    # ---- the method ----

    @property
    def method(self) -> str:
        """Name of the method that computes Lambda^-1. Setting it takes effect with the next tick and misses none."""
        return self._space.method

    @method.setter
    def method(self, name: str) -> None:
        self._space.method = name

    @property
    def choice(self) -> str:
        """What "auto" chose and why."""
        return self._space.choice

    def prepare(self, *names: str) -> None:
        """Compile methods (all that are able, if none is named), so that switching takes no time."""
        self._space.prepare(*names)

    def methods(self) -> tuple[str, ...]:
        """Names of the methods that can carry the robot and its tasks."""
        return able_methods(self.model, self._space._blocks)

    # ---- what is asked for ----

    def load_program(self, task: int, program: np.ndarray) -> None:
        """Give task number `task` a program (n, COLUMNS); the next tick samples it."""
        references = self.law.references
        if len(program) > references.capacity:
            references = references.with_room(len(program))
        entries.load_program(task, program.ravel(), references.address)
        if references is not self.law.references:
            self.law.references = references  # one write: a tick sees the old ones or the new ones

    def load_posture(self, program: np.ndarray) -> None:
        """Give the posture a program (n, 2 + 6 k): start, end, then six coefficients a joint (model order).

        Before the first and after the last segment it holds; the powers are of t - start, see `targets.references`.
        """
        entries.load_posture(program.ravel(), self.law.references.address)

    # ---- the loop ----

    def activate(self, q, v, time: float) -> None:
        """`restart`, and the next command is not rate limited: gravity is carried at once.

        Raises:
            ConfigurationError: Wrong size or non-finite.
        """
        self.restart(q, v, time)
        self.law.door.is_free = 1

    def follow(self, before: Core, same: Iterable[tuple[int, int]], time: float) -> None:
        """See `ControlLaw.follow`; commands of both leave through the other's door."""
        self.law.follow(before.law, same, time)
        self.tau = before.tau

    @property
    def state(self) -> tuple[np.ndarray, np.ndarray]:
        """Copies of q and v of the last tick."""
        tree = self.law.space.tree
        return np.array(tree.q[: self.model.nq]), np.array(tree.v[: self.model.nv])

    def restart(self, q, v, time: float) -> None:
        """Start anew: tasks and posture hold what is, the ramp begins; torques move on from where they are.

        Raises:
            ConfigurationError: Wrong size or non-finite.
        """
        self._insist(self._answer(entries.restart, q, v, time=time), time)

    def tick(self, q, v, time: float, steady: float = NAN) -> np.ndarray:
        """The torques `tau` for a state at a time [s]; steady: the wall clock [s], see `door.time_to_move`.

        The same time again is the same state again: nothing that takes time goes on.

        Raises:
            ConfigurationError: Wrong size or non-finite, or a time before the last one's; `tau` and all that the next
                tick depends on stay.
        """
        try:  # what `_answer` does first, without its 0.4 us
            status = entries.tick(q, v, time, steady, self._address)
        except MISFIT:
            status = REFUSED
        if status != OK:
            status = self._answer(entries.tick, q, v, time=time, steady=steady)
            if status != OK:
                self._insist(status, self.moment(time))
        return self.tau

    def moment(self, time: float) -> float:
        """The time of a tick [s], checked in words.

        Raises:
            ConfigurationError: It is no time, or before that of the last tick.
        """
        moment, last = _seconds("time", time), self.law.last_time
        if not abs(moment) < FAR:
            raise ConfigurationError(
                f"time = {moment}: finite seconds of less than {FAR:g} are valid"
            )
        if moment < last:
            raise ConfigurationError(
                f"time runs back: {moment} s after {last} s; valid is a time that does not, or begin "
                "anew: activate(q, v, time)"
            )
        return moment

    def safe(self, kind: int, q, v, time: float = NAN, steady: float = NAN) -> np.ndarray:
        """The torques `tau` of a safe command, NO_TORQUE, GRAVITY or BRAKING; without a time no state is answered.

        It overwrites the results of the last tick but nothing that the next one depends on. Raises as `tick`.
        """
        self._insist(self._answer(entries.safe, q, v, kind=kind, time=time, steady=steady), time)
        return self.tau

    def _answer(self, entry: Callable[..., int], q, v, **numbers: float) -> int:
        """What an entry makes of a state as it is; where it refuses that, of the same converted and checked."""
        try:
            status = entry(q, v, *numbers.values(), self._address)
        except MISFIT:  # a list, a strided view ...: not what the entry is compiled for
            status = REFUSED
        if status != OK:
            q, v = self.model.check_configuration(q), self.model.check_velocity(v)
            given = (x if name == "kind" else _seconds(name, x) for name, x in numbers.items())
            status = entry(q, v, *given, self._address)
        return status

    def _insist(self, status: int, time: float) -> None:
        """Raise if what was checked is refused all the same."""
        if status != OK:
            raise ConfigurationError(
                f"{self.model.name}: {TOO_LARGE}, or the time {time} is not finite"
            )

    def measure(self, q, v) -> None:
        """Only `law.pose` and `law.velocity` of the tasks."""
        if self._answer(entries.measure_tasks, q, v) != OK:
            raise ConfigurationError(f"{self.model.name}: {TOO_LARGE}")

    def motion(self, task: int) -> Motion:
        """Pose and twist of a task at the state that was measured last."""
        motion = np.empty(MOTION)
        entries.motion_of(task, motion, self._address)
        return Motion.of(motion)

    @property
    def osim(self) -> np.ndarray:
        """Lambda^-1 (m, m) of the tasks' rows in the user's order, at the last tick; a copy."""
        law, space = self.law, self._space._space
        rows = [
            space.block_row[b] + r
            for b, size in zip(law.task_block, law.task_size)
            for r in range(size)
        ]
        upper = np.triu(space.Lambda_inv[: space.m, : space.m])
        return (upper + np.triu(upper, 1).T)[np.ix_(rows, rows)]


class _ControlledSpace(OperationalSpace):
    """The operational space of a law, which is compiled together with it."""

    def needed_stages(self, method: str, blocks: Sequence[Block]) -> list:
        """Those of the space, the law's, and what the core calls."""
        own = (*Law.stages.values(), *entries.ENTRIES)
        return [*super().needed_stages(method, blocks), *own]


def _seconds(what: str, time: float) -> float:
    try:
        if isinstance(time, (str, bytes)):  # Python would read a number in it
            raise TypeError
        return float(time)
    except (TypeError, ValueError, OverflowError):
        raise ConfigurationError(f"{what} = {quoted(time)} is no number of seconds") from None


def read_only(array: np.ndarray) -> np.ndarray:
    """A view of a field that cannot be written."""
    view = np.asarray(array).view()
    view.setflags(write=False)
    return view


def _some_task(model: Model) -> Task:
    """A task to compute with where nobody asks for one: it never enters the law."""
    return Task(model.frame_names[int(np.flatnonzero(model.frame_body >= 0)[-1])])
