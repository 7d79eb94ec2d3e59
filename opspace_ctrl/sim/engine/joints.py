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

from ...dynamics import layout as dyn
from ...dynamics.layout import count, floats, ints
from ...jit import kernel
from . import layout as at

EXPLICIT, IMPLICIT, NO_DAMPING = 0, 1, 2
_SLACK = 1e-6  # relative: a joint at the end of a piece does not change for rounding


@kernel
def take_efforts(w, tau):
    """Joint efforts (k,) into APPLIED and TAU, cut off at the effort limits."""
    out, limit, coordinate = floats(w, at.TAU), floats(w, at.EFFORT), ints(w, at.JOINT_COORDINATE)
    applied = floats(w, at.APPLIED)
    for j in range(count(w, at.JOINTS)):
        applied[j] = min(max(tau[j], -limit[j]), limit[j])
        out[coordinate[j]] = applied[j]


@kernel
def stop_velocity(w, s, side):
    """Velocity with which coordinate s arrives at its lower (1) or upper (-1) limit; beyond it, zero."""
    q, limit = floats(w, dyn.Q)[ints(w, at.SINGLE)[s, 0]], floats(w, at.LIMIT)
    step = floats(w, at.SCALARS)[at.STEP]
    if side > 0.0:
        return min(limit[s, 0] - q, 0.0) / step
    return max(limit[s, 1] - q, 0.0) / step


@kernel
def set_law(w, damping):
    """SLOPE and LEVEL of every coordinate in its present piece; damping at the step's start, its end, or left out."""
    slope, level, slide, V = (
        floats(w, at.SLOPE),
        floats(w, at.LEVEL),
        floats(w, at.SLIDE),
        floats(w, dyn.V),
    )
    d, friction, creep = (
        floats(w, at.DAMPING),
        floats(w, at.FRICTION),
        floats(w, at.SCALARS)[at.CREEP],
    )
    for i in range(count(w, dyn.NV)):
        slope[i] = d[i] if damping == IMPLICIT else 0.0
        level[i] = -d[i] * V[i] if damping == EXPLICIT else 0.0
        if friction[i] > 0.0:
            if slide[i] == 0.0:
                slope[i] += friction[i] / creep
            else:
                level[i] -= friction[i] * slide[i]
    single, stop, stiff = ints(w, at.SINGLE), floats(w, at.STOP), floats(w, at.STIFF)
    for s in range(count(w, at.SINGLES)):
        if stop[s] != 0.0:
            i = single[s, 1]
            slope[i] += stiff[i]
            level[i] += stiff[i] * stop_velocity(w, s, stop[s])
    if floats(w, at.BRAKED)[0] == 1.0:
        brake, coordinate = floats(w, at.BRAKE), ints(w, at.JOINT_COORDINATE)
        for j in range(count(w, at.JOINTS)):
            i = coordinate[j]
            slope[i] += stiff[i]
            level[i] += stiff[i] * brake[i]


@kernel
def apply_law(w, v, force):
    """DRIVE = force + LEVEL - SLOPE v for the velocity v at the start of the step, and ARMATURE with step SLOPE."""
    slope, level, drive = floats(w, at.SLOPE), floats(w, at.LEVEL), floats(w, at.DRIVE)
    rotor, armature, step = (
        floats(w, at.ROTOR),
        floats(w, dyn.ARMATURE),
        floats(w, at.SCALARS)[at.STEP],
    )
    for i in range(count(w, dyn.NV)):
        drive[i] = force[i] + level[i] - slope[i] * v[i]
        armature[i] = rotor[i] + step * slope[i]


@kernel
def change_pieces(w, settling):
    """Put every joint into the piece in which V_NEXT lies; True if some joint was in another one.

    When settling, joints may only be caught, not let go: that ends after finitely many rounds and takes energy at most.
    """
    if count(w, at.HAS_LOSSES) == 0:
        return False
    return _slides(w, settling) | _stops(w, settling)


@kernel
def _slides(w, settling):
    slide, v, friction = floats(w, at.SLIDE), floats(w, at.V_NEXT), floats(w, at.FRICTION)
    creep, changed = floats(w, at.SCALARS)[at.CREEP], False
    for i in range(count(w, dyn.NV)):
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
def _stops(w, settling):
    stop, v, single = floats(w, at.STOP), floats(w, at.V_NEXT), ints(w, at.SINGLE)
    changed = False
    for s in range(count(w, at.SINGLES)):
        speed, side = v[single[s, 1]], stop[s]
        if side == 0.0:
            if speed < stop_velocity(w, s, 1.0):
                stop[s], changed = 1.0, True
            elif speed > stop_velocity(w, s, -1.0):
                stop[s], changed = -1.0, True
        elif (
            side * (speed - stop_velocity(w, s, side)) > 0.0 and not settling
        ):  # it would have to pull
            stop[s], changed = 0.0, True
    return changed


@kernel
def push_back(w, q):
    """Bring coordinates that are beyond a limit back by a fifth of the way: positions alone, no velocity."""
    single, limit, share = (
        ints(w, at.SINGLE),
        floats(w, at.LIMIT),
        floats(w, at.SCALARS)[at.CORRECTION],
    )
    for s in range(count(w, at.SINGLES)):
        k = single[s, 0]
        q[k] += share * (max(limit[s, 0] - q[k], 0.0) + min(limit[s, 1] - q[k], 0.0))
