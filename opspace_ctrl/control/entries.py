# SPDX-License-Identifier: Apache-2.0
"""What `Core` calls: the stages that C calls too, on a state in NumPy vectors. Nothing here allocates or raises."""

from __future__ import annotations

from ..compiled.jit import address, entry, integer, kernel, real, vector, writable
from ..compiled.workspace import workspace_at
from ..dynamics.state import OK, REFUSED, copy
from .fields import Law
from .law import calls, derived, holding
from .law.holding import present_motion
from .targets.references import COLUMNS, MOTION, References

WRENCH, MEASURED, FORCE, TAU0 = range(4)  # what is streamed
law_at, references_at = workspace_at(Law), workspace_at(References)


@kernel
def give(law, q, v):
    """Write the state that is given; false, and nothing is written, if a size is wrong."""
    if not (len(q) == law.nq and len(v) == law.nv):
        return False
    copy(q, law.given_q, law.nq)
    copy(v, law.given_v, law.nv)
    return True


@entry(vector, vector, real, real, address)
def tick(q, v, time, steady, address):
    """See `calls.tick`."""
    law = law_at(address)
    if not give(law, q, v):
        return REFUSED
    calls.tick(law, time, steady)
    return law.status


@entry(vector, vector, integer, real, real, address)
def safe(q, v, kind, time, steady, address):
    """See `calls.safe`."""
    law = law_at(address)
    if not give(law, q, v):
        return REFUSED
    calls.safe(law, kind, time, steady)
    return law.status


@entry(vector, vector, address)
def measure_tasks(q, v, address):
    """See `calls.measure`."""
    law = law_at(address)
    if not give(law, q, v):
        return REFUSED
    calls.measure(law)
    return law.status


@entry(vector, vector, real, address)
def restart(q, v, time, address):
    """See `calls.restart`."""
    law = law_at(address)
    if not give(law, q, v):
        return REFUSED
    calls.restart(law, time)
    return law.status


@entry(integer, writable, address)
def motion_of(task, motion, address):
    """Write the motion (MOTION,) of a task at the state that was measured last."""
    law = law_at(address)
    present_motion(law, task, law.references.now)
    copy(law.references.now, motion, MOTION)
    return OK


@entry(integer, integer, vector, real, address)
def put_stream(kind, task, value, end, address):
    """Let WRENCH or MEASURED of a task, or FORCE or TAU0, have a value until `end` [s]."""
    law = law_at(address)
    if kind == WRENCH:
        law.wrench_end[task] = end
        for c in range(6):
            law.wrench[task, c] = value[c]
    elif kind == MEASURED:
        law.measured_end[task] = end
        law.measured_on[task] = 1.0
        for c in range(6):
            law.measured[task, c] = value[c]
    elif kind == FORCE:
        law.force_end = end
        copy(value, law.raw_force, law.task_rows)
    else:
        law.tau0_end = end
        copy(value, law.raw_tau0, law.k)
    return OK


@entry(address)
def clear_streams(address):
    """See `holding.clear_streams`."""
    holding.clear_streams(law_at(address))
    return OK


@entry(address)
def derive(address):
    """See `derived.derive`."""
    derived.derive(law_at(address))
    return OK


@entry(integer, vector, address)
def load_program(task, table, address):
    """Give a task a program, row after row; the next tick samples it. REFUSED: it has too many rows."""
    own = references_at(address)
    rows, first = len(table) // COLUMNS, task * own.capacity
    if rows > own.capacity:
        return REFUSED
    for r in range(rows):
        for c in range(COLUMNS):
            own.table[first + r, c] = table[r * COLUMNS + c]
    own.rows[task] = rows
    own.present[task] = 0
    return OK


@entry(vector, address)
def load_posture(table, address):
    """Likewise the posture, of at most two rows."""
    own = references_at(address)
    columns = 2 + 6 * own.k
    rows = len(table) // columns
    for r in range(rows):
        for c in range(columns):
            own.posture_table[r, c] = table[r * columns + c]
    own.posture_rows = rows
    own.posture_present = 0
    return OK


ENTRIES = (
    tick,
    safe,
    measure_tasks,
    restart,
    motion_of,
    put_stream,
    clear_streams,
    derive,
    load_program,
    load_posture,
)
