"""The compiled calls behind `forward_dynamics` and `link_accelerations`: check, take, compute. Nothing allocates."""

from __future__ import annotations

from numba.types import float64, int64, void

from ...compiled.jit import entry, kernel
from ...dynamics import rnea
from ...dynamics.entries import move, place
from ...dynamics.result import result
from ...dynamics.state import OK, REFUSED, copy, is_usable
from . import algorithm1 as one
from . import algorithm2 as two
from . import algorithm4 as four
from . import biases
from . import decoupled as free
from . import kalman as smoother
from . import two_sweep as merged

_FORWARD = int64(vector, vector, vector, result, int64)


@kernel
def _take(tree, q, v, tau):
    """Take q and v; False, and nothing touched, if one of the three is unusable."""
    nv = tree.nv
    if not (is_usable(tree, tau, nv) and is_usable(tree, v, nv) and place(tree, q)):
        return False
    copy(floats_of(v), tree.v, nv)
    return True


@kernel
def _take_motion(tree, q, v, tau):
    """Take q and v, and the body forces of the motion with qdd = 0 less external wrenches."""
    if not (is_usable(tree, tau, tree.nv) and move(tree, q, v)):
        return False
    rnea.subtract_external(tree)
    return True


@entry(_FORWARD)
def algorithm1(q, v, tau, out, tree):
    """Accelerations by algorithm 1 of [Rodriguez1992]."""
    if not _take_motion(tree, q, v, tau):
        return REFUSED
    one.algorithm1(tree, floats_of(tau), floats_of(out))
    return OK


@entry(_FORWARD)
def algorithm2(q, v, tau, out, tree):
    """Accelerations, also of links, by algorithm 2 of [Rodriguez1992]."""
    if not _take_motion(tree, q, v, tau):
        return REFUSED
    two.algorithm2(tree, floats_of(tau), floats_of(out))
    return OK


@entry(_FORWARD)
def algorithm4(q, v, tau, out, tree):
    """Accelerations by algorithm 4 of [Rodriguez1992]."""
    if not _take(tree, q, v, tau):
        return REFUSED
    four.algorithm4(tree, floats_of(tau), floats_of(out))
    return OK


@entry(_FORWARD)
def two_sweep(q, v, tau, out, tree):
    """Accelerations by the two-sweep algorithm of [Rodriguez1992] VII.D, its delay taken out by a sweep before."""
    if not _take(tree, q, v, tau):
        return REFUSED
    rnea.joint_rates(tree)
    biases.velocities(tree)
    merged.two_sweep(tree, floats_of(tau), floats_of(out))
    return OK


@entry(_FORWARD)
def two_sweep_delayed(q, v, tau, out, tree):
    """The same with the velocities of the call before."""
    if not _take(tree, q, v, tau):
        return REFUSED
    merged.two_sweep(tree, floats_of(tau), floats_of(out))
    return OK


@entry(_FORWARD)
def kalman(q, v, tau, out, tree):
    """Accelerations by the filter and smoother of [Rodriguez1986]."""
    if not _take(tree, q, v, tau):
        return REFUSED
    smoother.kalman(tree, floats_of(tau), floats_of(out))
    return OK


@entry(_FORWARD)
def decoupled(q, v, tau, out, tree):
    """Accelerations by algorithm 6 of [Jain1995]; needs `dual.lay_out`."""
    if not _take(tree, q, v, tau):
        return REFUSED
    free.decoupled(tree, floats_of(tau), floats_of(out))
    return OK


@entry(void(int64))
def links_from_bias(tree):
    """Link accelerations as lambda + zeta."""
    two.add_bias_accelerations(tree)


@entry(void(float64, int64))
def links_as_found(gravity, tree):
    """Link accelerations as FA has them, less `gravity` times gravity."""
    acc, FA, g = tree.acceleration, tree.alpha, tree.gravity
    for b in range(tree.n):
        for k in range(3):
            acc[k, b] = FA[b, k]
            acc[3 + k, b] = FA[b, 3 + k] - gravity * g[k]
