"""The robot that is really simulated where it differs from the model that the controller knows."""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ..model import Model
from .faults import Fault
from .joint_index import chosen

__all__ = ["altered_model"]


def altered_model(model: Model, faults: Iterable[Fault]) -> Model:
    """The model with the mass and friction errors of these faults; others are ignored.

    mass: m' = f m + a, I' = f I + reduced mass times the squared distance tensor between the body's centre and the
    frame's origin, where the point mass a sits (parallel axes). friction: added to the joints' own.

    Args:
        model: What the controller knows.
        faults: Checked against the model.
    """
    mass, com, inertia = model.mass.copy(), model.com.copy(), model.inertia.copy()
    damping, friction = model.damping.copy(), model.friction.copy()
    total_mass = model.total_mass
    joint_rows = np.flatnonzero(~model.is_base_coordinate)
    for fault in faults:
        if fault.kind == "friction":
            rows = joint_rows[chosen(model, fault.joints)]
            damping[rows] += fault.values["viscous"]
            friction[rows] += fault.values["coulomb"]
        elif fault.kind == "mass":
            frame = model.frame_index(fault.frame)
            body, factor, added = model.frame_body[frame], fault.values["factor"], fault.values["added"]
            before = mass[body]
            scaled = factor * before
            inertia[body] *= factor
            if added:
                d = model.frame_translation[frame] - com[body]
                inertia[body] += scaled * added / (scaled + added) * (d @ d * np.eye(3) - np.outer(d, d))
                com[body] += added / (scaled + added) * d
            mass[body] = scaled + added
            total_mass += mass[body] - before
    return replace(model, mass=mass, com=com, inertia=inertia, damping=damping, friction=friction,
                   total_mass=total_mass)
