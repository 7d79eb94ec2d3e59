"""The compiled calls behind `OperationalSpace`, the control tick among them. Nothing here allocates or raises."""

from __future__ import annotations

from numba.types import boolean, int64

from ..dynamics import crba, kinematics, ltl, rnea
from ..dynamics import layout as dyn
from ..dynamics.layout import count, floats, set_count, stage
from ..dynamics.state import copy, is_configuration, is_usable, take, take_configuration
from ..jit import getter, kernel, method
from ..lanes import WIDTH, call, splat, store
from ..vector import floats_of, is_absent, vector
from . import layout as at
from .blocks import add_transposed, mirror
from .jacobian import bias_acceleration, dense_jacobian, task_jacobian
from .methods.sparse_ltdl import y_ltdl
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

# What has been computed of a state, or is to be: bits.
STATE, RESPONSE, INERTIA_INV, INERTIA, JBAR, NULL_SPACE, BIAS, JACOBIAN = (
    1 << bit for bit in range(8)
)


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
    if factorise(w) > 0.0 and (
        trip < 0.0 or quick_bound(w) > trip or close_bound(w) > threshold[at.DAMPING]
    ):
        status[at.REGULAR], status[at.RANK], status[at.DAMPED] = 1.0, float(count(w, at.M)), 0.0
    else:
        status[at.REGULAR] = 0.0
        damped_and_truncated(w)


@kernel
def add(x, out, size):
    """out += x."""
    for i in range(size):
        out[i] += x[i]


@kernel
def is_regular(w):
    """What `factored` found."""
    return floats(w, at.STATUS)[at.REGULAR] == 1.0


@kernel
def inertia_inv(w, tau0):
    """J, Lambda^-1 (upper triangle of blocks) and J H^-1 tau0 by the method in use."""
    copy(tau0, floats(w, dyn.W), count(w, dyn.NV))
    respond(w)


@kernel
def respond(w):
    """`inertia_inv` for the tau0 in W."""
    jacobian(w)
    call(count(w, at.INERTIA_INV), w)
    floats(w, at.STATUS)[at.H_IS] = count(w, at.LEAVES_H)


@kernel
def law(w):
    """TORQUE = J^T F + N^T tau0 = tau0 + J^T (F - Lambda J H^-1 tau0), N never formed, (11).

    F is in FORCE; tau0 is what TORQUE holds before.
    """
    F, x, tau = floats(w, at.FORCE), floats(w, at.SOLUTION), floats(w, at.TORQUE)
    inertia_inv(w, tau)
    factored(w)
    if is_regular(w):
        back_substitute(w, x)
    else:
        times(floats(w, at.TRUNCATED), floats(w, at.X), x, count(w, at.M))
    for i in range(count(w, at.M)):
        F[i] -= x[i]
    add_transposed(w, floats(w, at.J), F, tau)


@kernel
def are_forces(w, force, tau0):
    """Are these usable, if they are given?"""
    return (is_absent(force) or is_usable(w, force, count(w, at.M))) and (
        is_absent(tau0) or is_usable(w, tau0, count(w, dyn.NV))
    )


@kernel
def take_force(w, force):
    """F into FORCE, and zero into the rest of the last register."""
    F, m = floats(w, at.FORCE), count(w, at.M)
    for j in range(0, m, WIDTH):
        store(F, 0, j, splat(0.0))
    take(force, F, m)


@method(int64(vector, vector, vector, vector, boolean, int64), defaults=(None, None, True))
def control(q, v, force, tau0, compensate, w):
    """The control tick: state in, torque out. Returns the address of its view, 0 if refused."""
    nv = count(w, dyn.NV)
    if not (is_configuration(w, q) and is_usable(w, v, nv) and are_forces(w, force, tau0)):
        return 0
    take_force(w, force)  # all of them before anything is computed: they may be views of results
    take_configuration(w, q)
    copy(floats_of(v), floats(w, dyn.V), nv)
    take(tau0, floats(w, at.TORQUE), nv)
    set_count(w, at.DONE, STATE)
    set_count(w, at.READ, STATE)
    kinematics.kinematics(w)
    law(w)
    if compensate:
        bias(w)
        add(floats(w, dyn.BIAS), floats(w, at.TORQUE), nv)
    return count(w, at.TORQUE_VIEW)


