# SPDX-License-Identifier: Apache-2.0
"""The encoders, which measure the true joint state with bias, noise, quantisation and freezing, in this order."""

from collections.abc import Callable, Iterable

import numpy as np

from ...model import Model
from ..joint_index import chosen
from .timetable import Activity

__all__ = ["Sensing"]

QUANTITIES = ("position", "velocity", "effort")
# What is measured of values, by the kind of the fault, its number, and random numbers.
_DISTORT: dict[str, Callable[[np.ndarray, float, np.random.Generator], np.ndarray]] = {
    "bias": lambda values, number, rng: values + number,
    "noise": lambda values, number, rng: values + number * rng.standard_normal(len(values)),
    "quantisation": lambda values, number, rng: number * np.round(values / number),
}


class Sensing:
    """The encoders of a robot's joints and the faults that act on them."""

    def __init__(self, model: Model):
        self._model = model
        self._faults: list[tuple[Activity, np.ndarray]] = []
        self._frozen: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def set_faults(self, active: Iterable[Activity]) -> None:
        """Take the faults that act from now on, in the order bias, noise, quantisation, freeze."""
        order = ("bias", "noise", "quantisation", "freeze")
        ordered = sorted(active, key=lambda activity: order.index(activity.fault.kind))
        self._faults = [
            (activity, chosen(self._model, activity.fault.joints)) for activity in ordered
        ]
        kept = {id(activity) for activity in ordered}
        self._frozen = {key: value for key, value in self._frozen.items() if key in kept}

    def measure(self, position: np.ndarray, velocity: np.ndarray, effort: np.ndarray) -> None:
        """Change the true values (k,) in place to what is measured."""
        for activity, joints in self._faults:
            activity.count("measurements")
            if activity.fault.kind == "freeze":
                self._freeze(activity, joints, position, velocity)
                continue
            for name, values in zip(QUANTITIES, (position, velocity, effort)):
                if number := activity.fault.values[name]:
                    distort = _DISTORT[activity.fault.kind]
                    values[joints] = distort(values[joints], number, activity.rng["state"])

    def _freeze(
        self, activity: Activity, joints: np.ndarray, position: np.ndarray, velocity: np.ndarray
    ) -> None:
        kept = self._frozen.setdefault(id(activity), (position[joints], velocity[joints]))
        position[joints], velocity[joints] = kept
