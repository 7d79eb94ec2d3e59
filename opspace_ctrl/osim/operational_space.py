"""`OperationalSpace`: the operational-space quantities of a robot and its tasks, by a method that can change."""
from __future__ import annotations

import numpy as np

from ..compile_ahead import together
from ..dynamics import layout as dyn
from ..dynamics.layout import Workspace
from ..dynamics.pack import pack
from ..dynamics.state import OK, TOO_LARGE
from ..errors import ConfigurationError
from ..jit import address_of
from ..model import Model
from ..model.configuration import check_vector
from . import layout as at
from . import tick
from .auto import choose
from .needs import FIRST, needed_kernels
from .pack import pack_tasks
from .registry import able_methods, get_method
from .response import typical_response
from .tasks import blocks_of, parse_tasks
from .tick import BIAS, INERTIA, INERTIA_INV, JACOBIAN, JBAR, NULL_SPACE, STATE

__all__ = ["OperationalSpace"]

TRIP, DAMPING, CUT = 1e-7, 1e-7, 1e-9


class OperationalSpace:
    """Task Jacobian, operational-space inertia, null space and torque of a robot.

    Give it a state with `update` and read what you need; each quantity is computed when first read, and what was read
    of one state is computed with the next at once, in one compiled call. Or call `control`, which does everything in
    one compiled call. Results are read-only views, valid until the next update: copy to keep.

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
        self.model, self.tasks = model, parse_tasks(tasks)
        self._blocks = blocks_of(model, self.tasks)
        self.m = self._blocks[-1].row + len(self._blocks[-1].selection)
        together(needed_kernels(model, self._blocks, method))
        self._work = pack(model)
        self._supports = pack_tasks(self._work, model, self._blocks)
        self._work[at.THRESHOLD][:] = TRIP, DAMPING, CUT
        self._built: dict[str, Workspace] = {}
        self._control, self._update = tick.control.bound(self._work), tick.update.bound(self._work)
        self._advance, self._apply = tick.advance.bound(self._work), tick.torque.bound(self._work)
        self._no_velocity, self._no_force = np.zeros(model.nv), np.zeros(self.m)
        square = np.s_[:self.m, :self.m]
        self._jacobian, self._bias, self._torque = self._view(at.J_DENSE), self._view(dyn.BIAS), self._view(at.TORQUE)
        self._inertia_inv, self._inertia = self._view(at.LI, square), self._view(at.LAMBDA, square)
        self._jbar, self._null_space = self._view(at.JBAR, np.s_[:model.nv, :self.m]), self._view(at.N_T).T
        self._jdot_v = self._view(at.JDOT_V, np.s_[:self.m])
        self._done = self._read = 0  # bits of `tick`: what is computed of this state, and what was read of it
        self._use(FIRST)
        self._work[at.SCALE][:self.m] = np.sqrt(typical_response(self))
        self._select(method, timed_on=self)
        self._done = self._read = 0

    def _view(self, slot: int, rows=...) -> np.ndarray:
        """Rows of the array in a slot, read-only."""
        view = self._work[slot][rows].view()
        view.setflags(write=False)
        return view

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
            name, self.choice = choose(timed_on or OperationalSpace(self.model, self.tasks, "sparse_ltdl"), able)
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
            own.set_count(at.INERTIA_INV, address_of(method.inertia_inv))
            own.set_count(at.LEAVES_H, {"": at.PLAIN, "ltdl": at.LTDL, "ltl": at.LTL}[method.factor])
            self._built[name] = own
        return self._built[name]

    def _use(self, name: str) -> None:
        header = self._build(name).header(at.INERTIA_INV, at.END)
        self._work.set_header(at.INERTIA_INV, header)  # one write: a tick sees the old method or the new one
        self._method = name
        self._done, self._read = self._done & STATE, self._read & STATE

    # ---- the state ----

    def update(self, q, v=None) -> OperationalSpace:
        """Take a configuration and a velocity (zero if not given).

        Raises:
            ConfigurationError: Wrong size or non-finite; the object keeps its last good state.
        """
        given = self._no_velocity if v is None else v
        wanted, self._read, self._done = self._read, STATE, STATE
        done = self._update(q, given, wanted)
        if not done:
            self._read = self._done = wanted & STATE
            q, given = self.model.check_configuration(q), self.model.check_velocity(given)
            done = self._update(q, given, wanted)
            if not done:
                raise ConfigurationError(f"{self.model.name}: {TOO_LARGE}")
            self._read = STATE
        self._done = done
        return self

    def _find(self, result: int) -> None:
        """Compute a result of the state at hand."""
        self._need_state()
        self._done = self._advance(self._done, result)

    def _need_state(self) -> None:
        if not self._done:
            raise ConfigurationError("no state yet: call update(q, v) or control(...) first")

    # ---- the results ----

    @property
    def jacobian(self) -> np.ndarray:
        """J (m, nv)."""
        if not self._done & JACOBIAN:
            self._find(JACOBIAN)
        self._read |= JACOBIAN
        return self._jacobian

    @property
    def bias_acceleration(self) -> np.ndarray:
        """Jdot v (m,): the classical acceleration of the task rows when dv/dt = 0 componentwise."""
        if not self._done & BIAS:
            self._find(BIAS)
        self._read |= BIAS
        return self._jdot_v

    @property
    def bias_forces(self) -> np.ndarray:
        """h(q, v) (nv,)."""
        if not self._done & BIAS:
            self._find(BIAS)
        self._read |= BIAS
        return self._bias

    @property
    def inertia_inv(self) -> np.ndarray:
        """Lambda^-1 = J H^-1 J^T (m, m), symmetric."""
        if not self._done & INERTIA_INV:
            self._find(INERTIA_INV)
        self._read |= INERTIA_INV
        return self._inertia_inv

    @property
    def inertia(self) -> np.ndarray:
        """Lambda (m, m); damped along directions that are nearly lost (see `singular`)."""
        if not self._done & INERTIA:
            self._find(INERTIA)
        self._read |= INERTIA
        return self._inertia

    @property
    def jbar(self) -> np.ndarray:
        """Jbar = H^-1 J^T Lambda (nv, m), the dynamically consistent inverse of J."""
        if not self._done & JBAR:
            self._find(JBAR)
        self._read |= JBAR
        return self._jbar

    @property
    def null_space(self) -> np.ndarray:
        """N = 1 - Jbar J (nv, nv), a projector also where tasks are singular."""
        if not self._done & NULL_SPACE:
            self._find(NULL_SPACE)
        self._read |= NULL_SPACE
        return self._null_space

    @property
    def rank(self) -> int:
        """How many independent directions the tasks have here."""
        return int(self._status[at.RANK])

    @property
    def damped(self) -> bool:
        """Is a direction so nearly lost that the inertia along it is damped?"""
        return bool(self._status[at.DAMPED])

    @property
    def _status(self) -> np.ndarray:
        if not self._done & INERTIA:
            self._find(INERTIA)
        self._read |= INERTIA
        return self._work[at.STATUS]

    @property
    def condition(self) -> float:
        """Condition number of Lambda^-1, its rows measured in their typical response; inf if it is singular."""
        scale = self._work[at.SCALE][:self.m]
        values = np.linalg.eigvalsh(self.inertia_inv / np.outer(scale, scale))
        return float(values[-1] / values[0]) if values[0] > 0.0 else float("inf")

    def torque(self, force=None, tau0=None, compensate: bool = False) -> np.ndarray:
        """J^T F + N^T tau0 (nv,), [Featherstone2010] (11), without forming N; plus h if `compensate`.

        Raises:
            ConfigurationError: Wrong size or non-finite.
        """
        self._need_state()
        done = self._apply(force, tau0, compensate, self._done)
        if not done:
            force, tau0 = self._force(force), self._tau0(tau0)
            done = self._apply(force, tau0, bool(compensate), self._done)
            if not done:
                raise ConfigurationError(f"{self.model.name}: {TOO_LARGE}")
        self._done = done
        return self._torque

    def control(self, q, v, force=None, tau0=None, compensate: bool = True) -> np.ndarray:
        """The control tick: `update` and `torque` (plus h if `compensate`) in one compiled call.

        With a floating base the first six entries are the force and torque that the base would need: nothing on a
        robot can supply them. A law for such robots has to put them on contacts.

        Raises:
            ConfigurationError: Wrong size or non-finite; the object keeps its last good state.
        """
        read, self._read, self._done = self._read, STATE, STATE
        if self._control(q, v, force, tau0, compensate) != OK:
            self._read = self._done = read & STATE
            checked = (self.model.check_configuration(q), self.model.check_velocity(v), self._force(force),
                       self._tau0(tau0), bool(compensate))
            if self._control(*checked) != OK:
                raise ConfigurationError(f"{self.model.name}: {TOO_LARGE}")
            self._read = self._done = STATE
        return self._torque

    def __reduce__(self):
        return OperationalSpace, (self.model, self.tasks, self._method)  # copies and pickles are built anew

    def __repr__(self) -> str:
        return f"OperationalSpace({self.model.name!r}, m={self.m}, method={self._method!r})"

    def _tau0(self, tau0) -> np.ndarray:
        """A checked float64 copy of tau0 (nv,), zeros for None."""
        return self._no_velocity if tau0 is None else self.model.check_velocity(tau0, "tau0")

    def _force(self, force) -> np.ndarray:
        """A checked float64 copy of F (m,), zeros for None."""
        return self._no_force if force is None else check_vector(force, self.m, "force")
