"""What a joint does by itself: saturation, damping, Coulomb friction with stiction, stops and brakes.

Everything but saturation is a force that falls with the velocity at the END of the step, piece by piece a line:
    f(v') = LEVEL - SLOPE v'
so that a joint that sticks, or rests at its stop, is held by the step's own equation and never chatters:
    damping         SLOPE = d
    sliding         LEVEL = -+ f_c
    sticking        SLOPE = f_c / CREEP        (a joint that sticks creeps at less than CREEP, 1e-8 rad/s)
    at a stop       SLOPE = STIFF, LEVEL = STIFF w, with w = (limit - q) / step: it arrives there and stays
    braked          the same with the velocity that the brake asks for
The step solves for v' in the pieces of the last step, and again while some joint turns out to be in another one.
SLOPE enters as armature, (H + step SLOPE) dv = step (tau + LEVEL - SLOPE v - h), so every forward dynamics carries it.
"""

from __future__ import annotations

import math

from ...compiled.jit import kernel

EXPLICIT, IMPLICIT, NO_DAMPING = 0, 1, 2
_SLACK = 1e-6  # relative: a joint at the end of a piece does not change for rounding


@kernel
def take_efforts(engine, tau):
    """Joint efforts (k,) into APPLIED and TAU, cut off at the effort limits."""
    out, limit, coordinate = engine.tau, engine.effort_limit, engine.joint_coordinate
    applied = engine.applied
    for j in range(engine.joints):
        applied[j] = min(max(tau[j], -limit[j]), limit[j])
        out[coordinate[j]] = applied[j]


@kernel
def stop_velocity(engine, s, side):
    """Velocity with which coordinate s arrives at its lower (1) or upper (-1) limit; beyond it, zero."""
    q = engine.tree.q[engine.single_q[s]]
    step = engine.dt
    if side > 0.0:
        return min(engine.lower_limit[s] - q, 0.0) / step
    return max(engine.upper_limit[s] - q, 0.0) / step


@kernel
def set_law(engine, damping):
    """SLOPE and LEVEL of every coordinate in its present piece; damping at the step's start, its end, or left out."""
    slope = engine.slope
    level = engine.level
    slide = engine.slide
    V = engine.tree.v
    d, friction, creep = (engine.damping, engine.friction, engine.creep)
    for i in range(engine.tree.nv):
        slope[i] = d[i] if damping == IMPLICIT else 0.0
        level[i] = -d[i] * V[i] if damping == EXPLICIT else 0.0
        if friction[i] > 0.0:
            if slide[i] == 0.0:
                slope[i] += friction[i] / creep
            else:
                level[i] -= friction[i] * slide[i]
    stop, stiff = engine.stop, engine.stop_slope
    for s in range(engine.singles):
        if stop[s] != 0.0:
            i = engine.single_v[s]
            slope[i] += stiff[i]
            level[i] += stiff[i] * stop_velocity(engine, s, stop[s])
    if engine.is_braked == 1.0:
        brake, coordinate = engine.brake_velocity, engine.joint_coordinate
        for j in range(engine.joints):
            i = coordinate[j]
            slope[i] += stiff[i]
            level[i] += stiff[i] * brake[i]


@kernel
def apply_law(engine, v, force):
    """DRIVE = force + LEVEL - SLOPE v for the velocity v at the start of the step, and ARMATURE with step SLOPE."""
    slope, level, drive = engine.slope, engine.level, engine.tree.tau
    rotor, armature, step = (engine.rotor, engine.tree.armature, engine.dt)
    for i in range(engine.tree.nv):
        drive[i] = force[i] + level[i] - slope[i] * v[i]
        armature[i] = rotor[i] + step * slope[i]


@kernel
def change_pieces(engine, settling):
    """Put every joint into the piece in which V_NEXT lies; True if some joint was in another one.

    When settling, joints may only be caught, not let go: that ends after finitely many rounds and takes energy at most.
    """
    if engine.has_losses == 0:
        return False
    return _slides(engine, settling) | _stops(engine, settling)


@kernel
def _slides(engine, settling):
    slide, v, friction = engine.slide, engine.v_next, engine.friction
    creep, changed = engine.creep, False
    for i in range(engine.tree.nv):
        if friction[i] > 0.0:
            if slide[i] == 0.0:
                if abs(v[i]) > creep * (1.0 + _SLACK) and not settling:
                    slide[i] = math.copysign(1.0, v[i])
                    changed = True
            elif slide[i] * v[i] < creep * (1.0 - _SLACK):
                slide[i] = 0.0
                changed = True
    return changed


@kernel
def _stops(engine, settling):
    stop, v = engine.stop, engine.v_next
    changed = False
    for s in range(engine.singles):
        speed, side = v[engine.single_v[s]], stop[s]
        if side == 0.0:
            if speed < stop_velocity(engine, s, 1.0):
                stop[s], changed = 1.0, True
            elif speed > stop_velocity(engine, s, -1.0):
                stop[s], changed = -1.0, True
        elif (
            side * (speed - stop_velocity(engine, s, side)) > 0.0 and not settling
        ):  # it would have to pull
            stop[s], changed = 0.0, True
    return changed


@kernel
def push_back(engine, q):
    """Bring coordinates that are beyond a limit back by a fifth of the way: positions alone, no velocity."""
    share = engine.correction
    for s in range(engine.singles):
        k = engine.single_q[s]
        q[k] += share * (
            max(engine.lower_limit[s] - q[k], 0.0) + min(engine.upper_limit[s] - q[k], 0.0)
        )
