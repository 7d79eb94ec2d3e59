"""Contacts and closures in the step: where they are, their impulses, and the correction of positions.

The correction is an impulse of its own that moves positions and leaves velocities alone, so that no depth and no
opening is ever turned into motion. The steps call these kernels through their addresses.
"""

from __future__ import annotations

from ...dynamics import crba, ltl, rnea
from ...dynamics import layout as dyn
from ...dynamics.layout import Workspace, count, floats
from ...jit import address_of, kernel
from ...osim import layout as rows
from ...osim.blocks import add_transposed, mirror, products, times_support
from ...osim.jacobian import bias_acceleration, task_jacobian
from ...osim.methods.sparse_ltdl import y_ltdl
from . import contact, loops
from . import layout as at

POSITION_SWEEPS = 20


@kernel
def place_constraints(w):
    """Gaps and, if something may touch or is closed, the Jacobian; poses and subspaces are there."""
    near = contact.gaps(w) or count(w, at.CLOSURES) > 0
    floats(w, at.STATUS)[at.IS_NEAR] = 1.0 if near else 0.0
    if near:
        task_jacobian(w)
    return 0


@kernel
def is_free(w):
    """1 if nothing is closed, touches or is about to touch; poses and subspaces are there."""
    place_constraints(w)
    f, status = floats(w, at.IMPULSE), floats(w, at.STATUS)
    if status[at.IS_NEAR] == 1.0:
        times_support(w, floats(w, rows.J), floats(w, dyn.V), floats(w, at.RHS))
        if count(w, at.CLOSURES) > 0 or contact.is_touching(w):
            return 0
    for r in range(count(w, at.ROWS)):
        f[r] = 0.0
    return 1


@kernel
def constrain(w):
    """V_NEXT after the impulses of contacts and closures; H is factored here if the forward dynamics has not.

    Closures rest at the end of the step, J v' + step Jdot v = 0: the acceleration of
    `algebra.closure.core` for a closed loop.
    """
    b, f, status = floats(w, at.RHS), floats(w, at.IMPULSE), floats(w, at.STATUS)
    is_factored = count(w, at.LEAVES_FACTORS) == 1
    touches, status[at.IS_SOLVED] = False, 0.0
    if status[at.IS_NEAR] == 1.0:
        times_support(w, floats(w, rows.J), floats(w, at.V_NEXT), b)
        touches = contact.activate(w)
    if count(w, at.CLOSURES) > 0:
        _look_ahead(w, is_factored)
    if not touches and count(w, at.CLOSURES) == 0:
        for r in range(count(w, at.ROWS)):
            f[r] = 0.0
        return 0
    if not is_factored:
        crba.mass_matrix(w)
        ltl.ltdl(w)
    y_ltdl(w)
    products(w)
    A = floats(w, rows.LI)
    mirror(A, count(w, at.ROWS), False)
    if count(w, at.CLOSURES) > 0:
        loops.eliminate(w, A)
    status[at.IS_SOLVED] = 1.0
    impulses(w, b, f)
    add_response(w, f, floats(w, at.V_NEXT))
    return 0


@kernel
def _look_ahead(w, is_moved):
    """Add step Jdot v to the closures' rows of RHS; the motion with dv/dt = 0 is there, or made here."""
    if not is_moved:
        rnea.motion(w)
    bias_acceleration(w)
    b, bias, step = floats(w, at.RHS), floats(w, rows.JDOT_V), floats(w, at.SCALARS)[at.STEP]
    for r in range(3 * count(w, at.POINTS), count(w, at.ROWS)):
        b[r] += step * bias[r]


@kernel
def impulses(w, b, f):
    """f for the velocities b of all rows."""
    if count(w, at.CLOSURES) == 0:
        contact.solve(w, floats(w, rows.LI), b, f, count(w, at.SWEEPS))
    else:
        loops.forward_substitute(w, b, f)
        contact.solve(w, floats(w, at.SCHUR), b, f, count(w, at.SWEEPS))
        loops.back_substitute(w, f)


@kernel
def pseudo_impulses(w, b, f):
    """f for the displacements b of all rows, roughly: the next step takes what is left."""
    if count(w, at.CLOSURES) == 0:
        contact.sweep(w, floats(w, rows.LI), b, f, POSITION_SWEEPS)
    else:
        loops.forward_substitute(w, b, f)
        contact.sweep(w, floats(w, at.SCHUR), b, f, POSITION_SWEEPS)
        loops.back_substitute(w, f)


@kernel
def add_response(w, f, out):
    """out += H^-1 J^T f = L_d^-1 Y_D^T f."""
    found, nv = floats(w, at.RESPONSE), count(w, dyn.NV)
    for i in range(nv):
        found[i] = 0.0
    add_transposed(w, floats(w, rows.YD), f, found)
    ltl.solve_unit(w, found)
    for i in range(nv):
        out[i] += found[i]


@kernel
def correct_positions(w):
    """Add to SHIFT what takes a share of the depths and openings it leads to away, within friction."""
    if floats(w, at.STATUS)[at.IS_SOLVED] == 0.0:
        return 0
    b, f, shift = floats(w, at.RHS), floats(w, at.PSEUDO), floats(w, at.SHIFT)
    times_support(w, floats(w, rows.J), shift, b)
    if contact.depths(w, b) | (count(w, at.CLOSURES) > 0):
        loops.add_errors(w, b)
        for r in range(count(w, at.ROWS)):
            f[r] = 0.0
        pseudo_impulses(w, b, f)
        add_response(w, f, shift)
    return 0


def use_constraints(work: Workspace) -> None:
    """Let the steps on `work` find these kernels; compiled here, so that a robot without contacts does without."""
    for slot, stage in (
        (at.PLACE, place_constraints),
        (at.IS_FREE, is_free),
        (at.CONSTRAIN, constrain),
        (at.CORRECT, correct_positions),
    ):
        work.set_count(slot, address_of(stage))
