# SPDX-License-Identifier: Apache-2.0
"""What the public functions call: look at the numbers, take them, compute, write the result. Nothing here allocates."""

from ..compiled.jit import address, entry, integer, kernel, run, vector, writable
from ..compiled.lanes import numbers
from ..compiled.workspace import workspace_at
from . import coriolis, crba, energy, frames, kinematics, rnea
from .fields import Tree
from .forward_method import ForwardMethod
from .state import OK, REFUSED, copy, is_configuration, is_usable, take_configuration

tree_at = workspace_at(Tree)
forward_method_at = workspace_at(ForwardMethod)


@kernel
def place(tree, q):
    """Take q: poses, subspaces and inertias. False, and nothing touched, if q is no configuration."""
    if not is_configuration(tree, q):
        return False
    take_configuration(tree, q)
    kinematics.kinematics(tree)
    return True


@kernel
def move(tree, q, v):
    """Take q and v: also velocities, accelerations and body forces of the motion with dv/dt = 0."""
    if not (is_usable(v, tree.nv) and place(tree, q)):
        return False
    copy(v, tree.v, tree.nv)
    rnea.motion(tree)
    return True


@entry(vector, address)
def at_configuration(q, address):
    """Poses, subspaces and inertias at q."""
    return OK if place(tree_at(address), q) else REFUSED


@entry(vector, vector, address)
def at_motion(q, v, address):
    """Everything of `at_configuration`, and velocities, accelerations and forces of the motion with dv/dt = 0."""
    return OK if move(tree_at(address), q, v) else REFUSED


@entry(vector, address)
def mass_matrix(q, address):
    """H into `dense`."""
    tree = tree_at(address)
    if not place(tree, q):
        return REFUSED
    crba.mass_matrix(tree)
    crba.dense_mass_matrix(tree)
    return OK


@entry(vector, vector, writable, address)
def bias_forces(q, v, out, address):
    """h(q, v)."""
    tree = tree_at(address)
    if not move(tree, q, v):
        return REFUSED
    rnea.joint_forces(tree, numbers(out))
    return OK


@entry(vector, vector, vector, writable, address)
def inverse_dynamics(q, v, a, out, address):
    """tau = H a + h - sum J^T f for the wrenches in `external`."""
    tree = tree_at(address)
    nv, tau = tree.nv, numbers(out)
    if not (is_usable(v, nv) and is_usable(a, nv) and place(tree, q)):
        return REFUSED
    copy(v, tree.v, nv)
    copy(a, tree.a, nv)
    rnea.joint_rates(tree)
    rnea.rate_derivatives(tree)
    rnea.velocities(tree)
    rnea.accelerations(tree, True)
    rnea.body_forces(tree)
    rnea.subtract_external(tree)
    rnea.joint_forces(tree, tau)
    rnea.add_armature(tree, tree.a, tau)
    return OK


@entry(vector, vector, vector, writable, address, address)
def forward_dynamics(q, v, tau, out, method_address, address):
    """qdd for the joint forces tau and the wrenches in `external`, by a method."""
    tree, method = tree_at(address), forward_method_at(method_address)
    nv = tree.nv
    if not (is_usable(tau, nv) and is_usable(v, nv) and place(tree, q)):
        return REFUSED
    copy(v, tree.v, nv)
    copy(tau, tree.tau, nv)
    run(method.compute, tree, method)
    copy(tree.qdd, out, nv)
    return OK


@entry(vector, vector, address)
def coriolis_matrix(q, v, address):
    """C into `dense`."""
    tree = tree_at(address)
    if not move(tree, q, v):
        return REFUSED
    crba.composite_inertias(tree)
    coriolis.coriolis_matrix(tree)
    return OK


@entry(vector, vector, writable, address)
def energies(q, v, out, address):
    """Kinetic and potential energy."""
    tree = tree_at(address)
    if not move(tree, q, v):
        return REFUSED
    out[0] = energy.kinetic_energy(tree)
    out[1] = energy.potential_energy(tree)
    return OK


@entry(integer, writable, address)
def frame_pose(f, out, address):
    """Orientation (9) and position (3) of frame f, after `at_configuration`."""
    frames.frame_pose(tree_at(address), f, numbers(out))


@entry(integer, address)
def frame_jacobian(f, address):
    """J of frame f into `dense`, after `at_configuration`."""
    frames.frame_jacobian(tree_at(address), f)


@entry(integer, writable, address)
def frame_motion(f, out, address):
    """Velocity and acceleration of frame f, after `at_motion`."""
    frames.frame_motion(tree_at(address), f, numbers(out))


@entry(integer, vector, address)
def add_external(f, wrench, address):
    """Add a wrench at frame f to `external`, after `at_configuration`."""
    frames.add_external(tree_at(address), f, numbers(wrench))


@entry(writable, address)
def center_of_mass(out, address):
    """Position and mass, and the Jacobian into `dense`, after `at_configuration`."""
    tree = tree_at(address)
    frames.center_of_mass(tree, numbers(out))
    crba.composite_inertias(tree)
    frames.center_of_mass_jacobian(tree, out[3])


@entry(writable, address)
def center_of_mass_motion(out, address):
    """Velocity and acceleration (out[0:6]) for the mass in out[6], after `at_motion`."""
    frames.center_of_mass_motion(tree_at(address), out[6], numbers(out))
