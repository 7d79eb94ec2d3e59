# SPDX-License-Identifier: Apache-2.0
"""The state as it was before a step: kept, and put back if the step cannot be made.

It is every field of role `state` of the engine, bit for bit, as one vector of words; `build` lends `state_now` the
memory of those fields and `state_kept` as much of its own. tree.q and tree.v are put back from q_start and v_start.
"""

from ...compiled.jit import kernel
from ...dynamics.state import copy


@kernel
def keep_state(engine):
    """Write state_kept and then, from tree.q and tree.v, q_start and v_start."""
    tree = engine.tree
    copy(engine.state_now, engine.state_kept, engine.state_words)
    copy(tree.q, engine.q_start, engine.nq)
    copy(tree.v, engine.v_start, engine.nv)


@kernel
def put_back(engine):
    """Undo everything since `keep_state`: tree.q, tree.v and all fields of role `state`."""
    take(engine, engine.q_start, engine.v_start)
    copy(engine.state_kept, engine.state_now, engine.state_words)


@kernel
def take(engine, q, v):
    """Make q and v the state: write tree.q and tree.v."""
    copy(q, engine.tree.q, engine.nq)
    copy(v, engine.tree.v, engine.nv)
