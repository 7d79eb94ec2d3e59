# SPDX-License-Identifier: Apache-2.0
"""What `OperationalSpace` calls: the control tick among them. Nothing here allocates or raises."""

from ..compiled.jit import address, entry, flag, integer, kernel, vector
from ..compiled.workspace import workspace_at
from ..dynamics import kinematics
from ..dynamics.state import copy, is_configuration, is_usable, take_configuration
from .blocks import mirror
from .fields import Space
from .solve import torque_by_jbar
from .tick import BIAS, JBAR, STATE, bias, law, results, take_force

space_at = workspace_at(Space)


@kernel
def _add_bias(space):
    """tau += h."""
    h = space.tree.h
    for i in range(space.nv):
        space.tau[i] += h[i]


@kernel
def _tick(space, q, v, force, tau0):
    """Take a state and forces, and compute tau. Returns `done`, 0 if something was refused."""
    tree, nv = space.tree, space.nv
    if not (
        is_configuration(tree, q)
        and is_usable(v, nv)
        and is_usable(force, space.m)
        and is_usable(tau0, nv)
    ):
        return 0
    # all of them before anything is computed: they may be views of results
    take_force(space, force)
    take_configuration(tree, q)
    copy(v, tree.v, nv)
    copy(tau0, space.tau, nv)
    space.done = STATE
    kinematics.kinematics(tree)
    law(space)
    return STATE


@kernel
def compensated_tick(space, q, v, force, tau0):
    """`_tick`, and bias forces added."""
    done = _tick(space, q, v, force, tau0)
    if done:
        bias(space.tree)
        _add_bias(space)
    return done


@entry(vector, vector, vector, vector, address)
def control(q, v, force, tau0, address):
    """The control tick, bias forces compensated. Returns `done`, 0 if something was refused."""
    return compensated_tick(space_at(address), q, v, force, tau0)


@entry(vector, vector, vector, vector, address)
def control_uncompensated(q, v, force, tau0, address):
    """The control tick without bias forces. Returns as `control`."""
    return _tick(space_at(address), q, v, force, tau0)


@entry(vector, vector, integer, address)
def update(q, v, wanted, address):
    """Take a state: poses, subspaces and inertias; and compute what is wanted of it. Returns `done`, 0 if refused."""
    space = space_at(address)
    tree = space.tree
    if not (is_configuration(tree, q) and is_usable(v, space.nv)):
        return 0
    take_configuration(tree, q)
    copy(v, tree.v, space.nv)
    space.done = STATE
    kinematics.kinematics(tree)
    results(space, wanted)
    return space.done


@entry(integer, address)
def find(wanted, address):
    """Compute what is wanted of the state that was taken. Returns `done`."""
    space = space_at(address)
    results(space, wanted)
    return space.done


@entry(vector, vector, flag, address)
def torque(force, tau0, compensate, address):
    """tau at the state that was taken, by the Jbar that is there or else by the method. Returns as `control`."""
    space = space_at(address)
    if not (space.done and is_usable(force, space.m) and is_usable(tau0, space.nv)):
        return 0
    take_force(space, force)
    copy(tau0, space.tau, space.nv)
    if space.done & JBAR and space.is_regular == 1:
        torque_by_jbar(space, space.tau)
    else:
        law(space)
        mirror(space.Lambda_inv, space.m, False)  # a caller may hold the view of it
    if compensate:
        results(space, BIAS)
        _add_bias(space)
    return space.done


ALL = (control, control_uncompensated, update, find, torque)
