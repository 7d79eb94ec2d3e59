# SPDX-License-Identifier: Apache-2.0
"""What is called from outside, by Python (`entries`) and by C (`export`): a step, efforts that hold, another state."""

from ...compiled.jit import choice, kernel, run
from ...dynamics.state import (
    LARGE,
    OK,
    REFUSED,
    are_usable,
    copy,
    has_rotations,
    take_configuration,
)
from . import joints, pushes
from .fields import Engine
from .kept import keep_state, put_back, take

__all__ = ["LEFT_RANGE", "STAGES", "find_hold", "make_step"]

LEFT_RANGE = 2


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


@kernel
def make_step(engine, tau):
    """Move the state on by one step with usable efforts (k,); one that leaves the range changes nothing."""
    keep_state(engine)
    joints.take_efforts(engine, tau)
    if not _attempt(engine):
        put_back(engine)
        return LEFT_RANGE
    take(engine, engine.q_next, engine.v_next)
    pushes.count_down(engine)
    return OK


@kernel
def find_hold(engine, out):
    """Write efforts (k,) with which brakes would bring the coordinates to `brake_velocity` in the coming step.

    They are cut off at the effort limits. The state stays as it is.
    """
    brake, v = engine.brake_velocity, engine.v_next
    limit, coordinate = engine.effort_limit, engine.joint_coordinate
    keep_state(engine)
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


@choice(Engine)
def step(engine):
    """A step with `given_effort`."""
    engine.status = REFUSED
    if are_usable(engine.given_effort, engine.joints):
        engine.status = make_step(engine, engine.given_effort)


@choice(Engine)
def hold(engine):
    """Write the efforts that hold into `given_effort`, see `find_hold`."""
    engine.status = find_hold(engine, engine.given_effort)


@choice(Engine)
def place(engine):
    """Make q_next and v_next the state, if they are one."""
    tree, q, v = engine.tree, engine.q_next, engine.v_next
    engine.status = REFUSED
    if are_usable(q, engine.nq) and are_usable(v, engine.nv) and has_rotations(tree, q):
        take_configuration(tree, q)
        copy(v, tree.v, engine.nv)
        engine.status = OK


STAGES = {"step": step, "hold": hold, "place": place}
