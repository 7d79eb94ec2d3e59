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

from ...compiled.jit import address_of, kernel
from ...dynamics import kinematics
from ...dynamics.state import copy
from . import joints
from .forward import factored_solve
from .manifold import advance, tangent
from .pushes import apply_pushes

__all__ = ["INTEGRATORS", "address_of_integrator"]

MAX_ROUNDS, SETTLING = 12, 8  # rounds of `change_pieces`; from SETTLING on, joints are only caught


@kernel
def _euler(engine, damping):
    dt = engine.dt
    nv = engine.tree.nv
    V = engine.tree.v
    V_next = engine.v_next
    acc, shift, tau = engine.tree.qdd, engine.shift, engine.tau
    kinematics.kinematics(engine.tree)
    apply_pushes(engine)
    is_constrained = engine.rows > 0
    if is_constrained:
        call(engine.place_constraints, engine)
    for r in range(MAX_ROUNDS):
        engine.joint_rounds = r + 1.0
        joints.set_law(engine, damping)
        joints.apply_law(engine, V, tau)
        call(engine.forward, engine)
        for i in range(nv):
            V_next[i] = V[i] + dt * acc[i]
        if is_constrained:
            call(engine.constrain, engine)
        if not joints.change_pieces(engine, r >= SETTLING):
            break
    for i in range(nv):
        shift[i] = dt * V_next[i]
    if is_constrained:
        call(engine.correct_positions, engine)
    advance(engine, engine.tree.q, shift, engine.q_next)
    joints.push_back(engine, engine.q_next)


@kernel
def semi_implicit(engine):
    """Semi-implicit Euler with implicit damping."""
    _euler(engine, joints.IMPLICIT)
    return 0


@kernel
def explicit(engine):
    """Semi-implicit Euler with explicit damping."""
    _euler(engine, joints.EXPLICIT)
    return 0


@kernel
def _stage(engine, s, weight):
    """Velocity and acceleration of stage s, at q0 (+) weight step (stage before), into STAGE_V and STAGE_A."""
    dt, nv, u = engine.dt, engine.tree.nv, engine.shift
    rate, acc, damping = engine.stage_rate, engine.stage_acceleration, engine.damping
    V = engine.tree.v
    V0 = engine.v_start
    drive = engine.tree.tau
    tau = engine.tau
    before = max(s - 1, 0)
    for i in range(nv):
        u[i] = weight * dt * rate[before, i]
        V[i] = V0[i] + weight * dt * acc[before, i]
        drive[i] = tau[i] - damping[i] * V[i]
    advance(engine, engine.q_start, u, engine.tree.q)
    kinematics.kinematics(engine.tree)
    apply_pushes(engine)
    call(engine.forward, engine)
    tangent(engine, u, V, rate, s)
    found = engine.tree.qdd
    for i in range(nv):
        acc[s, i] = found[i]


@kernel
def rkmk4(engine):
    """Runge-Kutta-Munthe-Kaas of order four."""
    dt, nv, u = engine.dt, engine.tree.nv, engine.shift
    rate = engine.stage_rate
    acc = engine.stage_acceleration
    V0 = engine.v_start
    V_next = engine.v_next
    if engine.rows > 0:
        kinematics.kinematics(engine.tree)
        if call(engine.check_free, engine) == 0:
            return call(engine.semi_implicit, engine)
    copy(engine.rotor, engine.tree.armature, nv)
    for s in range(4):
        _stage(engine, s, 0.0 if s == 0 else 1.0 if s == 3 else 0.5)
    for i in range(nv):
        u[i] = dt / 6.0 * (rate[0, i] + 2.0 * rate[1, i] + 2.0 * rate[2, i] + rate[3, i])
        V_next[i] = V0[i] + dt / 6.0 * (acc[0, i] + 2.0 * acc[1, i] + 2.0 * acc[2, i] + acc[3, i])
    advance(engine, engine.q_start, u, engine.q_next)
    if engine.has_losses == 1 or engine.is_braked == 1.0:
        _impulses(engine)
    return 0


@kernel
def _impulses(engine):
    """V_NEXT and Q_NEXT after friction, stops and brakes."""
    dt = engine.dt
    nv = engine.tree.nv
    V_next = engine.v_next
    free = engine.v_free
    drive = engine.tree.tau
    none = engine.no_force
    x = engine.tree.x
    dv = engine.velocity_change
    shift, Q_next = engine.shift, engine.q_next
    copy(Q_next, engine.tree.q, engine.tree.nq)
    copy(V_next, free, nv)
    kinematics.kinematics(engine.tree)
    for r in range(MAX_ROUNDS):
        engine.joint_rounds = r + 1.0
        joints.set_law(engine, joints.NO_DAMPING)
        joints.apply_law(engine, free, none)
        for i in range(nv):
            x[i] = dt * drive[i]
        factored_solve(engine, dv)
        for i in range(nv):
            V_next[i] = free[i] + dv[i]
        if not joints.change_pieces(engine, r >= SETTLING):
            break
    for i in range(nv):
        shift[i] = 0.5 * dt * (V_next[i] - free[i])
    advance(engine, engine.tree.q, shift, Q_next)
    joints.push_back(engine, Q_next)


_KERNELS = {"semi_implicit": semi_implicit, "explicit": explicit, "rkmk4": rkmk4}
INTEGRATORS = tuple(_KERNELS)


def address_of_integrator(name: str) -> int:
    """Where the compiled step of an integrator is."""
    return address_of(_KERNELS[name])
