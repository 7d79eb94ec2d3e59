"""Wrenches from outside: each acts on a frame for a number of steps, in world axes at the frame's moving origin."""

from __future__ import annotations

from ...dynamics import layout as dyn
from ...dynamics.frames import frame_point
from ...dynamics.layout import clear, count, floats, ints
from ...dynamics.spatial import add, cross
from ...jit import kernel
from ...lanes import ints_at
from . import layout as at

FRAME, LEFT, WRENCH = 0, 1, 2  # columns of PUSH


@kernel
def apply_pushes(w):
    """EXTERNAL of the wrenches that act now, at the poses at hand."""
    push, external, header = floats(w, at.PUSH), floats(w, dyn.EXTERNAL), ints_at(w, 2)
    if header[dyn.HAS_EXTERNAL, 0] == 1:
        clear(external, 6, count(w, dyn.NODES) + 1)
        header[dyn.HAS_EXTERNAL, 0] = 0
    for p in range(count(w, at.PUSHES)):
        if push[p, LEFT] > 0.0:
            header[dyn.HAS_EXTERNAL, 0] = 1
            f = int(push[p, FRAME])
            node, force = (
                ints(w, dyn.FRAME_NODE)[f],
                (push[p, WRENCH], push[p, WRENCH + 1], push[p, WRENCH + 2]),
            )
            torque = (push[p, WRENCH + 3], push[p, WRENCH + 4], push[p, WRENCH + 5])
            torque = add(torque, cross(frame_point(w, f), force))
            for k in range(3):
                external[k, node] += torque[k]
                external[3 + k, node] += force[k]


@kernel
def count_down(w):
    """One step less for every wrench; what has acted is kept for the sensors."""
    push, last = floats(w, at.PUSH), floats(w, at.LAST_PUSH)
    for p in range(count(w, at.PUSHES)):
        if push[p, LEFT] > 0.0 or last[p, LEFT] > 0.0:
            for k in range(8):
                last[p, k] = push[p, k]
            push[p, LEFT] = max(push[p, LEFT] - 1.0, 0.0)