@method(int64(vector, vector, int64), defaults=(None,), returns_self=True)
def update(q, v, w):
    """Take a state: poses, subspaces and inertias; and compute what was read of the last. Returns 0 if refused."""
    nv, wanted = count(w, dyn.NV), count(w, at.READ)
    if not (is_configuration(w, q) and (is_absent(v) or is_usable(w, v, nv))):
        return 0
    take_configuration(w, q)
    take(v, floats(w, dyn.V), nv)
    set_count(w, at.DONE, STATE)
    set_count(w, at.READ, STATE)
    kinematics.kinematics(w)
    find(wanted, w)
    return 1


@getter
def read(result, w):
    """Compute a result, `to_read`, unless it is done. Returns the address of its view, 0 if there is no state yet."""
    bit, done = result & 0xFF, count(w, at.DONE)
    if not done & bit:
        if done == 0:
            return 0
        find(bit, w)
    set_count(w, at.READ, count(w, at.READ) | bit)
    return count(w, result >> 8)


def to_read(bit: int, view: int) -> int:
    """What `read` is given: the bit of a result and the slot of its view."""
    return bit | view << 8


@kernel
def find(wanted, w):
    """Compute what is wanted and not done."""
    set_count(w, at.WANTED, wanted)
    results(w)


@stage(at.RESULTS)
def results(w):
    """Compute what is WANTED and not DONE, each result after those it is made from."""
    done, wanted = count(w, at.DONE), count(w, at.WANTED)
    if wanted & (NULL_SPACE | JBAR | INERTIA | INERTIA_INV) and not done & RESPONSE:
        W = floats(w, dyn.W)
        for i in range(count(w, dyn.NV)):
            W[i] = 0.0
        respond(w)
        done |= RESPONSE
    if wanted & INERTIA_INV and not done & INERTIA_INV:
        mirror(floats(w, at.LI), count(w, at.M), False)
        done |= INERTIA_INV
    if wanted & (NULL_SPACE | JBAR | INERTIA) and not done & INERTIA:
        factored(w)
        if is_regular(w):
            invert(w, floats(w, at.LAMBDA))
        done |= INERTIA
    if wanted & (NULL_SPACE | JBAR) and not done & JBAR:
        jbar(w, floats(w, at.LAMBDA))
        done |= JBAR
    if wanted & NULL_SPACE and not done & NULL_SPACE:
        if is_regular(w):
            null_space(w)
        else:  # N without the damping that Jbar has
            jbar(w, floats(w, at.TRUNCATED))
            null_space(w)
            jbar(w, floats(w, at.LAMBDA))
        done |= NULL_SPACE
    if wanted & BIAS and not done & BIAS:
        bias(w)
        bias_acceleration(w)
        done |= BIAS
    if wanted & JACOBIAN and not done & JACOBIAN:
        jacobian(w)
        dense_jacobian(w)
        done |= JACOBIAN
    set_count(w, at.DONE, done)


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


@method(int64(vector, vector, boolean, int64), defaults=(None, None, False))
def torque(force, tau0, compensate, w):
    """TORQUE at the state that was taken, by the Jbar that is there or else by the method. Returns as `control`."""
    nv, tau, done = count(w, dyn.NV), floats(w, at.TORQUE), count(w, at.DONE)
    if not (done and are_forces(w, force, tau0)):
        return 0
    take_force(w, force)
    take(tau0, tau, nv)
    if done & JBAR and is_regular(w):
        torque_by_jbar(w, tau)
    else:
        law(w)
        mirror(floats(w, at.LI), count(w, at.M), False)  # a caller may hold the view of it
    if compensate:
        find(BIAS, w)
        add(floats(w, dyn.BIAS), tau, nv)
    return count(w, at.TORQUE_VIEW)
