"""The compiled calls behind `OperationalSpace`, the control tick among them. Nothing here allocates or raises."""

from __future__ import annotations

from numba.types import boolean, int64

from ..compiled.jit import getter, kernel, method, stage
from ..compiled.lanes import W
from ..dynamics import crba, kinematics, ltl, rnea
from ..dynamics.state import copy, is_configuration, is_usable, take, take_configuration
from .blocks import add_transposed, mirror
from .fields import LTDL, LTL, PLAIN, Space
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
def bias(space):
    """h into BIAS, for the V at hand."""
    rnea.motion(space.tree)
    rnea.joint_forces(space.tree, space.tree.h)


@kernel
def jacobian(space):
    """J by register."""
    if space.needs_composite == 1:
        crba.composite_inertias(space.tree)
    task_jacobian(space)


@stage(Space)
def factored(space):
    """Factor Lambda^-1; where it is singular, find the damped and truncated inverses instead. Says so in STATUS.

    A quick bound of the smallest eigenvalue in every tick, a close one where that is not enough, then all eigenvalues.
    """
    trip = space.trip  # below zero nothing is tested: how the cost of the test is measured
    if factorise(space) > 0.0 and (
        trip < 0.0 or quick_bound(space) > trip or close_bound(space) > space.damping
    ):
        space.is_regular, space.rank, space.is_damped = 1.0, float(space.m), 0.0
    else:
        space.is_regular = 0.0
        damped_and_truncated(space)


@kernel
def add(x, out, size):
    """out += x."""
    for i in range(size):
        out[i] += x[i]


@kernel
def is_regular(space):
    """What `factored` found."""
    return space.is_regular == 1.0


@kernel
def inertia_inv(space, tau0):
    """J, Lambda^-1 (upper triangle of blocks) and J H^-1 tau0 by the method in use."""
    copy(tau0, space.tree.x, space.tree.nv)
    respond(space)


@kernel
def respond(space):
    """`inertia_inv` for the tau0 in W."""
    jacobian(space)
    call(space.INERTIA_INV, space)
    space.H_is = space.LEAVES_H


@kernel
def law(space):
    """TORQUE = J^T F + N^T tau0 = tau0 + J^T (F - Lambda J H^-1 tau0), N never formed, (11).

    F is in FORCE; tau0 is what TORQUE holds before.
    """
    F, x, tau = space.F, space.Lambda_Jx, space.tau
    inertia_inv(space, tau)
    factored(space)
    if is_regular(space):
        back_substitute(space, x)
    else:
        times(space.Lambda_truncated, space.Jx, x, space.m)
    for i in range(space.m):
        F[i] -= x[i]
    add_transposed(space, space.J, F, tau)


@kernel
def are_forces(space, force, tau0):
    """Are these usable, if they are given?"""
    return (is_absent(force) or is_usable(space.tree, force, space.m)) and (
        is_absent(tau0) or is_usable(space.tree, tau0, space.tree.nv)
    )


@kernel
def take_force(space, force):
    """F into FORCE, and zero into the rest of the last register."""
    F, m = space.F, space.m
    for j in range(0, m, W):
        F[j : j + W] = 0.0
    take(force, F, m)


@method(int64(vector, vector, vector, vector, boolean, int64), defaults=(None, None, True))
def control(q, v, force, tau0, compensate, space):
    """The control tick: state in, torque out. Returns the address of its view, 0 if refused."""
    nv = space.tree.nv
    if not (
        is_configuration(space.tree, q)
        and is_usable(space.tree, v, nv)
        and are_forces(space, force, tau0)
    ):
        return 0
    take_force(
        space, force
    )  # all of them before anything is computed: they may be views of results
    take_configuration(space.tree, q)
    copy(floats_of(v), space.tree.v, nv)
    take(tau0, space.tau, nv)
    space.DONE = STATE
    space.READ = STATE
    kinematics.kinematics(space.tree)
    law(space)
    if compensate:
        bias(space)
        add(space.tree.h, space.tau, nv)
    return space.TORQUE_VIEW


