# SPDX-License-Identifier: Apache-2.0
"""Closed chains: frames of one robot, or of several in a forest, held together ([Rodriguez1991] 5.3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from ...compiled.jit import MISFIT
from ...dynamics import entries
from ...dynamics.build import RobotTree
from ...dynamics.forward import forward_method
from ...dynamics.functions import Wrenches, call, external_wrenches, run
from ...dynamics.state import OK, REFUSED, TOO_LARGE
from ...errors import ConfigurationError, IllPosedError
from ...model import Model
from ...osim import Task
from . import core
from .fields import Chain

_STEP_LIMIT = 0.5  # [m] and [rad]: the largest error `assemble` corrects in one step


@dataclass(frozen=True, eq=False)
class Closure:
    """Two frames held together.

    Attributes:
        first, second: Names of the frames; one of them may be fixed to the world.
        rows: "pose" (rigid, 6), "position" (a ball joint, 3), "orientation" (3), or a constant (k, 6) matrix that
            picks rows of the relative motion, linear first, world axes.
        rotation: (3, 3) orientation of the first frame in the second that the closure keeps.
    """

    first: str
    second: str
    rows: str | Sequence | np.ndarray = "pose"
    rotation: np.ndarray = field(default_factory=lambda: np.eye(3))

    def __post_init__(self):
        turn = np.asarray(self.rotation, dtype=float)
        if turn.shape != (3, 3) or not np.allclose(turn @ turn.T, np.eye(3), atol=1e-9):
            raise ConfigurationError(
                f"closure of {self.first!r} and {self.second!r}: rotation must be a (3, 3) "
                "rotation matrix"
            )

    def selection(self) -> np.ndarray:
        """The rows as a (k, 6) matrix."""
        return Task(self.first, self.rows).selection()


class ClosedChain:
    """A model whose frames are held together: forward dynamics with loop forces in O(n) a row.

    `forward` writes into an array of the caller and allocates nothing; the loop forces are found as
    f = Lambda_c (alpha_2f - alpha_1f + wanted), acting on the first frames, -f on the second ones.

    Args:
        model: One robot or a forest, e.g. arms and the object they hold.
        closures: `Closure`s, or pairs of frame names (held rigidly).

    Raises:
        MethodError: The model has mimic joints with other joints between them.
        UnknownFrameError: A frame does not exist.
        ConfigurationError: Rows of a closure are malformed, or there is no closure.
    """

    def __init__(self, model: Model, closures: Iterable[Closure | tuple[str, str]]):
        self.model = model
        self.closures = tuple(c if isinstance(c, Closure) else Closure(*c) for c in closures)
        if not self.closures:
            raise ConfigurationError(f"{model.name}: a closed chain needs at least one closure")
        forward_method(model, "kalman")  # which refuses by name what it cannot carry
        selections = [c.selection() for c in self.closures]
        pairs = [(model.frame_index(c.first), model.frame_index(c.second)) for c in self.closures]
        self._selection = np.vstack(selections)
        self._of_row = np.repeat(np.arange(len(pairs)), [len(s) for s in selections])
        self._frames = pairs
        self.m = len(self._selection)
        first, second = np.array(pairs)[self._of_row].T
        self._tree = RobotTree(model)
        self._chain = Chain(
            tree=self._tree,
            m=self.m,
            nv=model.nv,
            first_frame=first,
            second_frame=second,
            selection=self._selection,
        )
        self._rest = np.zeros(self.m)

    # ---- dynamics ----

    def forward(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        out: np.ndarray | None = None,
        wanted: ArrayLike | None = None,
        external: Wrenches | None = None,
    ) -> np.ndarray:
        """Accelerations dv/dt (nv,) with the loops closed, into `out` if given.

        Args:
            wanted: (m,) relative acceleration of the closures' rows, zero if not given: where a simulator puts its
                correction of drift.
            external: Wrenches on the robot as for `forward_dynamics`.

        Raises:
            IllPosedError: The rows are not independent here, so that forces are not unique.
        """
        out = np.empty(self.model.nv) if out is None else out
        wanted = self._rest if wanted is None else wanted
        with external_wrenches(self.model, q, external, self._tree):
            self._call(core.forward, q, (v, tau), "v tau", wanted, out)
        return out

    def close_velocity(
        self, q: ArrayLike, v: ArrayLike, wanted: ArrayLike | None = None
    ) -> np.ndarray:
        """v (nv,) after the impulse that makes the frames' relative velocity `wanted` (m,), zero if not given."""
        out = np.empty(self.model.nv)
        wanted = self._rest if wanted is None else wanted
        self._call(core.close_velocity, q, (v,), "v", wanted, out)
        return out

    def _call(self, entry, q: ArrayLike, inputs: tuple, names: str, wanted: ArrayLike, out) -> None:
        status = self._status(entry, q, *inputs, wanted, out)
        if status == REFUSED:  # converted, or refused in words
            q = self.model.check_configuration(q)
            checked = zip(inputs, names.split())
            inputs = tuple(self.model.check_velocity(x, name) for x, name in checked)
            wanted = np.ascontiguousarray(wanted, dtype=float)
            if wanted.shape != (self.m,) or not np.isfinite(wanted).all():
                raise ConfigurationError(
                    f"{self.model.name}: wanted must be {self.m} finite numbers, one a row"
                )
            status = self._status(entry, q, *inputs, wanted, out)
        if status == core.ILL_POSED:
            self._raise_ill_posed()
        if status != OK:
            raise ConfigurationError(
                f"{self.model.name}: {TOO_LARGE}, or `out` is no vector of {self.model.nv} "
                "float64 numbers"
            )

    def _status(self, entry, *arguments) -> int:
        """Call an entry and return its status, REFUSED also for arguments that it is not compiled for."""
        try:
            return call(entry, *arguments, self._chain.address)
        except MISFIT:
            return REFUSED

    def _raise_ill_posed(self) -> None:
        row = self._chain.failed_row
        c = self.closures[self._of_row[row]]
        omega = self.effective_inertia_inv
        scale = np.sqrt(np.maximum(np.diag(omega), np.finfo(float).tiny))
        rank = np.linalg.matrix_rank(
            omega / np.outer(scale, scale), core.RANK_TOLERANCE, hermitian=True
        )
        raise IllPosedError(
            f"{self.model.name}: row {row} of the closed chain ({c.first} held to {c.second}) depends "
            f"on the rows before it: the inverse effective inertia has rank {rank} of {self.m}, so "
            "that loop forces are not unique; close fewer rows, such as rows='position'"
        )

    # ---- what the last call found ----

    @property
    def force(self) -> np.ndarray:
        """Loop forces (m,), row by row, on the first frames."""
        return np.array(self._chain.f)

    @property
    def wrenches(self) -> np.ndarray:
        """Loop wrenches (k, 6) of the closures on their first frames: force, torque; world axes, frame's origin."""
        found = np.zeros((len(self.closures), 6))
        np.add.at(found, self._of_row, self._selection * self.force[:, None])
        return found

    @property
    def effective_inertia_inv(self) -> np.ndarray:
        """Omega_c (m, m) = Lambda_c^-1, of the last configuration."""
        omega = np.array(self._chain.Omega)
        return 0.5 * (omega + omega.T)

    # ---- geometry ----

    def error(self, q: ArrayLike) -> np.ndarray:
        """The distances (m,) by which the closures are open: x_1 - x_2 and log(R_1 (R_2 rotation)^T), row by row."""
        run(self.model, entries.at_configuration, (q,), "", tree=self._tree)
        open_by = [
            _difference(self._pose(first), self._pose(second), c.rotation)
            for (first, second), c in zip(self._frames, self.closures)
        ]
        return np.einsum("rk,rk->r", self._selection, np.array(open_by)[self._of_row])

    def relative_velocity(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """J_c v (m,)."""
        out = np.empty(self.m)
        checked = self.model.check_configuration(q), self.model.check_velocity(v)
        if self._status(core.relative_velocity, *checked, out) != OK:
            raise ConfigurationError(f"{self.model.name}: {TOO_LARGE}")
        return out

    def assemble(self, q: ArrayLike, tolerance: float = 1e-12, steps: int = 100) -> np.ndarray:
        """A configuration near q with the loops closed, by steps that cost the least kinetic energy.

        Raises:
            IllPosedError: It meets a configuration where the rows are not independent, or finds no way to close.
        """
        q, still = self.model.check_configuration(q), np.zeros(self.model.nv)
        for _ in range(steps):
            error = self.error(q)
            size = np.abs(error).max()
            if size <= tolerance:
                return q
            step = self.close_velocity(q, still, -error * min(1.0, _STEP_LIMIT / size))
            q = self.model.integrate(q, step, 1.0)
        raise IllPosedError(
            f"{self.model.name}: the loops stay open by {size:.3g} after {steps} steps"
        )

    def _pose(self, frame: int) -> Pose:
        out = np.empty(12)
        call(entries.frame_pose, frame, out, self._tree.address)
        return out[:9].reshape(3, 3), out[9:]


Pose = tuple[np.ndarray, np.ndarray]  # a rotation matrix (3, 3) and a position (3,)


def _difference(first: Pose, second: Pose, rotation: np.ndarray) -> np.ndarray:
    """Position and orientation (6,) of one pose less those of another, world axes."""
    # here: it would triple the time to import the package
    from scipy.spatial.transform import Rotation

    turn = first[0] @ (second[0] @ rotation).T
    return np.concatenate([first[1] - second[1], Rotation.from_matrix(turn).as_rotvec()])
