"""One step of the motion, by the integrator that was chosen; kernels `int64(int64)`, called through their address.

- semi_implicit: (H + step D) dv = step (tau - h - D v),  v' = v + dv,  q' = q (+) step v'. The scheme of DART and
  Gazebo: damping at the end of the step, first order.
- explicit: the same with all of the damping at the start of the step.
- rkmk4: Runge-Kutta-Munthe-Kaas of order four, q = q0 (+) u, with u and v by the classical tableau ([Munthe-Kaas1998]).
  Friction and stops of joints act as impulses at the end of the step, which displace by half of it, as a constant force
  over the step does. Steps in which something touches the ground, and robots with closures, are of the first order
  anyway: they are those of semi_implicit.
"""

from __future__ import annotations

from ...dynamics import kinematics
from ...dynamics import layout as dyn
from ...dynamics.layout import count, floats
from ...dynamics.state import copy
from ...jit import address_of, kernel
from ...lanes import call
from . import joints
from . import layout as at
from .forward import factored_solve
from .manifold import advance, tangent
from .pushes import apply_pushes

__all__ = ["INTEGRATORS", "address_of_integrator"]

MAX_ROUNDS, SETTLING = 12, 8  # rounds of `change_pieces`; from SETTLING on, joints are only caught


@kernel
def _euler(w, damping):
    dt, nv, V, V_next = (
        floats(w, at.SCALARS)[at.STEP],
        count(w, dyn.NV),
        floats(w, dyn.V),
        floats(w, at.V_NEXT),
    )
    acc, shift, tau, status = (
        floats(w, dyn.ACC),
        floats(w, at.SHIFT),
        floats(w, at.TAU),
        floats(w, at.STATUS),
    )
    kinematics.kinematics(w)
    apply_pushes(w)
    is_constrained = count(w, at.ROWS) > 0
    if is_constrained:
        call(count(w, at.PLACE), w)
    for r in range(MAX_ROUNDS):
        status[at.PIECES_USED] = r + 1.0
        joints.set_law(w, damping)
        joints.apply_law(w, V, tau)
        call(count(w, at.FORWARD), w)
        for i in range(nv):
            V_next[i] = V[i] + dt * acc[i]
        if is_constrained:
            call(count(w, at.CONSTRAIN), w)
        if not joints.change_pieces(w, r >= SETTLING):
            break
    for i in range(nv):
        shift[i] = dt * V_next[i]
    if is_constrained:
        call(count(w, at.CORRECT), w)
    advance(w, floats(w, dyn.Q), shift, floats(w, at.Q_NEXT))
    joints.push_back(w, floats(w, at.Q_NEXT))


@kernel
def semi_implicit(w):
    """Semi-implicit Euler with implicit damping."""
    _euler(w, joints.IMPLICIT)
    return 0


@kernel
def explicit(w):
    """Semi-implicit Euler with explicit damping."""
    _euler(w, joints.EXPLICIT)
    return 0


@kernel
def _stage(w, s, weight):
    """Velocity and acceleration of stage s, at q0 (+) weight step (stage before), into STAGE_V and STAGE_A."""
    dt, nv, u = floats(w, at.SCALARS)[at.STEP], count(w, dyn.NV), floats(w, at.SHIFT)
    rate, acc, damping = floats(w, at.STAGE_V), floats(w, at.STAGE_A), floats(w, at.DAMPING)
    V, V0, drive, tau = (
        floats(w, dyn.V),
        floats(w, at.V_START),
        floats(w, at.DRIVE),
        floats(w, at.TAU),
    )
    before = max(s - 1, 0)
    for i in range(nv):
        u[i] = weight * dt * rate[before, i]
        V[i] = V0[i] + weight * dt * acc[before, i]
        drive[i] = tau[i] - damping[i] * V[i]
    advance(w, floats(w, at.Q_START), u, floats(w, dyn.Q))
    kinematics.kinematics(w)
    apply_pushes(w)
    call(count(w, at.FORWARD), w)
    tangent(w, u, V, rate, s)
    found = floats(w, dyn.ACC)
    for i in range(nv):
        acc[s, i] = found[i]


@kernel
def rkmk4(w):
    """Runge-Kutta-Munthe-Kaas of order four."""
    dt, nv, u = floats(w, at.SCALARS)[at.STEP], count(w, dyn.NV), floats(w, at.SHIFT)
    rate, acc, V0, V_next = (
        floats(w, at.STAGE_V),
        floats(w, at.STAGE_A),
        floats(w, at.V_START),
        floats(w, at.V_NEXT),
    )
    if count(w, at.ROWS) > 0:
        kinematics.kinematics(w)
        if call(count(w, at.IS_FREE), w) == 0:
            return call(count(w, at.SEMI_IMPLICIT), w)
    copy(floats(w, at.ROTOR), floats(w, dyn.ARMATURE), nv)
    for s in range(4):
        _stage(w, s, 0.0 if s == 0 else 1.0 if s == 3 else 0.5)
    for i in range(nv):
        u[i] = dt / 6.0 * (rate[0, i] + 2.0 * rate[1, i] + 2.0 * rate[2, i] + rate[3, i])
        V_next[i] = V0[i] + dt / 6.0 * (acc[0, i] + 2.0 * acc[1, i] + 2.0 * acc[2, i] + acc[3, i])
    advance(w, floats(w, at.Q_START), u, floats(w, at.Q_NEXT))
    if count(w, at.HAS_LOSSES) == 1 or floats(w, at.BRAKED)[0] == 1.0:
        _impulses(w)
    return 0


@kernel
def _impulses(w):
    """V_NEXT and Q_NEXT after friction, stops and brakes."""
    dt, nv, V_next, free = (
        floats(w, at.SCALARS)[at.STEP],
        count(w, dyn.NV),
        floats(w, at.V_NEXT),
        floats(w, at.FREE_V),
    )
    drive, none, x, dv = (
        floats(w, at.DRIVE),
        floats(w, at.NOTHING),
        floats(w, dyn.W),
        floats(w, dyn.ACC),
    )
    shift, status, Q_next = floats(w, at.SHIFT), floats(w, at.STATUS), floats(w, at.Q_NEXT)
    copy(Q_next, floats(w, dyn.Q), count(w, dyn.NQ))
    copy(V_next, free, nv)
    kinematics.kinematics(w)
    for r in range(MAX_ROUNDS):
        status[at.PIECES_USED] = r + 1.0
        joints.set_law(w, joints.NO_DAMPING)
        joints.apply_law(w, free, none)
        for i in range(nv):
            x[i] = dt * drive[i]
        factored_solve(w, dv)
        for i in range(nv):
            V_next[i] = free[i] + dv[i]
        if not joints.change_pieces(w, r >= SETTLING):
            break
    for i in range(nv):
        shift[i] = 0.5 * dt * (V_next[i] - free[i])
    advance(w, floats(w, dyn.Q), shift, Q_next)
    joints.push_back(w, Q_next)


_KERNELS = {"semi_implicit": semi_implicit, "explicit": explicit, "rkmk4": rkmk4}
INTEGRATORS = tuple(_KERNELS)


def address_of_integrator(name: str) -> int:
    """Where the compiled step of an integrator is."""
    return address_of(_KERNELS[name])
