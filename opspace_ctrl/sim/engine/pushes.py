"""Wrenches from outside: each acts on a frame for a number of steps, in world axes at the frame's moving origin."""

from __future__ import annotations

from ...compiled.jit import kernel
from ...dynamics.frames import frame_point
from ...dynamics.rows import clear
from ...dynamics.spatial import add, cross

FRAME, LEFT, WRENCH = 0, 1, 2  # columns of PUSH


@kernel
def apply_pushes(engine):
    """EXTERNAL of the wrenches that act now, at the poses at hand."""
    external, header = engine.tree.external, ints_at(engine, 2)
    if header["has_external", 0] == 1:
        clear(external, 6, engine.tree.n + 1)
        header["has_external", 0] = 0
    for p in range(engine.pushes):
        if engine.push_steps[p] > 0.0:
            header["has_external", 0] = 1
            f = int(engine.push_frame[p])
            node, force = (
                engine.tree.frame_node[f],
                (engine.push_wrench[p, 0], engine.push_wrench[p, 1], engine.push_wrench[p, 2]),
            )
            torque = (engine.push_wrench[p, 3], engine.push_wrench[p, 4], engine.push_wrench[p, 5])
            torque = add(torque, cross(frame_point(engine.tree, f), force))
            for k in range(3):
                external[k, node] += torque[k]
                external[3 + k, node] += force[k]


@kernel
def count_down(engine):
    """One step less for every wrench; what has acted is kept for the sensors."""
    for p in range(engine.pushes):
        if engine.push_steps[p] > 0.0 or engine.last_push_steps[p] > 0.0:
            for k in range(8):
                last[p, k] = push[p, k]
            engine.push_steps[p] = max(engine.push_steps[p] - 1.0, 0.0)
