# SPDX-License-Identifier: Apache-2.0
"""Contacts and closures in the step: where they are, their impulses, and the correction of positions.

The correction is an impulse of its own that moves positions and leaves velocities alone, so that no depth and no
opening is ever turned into motion. Integrators find these stages in the call fields of their names; a robot without
contacts and closures has none of them.
"""

from ...compiled.jit import choice, kernel, run
from ...dynamics import rnea
from ...osim.blocks import add_transposed, mirror, times_support
from ...osim.jacobian import bias_acceleration, task_jacobian
from . import contact, loops
from .fields import Engine

POSITION_SWEEPS = 20


@kernel
def _place(engine):
    """Find out whether something may touch in the step or is closed; needs the kinematics.

    Writes gap, is_near and, if it is 1, space.J.
    """
    near = contact.gaps(engine) or engine.closures > 0
    engine.is_near = 1 if near else 0
    if near:
        task_jacobian(engine.space)


@choice(Engine)
def place_constraints(engine):
    """Write gap, is_near and, if something may touch or is closed, space.J; needs the kinematics."""
    _place(engine)


@choice(Engine)
def check_free(engine):
    """Find out whether nothing is closed, touches or is about to touch with tree.v; needs the kinematics.

    Writes gap, is_near, space.J and is_free; if that is 1, all impulses become zero.
    """
    _place(engine)
    engine.is_free = 0
    if engine.is_near == 1:
        times_support(engine.space, engine.space.J, engine.tree.v, engine.row_velocity)
        if engine.closures > 0 or contact.is_touching(engine):
            return
    _no_impulses(engine)
    engine.is_free = 1


@kernel
def _no_impulses(engine):
    """Write zeros to impulse."""
    f = engine.impulse
    for r in range(engine.rows):
        f[r] = 0.0


@choice(Engine)
def constrain(engine):
    """Add to v_next what the impulses of contacts and closures do; needs `place_constraints` and forward dynamics.

    Writes impulse, and is_solved: 1 if there were any, and then space.Y_d, Lambda_inv and the factors of H are of this
    step. Closures rest at the end of the step, J v' + dt Jdot v = 0: the acceleration of `algebra.closure.core`
    for a closed loop. It runs once for every round of `joints.change_pieces`, from the impulses of the round before.
    """
    b, f = engine.row_velocity, engine.impulse
    touches, engine.is_solved = False, 0
    if engine.is_near == 1:
        times_support(engine.space, engine.space.J, engine.v_next, b)
        touches = contact.activate(engine)
    if engine.closures > 0:
        _add_bias_velocity(engine)
    if not touches and engine.closures == 0:
        _no_impulses(engine)
        return
    run(engine.inverse.delassus, engine, engine.inverse)
    A = engine.space.Lambda_inv
    mirror(A, engine.rows, False)
    if engine.closures > 0:
        loops.eliminate(engine, A)
    engine.is_solved = 1
    _impulses(engine, b, f)
    _add_response(engine, f, engine.v_next)


@kernel
def _add_bias_velocity(engine):
    """Add dt Jdot v to the closures' rows of row_velocity.

    Needs the motion with dv/dt = 0, which most forward dynamics leave; otherwise it is made here.
    """
    if engine.has_motion == 0:
        rnea.motion(engine.tree)
    bias_acceleration(engine.space)
    b, bias = engine.row_velocity, engine.space.Jdot_v
    for r in range(3 * engine.points, engine.rows):
        b[r] += engine.dt * bias[r]


@kernel
def _impulses(engine, b, f):
    """Find the impulses f for the velocities b of all rows, which are spent."""
    if engine.closures == 0:
        contact.solve(engine, engine.space.Lambda_inv, b, f, engine.max_sweeps)
    else:
        loops.forward_substitute(engine, b, f)
        contact.solve(engine, engine.contact_matrix, b, f, engine.max_sweeps)
        loops.back_substitute(engine, f)


@kernel
def _pseudo_impulses(engine, b, f):
    """Find impulses f for the displacements b of all rows, which are spent; roughly: the next step takes the rest."""
    if engine.closures == 0:
        contact.sweep(engine, engine.space.Lambda_inv, b, f, POSITION_SWEEPS)
    else:
        loops.forward_substitute(engine, b, f)
        contact.sweep(engine, engine.contact_matrix, b, f, POSITION_SWEEPS)
        loops.back_substitute(engine, f)


@kernel
def _add_response(engine, f, out):
    """Add H^-1 J^T f to out; needs space.Y_d and the factors of H."""
    found = engine.response
    for i in range(engine.nv):
        found[i] = 0.0
    add_transposed(engine.space, engine.space.Y_d, f, found)
    run(engine.inverse.respond, engine, engine.inverse)
    for i in range(engine.nv):
        out[i] += found[i]


@choice(Engine)
def correct_positions(engine):
    """Add to shift what takes a share of depths and openings away, by impulses that leave velocities alone.

    Needs is_solved and what it stands for. Writes pseudo_impulse.
    """
    if engine.is_solved == 0:
        return
    b, f = engine.row_displacement, engine.pseudo_impulse
    times_support(engine.space, engine.space.J, engine.shift, b)
    if contact.depths(engine, b) or engine.closures > 0:
        loops.add_errors(engine, b)
        for r in range(engine.rows):
            f[r] = 0.0
        _pseudo_impulses(engine, b, f)
        _add_response(engine, f, engine.shift)


STAGES = {
    "place_constraints": place_constraints,
    "check_free": check_free,
    "constrain": constrain,
    "correct_positions": correct_positions,
}
