"""What `StateGate` calls. Nothing here allocates or raises; bits, numbers and nanoseconds in and out."""

from ...compiled.jit import address, entry, flag, integer
from ...compiled.workspace import workspace_at
from . import base, gates, joints
from .fields import Gates

gates_at = workspace_at(Gates)


@entry(integer, flag, integer, integer, integer, address)
def take_joints(count, has_velocity, stamp, arrival, time, address):
    """See `joints.take_joints`."""
    return joints.take_joints(gates_at(address), count, has_velocity, stamp, arrival, time)


@entry(integer, integer, integer, integer, address)
def take_base(fault, stamp, arrival, time, address):
    """See `base.take_base`."""
    return base.take_base(gates_at(address), fault, stamp, arrival, time)


@entry(integer, address)
def give_up_base(time, address):
    """See `base.give_up_base`."""
    return base.give_up_base(gates_at(address), time)


@entry(integer, integer, address)
def refuse(faults, arrival, address):
    """A message of joint states that could not be read, or is not about our joints as it should be."""
    own = gates_at(address)
    joints.hear(own, arrival)
    return base.refuse(own, faults)


@entry(integer, integer, address)
def check(time, steady, address):
    """See `gates.check`."""
    return gates.check(gates_at(address), time, steady)


@entry(integer, address)
def computed(elapsed, address):
    """See `gates.computed`."""
    gates.computed(gates_at(address), elapsed)
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
    gates.open_all(gates_at(address))
    return 0


ENTRIES = (
    take_joints,
    take_base,
    give_up_base,
    refuse,
    check,
    computed,
    permitted,
    last_permitted,
    open_all,
)
