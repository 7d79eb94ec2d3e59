"""The compiled calls behind `OperationalSpace`, the control tick among them. Nothing here allocates or raises."""
from __future__ import annotations

from ..dynamics import crba, kinematics, ltl, rnea
from ..dynamics import layout as dyn
from ..dynamics.layout import count, floats, stage
from ..dynamics.state import OK, REFUSED, copy, is_configuration, is_usable, take_configuration
from ..jit import entry, kernel
from ..lanes import call
from . import layout as at
from .blocks import add_transposed, mirror
from .jacobian import bias_acceleration, dense_jacobian, task_jacobian
from .singular import damped_and_truncated, times
from .solve import (
    back_substitute,
    dynamically_consistent_inverse,
    factorise,
    invert,
    null_space,
    smallest_eigenvalue,
    torque_by_jbar,
)
from .sparse_ltdl import y_ltdl

_VECTOR = "float64[::1]"
MARGIN = 10.0  # how far above the threshold an estimate must be to be believed


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

    Cheap tests first: the pivots in every tick, the smallest eigenvalue when one is small, all near the threshold.
    """
    status, threshold = floats(w, at.STATUS), floats(w, at.THRESHOLD)
    pivot, row = factorise(w)
    if pivot > threshold[at.TRIP] or (pivot > 0.0 and smallest_eigenvalue(w, row) > MARGIN * threshold[at.DAMPING]):
        status[at.REGULAR], status[at.RANK], status[at.DAMPED] = 1.0, float(count(w, at.M)), 0.0
    else:
        status[at.REGULAR] = 0.0
        damped_and_truncated(w)


@kernel
def inertia_inv(w, tau0):
    """J, Lambda^-1 and J H^-1 tau0 by the method in use."""
    jacobian(w)
    copy(tau0, floats(w, dyn.W))
    call(count(w, at.INERTIA_INV), w)


@kernel
def law(w, force, tau0):
    """TORQUE = J^T F + N^T tau0 = tau0 + J^T (F - Lambda J H^-1 tau0), N never formed ([Featherstone2010] (11))."""
    F, x, tau = floats(w, at.FORCE), floats(w, at.SOLUTION), floats(w, at.TORQUE)
    factored(w)
    if floats(w, at.STATUS)[at.REGULAR] == 1.0:
        back_substitute(w, x)
    else:
        times(floats(w, at.TRUNCATED), floats(w, at.X), x, count(w, at.M))
    for i in range(count(w, at.M)):
        F[i] = force[i] - x[i]
    copy(tau0, tau)
    add_transposed(w, floats(w, at.J), F, tau)


@entry(f"int64({_VECTOR},{_VECTOR},{_VECTOR},{_VECTOR},boolean,int64)")
def control(q, v, force, tau0, compensate, w):
    """The control tick: state in, torque out."""
    nv = count(w, dyn.NV)
    if not (is_configuration(w, q) and is_usable(v, nv) and is_usable(force, count(w, at.M)) and is_usable(tau0, nv)):
        return REFUSED
    take_configuration(w, q)
    copy(v, floats(w, dyn.V))
    kinematics.kinematics(w)
    inertia_inv(w, tau0)
    law(w, force, tau0)
    if compensate:
        bias(w)
        h, tau = floats(w, dyn.BIAS), floats(w, at.TORQUE)
        for i in range(nv):
            tau[i] += h[i]
    return OK


@entry(f"int64({_VECTOR},{_VECTOR},int64)")
def update(q, v, w):
    """Take a state: poses, subspaces and inertias."""
    if not (is_configuration(w, q) and is_usable(v, count(w, dyn.NV))):
        return REFUSED
    take_configuration(w, q)
    copy(v, floats(w, dyn.V))
    kinematics.kinematics(w)
    return OK


@entry(f"void({_VECTOR},int64)")
def find_inertia_inv(tau0, w):
    """J and Lambda^-1 by the method in use."""
    inertia_inv(w, tau0)
    mirror(floats(w, at.LI), count(w, at.M))


@entry("void(int64)")
def find_jacobian(w):
    """J, also as a matrix."""
    jacobian(w)
    dense_jacobian(w)


@entry("void(int64)")
def find_bias(w):
    """h and Jdot v."""
    bias(w)
    bias_acceleration(w)


@entry("void(int64)")
def find_inertia(w):
    """Lambda, after `find_inertia_inv`; where it is singular, also the truncated one for N."""
    factored(w)
    if floats(w, at.STATUS)[at.REGULAR] == 1.0:
        invert(w, floats(w, at.LAMBDA))


@entry("void(int64,int64,int64)")
def find_jbar(w, factor, slot):
    """Jbar with the inertia in `slot`, after `find_inertia`; factor: how the method left H, 1 LTDL, 2 LTL, 0 not."""
    if factor == 0:
        _factor_and_y(w)
    dynamically_consistent_inverse(w, floats(w, slot), factor == 2)


@entry("void(int64)")
def find_null_space(w):
    """N^T from the Jbar in JBAR."""
    null_space(w)


@kernel
def _factor_and_y(w):
    """What Jbar needs and a recursive method has not made: H factored, Y_D."""
    crba.mass_matrix(w)
    ltl.ltdl(w)
    y_ltdl(w)


@entry(f"int64({_VECTOR},{_VECTOR},boolean,int64)")
def find_torque(force, tau0, has_jbar, w):
    """TORQUE at the state that was taken, by a Jbar that is there or by the method."""
    if not (is_usable(force, count(w, at.M)) and is_usable(tau0, count(w, dyn.NV))):
        return REFUSED
    if has_jbar:
        torque_by_jbar(w, force, tau0, floats(w, at.TORQUE))
    else:
        inertia_inv(w, tau0)
        mirror(floats(w, at.LI), count(w, at.M))  # a caller may hold the view of it
        law(w, force, tau0)
    return OK
