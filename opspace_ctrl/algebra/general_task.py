# SPDX-License-Identifier: Apache-2.0
"""A task that combines the motions of several bodies by a matrix of the user's ([Featherstone2010] (12)-(19))."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from ..errors import ConfigurationError
from ..model import Model
from ..model.configuration import check_vector
from ..osim import OperationalSpace
from .closure.incremental import solve_well_posed


class GeneralTask:
    """xdot = sum of R_b v_b over bodies b: the operational space of R S v, by any method for Omega = S H^-1 S^T.

        J = R S,    Lambda^-1 = R Omega R^T,    Jbar = H^-1 J^T Lambda,    N = 1 - Jbar J
    Such are the difference of two hands' heights, the mean of four feet, a ratio of rates. It is an operational space
    by itself; a `Controller` serves it in mode raw, with a pose task on every frame and `frame_forces` as F.

    Args:
        rows: For each frame its R_b (k, 6), constant, linear first, world axes; the same k for all.
        method: One of `osim.methods(model)`, a variant for study, or "auto".

    Raises:
        ConfigurationError: There are no rows, or they are malformed.
        UnknownFrameError: There is no such frame.
    """

    def __init__(self, model: Model, rows: Mapping[str, ArrayLike], method: str = "auto"):
        matrices = [np.atleast_2d(np.asarray(R, dtype=float)) for R in rows.values()]
        if not matrices or any(
            R.shape != (len(matrices[0]), 6) or not np.isfinite(R).all() for R in matrices
        ):
            raise ConfigurationError(
                f"{model.name}: a task over bodies needs a finite (k, 6) matrix for each frame, the "
                "same k for all"
            )
        self.model, self.R, self.frames = model, np.hstack(matrices), tuple(rows)
        self._ospace = OperationalSpace(model, list(rows), method=method)

    def __repr__(self) -> str:
        """Where it can be used, and what it is: it is quoted, and cut, where it is refused as a task of another's."""
        return f"GeneralTask (for mode raw: F = frame_forces(...)) of {', '.join(self.frames)}"

    def update(self, q: ArrayLike, v: ArrayLike | None = None) -> GeneralTask:
        """Take a configuration and a velocity (zero if not given)."""
        self._ospace.update(q, v)
        return self

    @property
    def jacobian(self) -> np.ndarray:
        """J (k, nv) = R S."""
        return self.R @ self._ospace.jacobian

    @property
    def bias_acceleration(self) -> np.ndarray:
        """Jdot v (k,)."""
        return self.R @ self._ospace.bias_acceleration

    @property
    def inertia_inv(self) -> np.ndarray:
        """Lambda^-1 (k, k) = R Omega R^T."""
        found = self.R @ self._ospace.inertia_inv @ self.R.T
        return 0.5 * (found + found.T)

    @property
    def inertia(self) -> np.ndarray:
        """Lambda (k, k); IllPosedError where the rows depend on each other."""
        k = len(self.R)
        return solve_well_posed(self.inertia_inv, np.eye(k), "Lambda^-1 of the rows over bodies")

    @property
    def jbar(self) -> np.ndarray:
        """Jbar (nv, k) = H^-1 J^T Lambda, from the method's own H^-1 S^T: Jbar_S Omega."""
        inner = self._ospace
        response = inner.jbar @ inner.inertia_inv  # H^-1 S^T, where the frames' poses are regular
        return np.asarray(response @ self.R.T @ self.inertia)

    def frame_forces(self, force: ArrayLike) -> np.ndarray:
        """R^T F (6 l,): a force along the rows as wrenches at the frames, in their order; J^T F = S^T R^T F."""
        return np.asarray(self.R.T @ check_vector(force, len(self.R), "force"))

    def torque(self, force: ArrayLike, tau0: ArrayLike | None = None) -> np.ndarray:
        """J^T F + N^T tau0 (nv,)."""
        J, force = self.jacobian, np.asarray(force, dtype=float)
        if tau0 is None:
            return np.asarray(J.T @ force)
        tau0 = self.model.check_velocity(tau0, "tau0")
        return np.asarray(tau0 + J.T @ (force - self.jbar.T @ tau0))
