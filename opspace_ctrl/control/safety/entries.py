# SPDX-License-Identifier: Apache-2.0
"""What `StateGate` and `GuardedController` call. Nothing here allocates or raises; bits, numbers and nanoseconds."""

from ...compiled.jit import address, entry, flag, integer
from ...compiled.workspace import workspace_at
from . import base, calls, gates
from .fields import Gates

gates_at = workspace_at(Gates)


@entry(integer, flag, integer, integer, integer, address)
def take_joints(count, has_velocity, stamp, arrival, time, address):
    """See `joints.take_joints`."""
    own = gates_at(address)
    calls.take_joints(own, count, 1 if has_velocity else 0, stamp, arrival, time)
    return own.verdict


@entry(integer, integer, integer, integer, address)
def take_base(faults, stamp, arrival, time, address):
    """See `base.take_base`."""
    own = gates_at(address)
    calls.take_base(own, faults, stamp, arrival, time)
    return own.verdict


@entry(integer, address)
def give_up_base(time, address):
    """See `base.give_up_base`."""
    return base.give_up_base(gates_at(address), time)


@entry(integer, integer, address)
def refuse(faults, arrival, address):
    """See `calls.refuse`."""
    own = gates_at(address)
    calls.refuse(own, faults, arrival)
    return own.verdict


@entry(address)
def begin(address):
    """See `gates.begin`."""
    gates.begin(gates_at(address))
    return 0


@entry(integer, integer, address)
def activate(time, steady, address):
    """See `decisions.activate`."""
    own = gates_at(address)
    calls.activate(own, time, steady)
    return own.decision


@entry(address)
def deactivate(address):
    """See `decisions.deactivate`."""
    own = gates_at(address)
    calls.deactivate(own)
    return own.decision


@entry(integer, integer, integer, address)
def answer(verdict, time, steady, address):
    """See `decisions.answer`."""
    own = gates_at(address)
    calls.answer(own, verdict, time, steady)
    return own.decision


@entry(integer, integer, integer, address)
def refrain(faults, time, steady, address):
    """See `decisions.refrain`."""
    own = gates_at(address)
    calls.refrain(own, faults, time, steady)
    return own.decision


@entry(integer, integer, address)
def check(time, steady, address):
    """See `gates.check`."""
    return gates.check(gates_at(address), time, steady)


@entry(integer, address)
def computed(elapsed, address):
    """See `gates.computed`."""
    calls.note_tick(gates_at(address), elapsed)
    return 0


@entry(integer, address)
def permitted(steady, address):
    """See `gates.permitted`."""
    return gates.permitted(gates_at(address), steady)


@entry(address)
def last_permitted(address):
    """See `gates.last_permitted`."""
    return gates.last_permitted(gates_at(address))


@entry(address)
def open_all(address):
    """See `gates.open_all`."""
    calls.open_again(gates_at(address))
    return 0


ENTRIES = (
    take_joints,
    take_base,
    give_up_base,
    refuse,
    begin,
    activate,
    deactivate,
    answer,
    refrain,
    check,
    computed,
    permitted,
    last_permitted,
    open_all,
)
