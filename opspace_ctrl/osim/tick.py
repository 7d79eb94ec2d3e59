"""The compiled calls behind `OperationalSpace`, the control tick among them. Nothing here allocates or raises."""
from __future__ import annotations

from numba.types import boolean, int64, void

from ..dynamics import crba, kinematics, ltl, rnea
from ..dynamics import layout as dyn
from ..dynamics.layout import count, floats, stage
from ..dynamics.state import OK, REFUSED, copy, is_configuration, is_usable, take_configuration
from ..jit import entry, kernel
from ..lanes import call
from ..vector import floats_of, vector
from . import layout as at
from .blocks import add_transposed, mirror
from .jacobian import bias_acceleration, dense_jacobian, task_jacobian
from .regular import close_bound, quick_bound
from .singular import damped_and_truncated, times
from .solve import (
    back_substitute,
    dynamically_consistent_inverse,
    factorise,
    invert,
    null_space,
    torque_by_jbar,
)
from .sparse_ltdl import y_ltdl

# How far the results of a state have been computed.
NOTHING, STATE, INERTIA_INV, INERTIA, JBAR, NULL_SPACE = range(-1, 5)


@kernel
def bias(w):
    """h into BIAS, for the V at hand."""
    rnea.motion(w)
    rnea.joint_forces(w, floats(w, dyn.BIAS))


@kernel
def jacobian(w):
    """J by register."""
    if count(w, at.COMPOSITE) == 1:
        crba.composite_inertias(w)
    task_jacobian(w)


@stage(at.FACTORED)
def factored(w):
    """Factor Lambda^-1; where it is singular, find the damped and truncated inverses instead. Says so in STATUS.

    A quick bound of the smallest eigenvalue in every tick, a close one where that is not enough, then all eigenvalues.
    """
    status, threshold = floats(w, at.STATUS), floats(w, at.THRESHOLD)
    trip = threshold[at.TRIP]  # below zero nothing is tested: how the cost of the test is measured
    if factorise(w) > 0.0 and (trip < 0.0 or quick_bound(w) > trip or close_bound(w) > threshold[at.DAMPING]):
        status[at.REGULAR], status[at.RANK], status[at.DAMPED] = 1.0, float(count(w, at.M)), 0.0
    else:
        status[at.REGULAR] = 0.0
        damped_and_truncated(w)


@kernel
def is_regular(w):
    """What `factored` found."""
    return floats(w, at.STATUS)[at.REGULAR] == 1.0


@kernel
def inertia_inv(w, tau0):
    """J, Lambda^-1 and J H^-1 tau0 by the method in use."""
    jacobian(w)
    copy(tau0, floats(w, dyn.W), count(w, dyn.NV))
    call(count(w, at.INERTIA_INV), w)
    floats(w, at.STATUS)[at.H_IS] = count(w, at.LEAVES_H)


@kernel
def law(w, tau0):
    """TORQUE = J^T F + N^T tau0 = tau0 + J^T (F - Lambda J H^-1 tau0), N never formed, (11); F is in FORCE."""
    F, x, tau = floats(w, at.FORCE), floats(w, at.SOLUTION), floats(w, at.TORQUE)
    factored(w)
    if is_regular(w):
        back_substitute(w, x)
    else:
        times(floats(w, at.TRUNCATED), floats(w, at.X), x, count(w, at.M))
    for i in range(count(w, at.M)):
        F[i] -= x[i]
    copy(tau0, tau, count(w, dyn.NV))
    add_transposed(w, floats(w, at.J), F, tau)


@entry(int64(vector, vector, vector, vector, boolean, int64))
def control(q, v, force, tau0, compensate, w):
    """The control tick: state in, torque out."""
    nv, m = count(w, dyn.NV), count(w, at.M)
    if not (is_configuration(w, q) and is_usable(w, v, nv) and is_usable(w, force, m) and is_usable(w, tau0, nv)):
        return REFUSED
    copy(floats_of(force), floats(w, at.FORCE), m)  # first: it may be a view of a result
    take_configuration(w, q)
    copy(floats_of(v), floats(w, dyn.V), nv)
    kinematics.kinematics(w)
    inertia_inv(w, floats_of(tau0))
    law(w, floats_of(tau0))
    if compensate:
        bias(w)
        h, tau = floats(w, dyn.BIAS), floats(w, at.TORQUE)
        for i in range(nv):
            tau[i] += h[i]
    return OK


@entry(int64(vector, vector, int64))
def update(q, v, w):
    """Take a state: poses, subspaces and inertias."""
    nv = count(w, dyn.NV)
    if not (is_configuration(w, q) and is_usable(w, v, nv)):
        return REFUSED
    take_configuration(w, q)
    copy(floats_of(v), floats(w, dyn.V), nv)
    kinematics.kinematics(w)
    return OK


@entry(void(int64))
def find_jacobian(w):
    """J, also as a matrix."""
    jacobian(w)
    dense_jacobian(w)


@entry(void(int64))
def find_bias(w):
    """h and Jdot v."""
    bias(w)
    bias_acceleration(w)


@entry(void(int64, int64, vector, int64))
def advance(level, to, no_torque, w):
    """Compute what is between two levels: Lambda^-1, Lambda, Jbar, N."""
    if level < INERTIA_INV:
        inertia_inv(w, floats_of(no_torque))
        mirror(floats(w, at.LI), count(w, at.M), False)
    if level < INERTIA <= to:
        factored(w)
        if is_regular(w):
            invert(w, floats(w, at.LAMBDA))
    if level < JBAR <= to:
        jbar(w, floats(w, at.LAMBDA))
    if level < NULL_SPACE <= to:
        if is_regular(w):
            null_space(w)
        else:  # N without the damping that Jbar has
            jbar(w, floats(w, at.TRUNCATED))
            null_space(w)
            jbar(w, floats(w, at.LAMBDA))


@kernel
def jbar(w, Lambda):
    """Jbar from H as the method, or a torque since, has left it; factored here if it is not."""
    H_is = floats(w, at.STATUS)
    if H_is[at.H_IS] == at.PLAIN:
        _factor_and_y(w)
        H_is[at.H_IS] = at.LTDL
    dynamically_consistent_inverse(w, Lambda, H_is[at.H_IS] == at.LTL)


@kernel
def _factor_and_y(w):
    """What Jbar needs and a recursive method has not made: H factored, Y_D."""
    crba.mass_matrix(w)
    ltl.ltdl(w)
    y_ltdl(w)


@entry(int64(vector, vector, int64, int64))
def find_torque(force, tau0, level, w):
    """TORQUE at the state that was taken, by the Jbar that is there or else by the method."""
    if not (is_usable(w, force, count(w, at.M)) and is_usable(w, tau0, count(w, dyn.NV))):
        return REFUSED
    if level >= JBAR and is_regular(w):
        torque_by_jbar(w, floats_of(force), floats_of(tau0), floats(w, at.TORQUE))
    else:
        copy(floats_of(force), floats(w, at.FORCE), count(w, at.M))
        inertia_inv(w, floats_of(tau0))
        mirror(floats(w, at.LI), count(w, at.M), False)  # a caller may hold the view of it
        law(w, floats_of(tau0))
    return OK
