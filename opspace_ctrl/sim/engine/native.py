"""The simulator on our own recursions: one compiled call a step, which allocates nothing."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...dynamics import frame_pose
from ...dynamics.state import OK, TOO_LARGE
from ...errors import ConfigurationError, SimulationError, listed
from ...model import Model
from ...model.configuration import check_vector
from ...model.rotations import from_quaternion
from ...osim.tasks import ROWS
from ..settings import SimulatorSettings
from . import entries
from .base import Simulator
from .pack import pack_simulator
from .rows import parse_contacts, parse_loops, points_of, relative_orientation
from .sensors import moved

__all__ = ["NativeSimulator"]

HOLD_RATE = 0.1  # share of the way back to the held position that the brakes go in a step
# What the motion goes on from, beside the number of steps.
_STATE = {
    "q": "q",
    "v": "v",
    "tau": "applied",
    "slide": "slide",
    "stop": "stop",
    "impulse": "impulse",
    "mode": "mode",
    "direction": "slide_direction",
    "turn": "closure_rotation",
    "pushes": "PUSH",
    "pushed": "LAST_PUSH",
    "q_start": "q_start",
    "v_start": "v_start",
}


class NativeSimulator(Simulator):
    """See `Simulator`."""

    def __init__(self, model: Model, settings: SimulatorSettings):
        super().__init__(model, settings)
        self._contacts, self._loops = (
            parse_contacts(model, settings.contacts),
            parse_loops(model, settings.closures),
        )
        self._work = pack_simulator(model, settings, self._initial, self._contacts, self._loops)
        self._step = entries.step.bound(self._work)
        joints = len(model.effort_limits)
        self.q, self.v, self.tau = (_read_only(self._work[slot]) for slot in ("q", "v", "applied"))
        self._q_before = _read_only(self._work["q_start"])
        self._efforts = np.zeros(joints)
        self._hold, self._held, self._is_holding = _read_only(self._efforts), None, False
        self._saved = {name: slot for name, slot in _STATE.items() if slot in self._work}
        self.reset()

    def step(self, tau) -> None:
        """See `Simulator.step`."""
        if self._step(tau) != OK:
            self._refuse(tau)
        self._is_holding = tau is self._hold
        self._count += 1

    def _refuse(self, tau) -> None:
        """Convert what the compiled step did not take, or say what is wrong with it."""
        checked = check_vector(tau, len(self.tau), "tau")
        status = self._step(checked)
        if status == entries.LEFT_RANGE:
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
        kept = {slot: self._work[slot].copy() for slot in self._saved.values()}
        back = self.model.difference(self.q, self._held)
        self._work["brake_velocity"][:] = HOLD_RATE / self.settings.step * back
        status = entries.hold.call(self._efforts, self._work.address)
        for slot, value in kept.items():
            self._work[slot][...] = value
        if status != OK:
            raise SimulationError(f"{self.model.name}: no efforts hold it at {self.time:g} s")
        return self._hold

    def _push(self, frame: int, wrench: np.ndarray, steps: float) -> None:
        table = self._work["PUSH"]
        same = np.flatnonzero((table[:, 0] == frame) & (table[:, 1] > 0.0))
        free = np.flatnonzero(table[:, 1] == 0.0)
        if not len(same) and not len(free):
            raise ConfigurationError(
                f"{self.model.name}: {len(table)} frames are pushed already, and no more can be"
            )
        table[same[0] if len(same) else free[0]] = [frame, steps, *wrench]

    def contact_forces(self) -> dict[str, np.ndarray]:
        """See `Simulator.contact_forces`."""
        found, row = {}, 0
        for contact in self._contacts:
            forces = (
                self._impulses(row, 3 * len(contact.points)).reshape(-1, 3)
                @ self._work["ground_axes"]
            )
            row += forces.size
            arms = (
                points_of(self.model, self._q_before, contact)
                - frame_pose(self.model, self._q_before, contact.frame)[0]
            )
            wrench = np.concatenate([forces.sum(0), np.cross(arms, forces).sum(0)])
            found[contact.frame] = wrench[:3] if contact.is_point else wrench
        return found

    def _impulses(self, row: int, size: int) -> np.ndarray:
        """Mean forces of some rows in the last step."""
        return self._work["impulse"][row : row + size] / self.settings.step

    def constraint_forces(self) -> dict[tuple[str, str], np.ndarray]:
        """See `Simulator.constraint_forces`."""
        found, row = {}, 3 * sum(len(contact.points) for contact in self._contacts)
        for loop in self._loops:
            axes = from_quaternion(frame_pose(self.model, self._q_before, loop.second)[1])
            rows = ROWS[loop.rows].T @ self._impulses(row, loop.size)
            row += loop.size
            found[loop.first, loop.second] = np.concatenate([axes @ rows[:3], axes @ rows[3:]])
        return found

    def _before(self) -> tuple[np.ndarray, np.ndarray]:
        return self._q_before, self._work["v_start"]

    def _outside(self) -> list[tuple[str, np.ndarray]]:
        names = self.model.frame_names
        found = [
            (names[int(row[0])], row[2:].copy()) for row in self._work["LAST_PUSH"] if row[1] > 0.0
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
        for slot in self._saved.values():
            self._work[slot][...] = 0.0
        self._work["q"][:], self._work["v"][:] = q, v
        self._work["q_start"][:], self._work["v_start"][:] = q, v
        for c, loop in enumerate(self._loops):
            self._work["closure_rotation"][c] = relative_orientation(self.model, q, loop).ravel()
        self._is_holding, self._held = False, None

    def save(self) -> Mapping[str, np.ndarray]:
        """See `Simulator.save`."""
        state = {name: self._work[slot].copy() for name, slot in self._saved.items()}
        return {"count": np.array(self._count), **state}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """See `Simulator.restore`."""
        wanted = {
            "count": (),
            **{name: self._work[slot].shape for name, slot in self._saved.items()},
        }
        given = (
            {name: np.shape(value) for name, value in state.items()}
            if isinstance(state, Mapping)
            else {}
        )
        if given != wanted:
            wrong = [name for name in wanted if given.get(name) != wanted[name]] or [
                *set(given) - set(wanted)
            ]
            raise SimulationError(
                f"{self.model.name}: not a state that this simulator has saved: {listed(wrong)} "
                "differ; it must be of the same robot, contacts and closures"
            )
        for name, slot in self._saved.items():
            self._work[slot][...] = state[name]
        self._count = int(state["count"])
        self._is_holding, self._held = False, None


def _read_only(array: np.ndarray) -> np.ndarray:
    view = array.view()
    view.setflags(write=False)
    return view
