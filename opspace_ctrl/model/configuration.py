# SPDX-License-Identifier: Apache-2.0
"""Configurations q and velocities v of a model: checks, neutral and random ones, exponential and logarithm.

Revolute and prismatic coordinates add. A continuous joint's angle is a number, not a point of the circle: it
adds too, and is not wrapped. A planar joint's [x, y, theta] moves by the exponential of SE(2), a floating
joint's [x, y, z, qx, qy, qz, qw] by that of SE(3), a spherical one's [qx, qy, qz, qw] by that of SO(3), all with v in
body axes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..errors import ConfigurationError, quoted
from .joints import QUATERNION, JointType
from .rotations import (
    from_quaternion,
    left_jacobian,
    left_jacobian_inverse,
    quaternion_conjugate,
    quaternion_exp,
    quaternion_log,
    quaternion_product,
)

if TYPE_CHECKING:
    from opspace_ctrl.model.model import Model

# A quaternion shorter than this has no direction to speak of.
_ZERO_QUATERNION = 1e-8
# Where there is no limit, random coordinates stay within these of zero: [rad] and [m].
_RANDOM_ANGLE, _RANDOM_LENGTH = np.pi, 1.0


def check_vector(value: ArrayLike, length: int, name: str) -> np.ndarray:
    """A float64 copy of a finite vector.

    Raises:
        ConfigurationError: not numbers, not of shape (length,), or not finite; the message calls it `name`.
    """
    try:
        given = np.asarray(value)
    except ValueError:
        raise ConfigurationError(
            f"{name} is not a vector of {length} numbers: {quoted(value)}"
        ) from None
    if given.dtype.kind not in "biuf":  # text, complex numbers and objects are no coordinates
        raise ConfigurationError(
            f"{name} is not a vector of {length} real numbers: {quoted(value)}"
        )
    vector = given.astype(np.float64)
    if vector.shape != (length,):
        raise ConfigurationError(f"{name} has the shape {vector.shape}, not ({length},)")
    if not np.isfinite(vector).all():
        raise ConfigurationError(f"{name}[{np.flatnonzero(~np.isfinite(vector))[0]}] is not finite")
    return vector


def quaternions(model: Model) -> list[tuple[int, int]]:
    """The bodies whose joints turn by a unit quaternion, each with the entry of q at which that begins."""
    return [
        (i, q + QUATERNION[kind])
        for i, (kind, q) in enumerate(zip(model.joint_type.tolist(), model.q_index.tolist()))
        if kind in QUATERNION
    ]


def check_configuration(model: Model, q: ArrayLike) -> np.ndarray:
    """A float64 copy (nq,) of q, quaternions normalised.

    Raises:
        ConfigurationError: wrong length, not finite, or a zero quaternion.
    """
    q = check_vector(q, model.nq, "q")
    for i, at in quaternions(model):
        name = f"q of joint {quoted(model.body_joint_names[i])}"
        q[at : at + 4] = unit_quaternion(q[at : at + 4], name)
    return q


def unit_quaternion(quaternion: np.ndarray, name: str) -> np.ndarray:
    """The quaternion (4,) normalised.

    Raises:
        ConfigurationError: it is zero; the message calls it `name`.
    """
    largest = np.abs(quaternion).max()
    if largest < _ZERO_QUATERNION:
        raise ConfigurationError(f"{name} has a zero quaternion; its length must not vanish")
    quaternion = quaternion / largest  # first, so that the norm cannot overflow
    return quaternion / np.sqrt(quaternion @ quaternion)


def neutral(model: Model) -> np.ndarray:
    """q (nq,) of zeros, with identity quaternions."""
    q = np.zeros(model.nq)
    for _, at in quaternions(model):
        q[at + 3] = 1.0
    return q


def random_configuration(model: Model, rng: np.random.Generator) -> np.ndarray:
    """q (nq,), each coordinate uniform between its limits, rotations of floating and spherical joints over SO(3).

    Without limits: angles in [-pi, pi], lengths in [-1, 1] m; with one limit: as wide a range beside it.

    Raises:
        ConfigurationError: `rng` is no generator of NumPy's.
    """
    if not isinstance(rng, (np.random.Generator, np.random.RandomState)):
        raise ConfigurationError(
            f"rng = {quoted(rng)} is no random generator; valid is np.random.default_rng(seed)"
        )
    q = np.zeros(model.nq)
    limits = _limits_by_coordinate(model)
    for i in np.flatnonzero(~model.is_mimic):
        at = model.q_index[i]
        kind = model.joint_type[i]
        if kind == JointType.FLOATING:
            q[at : at + 3] = rng.uniform(-_RANDOM_LENGTH, _RANDOM_LENGTH, 3)
            q[at + 3 : at + 7] = _random_quaternion(rng)
        elif kind == JointType.SPHERICAL:
            q[at : at + 4] = _random_quaternion(rng)
        elif kind == JointType.PLANAR:
            q[at : at + 2] = rng.uniform(-_RANDOM_LENGTH, _RANDOM_LENGTH, 2)
            q[at + 2] = rng.uniform(-_RANDOM_ANGLE, _RANDOM_ANGLE)
        else:
            reach = _RANDOM_ANGLE if kind == JointType.REVOLUTE else _RANDOM_LENGTH
            q[at] = _between(limits[model.v_index[i]], reach, rng)
    return q


def _random_quaternion(rng: np.random.Generator) -> np.ndarray:
    quaternion = rng.normal(size=4)
    return quaternion / np.linalg.norm(quaternion)


def _limits_by_coordinate(model: Model) -> np.ndarray:
    """Position limits (nv, 2), infinite for the floating bases, which position_limits leaves out."""
    limits = np.tile([-np.inf, np.inf], (model.nv, 1))
    limits[~model.is_base_coordinate] = model.position_limits
    return limits


def _between(limits: np.ndarray, reach: float, rng: np.random.Generator) -> float:
    lower, upper = limits
    if not np.isfinite(lower):
        lower = -reach if not np.isfinite(upper) else upper - 2.0 * reach
    if not np.isfinite(upper):
        upper = reach if lower == -reach else lower + 2.0 * reach
    u = rng.uniform()
    return (1.0 - u) * lower + u * upper  # upper - lower could overflow


def integrate(model: Model, q: ArrayLike, v: ArrayLike, dt: float = 1.0) -> np.ndarray:
    """q (+) v dt, the configuration after moving with constant v for dt.

    Args:
        q: configuration (nq,).
        v: velocity (nv,), a floating joint's in body axes.
        dt: duration [s].

    Returns:
        q (nq,), quaternions normalised.

    Raises:
        ConfigurationError: a wrong length, a zero quaternion, or anything not finite.
    """
    q = check_configuration(model, q)
    step = check_vector(v, model.nv, "v") * check_vector([dt], 1, "dt")[0]
    for i in np.flatnonzero(~model.is_mimic):
        at, w = model.q_index[i], model.v_index[i]
        kind = model.joint_type[i]
        if kind == JointType.FLOATING:
            rho, phi = step[w : w + 3], step[w + 3 : w + 6]
            quaternion = q[at + 3 : at + 7]
            q[at : at + 3] += from_quaternion(quaternion) @ left_jacobian(phi) @ rho
            q[at + 3 : at + 7] = _turned(quaternion, phi)
        elif kind == JointType.SPHERICAL:
            q[at : at + 4] = _turned(q[at : at + 4], step[w : w + 3])
        elif kind == JointType.PLANAR:
            rho, theta = step[w : w + 2], step[w + 2]
            q[at : at + 2] += (
                _turn(q[at + 2]) @ left_jacobian(np.array([0.0, 0.0, theta]))[:2, :2] @ rho
            )
            q[at + 2] += theta
        else:
            q[at] += step[w]
    return q


def difference(model: Model, q0: ArrayLike, q1: ArrayLike) -> np.ndarray:
    """v (nv,) with integrate(q0, v, 1) = q1: the logarithm, which turns the short way round.

    Raises:
        ConfigurationError: a wrong length, a zero quaternion, or anything not finite.
    """
    q0, q1 = check_configuration(model, q0), check_configuration(model, q1)
    v = np.zeros(model.nv)
    for i in np.flatnonzero(~model.is_mimic):
        at, w = model.q_index[i], model.v_index[i]
        kind = model.joint_type[i]
        if kind == JointType.FLOATING:
            a = q0[at + 3 : at + 7]
            phi = _turn_between(a, q1[at + 3 : at + 7])
            v[w : w + 3] = (
                left_jacobian_inverse(phi)
                @ from_quaternion(a).T
                @ (q1[at : at + 3] - q0[at : at + 3])
            )
            v[w + 3 : w + 6] = phi
        elif kind == JointType.SPHERICAL:
            v[w : w + 3] = _turn_between(q0[at : at + 4], q1[at : at + 4])
        elif kind == JointType.PLANAR:
            theta = math.remainder(q1[at + 2] - q0[at + 2], 2.0 * math.pi)
            V_inverse = left_jacobian_inverse(np.array([0.0, 0.0, theta]))[:2, :2]
            v[w : w + 2] = V_inverse @ _turn(q0[at + 2]).T @ (q1[at : at + 2] - q0[at : at + 2])
            v[w + 2] = theta
        else:
            v[w] = q1[at] - q0[at]
    return v


def _turned(quaternion: np.ndarray, phi: np.ndarray) -> np.ndarray:
    """The quaternion after a rotation by phi (3,) [rad] in its own axes."""
    turned = quaternion_product(quaternion, quaternion_exp(phi))
    return turned / np.linalg.norm(turned)


def _turn_between(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The rotation (3,) [rad], in the axes of a, that takes quaternion a to b."""
    return quaternion_log(quaternion_product(quaternion_conjugate(a), b))


def _turn(theta: float) -> np.ndarray:
    return np.array([[np.cos(theta), -np.sin(theta)], [np.sin(theta), np.cos(theta)]])
