"""The compiled calls behind `NativeSimulator`. Nothing here allocates or raises."""

from ...compiled.jit import address, entry, kernel, run, vector, writable
from ...compiled.lanes import numbers
from ...compiled.workspace import workspace_at
from ...dynamics.state import LARGE, OK, REFUSED, copy, is_usable
from . import joints, pushes
from .fields import Engine
from .kept import keep_state, put_back, take

LEFT_RANGE = 2

engine_at = workspace_at(Engine)


@kernel
def _is_bounded(x, size):
    """Are the numbers finite and not absurdly large?"""
    spoiled = 0.0
    for i in range(size):
        spoiled += 0.0 * (LARGE * x[i])
    return spoiled == 0.0


@kernel
def _attempt(engine):
    """Write q_next and v_next from the state, tau and the pushes; True if they are finite and not absurdly large.

    Needs `keep_state`.
    """
    run(engine.integrator, engine)
    return _is_bounded(engine.v_next, engine.nv) and _is_bounded(engine.q_next, engine.nq)


@entry(vector, address)
def step(tau, address):
    """Move the state on by one step with efforts (k,); a step that is refused or leaves the range changes nothing."""
    engine = engine_at(address)
    if not is_usable(tau, engine.joints):
        return REFUSED
    keep_state(engine)
    joints.take_efforts(engine, numbers(tau))
    if not _attempt(engine):
        put_back(engine)
        return LEFT_RANGE
    take(engine, engine.q_next, engine.v_next)
    pushes.count_down(engine)
    return OK


@entry(vector, writable, address)
def hold(velocity, out, address):
    """Write efforts (k,) with which brakes would bring the coordinates to a velocity (nv,) in the coming step.

    They are cut off at the effort limits. The state stays as it is.
    """
    engine = engine_at(address)
    brake, v = engine.brake_velocity, engine.v_next
    limit, coordinate = engine.effort_limit, engine.joint_coordinate
    keep_state(engine)
    copy(velocity, brake, engine.nv)
    for j in range(engine.joints):
        engine.tau[coordinate[j]] = 0.0
    engine.is_braked = 1
    is_possible = _attempt(engine)
    engine.is_braked = 0
    put_back(engine)
    if not is_possible:
        return LEFT_RANGE
    for j in range(engine.joints):
        i = coordinate[j]
        out[j] = min(max(engine.stop_slope[i] * (brake[i] - v[i]), -limit[j]), limit[j])
    return OK
