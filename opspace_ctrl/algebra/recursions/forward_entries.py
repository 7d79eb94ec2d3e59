"""The compiled calls behind `forward_dynamics` and `link_accelerations`: check, take, compute. Nothing allocates."""

from __future__ import annotations

from numba.types import float64, int64, void

from ...dynamics import layout as at
from ...dynamics import rnea
from ...dynamics.entries import move, place
from ...dynamics.layout import count, floats
from ...dynamics.result import result
from ...dynamics.state import OK, REFUSED, copy, is_usable
from ...jit import entry, kernel
from ...vector import floats_of, vector
from . import algorithm1 as one
from . import algorithm2 as two
from . import algorithm4 as four
from . import biases
from . import decoupled as free
from . import kalman as smoother
from . import two_sweep as merged

_FORWARD = int64(vector, vector, vector, result, int64)


@kernel
def _take(w, q, v, tau):
    """Take q and v; False, and nothing touched, if one of the three is unusable."""
    nv = count(w, at.NV)
    if not (is_usable(w, tau, nv) and is_usable(w, v, nv) and place(w, q)):
        return False
    copy(floats_of(v), floats(w, at.V), nv)
    return True


@kernel
def _take_motion(w, q, v, tau):
    """Take q and v, and the body forces of the motion with qdd = 0 less external wrenches."""
    if not (is_usable(w, tau, count(w, at.NV)) and move(w, q, v)):
        return False
    rnea.subtract_external(w)
    return True


@entry(_FORWARD)
def algorithm1(q, v, tau, out, w):
    """Accelerations by algorithm 1 of [Rodriguez1992]."""
    if not _take_motion(w, q, v, tau):
        return REFUSED
    one.algorithm1(w, floats_of(tau), floats_of(out))
    return OK


@entry(_FORWARD)
def algorithm2(q, v, tau, out, w):
    """Accelerations, also of links, by algorithm 2 of [Rodriguez1992]."""
    if not _take_motion(w, q, v, tau):
        return REFUSED
    two.algorithm2(w, floats_of(tau), floats_of(out))
    return OK


@entry(_FORWARD)
def algorithm4(q, v, tau, out, w):
    """Accelerations by algorithm 4 of [Rodriguez1992]."""
    if not _take(w, q, v, tau):
        return REFUSED
    four.algorithm4(w, floats_of(tau), floats_of(out))
    return OK


@entry(_FORWARD)
def two_sweep(q, v, tau, out, w):
    """Accelerations by the two-sweep algorithm of [Rodriguez1992] VII.D, its delay taken out by a sweep before."""
    if not _take(w, q, v, tau):
        return REFUSED
    rnea.joint_rates(w)
    biases.velocities(w)
    merged.two_sweep(w, floats_of(tau), floats_of(out))
    return OK


@entry(_FORWARD)
def two_sweep_delayed(q, v, tau, out, w):
    """The same with the velocities of the call before."""
    if not _take(w, q, v, tau):
        return REFUSED
    merged.two_sweep(w, floats_of(tau), floats_of(out))
    return OK


@entry(_FORWARD)
def kalman(q, v, tau, out, w):
    """Accelerations by the filter and smoother of [Rodriguez1986]."""
    if not _take(w, q, v, tau):
        return REFUSED
    smoother.kalman(w, floats_of(tau), floats_of(out))
    return OK


@entry(_FORWARD)
def decoupled(q, v, tau, out, w):
    """Accelerations by algorithm 6 of [Jain1995]; needs `dual.lay_out`."""
    if not _take(w, q, v, tau):
        return REFUSED
    free.decoupled(w, floats_of(tau), floats_of(out))
    return OK


@entry(void(int64))
def links_from_bias(w):
    """Link accelerations as lambda + zeta."""
    two.add_bias_accelerations(w)


@entry(void(float64, int64))
def links_as_found(gravity, w):
    """Link accelerations as FA has them, less `gravity` times gravity."""
    acc, FA, g = floats(w, at.ACCELERATION), floats(w, at.FA), floats(w, at.GRAVITY)
    for b in range(count(w, at.NODES)):
        for k in range(3):
            acc[k, b] = FA[b, k]
            acc[3 + k, b] = FA[b, 3 + k] - gravity * g[k]
