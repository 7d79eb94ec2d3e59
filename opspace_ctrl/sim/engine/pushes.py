# SPDX-License-Identifier: Apache-2.0
"""Wrenches from outside: each acts on a frame for a number of steps, in world axes at the frame's moving origin."""

from ...compiled.jit import kernel
from ...compiled.lanes import row
from ...dynamics.frames import add_external
from ...dynamics.rows import clear


@kernel
def apply_pushes(engine):
    """Add up the wrenches that act now, at the poses at hand; needs the kinematics. Writes tree.external."""
    tree = engine.tree
    if tree.has_external == 1:
        clear(tree.external, 6, tree.n + 1)
        tree.has_external = 0
    for p in range(engine.pushes):
        if engine.push_steps[p] > 0.0:
            tree.has_external = 1
            add_external(tree, engine.push_frame[p], row(engine.push_wrench, p))


@kernel
def count_down(engine):
    """Take one step off every wrench; what acted in this step is kept in last_push_frame, _steps and _wrench."""
    steps, last_steps = engine.push_steps, engine.last_push_steps
    for p in range(engine.pushes):
        if steps[p] > 0.0 or last_steps[p] > 0.0:
            engine.last_push_frame[p], last_steps[p] = engine.push_frame[p], steps[p]
            for k in range(6):
                engine.last_push_wrench[p, k] = engine.push_wrench[p, k]
            steps[p] = max(steps[p] - 1.0, 0.0)
