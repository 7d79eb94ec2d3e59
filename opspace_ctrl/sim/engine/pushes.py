"""Wrenches from outside: each acts on a frame for a number of steps, in world axes at the frame's moving origin."""

from __future__ import annotations

from ...compiled.jit import kernel
from ...compiled.lanes import row
from ...dynamics.frames import add_external
from ...dynamics.rows import clear


@kernel
def apply_pushes(engine):
    """Add up the wrenches that act now, at the poses at hand; needs the kinematics. Writes tree.external."""
    tree, pushes = engine.tree, engine.pushes
    frame, steps, wrench = engine.push_frame, engine.push_steps, engine.push_wrench
    if tree.has_external == 1:
        clear(tree.external, 6, tree.n + 1)
        tree.has_external = 0
    for p in range(pushes):
        if steps[p] > 0.0:
            tree.has_external = 1
            add_external(tree, frame[p], row(wrench, p))


@kernel
def count_down(engine):
    """Take one step off every wrench; what acted in this step is kept in last_push_frame, _steps and _wrench."""
    frame, steps, wrench = engine.push_frame, engine.push_steps, engine.push_wrench
    last_frame, last_steps = engine.last_push_frame, engine.last_push_steps
    last_wrench, pushes = engine.last_push_wrench, engine.pushes
    for p in range(pushes):
        if steps[p] > 0.0 or last_steps[p] > 0.0:
            last_frame[p], last_steps[p] = frame[p], steps[p]
            for k in range(6):
                last_wrench[p, k] = wrench[p, k]
            steps[p] = max(steps[p] - 1.0, 0.0)
