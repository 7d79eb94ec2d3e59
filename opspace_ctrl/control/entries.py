"""What `Core` calls: the control tick among them. Nothing here allocates or raises."""

from __future__ import annotations

from ..compiled.jit import address, entry, integer, real, vector
from ..compiled.workspace import workspace_at
from ..dynamics.state import OK, REFUSED, copy, is_configuration, is_usable, take_configuration
from .fields import Law
from .law.tick import FAR, run_safe, run_tick, take_state

law_at = workspace_at(Law)


@entry(vector, vector, real, real, address)
def tick(q, v, time, steady, address):
    """One control tick. REFUSED, with nothing changed, if an input is unusable; steady: see `door.time_to_move`."""
    law = law_at(address)
    if not (is_configuration(law.space.tree, q) and is_usable(v, law.nv) and abs(time) < FAR):
        return REFUSED
    run_tick(law, q, v, time, steady)
    return OK


@entry(integer, vector, vector, real, real, address)
def safe(kind, q, v, time, steady, address):
    """One safe command: NO_TORQUE, GRAVITY or BRAKING. REFUSED as `tick`, but time may be NaN: no state is answered."""
    law = law_at(address)
    if not (is_configuration(law.space.tree, q) and is_usable(v, law.nv) and not abs(time) >= FAR):
        return REFUSED
    run_safe(law, kind, q, v, time, steady)
    return OK


@entry(vector, vector, address)
def measure_tasks(q, v, address):
    """`pose` and `velocity` of the tasks at (q, v); no torques. REFUSED as `tick`."""
    law = law_at(address)
    tree = law.space.tree
    if not (is_configuration(tree, q) and is_usable(v, law.nv)):
        return REFUSED
    take_configuration(tree, q)
    copy(v, tree.v, law.nv)
    take_state(law)
    return OK
