"""What `Core` calls: the control tick among them. Nothing here allocates or raises."""

from __future__ import annotations

from ..compiled.jit import address, entry, flag, real, vector
from ..compiled.workspace import workspace_at
from ..dynamics.state import OK, REFUSED, copy, is_configuration, is_usable, take_configuration
from .fields import Law
from .law.tick import FAR, bias_alone, run_tick, take_state

law_at = workspace_at(Law)


@entry(vector, vector, real, flag, address)
def tick(q, v, time, holding, address):
    """One control tick, or (holding) `tau_held` alone. REFUSED, with nothing changed, if an input is unusable."""
    law = law_at(address)
    if not (is_configuration(law.space.tree, q) and is_usable(v, law.nv) and abs(time) < FAR):
        return REFUSED
    if holding:
        bias_alone(law, q, v)
    else:
        run_tick(law, q, v, time)
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
