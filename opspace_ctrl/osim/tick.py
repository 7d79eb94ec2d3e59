# SPDX-License-Identifier: Apache-2.0
"""The stages and kernels behind `OperationalSpace`: from a state to torques, and to everything that can be read."""

from ..compiled.jit import integer, kernel, run, stage
from ..compiled.lanes import W
from ..dynamics import crba, ltl, rnea
from ..dynamics.state import copy
from .blocks import add_transposed, mirror
from .fields import Space
from .jacobian import bias_acceleration, dense_jacobian, task_jacobian
from .method import ARTICULATED, LTDL, LTL, PLAIN
from .methods.sparse_ltdl import y_ltdl
from .propagate import articulated_jbar
from .regular import close_bound, quick_bound
from .singular import damped_and_truncated, times
from .solve import (
    back_substitute,
    dynamically_consistent_inverse,
    factorise,
    invert,
    null_space,
)

# What has been computed of a state, or is to be: bits of `done`.
STATE, RESPONSE, INERTIA_INV, INERTIA = 1, 2, 4, 8
JBAR, NULL_SPACE, BIAS, JACOBIAN = 16, 32, 64, 128


@kernel
def bias(tree):
    """h for the v at hand. Needs kinematics. Writes h and what `rnea.motion` does."""
    rnea.motion(tree)
    rnea.joint_forces(tree, tree.h)


@kernel
def jacobian(space):
    """J by register. Needs kinematics."""
    if space.needs_composite == 1:
        crba.composite_inertias(space.tree)
    task_jacobian(space)


@stage(Space)
def factored(space):
    """Factor Lambda_inv; where it is singular, find the damped and truncated inverses instead. Says so in is_regular.

    A quick bound of the smallest eigenvalue in every tick, a close one where that is not enough, then all eigenvalues.
    """
    trip = space.trip  # below zero nothing is tested: how the cost of the test is measured
    if factorise(space) > 0.0 and (
        trip < 0.0 or quick_bound(space) > trip or close_bound(space) > space.damping
    ):
        space.is_regular = 1
        space.rank = space.m
        space.is_damped = 0
    else:
        space.is_regular = 0
        damped_and_truncated(space)


@kernel
def respond(space):
    """J, Lambda_inv (upper triangle of blocks) and Jx = J H^-1 x by the method in use."""
    jacobian(space)
    method = space.method  # read once: another thread may exchange it
    run(method.inertia_inv, space, method)
    space.H_is = method.leaves_H


@kernel
def law(space):
    """tau = J^T F + N^T tau0 = tau0 + J^T (F - Lambda J H^-1 tau0), N never formed, (11).

    tau0 is what tau holds before. F is spent.
    """
    Lambda_Jx = space.Lambda_Jx
    copy(space.tau, space.tree.x, space.nv)
    respond(space)
    factored(space)
    if space.is_regular == 1:
        back_substitute(space, Lambda_Jx)
    else:
        times(space.Lambda_truncated, space.Jx, Lambda_Jx, space.m)
    for i in range(space.m):
        space.F[i] -= Lambda_Jx[i]
    add_transposed(space, space.J, space.F, space.tau)


@kernel
def take_force(space, force):
    """The task forces into F, and zeros into the rest of the last register."""
    for j in range(0, space.m, W):
        space.F[j : j + W] = 0.0
    copy(force, space.F, space.m)


@stage(Space, integer)
def results(space, wanted):
    """Compute what is wanted and not done, each result after those it is made from. Adds their bits to `done`."""
    done = space.done
    if wanted & (NULL_SPACE | JBAR | INERTIA | INERTIA_INV) and not done & RESPONSE:
        x = space.tree.x
        for i in range(space.nv):
            x[i] = 0.0
        respond(space)
        done |= RESPONSE
    if wanted & INERTIA_INV and not done & INERTIA_INV:
        mirror(space.Lambda_inv, space.m, False)
        done |= INERTIA_INV
    if wanted & (NULL_SPACE | JBAR | INERTIA) and not done & INERTIA:
        factored(space)
        if space.is_regular == 1:
            invert(space, space.Lambda)
        done |= INERTIA
    if wanted & (NULL_SPACE | JBAR) and not done & JBAR:
        _jbar(space, space.Lambda)
        done |= JBAR
    if wanted & NULL_SPACE and not done & NULL_SPACE:
        if space.is_regular == 1:
            null_space(space)
        else:  # N without the damping that Jbar has
            _jbar(space, space.Lambda_truncated)
            null_space(space)
            _jbar(space, space.Lambda)
        done |= NULL_SPACE
    if wanted & BIAS and not done & BIAS:
        bias(space.tree)
        bias_acceleration(space)
        done |= BIAS
    if wanted & JACOBIAN and not done & JACOBIAN:
        jacobian(space)
        dense_jacobian(space)
        done |= JACOBIAN
    space.done = done


@kernel
def _jbar(space, Lambda):
    """Jbar by what the method, or a torque since, has left of H: its factors, or the recursion's; else LTDL."""
    if space.H_is == ARTICULATED:
        articulated_jbar(space, Lambda)
        return
    if space.H_is == PLAIN:
        crba.mass_matrix(space.tree)
        ltl.ltdl(space.tree)
        y_ltdl(space)
        space.H_is = LTDL
    dynamically_consistent_inverse(space, Lambda, space.H_is == LTL)
