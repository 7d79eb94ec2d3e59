"""The configuration in which a simulation starts."""
from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..errors import ConfigurationError, UnknownJointError, listed, quoted
from ..model import JointType, Model
from ..model.configuration import check_vector, unit_quaternion

__all__ = ["floating_bases", "initial_configuration", "joint_coordinates"]


def joint_coordinates(model: Model) -> np.ndarray:
    """Entries (k,) of v that belong to joints, floating bases left out."""
    return np.flatnonzero(~model.is_base_coordinate)


def floating_bases(model: Model) -> np.ndarray:
    """The bodies that are floating bases."""
    return np.flatnonzero((model.joint_type == JointType.FLOATING) & (model.parent < 0))


def initial_configuration(model: Model, positions, pose) -> np.ndarray:
    """q (nq,) of joint positions and base poses as `SimulatorSettings` has them.

    Raises:
        ConfigurationError: Wrong sizes, a zero quaternion, or a position beyond its limit.
        UnknownJointError: A name that is no joint of the model.
    """
    q = model.neutral()
    slots = _position_slots(model)
    limits = model.position_limits
    for j, k in enumerate(slots):
        if k >= 0:
            q[k] = min(max(q[k], limits[j, 0]), limits[j, 1])
    for j, value in _given(model, positions).items():
        if slots[j] < 0:
            raise ConfigurationError(f"initial_positions: {_name(model, j)} has several coordinates and is not set by "
                                     "one number")
        if not limits[j, 0] <= value <= limits[j, 1]:
            raise ConfigurationError(f"initial_positions: {_name(model, j)} = {value:g} is beyond its limits "
                                     f"{limits[j, 0]:g} to {limits[j, 1]:g}")
        q[slots[j]] = value
    bases = floating_bases(model)
    if len(pose):
        if len(pose) != 7 * len(bases):
            raise ConfigurationError(f"initial_pose has {len(pose)} numbers; {model.name} has {len(bases)} floating "
                                     f"bases, so {7 * len(bases)} are valid (x y z qx qy qz qw each), or none")
        for i, values in zip(bases, check_vector(pose, len(pose), "initial_pose").reshape(-1, 7)):
            at = model.q_index[i]
            q[at:at + 3], q[at + 3:at + 7] = values[:3], unit_quaternion(values[3:], "initial_pose")
    return q


def _given(model: Model, positions) -> dict[int, float]:
    """{joint coordinate: position} of a mapping by name or a list in order."""
    if not isinstance(positions, Mapping):
        if len(positions) not in (0, len(model.position_limits)):
            raise ConfigurationError(f"initial_positions has {len(positions)} numbers; {model.name} has "
                                     f"{len(model.position_limits)} joint coordinates")
        positions = check_vector(positions, len(positions), "initial_positions")
        return {j: float(x) for j, x in enumerate(positions) if _position_slots(model)[j] >= 0}
    names = [_name(model, j) for j in range(len(model.position_limits))]
    unknown = [name for name in positions if name not in names]
    if unknown:
        raise UnknownJointError(f"initial_positions: no joint {quoted(unknown[0])}; joints: {listed(names)}")
    values = check_vector(list(positions.values()), len(positions), "initial_positions")
    return {names.index(name): float(x) for name, x in zip(positions, values)}


def _bodies(model: Model) -> list[int]:
    """The body that each joint coordinate moves."""
    owner = {int(model.v_index[i]): int(i) for i in np.flatnonzero(~model.is_mimic)}
    found, last = [], -1
    for c in range(model.nv):
        last = owner.get(c, last)
        if not model.is_base_coordinate[c]:
            found.append(last)
    return found


def _name(model: Model, j: int) -> str:
    return model.body_joint_names[_bodies(model)[j]]


def _position_slots(model: Model) -> list[int]:
    """The entry of q of each joint coordinate, -1 for those of planar and floating joints."""
    single = (JointType.REVOLUTE, JointType.PRISMATIC)
    return [int(model.q_index[i]) if model.joint_type[i] in single else -1 for i in _bodies(model)]
