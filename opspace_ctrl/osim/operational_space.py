"""`OperationalSpace`: the operational-space quantities of a robot and its tasks, by a method that can change."""
from __future__ import annotations

import numpy as np

from ..dynamics import layout as dyn
from ..dynamics.layout import Workspace
from ..dynamics.pack import pack
from ..dynamics.state import TOO_LARGE
from ..errors import ConfigurationError
from ..jit import address_of
from ..model import Model
from ..model.configuration import check_vector
from . import layout as at
from . import tick
from .auto import choose
from .pack import pack_tasks
from .registry import able_methods, get_method
from .response import typical_response
from .tasks import blocks_of, parse_tasks

__all__ = ["OperationalSpace"]

TRIP, DAMPING, CUT = 1e-3, 1e-7, 1e-9
_FACTOR = {"": 0, "ltdl": 1, "ltl": 2}


class OperationalSpace:
    """Task Jacobian, operational-space inertia, null space and torque of a robot.

    Give it a state with `update` and read what you need; each quantity is computed when first read. Or call `control`,
    which does everything in one compiled call. Results are read-only views, valid until the next update: copy to keep.

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
        self._work = pack(model)
        self._supports = pack_tasks(self._work, model, self._blocks)
        self._work[at.THRESHOLD][:] = TRIP, DAMPING, CUT
        self._built: dict[str, Workspace] = {}
        self._control, self._address = tick.control.prepare(), self._work.address
        self._no_velocity = np.zeros(model.nv)
        self._views = {slot: _read_only(self._work[slot][rows]) for slot, rows in (
            (at.J_DENSE, ...), (at.LI, np.s_[:self.m, :self.m]), (at.LAMBDA, np.s_[:self.m, :self.m]),
            (at.JBAR, np.s_[:, :self.m]), (at.N_T, ...), (at.JDOT_V, np.s_[:self.m]), (dyn.BIAS, ...),
            (at.TORQUE, ...))}
        self._done: set[str] = set()
        self._has_state = False
        self._use("sparse_ltdl")
        self._work[at.RESPONSE][:self.m] = typical_response(self)
        self._select(method, timed_on=self)
        self._has_state = False

    # ---- the method ----

    @property
    def method(self) -> str:
        """Name of the method in use. Setting it takes effect with the next computation, and misses no tick."""
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
        for name in names or able_methods(self.model, self._blocks):
            get_method(name).check(self.model, self._blocks, able_methods(self.model, self._blocks))
            self._build(name)

    def _build(self, name: str) -> Workspace:
        """Compile a method and lay out its tables, once, under a header of its own: another thread may be ticking."""
        if name not in self._built:
            method, own = get_method(name), Workspace()
            method.tables(own, self._supports)
            own.allocate()
            own.set_count(at.INERTIA_INV, address_of(method.inertia_inv))
            self._built[name] = own
        return self._built[name]

    def _use(self, name: str) -> None:
        header = self._build(name).header(at.INERTIA_INV, at.END)
        self._work.set_header(at.INERTIA_INV, header)  # one write: a tick sees the old method or the new one
        self._method, self._factor = name, _FACTOR[get_method(name).factor]
        self._done.clear()

    # ---- the state ----

    def update(self, q, v=None) -> OperationalSpace:
        """Take a configuration and a velocity (zero if not given).

        Raises:
            ConfigurationError: Wrong size or non-finite; the object keeps its last good state.
        """
        given = self._no_velocity if v is None else v
        try:
            refused = tick.update.call(q, given, self._address)
        except (TypeError, ValueError):  # not contiguous float64 arrays
            refused = True
        if refused:
            q, given = self.model.check_configuration(q), self.model.check_velocity(given)
            if tick.update.call(q, given, self._address):
                raise ConfigurationError(f"{self.model.name}: {TOO_LARGE}")
        self._done.clear()
        self._has_state = True
        return self

    def _need(self, *stages: str) -> None:
        """Compute what is not there yet, in order."""
        if not self._has_state:
            raise ConfigurationError("no state yet: call update(q, v) or control(...) first")
        for stage in stages:
            if stage not in self._done:
                self._compute(stage)
                self._done.add(stage)

    def _compute(self, stage: str) -> None:
        if stage == "jacobian":
            tick.find_jacobian.call(self._address)
        elif stage == "inertia_inv":
            tick.find_inertia_inv.call(self._no_velocity, self._address)
        elif stage == "bias":
            tick.find_bias.call(self._address)
        elif stage == "inertia":
            tick.find_inertia.call(self._address)
        elif stage == "jbar":
            tick.find_jbar.call(self._address, self._factor, at.LAMBDA)
            self._done.discard("truncated")
        elif stage == "truncated":  # Jbar as N wants it: without damping
            regular = self._work[at.STATUS][at.REGULAR] == 1.0
            if not regular or "jbar" not in self._done:
                tick.find_jbar.call(self._address, self._factor, at.LAMBDA if regular else at.TRUNCATED)
            if not regular:
                self._done.discard("jbar")
        elif stage == "null_space":
            tick.find_null_space.call(self._address)

    # ---- the results ----

    @property
    def jacobian(self) -> np.ndarray:
        """J (m, nv)."""
        self._need("jacobian")
        return self._views[at.J_DENSE]

    @property
    def bias_acceleration(self) -> np.ndarray:
        """Jdot v (m,): the classical acceleration of the task rows when dv/dt = 0 componentwise."""
        self._need("bias")
        return self._views[at.JDOT_V]

    @property
    def bias_forces(self) -> np.ndarray:
        """h(q, v) (nv,)."""
        self._need("bias")
        return self._views[dyn.BIAS]

    @property
    def inertia_inv(self) -> np.ndarray:
        """Lambda^-1 = J H^-1 J^T (m, m), symmetric."""
        self._need("inertia_inv")
        return self._views[at.LI]

    @property
    def inertia(self) -> np.ndarray:
        """Lambda (m, m); damped along directions that are nearly lost (see `singular`)."""
        self._need("inertia_inv", "inertia")
        return self._views[at.LAMBDA]

    @property
    def jbar(self) -> np.ndarray:
        """Jbar = H^-1 J^T Lambda (nv, m), the dynamically consistent inverse of J."""
        self._need("inertia_inv", "inertia", "jbar")
        return self._views[at.JBAR]

    @property
    def null_space(self) -> np.ndarray:
        """N = 1 - Jbar J (nv, nv), a projector also where tasks are singular."""
        self._need("inertia_inv", "inertia")
        if "null_space" not in self._done:
            self._need("truncated", "null_space")
        return self._views[at.N_T].T

    @property
    def rank(self) -> int:
        """How many independent directions the tasks have here."""
        self._need("inertia_inv", "inertia")
        return int(self._work[at.STATUS][at.RANK])

    @property
    def damped(self) -> bool:
        """Is a direction so nearly lost that the inertia along it is damped?"""
        self._need("inertia_inv", "inertia")
        return bool(self._work[at.STATUS][at.DAMPED])

    @property
    def condition(self) -> float:
        """Condition number of Lambda^-1, its rows measured in their typical response; inf if it is singular."""
        response = np.sqrt(self._work[at.RESPONSE][:self.m])
        values = np.linalg.eigvalsh(self.inertia_inv / np.outer(response, response))
        return float(values[-1] / values[0]) if values[0] > 0.0 else float("inf")

    def torque(self, force=None, tau0=None) -> np.ndarray:
        """J^T F + N^T tau0 (nv,), [Featherstone2010] (11), without forming N.

        Raises:
            ConfigurationError: Wrong size or non-finite.
        """
        self._need()
        force = self._force(force)
        tau0 = self._no_velocity if tau0 is None else self.model.check_velocity(tau0, "tau0")
        if tick.find_torque.call(force, tau0, "truncated" in self._done, self._address):
            raise ConfigurationError(f"{self.model.name}: {TOO_LARGE}")
        return self._views[at.TORQUE]

    def control(self, q, v, force, tau0, compensate: bool = True) -> np.ndarray:
        """The control tick: `update` and `torque` (plus h if `compensate`) in one compiled call.

        Raises:
            ConfigurationError: Wrong size or non-finite; the object keeps its last good state.
        """
        try:
            refused = self._control(q, v, force, tau0, compensate, self._address)
        except (TypeError, ValueError):
            refused = True
        if refused:
            checked = (self.model.check_configuration(q), self.model.check_velocity(v), self._force(force),
                       self.model.check_velocity(tau0, "tau0"), bool(compensate))
            if self._control(*checked, self._address):
                raise ConfigurationError(f"{self.model.name}: {TOO_LARGE}")
        self._has_state = True
        self._done.clear()
        return self._views[at.TORQUE]

    def _force(self, force) -> np.ndarray:
        """A checked float64 copy of F (m,), zeros for None."""
        return np.zeros(self.m) if force is None else check_vector(force, self.m, "force")


def _read_only(view: np.ndarray) -> np.ndarray:
    view = view.view()
    view.setflags(write=False)
    return view
