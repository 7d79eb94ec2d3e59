"""The compiled calls behind `NativeSimulator`. Nothing here allocates or raises."""

from __future__ import annotations

from numba.types import int64

from ...dynamics import layout as dyn
from ...dynamics.layout import count, floats, ints
from ...dynamics.state import LARGE, OK, REFUSED, copy, is_usable
from ...jit import entry, kernel
from ...lanes import call
from ...vector import floats_of, vector
from . import joints, pushes
from . import layout as at

LEFT_RANGE = 2


@kernel
def _is_bounded(x, size):
    """Are the numbers finite and not absurdly large?"""
    spoiled = 0.0
    for i in range(size):
        spoiled += 0.0 * (LARGE * x[i])
    return spoiled == 0.0


@kernel
def _run(w):
    """Q_NEXT and V_NEXT from the state, TAU and PUSH; True if they are numbers."""
    nq, nv = count(w, dyn.NQ), count(w, dyn.NV)
    copy(floats(w, dyn.Q), floats(w, at.Q_START), nq)
    copy(floats(w, dyn.V), floats(w, at.V_START), nv)
    call(count(w, at.INTEGRATOR), w)
    return _is_bounded(floats(w, at.V_NEXT), nv) and _is_bounded(floats(w, at.Q_NEXT), nq)


@kernel
def _take(w, q, v):
    copy(floats(w, q), floats(w, dyn.Q), count(w, dyn.NQ))
    copy(floats(w, v), floats(w, dyn.V), count(w, dyn.NV))


@entry(int64(vector, int64))
def step(tau, w):
    """Efforts (k,) in, the state moved on."""
    if not is_usable(w, tau, count(w, at.JOINTS)):
        return REFUSED
    joints.take_efforts(w, floats_of(tau))
    if not _run(w):
        _take(w, at.Q_START, at.V_START)
        return LEFT_RANGE
    _take(w, at.Q_NEXT, at.V_NEXT)
    pushes.count_down(w)
    return OK


@entry(int64(vector, int64))
def hold(out, w):
    """What brakes to the velocities in BRAKE would take in the coming step, into out (k,); q and v stay."""
    braked, brake, stiff, v = (
        floats(w, at.BRAKED),
        floats(w, at.BRAKE),
        floats(w, at.STIFF),
        floats(w, at.V_NEXT),
    )
    tau, applied, limit = floats_of(out), floats(w, at.TAU), floats(w, at.EFFORT)
    coordinate, k = ints(w, at.JOINT_COORDINATE), count(w, at.JOINTS)
    for j in range(k):
        applied[coordinate[j]] = 0.0
    braked[0] = 1.0
    fine = _run(w)
    braked[0] = 0.0
    _take(w, at.Q_START, at.V_START)
    if not fine:
        return LEFT_RANGE
    for j in range(k):
        i = coordinate[j]
        tau[j] = min(max(stiff[i] * (brake[i] - v[i]), -limit[j]), limit[j])
    return OK
