"""The configuration in which a simulation starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..errors import ConfigurationError, UnknownJointError, listed, quoted
from ..model import Model
from ..model.configuration import check_vector, unit_quaternion
from .engine.rows import closed, on_the_ground, parse_contacts, parse_loops
from .joint_index import floating_bases, joint_coordinates, position_index
from .settings import SimulatorSettings

__all__ = ["initial_configuration", "start_configuration"]


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
    model: Model, positions: Mapping[str, float] | Sequence[float], pose: Sequence[float]
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
        for j, value in _given(model, positions).items():
            if not is_there[j]:
                raise ConfigurationError(
                    f"initial_positions: {_name(model, j)} turns by a quaternion and has no such "
                    "position; {joint: position} of other joints is valid"
                )
            if not limits[j, 0] <= value <= limits[j, 1]:
                raise ConfigurationError(
                    f"initial_positions: {_name(model, j)} = {value:g} is beyond its limits "
                    f"{limits[j, 0]:g} to {limits[j, 1]:g}"
                )
            q[places[j]] = value
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


def _given(model: Model, positions: Mapping[str, float] | Sequence[float]) -> dict[int, float]:
    """{joint coordinate: position} of a mapping by name or a list in order."""
    count, places = len(model.position_limits), joint_coordinates(model)
    if not isinstance(positions, Mapping):
        if len(positions) not in (0, count):
            raise ConfigurationError(
                f"initial_positions has {len(positions)} numbers; {model.name} has {count} joint "
                "coordinates"
            )
        return dict(
            enumerate(check_vector(positions, len(positions), "initial_positions").tolist())
        )
    names = [name for name, place in places.items() if place.stop == place.start + 1]
    unknown = [name for name in positions if name not in names]
    if unknown:
        raise UnknownJointError(
            f"initial_positions: no joint {quoted(unknown[0])} with one coordinate; there are "
            f"{listed(names)}"
        )
    values = check_vector(list(positions.values()), len(positions), "initial_positions")
    return {places[name].start: float(x) for name, x in zip(positions, values)}


def _name(model: Model, j: int) -> str:
    return next(
        name for name, place in joint_coordinates(model).items() if place.start <= j < place.stop
    )
