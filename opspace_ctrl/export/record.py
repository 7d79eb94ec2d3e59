"""Reference ticks: what a robot answers on a fixed motion, kept in its image and replayed where it shall run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..control.controller import Controller
from ..model import Model
from .image import Image
from .native import Library, Robot

__all__ = ["TICKS", "reference_motion", "with_reference_ticks"]

TICKS = 200
STEP = 0.001  # [s] between two of them
SWING = 0.1  # [rad or m] of every coordinate
PULSE = 5.0  # [rad/s] of the motion


def reference_motion(model: Model, count: int = TICKS) -> NDArray[np.float64]:
    """(count, 1 + nq + nv) time, q and v of a motion about the neutral configuration."""
    rng = np.random.default_rng(1)
    start = model.integrate(model.neutral(), 3.0 * SWING * rng.standard_normal(model.nv), 1.0)
    swing = SWING * rng.standard_normal(model.nv)
    rows = []
    for time in STEP * np.arange(count):
        q = model.integrate(start, swing, np.sin(PULSE * time))
        rows.append(np.concatenate([[time], q, PULSE * np.cos(PULSE * time) * swing]))
    return np.array(rows)


def with_reference_ticks(
    image: Image, controller: Controller, library: Library | None, target: str
) -> Image:
    """The image with reference ticks, recorded through a library of this machine's kind, or else by Python."""
    motion = reference_motion(controller.model)
    nq = controller.model.nq
    q, v = motion[0, 1 : 1 + nq].copy(), motion[0, 1 + nq :].copy()
    robot = Robot(library, image.packed()) if library else None
    if robot:
        robot.library.check(robot.call("activate", q, v, 0.0))
    else:
        controller.activate(q, v, 0.0)
    torques = []
    for row in motion:
        q, v = row[1 : 1 + nq].copy(), row[1 + nq :].copy()
        if robot:
            robot.library.check(robot.tick(q, v, row[0]))
        torques.append((robot.tau if robot else controller.tick(q, v, row[0])).copy())
    return image.with_ticks(np.hstack([motion, torques]), target)
