# SPDX-License-Identifier: Apache-2.0
"""The compiled calls behind `NativeSimulator`. Nothing here allocates or raises."""

from ...compiled.jit import address, entry, vector, writable
from ...compiled.lanes import numbers
from ...compiled.workspace import workspace_at
from ...dynamics.state import REFUSED, copy, is_usable
from .fields import Engine
from .moves import find_hold, make_step

engine_at = workspace_at(Engine)


@entry(vector, address)
def step(tau, address):
    """Move the state on by one step with efforts (k,); a step that is refused or leaves the range changes nothing."""
    engine = engine_at(address)
    if not is_usable(tau, engine.joints):
        return REFUSED
    return make_step(engine, numbers(tau))


@entry(vector, writable, address)
def hold(velocity, out, address):
    """Write efforts (k,) that bring the coordinates to a velocity (nv,) in the coming step, see `find_hold`."""
    engine = engine_at(address)
    copy(velocity, engine.brake_velocity, engine.nv)
    return find_hold(engine, out)
