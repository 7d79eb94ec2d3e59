"""Contacts and closures in the step: where they are, their impulses, and the correction of positions.

The correction is an impulse of its own that moves positions and leaves velocities alone, so that no depth and no
opening is ever turned into motion. The steps call these kernels through their addresses.
"""

from __future__ import annotations

from ...compiled.jit import address_of, kernel
from ...dynamics import crba, ltl, rnea
from ...osim.blocks import add_transposed, mirror, products, times_support
from ...osim.jacobian import bias_acceleration, task_jacobian
from ...osim.methods.sparse_ltdl import y_ltdl
from . import contact, loops

POSITION_SWEEPS = 20


@kernel
def place_constraints(engine):
    """Gaps and, if something may touch or is closed, the Jacobian; poses and subspaces are there."""
    near = contact.gaps(engine) or engine.closures > 0
    engine.is_near = 1.0 if near else 0.0
    if near:
        task_jacobian(engine.space)
    return 0


@kernel
def is_free(engine):
    """1 if nothing is closed, touches or is about to touch; poses and subspaces are there."""
    place_constraints(engine)
    f = engine.impulse
    if engine.is_near == 1.0:
        times_support(engine.space, engine.space.J, engine.tree.v, engine.row_velocity)
        if engine.closures > 0 or contact.is_touching(engine):
            return 0
    for r in range(engine.rows):
        f[r] = 0.0
    return 1


@kernel
def constrain(engine):
    """V_NEXT after the impulses of contacts and closures; H is factored here if the forward dynamics has not.

    Closures rest at the end of the step, J v' + step Jdot v = 0: the acceleration of
    `algebra.closure.core` for a closed loop.
    """
    b, f = engine.row_velocity, engine.impulse
    is_factored = engine.leaves_factors == 1
    touches, engine.is_solved = False, 0.0
    if engine.is_near == 1.0:
        times_support(engine.space, engine.space.J, engine.v_next, b)
        touches = contact.activate(engine)
    if engine.closures > 0:
        _look_ahead(engine, is_factored)
    if not touches and engine.closures == 0:
        for r in range(engine.rows):
            f[r] = 0.0
        return 0
    if not is_factored:
        crba.mass_matrix(engine.tree)
        ltl.ltdl(engine.tree)
    y_ltdl(engine.space)
    products(engine.space)
    A = engine.space.Lambda_inv
    mirror(A, engine.rows, False)
    if engine.closures > 0:
        loops.eliminate(engine, A)
    engine.is_solved = 1.0
    impulses(engine, b, f)
    add_response(engine, f, engine.v_next)
    return 0


@kernel
def _look_ahead(engine, is_moved):
    """Add step Jdot v to the closures' rows of RHS; the motion with dv/dt = 0 is there, or made here."""
    if not is_moved:
        rnea.motion(engine.tree)
    bias_acceleration(engine.space)
    b, bias, step = engine.row_velocity, engine.space.Jdot_v, engine.dt
    for r in range(3 * engine.points, engine.rows):
        b[r] += step * bias[r]


@kernel
def impulses(engine, b, f):
    """f for the velocities b of all rows."""
    if engine.closures == 0:
        contact.solve(engine, engine.space.Lambda_inv, b, f, engine.max_sweeps)
    else:
        loops.forward_substitute(engine, b, f)
        contact.solve(engine, engine.contact_matrix, b, f, engine.max_sweeps)
        loops.back_substitute(engine, f)


@kernel
def pseudo_impulses(engine, b, f):
    """f for the displacements b of all rows, roughly: the next step takes what is left."""
    if engine.closures == 0:
        contact.sweep(engine, engine.space.Lambda_inv, b, f, POSITION_SWEEPS)
    else:
        loops.forward_substitute(engine, b, f)
        contact.sweep(engine, engine.contact_matrix, b, f, POSITION_SWEEPS)
        loops.back_substitute(engine, f)


@kernel
def add_response(engine, f, out):
    """out += H^-1 J^T f = L_d^-1 Y_D^T f."""
    found, nv = engine.response, engine.tree.nv
    for i in range(nv):
        found[i] = 0.0
    add_transposed(engine.space, engine.space.Y_D, f, found)
    ltl.solve_unit(engine.tree, found)
    for i in range(nv):
        out[i] += found[i]


@kernel
def correct_positions(engine):
    """Add to SHIFT what takes a share of the depths and openings it leads to away, within friction."""
    if engine.is_solved == 0.0:
        return 0
    b, f, shift = engine.row_displacement, engine.pseudo_impulse, engine.shift
    times_support(engine.space, engine.space.J, shift, b)
    if contact.depths(engine, b) | (engine.closures > 0):
        loops.add_errors(engine, b)
        for r in range(engine.rows):
            f[r] = 0.0
        pseudo_impulses(engine, b, f)
        add_response(engine, f, shift)
    return 0


def use_constraints(work: Workspace) -> None:
    """Let the steps on `work` find these kernels; compiled here, so that a robot without contacts does without."""
    for slot, stage in (
        ("place_constraints", place_constraints),
        ("check_free", is_free),
        ("constrain", constrain),
        ("correct_positions", correct_positions),
    ):
        work.set_count(slot, address_of(stage))
