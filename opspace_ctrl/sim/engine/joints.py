# SPDX-License-Identifier: Apache-2.0
"""What a joint does by itself: saturation, damping, Coulomb friction with stiction, stops and brakes.

Everything but saturation is a force that falls with the velocity at the END of the step, piece by piece a line:
    f(v') = level - slope v'
so that a joint that sticks, or rests at its stop, is held by the step's own equation and never chatters:
    damping         slope = d
    sliding         level = -+ f_c
    sticking        slope = f_c / creep        (a joint that sticks creeps at less than `creep`, 1e-8 rad/s)
    at a stop       slope = stop_slope, level = stop_slope w, with w = (limit - q) / dt: it arrives there and stays
    at its speed    the same with w = the velocity limit, if that is less: it goes no faster, and nothing holds it back
    braked          the same with the velocity that the brake asks for
The step solves for v' in the pieces of the last step (`slide`, `stop`), and again while some joint turns out to be in
another one. `slope` enters as armature, (H + dt slope) dv = dt (tau + level - slope v - h), so every forward dynamics
carries it.
"""

import math

from ...compiled.jit import kernel

EXPLICIT, IMPLICIT, NO_DAMPING = 0, 1, 2
_SLACK = 1e-6  # relative: a joint at the end of a piece does not change for rounding


@kernel
def take_efforts(engine, tau):
    """Cut joint efforts (k,) off at the effort limits. Writes applied and tau."""
    limit = engine.effort_limit
    for j in range(engine.joints):
        engine.applied[j] = min(max(tau[j], -limit[j]), limit[j])
        engine.tau[engine.joint_coordinate[j]] = engine.applied[j]


@kernel
def _stop_velocity(position, lower, upper, speed, side, dt):
    """Velocity with which a coordinate arrives at its lower (side 1) or upper (-1) limit, at most the velocity limit.

    Beyond the limit it is zero.
    """
    if side > 0.0:
        return max(min(lower - position, 0.0) / dt, -speed)
    return min(max(upper - position, 0.0) / dt, speed)


@kernel
def set_law(engine, damping):
    """Find the line of every coordinate in its present piece; needs slide, stop and tree.q. Writes slope and level.

    damping is IMPLICIT (by the velocity at the end of the step), EXPLICIT (by tree.v) or NO_DAMPING.
    """
    d, friction, v = engine.damping, engine.friction, engine.tree.v
    for i in range(engine.nv):
        engine.slope[i] = d[i] if damping == IMPLICIT else 0.0
        engine.level[i] = -d[i] * v[i] if damping == EXPLICIT else 0.0
        if friction[i] > 0.0:
            if engine.slide[i] == 0.0:
                engine.slope[i] += friction[i] / engine.creep
            else:
                engine.level[i] -= friction[i] * engine.slide[i]
    _add_stops(engine)
    if engine.is_braked == 1:
        _add_brakes(engine)


@kernel
def _add_stops(engine):
    """Add the lines of the stops that hold a coordinate to slope and level."""
    single_q = engine.single_q
    lower, upper, fastest = engine.lower_limit, engine.upper_limit, engine.speed_limit
    q, dt = engine.tree.q, engine.dt
    for s in range(engine.singles):
        if engine.stop[s] != 0.0:
            i = engine.single_v[s]
            w = _stop_velocity(q[single_q[s]], lower[s], upper[s], fastest[s], engine.stop[s], dt)
            engine.slope[i] += engine.stop_slope[i]
            engine.level[i] += engine.stop_slope[i] * w


@kernel
def _add_brakes(engine):
    """Add the lines of the brakes to slope and level; needs brake_velocity."""
    for j in range(engine.joints):
        i = engine.joint_coordinate[j]
        engine.slope[i] += engine.stop_slope[i]
        engine.level[i] += engine.stop_slope[i] * engine.brake_velocity[i]


@kernel
def apply_law(engine, v, force):
    """Hand the law to the forward dynamics, for the velocity v at the start of the step and a force beside it.

    Needs slope and level. Writes tree.tau = force + level - slope v, and tree.armature = rotor + dt slope.
    """
    tau, armature = engine.tree.tau, engine.tree.armature
    for i in range(engine.nv):
        tau[i] = force[i] + engine.level[i] - engine.slope[i] * v[i]
        armature[i] = engine.rotor[i] + engine.dt * engine.slope[i]


@kernel
def change_pieces(engine, settling):
    """Put every joint into the piece in which v_next lies; True if some joint was in another one.

    Writes slide and stop. When settling, joints may only be caught, not let go: that ends after finitely many rounds
    and takes energy at most.
    """
    if engine.has_losses == 0:
        return False
    return _slides(engine, settling) | _stops(engine, settling)


@kernel
def _slides(engine, settling):
    """Write slide for v_next; True if a joint began to slide or to stick."""
    slide, v = engine.slide, engine.v_next
    changed = False
    for i in range(engine.nv):
        if engine.friction[i] > 0.0:
            if slide[i] == 0.0:
                if abs(v[i]) > engine.creep * (1.0 + _SLACK) and not settling:
                    slide[i] = math.copysign(1.0, v[i])
                    changed = True
            elif slide[i] * v[i] < engine.creep * (1.0 - _SLACK):
                slide[i] = 0.0
                changed = True
    return changed


@kernel
def _stops(engine, settling):
    """Write stop for v_next; True if a joint came to a stop, or left one that would have had to pull."""
    stop, v, q = engine.stop, engine.v_next, engine.tree.q
    lower, upper, fastest = engine.lower_limit, engine.upper_limit, engine.speed_limit
    dt = engine.dt
    changed = False
    for s in range(engine.singles):
        position, speed, side = q[engine.single_q[s]], v[engine.single_v[s]], stop[s]
        if side == 0.0:
            if speed < _stop_velocity(position, lower[s], upper[s], fastest[s], 1.0, dt):
                stop[s], changed = 1.0, True
            elif speed > _stop_velocity(position, lower[s], upper[s], fastest[s], -1.0, dt):
                stop[s], changed = -1.0, True
        elif not settling:
            w = _stop_velocity(position, lower[s], upper[s], fastest[s], side, dt)
            if side * (speed - w) > 0.0:
                stop[s], changed = 0.0, True
    return changed


@kernel
def push_back(engine, q):
    """Bring coordinates of q that are beyond a limit back by a share `correction` of the way; no velocity changes."""
    lower, upper = engine.lower_limit, engine.upper_limit
    for s in range(engine.singles):
        k = engine.single_q[s]
        q[k] += engine.correction * (max(lower[s] - q[k], 0.0) + min(upper[s] - q[k], 0.0))
