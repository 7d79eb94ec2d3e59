"""The compiled calls behind `NativeSimulator`. Nothing here allocates or raises."""

from __future__ import annotations

from numba.types import int64

from ...compiled.jit import entry, kernel
from ...dynamics.state import LARGE, OK, REFUSED, copy, is_usable
from . import joints, pushes

LEFT_RANGE = 2


@kernel
def _is_bounded(x, size):
    """Are the numbers finite and not absurdly large?"""
    spoiled = 0.0
    for i in range(size):
        spoiled += 0.0 * (LARGE * x[i])
    return spoiled == 0.0


@kernel
def _run(engine):
    """Q_NEXT and V_NEXT from the state, TAU and PUSH; True if they are numbers."""
    nq, nv = engine.tree.nq, engine.tree.nv
    copy(engine.tree.q, engine.q_start, nq)
    copy(engine.tree.v, engine.v_start, nv)
    call(engine.integrator, engine)
    return _is_bounded(engine.v_next, nv) and _is_bounded(engine.q_next, nq)


@kernel
def _take(engine, q, v):
    copy(floats(engine.tree, q), engine.tree.q, engine.tree.nq)
    copy(floats(engine.tree, v), engine.tree.v, engine.tree.nv)


@entry(int64(vector, int64))
def step(tau, engine):
    """Efforts (k,) in, the state moved on."""
    if not is_usable(engine.tree, tau, engine.joints):
        return REFUSED
    joints.take_efforts(engine, floats_of(tau))
    if not _run(engine):
        _take(engine, "q_start", "v_start")
        return LEFT_RANGE
    _take(engine, "q_next", "v_next")
    pushes.count_down(engine)
    return OK


@entry(int64(vector, int64))
def hold(out, engine):
    """What brakes to the velocities in BRAKE would take in the coming step, into out (k,); q and v stay."""
    brake, stiff, v = engine.brake_velocity, engine.stop_slope, engine.v_next
    tau, applied, limit = floats_of(out), engine.tau, engine.effort_limit
    coordinate, k = engine.joint_coordinate, engine.joints
    for j in range(k):
        applied[coordinate[j]] = 0.0
    engine.is_braked = 1.0
    fine = _run(engine)
    engine.is_braked = 0.0
    _take(engine, "q_start", "v_start")
    if not fine:
        return LEFT_RANGE
    for j in range(k):
        i = coordinate[j]
        tau[j] = min(max(stiff[i] * (brake[i] - v[i]), -limit[j]), limit[j])
    return OK
