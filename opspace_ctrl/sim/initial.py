# SPDX-License-Identifier: Apache-2.0
"""The configuration in which a simulation starts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..declaration import Numbers
from ..errors import ConfigurationError, UnknownJointError, listed, quoted
from ..model import Model
from ..model.configuration import check_vector, unit_quaternion
from .engine.rows import closed, on_the_ground, parse_contacts, parse_loops
from .joint_index import floating_bases, joint_coordinates, joint_positions, position_index
from .settings import SimulatorSettings

__all__ = ["initial_configuration", "start_configuration"]

QUATERNION, POSE = 4, 7  # coordinates of a ball joint, and of a floating one inside a tree


def start_configuration(model: Model, settings: SimulatorSettings) -> np.ndarray:
    """q (nq,) in which the simulator starts: the given positions, on the ground unless a pose is given, loops closed.

    Raises:
        ConfigurationError, UnknownJointError, UnknownFrameError: A setting does not fit the model.
        IllPosedError: The closures cannot be closed from there.
    """
    given, pose = settings.initial_positions, np.ravel(settings.initial_pose).tolist()
    positions = given if isinstance(given, Mapping) else np.ravel(given).tolist()
    q = initial_configuration(model, positions, pose)
    if not pose:
        contacts = parse_contacts(model, settings.contacts)
        q = on_the_ground(model, q, contacts, settings.ground_normal, settings.ground_height)
    return closed(model, q, parse_loops(model, settings.closures))


def initial_configuration(
    model: Model, positions: Mapping[str, Numbers] | Sequence[float], pose: Sequence[float]
) -> np.ndarray:
    """q (nq,) of joint positions and base poses as `SimulatorSettings` has them; what is not given is zero, or a limit.

    Raises:
        ConfigurationError: Wrong sizes, a zero quaternion, or a position beyond its limit.
        UnknownJointError: A name that is no joint of the model.
    """
    q, limits = model.neutral(), model.position_limits
    if len(limits):
        places = position_index(model, of_all=False)
        is_there = places >= 0
        q[places[is_there]] = np.clip(q[places[is_there]], *limits[is_there].T)
        for name, place, values in _given(model, positions):
            if len(values) in (QUATERNION, POSE):
                values[-QUATERNION:] = unit_quaternion(
                    values[-QUATERNION:], f"initial_positions: {name}"
                )
            q[place] = values
        low, value, high = limits[is_there, 0], q[places[is_there]], limits[is_there, 1]
        for j in np.flatnonzero((value < low) | (value > high)):
            raise ConfigurationError(
                f"initial_positions: {_name(model, np.flatnonzero(is_there)[j])} = {value[j]:g} is "
                f"beyond its limits {low[j]:g} to {high[j]:g}"
            )
    bases = floating_bases(model)
    if len(pose) not in (0, 7 * len(bases)):
        raise ConfigurationError(
            f"initial_pose has {len(pose)} numbers; {model.name} has {len(bases)} floating bases, "
            f"so {7 * len(bases)} are valid (x y z qx qy qz qw each), or none"
        )
    for i, values in zip(bases, check_vector(pose, len(pose), "initial_pose").reshape(-1, 7)):
        at = model.q_index[i]
        q[at : at + 3], q[at + 3 : at + 7] = values[:3], unit_quaternion(values[3:], "initial_pose")
    return q


def _given(
    model: Model, positions: Mapping[str, Numbers] | Sequence[float]
) -> Iterator[tuple[str, slice, NDArray[np.float64]]]:
    """(joint, its place in q, what is given for it) of a mapping by name or a list in order."""
    places = joint_positions(model)
    sizes = {name: place.stop - place.start for name, place in places.items()}
    if not isinstance(positions, Mapping):
        if len(positions) not in (0, sum(sizes.values())):
            raise ConfigurationError(
                f"initial_positions has {len(positions)} numbers; the joints of {model.name} have "
                f"{sum(sizes.values())} coordinates"
            )
        values = check_vector(positions, len(positions), "initial_positions")
        ends = np.cumsum(list(sizes.values()))
        positions = dict(zip(places, np.split(values, ends[:-1]))) if len(values) else {}
    for name, value in positions.items():
        if name not in places:
            raise UnknownJointError(
                f"initial_positions: no joint {quoted(name)}; there are {listed(places)}"
            )
        yield (
            name,
            places[name],
            check_vector(np.atleast_1d(value), sizes[name], f"initial_positions: {name}"),
        )


def _name(model: Model, j: int) -> str:
    return next(
        name for name, place in joint_coordinates(model).items() if place.start <= j < place.stop
    )
