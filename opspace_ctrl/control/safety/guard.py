"""What is wrong with a state, before it is used: one compiled look at q and v."""

from __future__ import annotations

import math

import numpy as np

from ...compiled.jit import address, entry, prepare, vector
from ...compiled.workspace import Workspace, constant, count, setting, workspace_at
from ...model import Model
from ...model.configuration import quaternions
from ...model.joints import NQ
from .gates import BIT

__all__ = ["Guard"]

_FINITE = BIT["finite"]
_QUATERNION = BIT["quaternion"]
_POSITION = BIT["position"]
_SIZE = BIT["size"]
LARGEST = 1e12  # beyond, a number is no position or velocity
NORM = 0.1  # how far the norm of a quaternion may be from 1


class Bounds(Workspace):
    """What a state of a robot is compared with."""

    nq = count("coordinates of the configuration")
    nv = count("coordinates of the velocity")
    quaternions = count("joints that turn by a unit quaternion")
    lower = constant("nq", "least position [rad or m]; -inf where there is no limit")
    upper = constant("nq", "largest position [rad or m]; inf where there is no limit")
    quaternion = constant("quaternions", "the entry of q at which a quaternion begins", int)
    margin = setting(
        "", "how far a joint may be outside its limits [rad or m]; 0: as far as it likes"
    )


bounds_at = workspace_at(Bounds)


@entry(vector, vector, address)
def state_faults(q, v, address):
    """Bits of `gates.BIT`: size, finite, quaternion, position."""
    bounds = bounds_at(address)
    nq, nv, margin = bounds.nq, bounds.nv, bounds.margin
    lower, upper, quaternion = bounds.lower, bounds.upper, bounds.quaternion
    if len(q) != nq or len(v) != nv:
        return _SIZE
    for i in range(nq):
        if not abs(q[i]) <= LARGEST:
            return _FINITE
    for i in range(nv):
        if not abs(v[i]) <= LARGEST:
            return _FINITE
    faults = 0
    for k in range(bounds.quaternions):
        i = quaternion[k]
        norm = math.sqrt(q[i] ** 2 + q[i + 1] ** 2 + q[i + 2] ** 2 + q[i + 3] ** 2)
        if not abs(norm - 1.0) <= NORM:
            faults |= _QUATERNION
    if margin > 0.0:
        for i in range(nq):
            if q[i] < lower[i] - margin or q[i] > upper[i] + margin:
                faults |= _POSITION
    return faults


class Guard(Bounds):
    """Looks at states of a robot; `margin` may be changed at any time."""

    def __init__(self, model: Model, margin: float):
        lower, upper = np.full(model.nq, -np.inf), np.full(model.nq, np.inf)
        limits = np.tile([-np.inf, np.inf], (model.nv, 1))
        limits[~model.is_base_coordinate] = model.position_limits
        for i in np.flatnonzero(~model.is_mimic):
            if NQ[model.joint_type[i]] == 1:
                lower[model.q_index[i]], upper[model.q_index[i]] = limits[model.v_index[i]]
        quaternion = [at for _, at in quaternions(model)]
        super().__init__(
            nq=model.nq,
            nv=model.nv,
            quaternions=len(quaternion),
            lower=lower,
            upper=upper,
            quaternion=quaternion,
            margin=margin,
        )
        prepare([state_faults])

    def faults(self, q: np.ndarray, v: np.ndarray) -> int:
        """Bits of what is wrong with a state: size, finite, quaternion, position; 0 if nothing is."""
        try:
            return state_faults(q, v, self.address)
        except TypeError:  # no vector of doubles, contiguous
            return _SIZE

    def outside(self, q: np.ndarray) -> list[int]:
        """Entries of q that are outside their limits by more than the margin, for a message."""
        is_outside = (q < self.lower - self.margin) | (q > self.upper + self.margin)
        return [int(i) for i in np.flatnonzero(is_outside)]
