# SPDX-License-Identifier: Apache-2.0
"""The places of the joints' coordinates in q, in v and among the k efforts."""

from collections.abc import Sequence

import numpy as np

from ..errors import ConfigurationError, quoted
from ..model import Model
from ..model.joints import NQ, NV

__all__ = [
    "base_index",
    "chosen",
    "coordinate_names",
    "floating_bases",
    "joint_coordinates",
    "joint_positions",
    "position_index",
    "velocity_limits",
]


def _joint_bodies(model: Model) -> list[int]:
    """The bodies whose joints have coordinates of their own and are no floating base, in coordinate order."""
    own = [
        i
        for i in range(len(model.parent))
        if not model.is_mimic[i] and not model.is_base_coordinate[model.v_index[i]]
    ]
    return sorted(own, key=lambda i: model.v_index[i])


def joint_coordinates(model: Model) -> dict[str, slice]:
    """For every joint its place among the k joint coordinates (the order of v without floating bases)."""
    places, at = {}, 0
    for i in _joint_bodies(model):
        places[model.body_joint_names[i]] = slice(at, at + NV[model.joint_type[i]])
        at += NV[model.joint_type[i]]
    return places


def joint_positions(model: Model) -> dict[str, slice]:
    """For every joint its place in q."""
    return {
        model.body_joint_names[i]: slice(
            model.q_index[i], model.q_index[i] + NQ[model.joint_type[i]]
        )
        for i in _joint_bodies(model)
    }


def coordinate_names(model: Model) -> list[str]:
    """A name (k) for every joint coordinate: the joint's, with a number after it if it has several."""
    return [
        name if place.stop == place.start + 1 else f"{name}_{i - place.start}"
        for name, place in joint_coordinates(model).items()
        for i in range(place.start, place.stop)
    ]


def chosen(model: Model, names: Sequence[str]) -> np.ndarray:
    """The indices among the k joint coordinates of the named joints; of all if none is named."""
    places = joint_coordinates(model)
    count = len(model.effort_limits)
    return (
        np.concatenate([np.arange(count)[places[name]] for name in names])
        if names
        else np.arange(count)
    )


def position_index(model: Model, of_all: bool = True) -> np.ndarray:
    """The indices (k,) in q of the joint coordinates; if not `of_all` must have one, -1 where a quaternion turns.

    Raises:
        ConfigurationError: a joint inside the tree with more positions than efforts: a floating one has 7 and 6.
    """
    index: list[int] = []
    for i in _joint_bodies(model):
        positions, efforts = NQ[model.joint_type[i]], NV[model.joint_type[i]]
        if positions != efforts and not of_all:
            index += [-1] * efforts
            continue
        if positions != efforts:
            raise ConfigurationError(
                f"joint {quoted(model.body_joint_names[i])} inside the tree has {positions} positions "
                f"and {efforts} efforts: a joint state cannot carry it"
            )
        index += range(model.q_index[i], model.q_index[i] + efforts)
    return np.array(index, dtype=np.int64)


def velocity_limits(model: Model, are_kept: bool) -> np.ndarray:
    """Velocity limits (k,) [rad/s, m/s] that a simulator keeps, infinite where there is none.

    URDF demands a number: 0 stands for none.
    """
    is_given = (model.velocity_limits > 0.0) & are_kept
    return np.where(is_given, model.velocity_limits, np.inf)


def floating_bases(model: Model) -> list[int]:
    """The bodies that are floating bases."""
    return [i for i in range(len(model.parent)) if model.is_base_coordinate[model.v_index[i]]]


def base_index(model: Model) -> tuple[int, int] | None:
    """The places in q and in v at which the (first) floating base's pose and twist begin; None for a fixed base."""
    bases = floating_bases(model)
    return (int(model.q_index[bases[0]]), int(model.v_index[bases[0]])) if bases else None