@method(int64(vector, vector, int64), defaults=(None,), returns_self=True)
def update(q, v, space):
    """Take a state: poses, subspaces and inertias; and compute what was read of the last. Returns 0 if refused."""
    nv, wanted = space.tree.nv, space.READ
    if not (is_configuration(space.tree, q) and (is_absent(v) or is_usable(space.tree, v, nv))):
        return 0
    take_configuration(space.tree, q)
    take(v, space.tree.v, nv)
    space.DONE = STATE
    space.READ = STATE
    kinematics.kinematics(space.tree)
    find(wanted, space)
    return 1


@getter
def read(result, space):
    """Compute a result, `to_read`, unless it is done. Returns the address of its view, 0 if there is no state yet."""
    bit, done = result & 0xFF, space.DONE
    if not done & bit:
        if done == 0:
            return 0
        find(bit, space)
    space.READ = space.READ | bit
    return count(space.tree, result >> 8)


def to_read(bit: int, view: int) -> int:
    """What `read` is given: the bit of a result and the slot of its view."""
    return bit | view << 8


@kernel
def find(wanted, space):
    """Compute what is wanted and not done."""
    space.WANTED = wanted
    results(space)


@stage(Space)
def results(space):
    """Compute what is WANTED and not DONE, each result after those it is made from."""
    done, wanted = space.DONE, space.WANTED
    if wanted & (NULL_SPACE | JBAR | INERTIA | INERTIA_INV) and not done & RESPONSE:
        W = space.tree.x
        for i in range(space.tree.nv):
            W[i] = 0.0
        respond(space)
        done |= RESPONSE
    if wanted & INERTIA_INV and not done & INERTIA_INV:
        mirror(space.Lambda_inv, space.m, False)
        done |= INERTIA_INV
    if wanted & (NULL_SPACE | JBAR | INERTIA) and not done & INERTIA:
        factored(space)
        if is_regular(space):
            invert(space, space.Lambda)
        done |= INERTIA
    if wanted & (NULL_SPACE | JBAR) and not done & JBAR:
        jbar(space, space.Lambda)
        done |= JBAR
    if wanted & NULL_SPACE and not done & NULL_SPACE:
        if is_regular(space):
            null_space(space)
        else:  # N without the damping that Jbar has
            jbar(space, space.Lambda_truncated)
            null_space(space)
            jbar(space, space.Lambda)
        done |= NULL_SPACE
    if wanted & BIAS and not done & BIAS:
        bias(space)
        bias_acceleration(space)
        done |= BIAS
    if wanted & JACOBIAN and not done & JACOBIAN:
        jacobian(space)
        dense_jacobian(space)
        done |= JACOBIAN
    space.DONE = done


@kernel
def jbar(space, Lambda):
    """Jbar from H as the method, or a torque since, has left it; factored here if it is not."""
    if space.H_is == PLAIN:
        _factor_and_y(space)
        space.H_is = LTDL
    dynamically_consistent_inverse(space, Lambda, space.H_is == LTL)


@kernel
def _factor_and_y(space):
    """What Jbar needs and a recursive method has not made: H factored, Y_D."""
    crba.mass_matrix(space.tree)
    ltl.ltdl(space.tree)
    y_ltdl(space)


@method(int64(vector, vector, boolean, int64), defaults=(None, None, False))
def torque(force, tau0, compensate, space):
    """TORQUE at the state that was taken, by the Jbar that is there or else by the method. Returns as `control`."""
    nv, tau, done = space.tree.nv, space.tau, space.DONE
    if not (done and are_forces(space, force, tau0)):
        return 0
    take_force(space, force)
    take(tau0, tau, nv)
    if done & JBAR and is_regular(space):
        torque_by_jbar(space, tau)
    else:
        law(space)
        mirror(space.Lambda_inv, space.m, False)  # a caller may hold the view of it
    if compensate:
        find(BIAS, space)
        add(space.tree.h, tau, nv)
    return space.TORQUE_VIEW
