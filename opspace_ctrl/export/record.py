# SPDX-License-Identifier: Apache-2.0
"""Reference ticks: what a robot answers on a fixed motion, kept in its image and replayed where it shall run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..control.controller import Controller
from ..model import Model
from .image import Image

__all__ = ["TICKS", "Recorder", "reference_motion", "with_reference_ticks"]

# From an image and its inputs, time q v of every tick or tau of every step, to its outputs: tau, or q v, of each.
Recorder: TypeAlias = Callable[[bytes, NDArray[np.float64]], NDArray[np.float64]]

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
    image: Image, controller: Controller, record: Recorder | None, target: str
) -> Image:
    """The image with reference ticks, recorded through a library of a target, or else by Python."""
    motion = reference_motion(controller.model)
    torques = record(image.packed(), motion) if record else _by_python(controller, motion)
    return image.with_ticks(np.hstack([motion, torques]), target)


def _by_python(controller: Controller, motion: NDArray[np.float64]) -> NDArray[np.float64]:
    times, q, v = np.split(motion, [1, 1 + controller.model.nq], axis=1)
    controller.activate(q[0], v[0], times[0, 0])
    return np.array([controller.tick(*state).copy() for state in zip(q, v, times[:, 0])])
