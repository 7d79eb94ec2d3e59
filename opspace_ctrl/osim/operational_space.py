"""`OperationalSpace`: the operational-space quantities of a robot and its tasks, by a method that can change."""

from __future__ import annotations

import numpy as np

from ..compile_ahead import together
from ..compiled.jit import address_of
from ..dynamics.pack import pack
from ..dynamics.state import TOO_LARGE
from ..errors import ConfigurationError, quoted
from ..fastmethod import Compiled, FastProperty, fast, install
from ..model import Model
from ..model.configuration import check_vector
from . import tick
from .auto import choose
from .fields import (
    BIAS_VIEW,
    DAMPED,
    END,
    INERTIA_INV_VIEW,
    INERTIA_VIEW,
    JACOBIAN_VIEW,
    JBAR_VIEW,
    JDOT_V_VIEW,
    LTDL,
    LTL,
    NULL_SPACE_VIEW,
    PLAIN,
    RANK,
    STATUS_VIEW,
    TORQUE_VIEW,
)
from .needs import FIRST, needed_kernels
from .pack import pack_tasks
from .registry import able_methods, get_method
from .response import typical_response
from .tasks import blocks_of, parse_tasks
from .tick import BIAS, INERTIA, INERTIA_INV, JACOBIAN, JBAR, NULL_SPACE, STATE, to_read

__all__ = ["OperationalSpace"]

TRIP, DAMPING, CUT = 1e-7, 1e-7, 1e-9


def _result(bit: int, view: int, doc: str) -> FastProperty:
    """An attribute that shows a result, computed when it is read."""
    return FastProperty(tick.read, to_read(bit, view), doc)


class _Calls(Compiled):
    """The compiled calls by themselves: None where they refuse."""

    @fast(tick.control)
    def control(self, *given) -> np.ndarray | None:
        """`OperationalSpace.control`."""

    @fast(tick.update)
    def update(self, *given) -> _Calls | None:
        """`OperationalSpace.update`."""

    @fast(tick.torque)
    def torque(self, *given) -> np.ndarray | None:
        """`OperationalSpace.torque`."""

    inertia_inv = _result(INERTIA_INV, INERTIA_INV_VIEW, "`OperationalSpace.inertia_inv`.")


