# SPDX-License-Identifier: Apache-2.0
"""The simulator on our own recursions: one compiled call a step, which allocates nothing."""

from collections.abc import Mapping

import numpy as np

from ...dynamics import frame_pose
from ...dynamics.forward import forward_method
from ...dynamics.state import OK, REFUSED, TOO_LARGE
from ...errors import ConfigurationError, SimulationError, listed
from ...model.configuration import check_vector
from ...model.rotations import from_quaternion
from ...osim.tasks import ROWS
from ..simulator import Simulator
from . import entries
from .build import ForwardChoice, build_engine
from .moves import LEFT_RANGE
from .rows import parse_contacts, parse_loops, points_of, relative_orientation
from .sensors import moved

HOLD_RATE = 0.1  # share of the way back to the held position that the brakes go in a step


class NativeSimulator(Simulator):
    """See `Simulator`."""

    __slots__ = (
        "_address",
        "_contacts",
        "_efforts",
        "_engine",
        "_held",
        "_hold",
        "_is_holding",
        "_loops",
        "_prepared",
        "_q_before",
        "_state",
    )

    def _build(self) -> None:
        model, settings = self.model, self.settings
        self._contacts, self._loops = (
            parse_contacts(model, settings.contacts),
            parse_loops(model, settings.closures),
        )
        self._engine = engine = build_engine(
            model, settings, self._initial, self._contacts, self._loops
        )
        self._address = engine.address
        self._prepared: dict[str, ForwardChoice] = {}
        self._state = {"q": engine.tree.q, "v": engine.tree.v}
        self._state |= {
            name: getattr(engine, name) for name, f in engine.fields.items() if f.role == "state"
        }
        tree = engine.tree
        self._seen = _read_only(tree.q), _read_only(tree.v), _read_only(engine.applied)
        self._q_before = _read_only(engine.q_start)
        self._efforts = np.zeros(engine.joints)
        self._hold, self._held, self._is_holding = _read_only(self._efforts), self.q.copy(), False

    def prepare(self, *names: str) -> None:
        """See `Simulator.prepare`."""
        for name in names or self.forward_methods():
            if name not in self._prepared:
                method = forward_method(self.model, name)
                self._prepared[name] = ForwardChoice(self._engine, method)

    def _take_forward_method(self, name: str) -> None:
        self._prepared[name].apply(self._engine)

    def step(self, tau) -> None:
        """See `Simulator.step`."""
        try:
            status = entries.step(tau, self._address)
        except (
            TypeError,
            ValueError,
        ):  # a list, an empty one, a strided view: not what the entry takes
            status = REFUSED
        if status != OK:
            self._refuse(tau, status)
        self._is_holding = tau is self._hold
        self._count += 1

    def _refuse(self, tau, status: int) -> None:
        """Convert what the compiled step did not take and make the step, or say what is wrong with it."""
        if status == REFUSED:
            status = entries.step(check_vector(tau, len(self.tau), "tau"), self._address)
        if status == LEFT_RANGE:
            raise SimulationError(
                f"{self.model.name}: the motion leaves the range of numbers at {self.time:g} s; "
                "smaller steps or efforts, or integrator semi_implicit, may keep it"
            )
        if status != OK:
            raise ConfigurationError(f"{self.model.name}: {TOO_LARGE}")

    def hold(self) -> np.ndarray:
        """See `Simulator.hold`."""
        if not self._is_holding:
            self._held = self.q.copy()
        back = self.model.difference(self.q, self._held)
        self._brake(HOLD_RATE / self.settings.step * back, self._efforts)
        return self._hold

    def _servo(self, velocity: np.ndarray) -> np.ndarray:
        efforts = np.empty(len(self.tau))
        self._brake(velocity, efforts)
        return efforts

    def _brake(self, velocity: np.ndarray, out: np.ndarray) -> None:
        """Write efforts that bring the joints to a velocity (nv,) in the coming step."""
        if entries.hold(velocity, out, self._address) != OK:
            raise SimulationError(f"{self.model.name}: no efforts hold it at {self.time:g} s")

    def _push(self, frame: int, wrench: np.ndarray, steps: float) -> None:
        engine = self._engine
        same = np.flatnonzero((engine.push_frame == frame) & (engine.push_steps > 0.0))
        free = np.flatnonzero(engine.push_steps == 0.0)
        if not len(same) and not len(free):
            raise ConfigurationError(
                f"{self.model.name}: {engine.pushes} frames are pushed already, and no more can be"
            )
        place = same[0] if len(same) else free[0]
        engine.push_frame[place], engine.push_steps[place] = frame, steps
        engine.push_wrench[place] = wrench

    def contact_forces(self) -> dict[str, np.ndarray]:
        """See `Simulator.contact_forces`."""
        found, row = {}, 0
        for contact in self._contacts:
            along = self._mean_forces(row, 3 * len(contact.points)).reshape(-1, 3)
            forces = along @ self._engine.ground_axes
            row += forces.size
            arms = (
                points_of(self.model, self._q_before, contact)
                - frame_pose(self.model, self._q_before, contact.frame)[0]
            )
            wrench = np.concatenate([forces.sum(0), np.cross(arms, forces).sum(0)])
            found[contact.frame] = wrench[:3] if contact.is_point else wrench
        return found

    def _mean_forces(self, row: int, size: int) -> np.ndarray:
        """Mean forces of some rows in the last step, by row."""
        return self._engine.impulse[row : row + size] / self.settings.step

    def constraint_forces(self) -> dict[tuple[str, str], np.ndarray]:
        """See `Simulator.constraint_forces`."""
        found, row = {}, 3 * sum(len(contact.points) for contact in self._contacts)
        for loop in self._loops:
            axes = from_quaternion(frame_pose(self.model, self._q_before, loop.second)[1])
            rows = ROWS[loop.rows].T @ self._mean_forces(row, loop.size)
            row += loop.size
            found[loop.first, loop.second] = np.concatenate([axes @ rows[:3], axes @ rows[3:]])
        return found

    def _before(self) -> tuple[np.ndarray, np.ndarray]:
        return self._q_before, self._engine.v_start

    def _outside(self) -> list[tuple[str, np.ndarray]]:
        names, engine = self.model.frame_names, self._engine
        found = [
            (names[engine.last_push_frame[p]], engine.last_push_wrench[p].copy())
            for p in np.flatnonzero(engine.last_push_steps > 0.0)
        ]
        for frame, force in self.contact_forces().items():
            found.append((frame, np.append(force, np.zeros(6 - len(force)))))
        for (first, second), wrench in self.constraint_forces().items():
            arm = np.subtract(
                *(frame_pose(self.model, self._q_before, frame)[0] for frame in (first, second))
            )
            found += [(first, wrench), (second, -moved(wrench, arm))]
        return found

    def _reset(self, q: np.ndarray, v: np.ndarray) -> None:
        engine = self._engine
        engine.reset("state")
        engine.tree.q, engine.tree.v = q, v
        engine.q_start, engine.v_start = q, v
        for c, loop in enumerate(self._loops):
            engine.closure_rotation[c] = relative_orientation(self.model, q, loop).ravel()
        self._is_holding = False

    def save(self) -> Mapping[str, np.ndarray]:
        """See `Simulator.save`."""
        state = {name: np.array(value) for name, value in self._state.items()}
        return {"count": np.array(self._count), **state}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """See `Simulator.restore`."""
        wanted = {"count": (), **{name: value.shape for name, value in self._state.items()}}
        is_mapping = isinstance(state, Mapping)
        given = {name: np.shape(value) for name, value in state.items()} if is_mapping else {}
        if given != wanted:
            wrong = [name for name in wanted if given.get(name) != wanted[name]] or [
                *set(given) - set(wanted)
            ]
            raise SimulationError(
                f"{self.model.name}: not a state that this simulator has saved: {listed(wrong)} "
                "differ; it must be of the same robot, contacts and closures"
            )
        try:
            taken = {name: np.array(state[name], x.dtype) for name, x in self._state.items()}
            count = int(state["count"])
        except (TypeError, ValueError) as error:
            raise SimulationError(f"{self.model.name}: not a state: {error}") from None
        if not np.isin(taken["push_frame"], range(len(self.model.frame_names))).all():
            raise SimulationError(f"{self.model.name}: not a state: it pushes frames there are not")
        for name, value in self._state.items():
            value[...] = taken[name]
        self._count = count
        self._is_holding = False


def _read_only(array: np.ndarray) -> np.ndarray:
    view = array.view(np.ndarray)
    view.setflags(write=False)
    return view
