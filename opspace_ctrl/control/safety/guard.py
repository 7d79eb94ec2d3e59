"""What is wrong with a state, before it is used: one compiled look at q and v."""

from __future__ import annotations

import math

import numpy as np
from numba.types import float64, int64

from ...compiled.jit import entry
from ...model import JointType, Model
from .gates import BIT

__all__ = ["Guard"]

_FINITE = BIT["finite"]
_QUATERNION = BIT["quaternion"]
_POSITION = BIT["position"]
_SIZE = BIT["size"]
LARGEST = 1e12  # beyond, a number is no position or velocity
NORM = 0.1  # how far the norm of a quaternion may be from 1


@entry(int64(vector, vector, vector, vector, vector, int64, int64, float64, int64, int64))
def look(q, v, lower, upper, quaternions, nq, nv, margin, ndarray, double):
    """Bits of `safety.BIT`: size, finite, quaternion, position."""
    if not (is_vector(q, nq, ndarray, double) and is_vector(v, nv, ndarray, double)):
        return _SIZE
    position = floats_of(q)
    velocity = floats_of(v)
    low = floats_of(lower)
    high = floats_of(upper)
    for i in range(nq):
        if not abs(position[i]) <= LARGEST:
            return _FINITE
    for i in range(nv):
        if not abs(velocity[i]) <= LARGEST:
            return _FINITE
    faults, at = 0, floats_of(quaternions)
    for k in range(1, int(at[0]) + 1):
        i = int(at[k])
        norm = math.sqrt(
            position[i] ** 2 + position[i + 1] ** 2 + position[i + 2] ** 2 + position[i + 3] ** 2
        )
        if not abs(norm - 1.0) <= NORM:
            faults |= _QUATERNION
    if margin > 0.0:
        for i in range(nq):
            if position[i] < low[i] - margin or position[i] > high[i] + margin:
                faults |= _POSITION
    return faults


class Guard:
    """Looks at states of a robot.

    Attributes:
        margin: How far a joint may be outside its limits [rad or m]; 0: as far as it likes.
    """

    def __init__(self, model: Model, margin: float):
        self.margin = margin
        self._sizes = model.nq, model.nv
        self._lower, self._upper = np.full(model.nq, -np.inf), np.full(model.nq, np.inf)
        limits = np.tile([-np.inf, np.inf], (model.nv, 1))
        limits[~model.is_base_coordinate] = model.position_limits
        for i in np.flatnonzero(~model.is_mimic):
            if model.joint_type[i] in (JointType.REVOLUTE, JointType.PRISMATIC):
                self._lower[model.q_index[i]], self._upper[model.q_index[i]] = limits[
                    model.v_index[i]
                ]
        floating = model.q_index[model.joint_type == JointType.FLOATING] + 3
        self._quaternions = np.array([len(floating), *floating], float)
        self._look = look.prepare()

    def faults(self, q: np.ndarray, v: np.ndarray) -> int:
        """Bits of what is wrong with a state: size, finite, quaternion, position; 0 if nothing is."""
        return self._look(
            q,
            v,
            self._lower,
            self._upper,
            self._quaternions,
            *self._sizes,
            self.margin,
            NDARRAY,
            FLOAT64,
        )

    def outside(self, q: np.ndarray) -> list[int]:
        """Entries of q that are outside their limits by more than the margin, for a message."""
        return [
            int(i)
            for i in np.flatnonzero(
                (q < self._lower - self.margin) | (q > self._upper + self.margin)
            )
        ]