class OperationalSpace(Compiled):
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

    def __init__(self, model: Model, tasks, method: str = "auto"):
        if not isinstance(model, Model):
            raise ConfigurationError(
                f"model = {quoted(model)} is no Model: load_robot and load_urdf make one"
            )
        self.model, self.tasks = model, parse_tasks(tasks)
        self._blocks = blocks_of(model, self.tasks)
        self.m = self._blocks[-1].row + len(self._blocks[-1].selection)
        together(needed_kernels(model, self._blocks, method))
        self._work = pack(model)
        self._supports = pack_tasks(self._work, model, self._blocks)
        self._work["THRESHOLD"][:] = TRIP, DAMPING, CUT
        self._built: dict[str, Workspace] = {}
        self._calls = _Calls()
        self._head = self._calls._head = self._work.head
        self._show(model)
        install(_Calls)
        install(OperationalSpace)
        self._use(FIRST)
        self._work["scale"][: self.m] = np.sqrt(typical_response(self))
        self._select(method, timed_on=self)
        self._forget(0)

    def _show(self, model: Model) -> None:
        """Make the read-only views of results that the compiled calls hand out."""
        square = np.s_[: self.m, : self.m]
        for view, slot, rows in (
            (TORQUE_VIEW, "tau", ...),
            (JACOBIAN_VIEW, "J_dense", ...),
            (JDOT_V_VIEW, "Jdot_v", np.s_[: self.m]),
            (BIAS_VIEW, "h", ...),
            (INERTIA_INV_VIEW, "Lambda_inv", square),
            (INERTIA_VIEW, "Lambda", square),
            (JBAR_VIEW, "Jbar", np.s_[: model.nv, : self.m]),
            (NULL_SPACE_VIEW, "N_T", ...),
            (STATUS_VIEW, "STATUS", ...),
        ):
            shown = self._work[slot][rows]
            shown = (shown.T if slot == "N_T" else shown).view()
            shown.setflags(write=False)
            self._work.keep(view, shown)

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
            name, self.choice = choose(
                timed_on or OperationalSpace(self.model, self.tasks, "sparse_ltdl"), able
            )
        else:
            get_method(name).check(self.model, self._blocks, able)
            self.choice = f"{name}: asked for by name"
        self._use(name)

    def prepare(self, *names: str) -> None:
        """Compile methods (all that are able, if none is named) so that switching to them later takes no time."""
        able = able_methods(self.model, self._blocks)
        for name in names:
            get_method(name).check(self.model, self._blocks, able)
        together(get_method(name).kernel for name in names or able)
        for name in names or able:
            self._build(name)

    def _build(self, name: str) -> Workspace:
        """Compile a method and lay out its tables, once, under a header of its own: another thread may be ticking."""
        if name not in self._built:
            method, own = get_method(name), Workspace()
            method.tables(own, self._supports)
            own.allocate()
            own.set_count("INERTIA_INV", address_of(method.inertia_inv))
            own.set_count("LEAVES_H", {"": PLAIN, "ltdl": LTDL, "ltl": LTL}[method.factor])
            self._built[name] = own
        return self._built[name]

    def _use(self, name: str) -> None:
        header = self._build(name).header("INERTIA_INV", END)
        # one write: a tick sees the old method or the new one
        self._work.set_header("INERTIA_INV", header)
        self._method = name
        self._forget(STATE)

    def _forget(self, but: int) -> None:
        """Results are no longer those of the state at hand, but for some (bits of `tick`)."""
        for slot in ("DONE", "READ"):
            self._work.set_count(slot, self._work.count(slot) & but)

    # ---- the state ----

    @fast(tick.update)
    def update(self, q, v=None) -> OperationalSpace:
        """Take a configuration and a velocity (zero if not given).

        Raises:
            ConfigurationError: Wrong size or non-finite; the object keeps its last good state.
        """
        velocity = None if v is None else self.model.check_velocity(v)
        self._accepted(self._calls.update(self.model.check_configuration(q), velocity))
        return self

    def _accepted(self, found):
        """What a compiled call made of arguments that have been checked."""
        if found is None:
            raise ConfigurationError(f"{self.model.name}: {TOO_LARGE}")
        return found

    def _read_refused(self) -> None:
        raise ConfigurationError("no state yet: call update(q, v) or control(...) first")

    # ---- the results ----

    jacobian = _result(JACOBIAN, JACOBIAN_VIEW, "J (m, nv).")
    bias_acceleration = _result(
        BIAS,
        JDOT_V_VIEW,
        "Jdot v (m,): the classical acceleration of the task rows when dv/dt = 0 componentwise.",
    )
    bias_forces = _result(BIAS, BIAS_VIEW, "h(q, v) (nv,).")
    inertia_inv = _result(
        INERTIA_INV, INERTIA_INV_VIEW, "Lambda^-1 = J H^-1 J^T (m, m), symmetric."
    )
    inertia = _result(
        INERTIA,
        INERTIA_VIEW,
        "Lambda (m, m); damped along directions that are nearly lost (see `singular`).",
    )
    jbar = _result(
        JBAR, JBAR_VIEW, "Jbar = H^-1 J^T Lambda (nv, m), the dynamically consistent inverse of J."
    )
    null_space = _result(
        NULL_SPACE,
        NULL_SPACE_VIEW,
        "N = 1 - Jbar J (nv, nv), a projector also where tasks are singular.",
    )
    _status = _result(
        INERTIA, STATUS_VIEW, "What the singularity rule did: columns of `layout.STATUS`."
    )

    @property
    def rank(self) -> int:
        """How many independent directions the tasks have here."""
        return int(self._status[RANK])

    @property
    def damped(self) -> bool:
        """Is a direction so nearly lost that the inertia along it is damped?"""
        return bool(self._status[DAMPED])

    @property
    def condition(self) -> float:
        """Condition number of Lambda^-1, its rows measured in their typical response; inf if it is singular."""
        scale = self._work["scale"][: self.m]
        values = np.linalg.eigvalsh(self.inertia_inv / np.outer(scale, scale))
        return float(values[-1] / values[0]) if values[0] > 0.0 else float("inf")

    @fast(tick.torque)
    def torque(self, force=None, tau0=None, compensate: bool = False) -> np.ndarray:
        """J^T F + N^T tau0 (nv,), [Featherstone2010] (11), without forming N; plus h if `compensate`.

        Args:
            force: F (m,) [N, Nm], row by row of the tasks; zero if not given.
            tau0: Joint forces (nv,) for the null space; zero if not given.

        Returns:
            A read-only view that the next call overwrites.

        Raises:
            ConfigurationError: Wrong size or non-finite.
        """
        if not self._work.count("DONE"):
            self._read_refused()
        return self._accepted(
            self._calls.torque(self._force(force), self._tau0(tau0), bool(compensate))
        )

    @fast(tick.control)
    def control(self, q, v, force=None, tau0=None, compensate: bool = True) -> np.ndarray:
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
        return self._accepted(
            self._calls.control(
                self.model.check_configuration(q),
                self.model.check_velocity(v),
                self._force(force),
                self._tau0(tau0),
                bool(compensate),
            )
        )

    def __reduce__(self):
        # copies and pickles are built anew
        return type(self), (self.model, self.tasks, self._method)

    def __repr__(self) -> str:
        return f"OperationalSpace({self.model.name!r}, m={self.m}, method={self._method!r})"

    def _tau0(self, tau0) -> np.ndarray | None:
        """A checked float64 copy of tau0 (nv,), if it is given."""
        return None if tau0 is None else self.model.check_velocity(tau0, "tau0")

    def _force(self, force) -> np.ndarray | None:
        """A checked float64 copy of F (m,), if it is given."""
        return None if force is None else check_vector(force, self.m, "force")
