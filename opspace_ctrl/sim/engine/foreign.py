# SPDX-License-Identifier: Apache-2.0
"""What engines from outside the package share: efforts, pushes, holding, saved states, refusals."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...dynamics import bias_forces, mass_matrix
from ...errors import MethodError, SimulationError
from ...model.configuration import check_vector
from ..simulator import Simulator

HOLD_RATE = 0.1  # share of the way back to the held position in a step


class ForeignSimulator(Simulator):
    """See `Simulator`; an engine says what it lacks, makes its world, and moves, reads and writes its state there."""

    __slots__ = (
        "_efforts",
        "_held",
        "_hold",
        "_is_holding",
        "_joint",
        "_limit",
        "_pushed",
        "_pushes",
        "_q",
        "_q_before",
        "_v",
        "_v_before",
    )

    def _lacking(self) -> tuple[tuple[str, Any], ...]:
        """(what, whether it is asked for) of all that the engine would simulate otherwise than the native one."""
        raise NotImplementedError

    def _make(self) -> None:
        """Make the engine's world; `_joint`, the joint coordinates in v, is there."""
        raise NotImplementedError

    def _advance(self, wrenches: Mapping[int, np.ndarray]) -> None:
        """Make a step with `_efforts` (k,) and wrenches (6,) by frame."""
        raise NotImplementedError

    def _read(self) -> tuple[np.ndarray, np.ndarray]:
        """The engine's state as our q (nq,) and v (nv,)."""
        raise NotImplementedError

    def _write(self, q: np.ndarray, v: np.ndarray) -> None:
        """Put the engine into the state q, v."""
        raise NotImplementedError

    def _read_exactly(self) -> np.ndarray:
        """All that the engine's next step depends on, to the last bit."""
        raise NotImplementedError

    def _write_exactly(self, physics: np.ndarray) -> None:
        """Put the engine back to what `_read_exactly` found."""
        raise NotImplementedError

    def _check(self) -> None:
        lacking = [what for what, is_asked in self._lacking() if is_asked]
        if lacking:
            raise MethodError(
                f"engine {self.settings.engine!r} cannot carry {', '.join(lacking)} "
                f"({self.model.name}); engine 'native' can"
            )

    def _build(self) -> None:
        model, settings = self.model, self.settings
        self._joint = np.flatnonzero(~model.is_base_coordinate)
        count = len(self._joint)
        self._limit = model.effort_limits if settings.effort_limits else np.full(count, np.inf)
        self._q, self._v, self._efforts = np.zeros(model.nq), np.zeros(model.nv), np.zeros(count)
        self._q_before, self._v_before = self._q.copy(), self._v.copy()
        self._hold, self._held, self._is_holding = np.zeros(count), self._q.copy(), False
        self._pushes: dict[int, tuple[np.ndarray, float]] = {}
        self._pushed: dict[int, np.ndarray] = {}
        self._seen = self._q.view(), self._v.view(), self._efforts.view()
        for view in (*self._seen, self._hold):
            view.setflags(write=False)
        self._make()

    # ---- the motion ----

    def step(self, tau) -> None:
        """See `Simulator.step`."""
        self._is_holding = tau is self._hold
        tau = check_vector(tau, len(self._joint), "tau")
        np.clip(tau, -self._limit, self._limit, out=self._efforts)
        wrenches = {frame: wrench for frame, (wrench, _) in self._pushes.items()}
        self._advance(wrenches)
        q, v = self._read()
        if not (np.isfinite(q).all() and np.isfinite(v).all()):
            self._write(self._q, self._v)
            raise SimulationError(
                f"{self.model.name}: the motion leaves the range of numbers at {self.time:g} s"
            )
        self._q_before[:], self._v_before[:] = self._q, self._v
        self._q[:], self._v[:] = q, v
        self._pushed = wrenches
        self._pushes = {
            f: (wrench, left - 1.0) for f, (wrench, left) in self._pushes.items() if left > 1.0
        }
        self._count += 1

    def hold(self) -> np.ndarray:
        """See `Simulator.hold`; friction is left to help."""
        if not self._is_holding:
            self._held[:] = self._q
        back = self.model.difference(self._q, self._held)
        self._hold.setflags(write=True)
        self._hold[:] = self._servo(HOLD_RATE / self.settings.step * back)
        self._hold.setflags(write=False)
        return self._hold

    def _servo(self, velocity: np.ndarray) -> np.ndarray:
        model, settings, joints = self.model, self.settings, self._joint
        base, dt = np.flatnonzero(model.is_base_coordinate), settings.step
        H, h = mass_matrix(model, self._q), bias_forces(model, self._q, self._v)
        a = (velocity - self._v) / dt
        if len(base):
            a[base] = np.linalg.solve(
                H[np.ix_(base, base)], -h[base] - H[np.ix_(base, joints)] @ a[joints]
            )
        damping = model.damping if settings.joint_damping else 0.0
        is_implicit = settings.integrator == "semi_implicit"
        tau = H @ a + h + damping * (self._v + dt * a if is_implicit else self._v)
        return np.clip(tau[joints], -self._limit, self._limit)

    def _push(self, frame: int, wrench: np.ndarray, steps: float) -> None:
        self._pushes[frame] = wrench, steps

    # ---- the state ----

    def _reset(self, q: np.ndarray, v: np.ndarray) -> None:
        self._q[:], self._v[:] = q, v
        self._q_before[:], self._v_before[:] = q, v
        self._write(self._q, self._v)
        self._pushes, self._pushed, self._is_holding = {}, {}, False
        self._efforts[:] = 0.0

    def save(self) -> Mapping[str, np.ndarray]:
        """See `Simulator.save`."""
        table = np.array(
            [[frame, left, *wrench] for frame, (wrench, left) in self._pushes.items()]
        ).reshape(-1, 8)
        return {
            "count": np.array(self._count),
            "q": self._q.copy(),
            "v": self._v.copy(),
            "pushes": table,
            "physics": self._read_exactly(),
            "tau": self._efforts.copy(),
        }

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """See `Simulator.restore`."""
        wanted = {
            "q": self._q.shape,
            "v": self._v.shape,
            "tau": self._efforts.shape,
            "physics": self._read_exactly().shape,
        }
        names = {*wanted, "count", "pushes"}
        if (
            not isinstance(state, Mapping)
            or not names <= set(state)
            or wanted != {name: np.shape(state[name]) for name in wanted}
        ):
            raise SimulationError(f"{self.model.name}: not a state that this simulator has saved")
        self._reset(state["q"], state["v"])
        self._write_exactly(state["physics"])
        self._pushes = {int(row[0]): (row[2:].copy(), float(row[1])) for row in state["pushes"]}
        self._efforts[:], self._count = state["tau"], int(state["count"])

    # ---- forces ----

    def contact_forces(self) -> dict[str, np.ndarray]:
        """None: this engine has no contacts."""
        return {}

    def constraint_forces(self) -> dict[tuple[str, str], np.ndarray]:
        """None: this engine has no closures."""
        return {}

    def _before(self) -> tuple[np.ndarray, np.ndarray]:
        return self._q_before, self._v_before

    def _outside(self) -> list[tuple[str, np.ndarray]]:
        return [(self.model.frame_names[frame], wrench) for frame, wrench in self._pushed.items()]
