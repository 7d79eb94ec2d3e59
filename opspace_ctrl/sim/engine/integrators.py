# SPDX-License-Identifier: Apache-2.0
"""One step of the motion, by the integrator that was chosen: the stage in `integrator`.

- semi_implicit: (H + dt D) dv = dt (tau - h - D v),  v' = v + dv,  q' = q (+) dt v'. The scheme of DART and
  Gazebo: damping at the end of the step, first order.
- explicit: the same with all of the damping at the start of the step.
- rkmk4: Runge-Kutta-Munthe-Kaas of order four, q = q0 (+) u, with u and v by the classical tableau ([Munthe-Kaas1998]).
  Friction and stops of joints act as impulses at the end of the step, which displace by half of it, as a constant force
  over the step does. Steps in which something touches the ground, and robots with closures, are of the first order
  anyway: they are those of semi_implicit.
- algorithm7: every link by itself ([Jain1995]), in NumPy: `links` writes q_next and v_next before the step; friction
  and stops act on them as in rkmk4.
All need tree.q and tree.v, the same as q_start and v_start, and tau; they write q_next and v_next.
"""

from ...compiled.jit import choice, kernel, run
from ...dynamics import kinematics
from ...dynamics.state import copy
from . import joints
from .fields import Engine
from .manifold import advance, tangent
from .pushes import apply_pushes

MAX_ROUNDS, SETTLING = 12, 8  # rounds of `change_pieces`; from SETTLING on, joints are only caught


@kernel
def _euler(engine, damping):
    """Make a step of first order, again while some joint was in another piece than assumed.

    damping is joints.IMPLICIT or EXPLICIT. Writes q_next, v_next and joint_rounds.
    """
    tree = engine.tree
    is_constrained = engine.rows > 0
    kinematics.kinematics(tree)
    apply_pushes(engine)
    if is_constrained:
        run(engine.place_constraints, engine)
    for r in range(MAX_ROUNDS):
        engine.joint_rounds = r + 1
        joints.set_law(engine, damping)
        joints.apply_law(engine, tree.v, engine.tau)
        run(engine.forward.compute, tree, engine.forward)
        for i in range(engine.nv):
            engine.v_next[i] = tree.v[i] + engine.dt * tree.qdd[i]
        if is_constrained:
            run(engine.constrain, engine)
        if not joints.change_pieces(engine, r >= SETTLING):
            break
    for i in range(engine.nv):
        engine.shift[i] = engine.dt * engine.v_next[i]
    if is_constrained:
        run(engine.correct_positions, engine)
    advance(engine, tree.q, engine.shift, engine.q_next)
    joints.push_back(engine, engine.q_next)


@choice(Engine)
def semi_implicit(engine):
    """Semi-implicit Euler with implicit damping."""
    _euler(engine, joints.IMPLICIT)


@choice(Engine)
def explicit(engine):
    """Semi-implicit Euler with explicit damping."""
    _euler(engine, joints.EXPLICIT)


@kernel
def _stage(engine, s, weight):
    """Find the motion of stage s, at q_start (+) weight dt (rate of the stage before).

    Needs row s - 1 of stage_rate and stage_acceleration, and tree.armature = rotor. Writes row s.
    """
    tree = engine.tree
    rate, acceleration, u = engine.stage_rate, engine.stage_acceleration, engine.shift
    damping, v = engine.damping, tree.v
    before = max(s - 1, 0)
    for i in range(engine.nv):
        u[i] = weight * engine.dt * rate[before, i]
        v[i] = engine.v_start[i] + weight * engine.dt * acceleration[before, i]
        tree.tau[i] = engine.tau[i] - damping[i] * v[i]
    advance(engine, engine.q_start, u, tree.q)
    kinematics.kinematics(tree)
    apply_pushes(engine)
    run(engine.forward.compute, tree, engine.forward)
    tangent(engine, u, v, rate, s)
    for i in range(engine.nv):
        acceleration[s, i] = tree.qdd[i]


@choice(Engine)
def rkmk4(engine):
    """Runge-Kutta-Munthe-Kaas of order four; semi_implicit if something touches, is about to, or is closed."""
    u, rate, acceleration = engine.shift, engine.stage_rate, engine.stage_acceleration
    if engine.rows > 0:
        kinematics.kinematics(engine.tree)
        run(engine.check_free, engine)
        if engine.is_free == 0:
            run(engine.semi_implicit, engine)
            return
    copy(engine.rotor, engine.tree.armature, engine.nv)
    for s in range(4):
        _stage(engine, s, 0.0 if s == 0 else 1.0 if s == 3 else 0.5)
    for i in range(engine.nv):
        total = rate[0, i] + 2.0 * rate[1, i] + 2.0 * rate[2, i] + rate[3, i]
        u[i] = engine.dt / 6.0 * total
        total = acceleration[0, i] + 2.0 * acceleration[1, i]
        total = total + 2.0 * acceleration[2, i] + acceleration[3, i]
        engine.v_next[i] = engine.v_start[i] + engine.dt / 6.0 * total
    advance(engine, engine.q_start, u, engine.q_next)
    if engine.has_losses == 1 or engine.is_braked == 1:
        _impulses(engine)


@kernel
def _impulses(engine):
    """Let friction, stops and brakes act on v_next and q_next, as impulses; writes tree.q and tree.armature too."""
    tree, nv = engine.tree, engine.nv
    v_next, v_free, q_next = engine.v_next, engine.v_free, engine.q_next
    copy(q_next, tree.q, engine.nq)
    copy(v_next, v_free, nv)
    kinematics.kinematics(tree)
    for r in range(MAX_ROUNDS):
        engine.joint_rounds = r + 1
        joints.set_law(engine, joints.NO_DAMPING)
        joints.apply_law(engine, v_free, engine.no_force)
        for i in range(nv):
            tree.x[i] = engine.dt * tree.tau[i]
        run(engine.inverse.solve, engine, engine.inverse)
        for i in range(nv):
            v_next[i] = v_free[i] + engine.response[i]
        if not joints.change_pieces(engine, r >= SETTLING):
            break
    for i in range(nv):
        engine.shift[i] = 0.5 * engine.dt * (v_next[i] - v_free[i])
    advance(engine, tree.q, engine.shift, q_next)
    joints.push_back(engine, q_next)


@choice(Engine)
def after_links(engine):
    """Let friction, stops and brakes act on the q_next and v_next that are there already."""
    if engine.has_losses == 1 or engine.is_braked == 1:
        _impulses(engine)


STAGES = {"semi_implicit": semi_implicit, "explicit": explicit, "rkmk4": rkmk4}
