# SPDX-License-Identifier: Apache-2.0
"""The robot that is really simulated where it differs from the model that the controller knows."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ..model import Model
from .joint_index import chosen
from .plant.faults import Fault
from .plant.timetable import Activity
from .simulator import Simulator

__all__ = ["Variants", "altered_model"]


class Variants:
    """The simulators of one robot with errors of mass, friction and rotors, made ahead because it takes time."""

    def __init__(self, simulator: Simulator):
        self._model, self._settings = simulator.model, simulator.settings
        self._made: dict[tuple[int, ...], Simulator] = {(): simulator}

    def prepare(self, combinations: Iterable[list[Activity]]) -> None:
        """Make the simulators for sets of faults that will act together."""
        for activities in combinations:
            self._of(activities)

    def prepare_forward_methods(self, *names: str) -> None:
        """Compile methods of forward dynamics for all simulators, see `Simulator.prepare`."""
        for simulator in [*self._made.values()]:
            simulator.prepare(*names)

    def take_forward_method(self, name: str) -> None:
        """Make the steps of all simulators with this method from now on."""
        for simulator in self._made.values():
            simulator.forward_method = name
        self._settings = replace(self._settings, forward_method=name)

    def going_on(self, simulator: Simulator, activities: list[Activity]) -> Simulator:
        """The simulator with exactly these faults, in the state of the one that ran so far."""
        wanted = self._of(activities)
        if wanted is not simulator:
            wanted.restore(simulator.save())
        return wanted

    def _of(self, activities: list[Activity]) -> Simulator:
        key = tuple(activity.number for activity in activities)
        if key not in self._made:
            model = altered_model(self._model, [activity.fault for activity in activities])
            self._made[key] = Simulator.from_settings(model, self._settings)
        return self._made[key]


def altered_model(model: Model, faults: Iterable[Fault]) -> Model:
    """The model with the errors of mass, friction and rotors of these faults; others are ignored.

    mass: m' = f m + a, I' = f I + reduced mass times the squared distance tensor between the body's centre and the
    frame's origin, where the point mass a sits (parallel axes). friction, armature: added to the joints' own.

    Args:
        model: What the controller knows.
        faults: Checked against the model.
    """
    mass, com, inertia = model.mass.copy(), model.com.copy(), model.inertia.copy()
    damping, friction, armature = (
        each.copy() for each in (model.damping, model.friction, model.armature)
    )
    total_mass = model.total_mass
    joint_rows = np.flatnonzero(~model.is_base_coordinate)
    for fault in faults:
        if fault.kind == "friction":
            rows = joint_rows[chosen(model, fault.joints)]
            damping[rows] += fault.values["viscous"]
            friction[rows] += fault.values["coulomb"]
        elif fault.kind == "armature":
            armature[joint_rows[chosen(model, fault.joints)]] += fault.values["added"]
        elif fault.kind == "mass":
            frame = model.frame_index(fault.frame)
            body, factor, added = (
                model.frame_body[frame],
                fault.values["factor"],
                fault.values["added"],
            )
            before = mass[body]
            scaled = factor * before
            inertia[body] *= factor
            if added:
                d = model.frame_translation[frame] - com[body]
                inertia[body] += (
                    scaled * added / (scaled + added) * (d @ d * np.eye(3) - np.outer(d, d))
                )
                com[body] += added / (scaled + added) * d
            mass[body] = scaled + added
            total_mass += mass[body] - before
    return replace(
        model,
        mass=mass,
        com=com,
        inertia=inertia,
        damping=damping,
        friction=friction,
        armature=armature,
        total_mass=total_mass,
    )
