# SPDX-License-Identifier: Apache-2.0
"""Rotations in kernels: quaternions (x, y, z, s), rows of matrices, exponential and logarithm of SO(3).

`model.rotations` has the same for Python. A rotation matrix is three triples, its rows; a rotation vector is a triple,
its length the angle [rad].
"""

import math

from ..compiled.jit import kernel
from .spatial import add, cross, dot, scale

SMALL = 0.05  # [rad] below which series are used: the quotients lose their digits
NEAR_PI = 2.8  # [rad] beyond which the logarithm keeps to the side it was on


@kernel
def coefficients(x):
    """b = (1 - cos x) / x^2 and c = (x - sin x) / x^3 of an angle x >= 0."""
    if x < SMALL:
        y = x * x
        return (
            0.5 + y * (-1.0 / 24.0 + y * (1.0 / 720.0 - y / 40320.0)),
            1.0 / 6.0 + y * (-1.0 / 120.0 + y * (1.0 / 5040.0 - y / 362880.0)),
        )
    half = math.sin(0.5 * x)  # 1 - cos x = 2 sin^2 (x / 2): nothing cancels
    return 2.0 * half * half / (x * x), (x - math.sin(x)) / (x * x * x)


@kernel
def _coefficient_derivatives(x, b, c):
    """db/dx / x and dc/dx / x of the `coefficients` b and c of an angle x >= 0."""
    if x < SMALL:
        y = x * x
        return (
            -1.0 / 12.0 + y * (1.0 / 180.0 - y / 6720.0),
            -1.0 / 60.0 + y * (1.0 / 1260.0 - y / 60480.0),
        )
    return (math.sin(x) / x - 2.0 * b) / (x * x), (b - 3.0 * c) / (x * x)


@kernel
def rotation_rates(r, dr, ddr):
    """Angular velocity Jl(r) r' and acceleration Jl r'' + Jl' r' of exp(r(t)), Jl = 1 + b [r] + c [r]^2."""
    x = math.sqrt(dot(r, r))
    b, c = coefficients(x)
    db, dc = _coefficient_derivatives(x, b, c)
    along, r_dr = dot(r, dr), cross(r, dr)
    r_r_dr = cross(r, r_dr)
    rate = add(dr, add(scale(b, r_dr), scale(c, r_r_dr)))
    r_ddr = cross(r, ddr)
    change = add(ddr, add(scale(b, r_ddr), scale(c, cross(r, r_ddr))))
    change = add(change, scale(db * along, r_dr))
    change = add(change, scale(dc * along, r_r_dr))
    return rate, add(change, scale(c, cross(dr, r_dr)))  # b [r'] r' = 0 and c [r][r'] r' = 0


@kernel
def exponential(r):
    """Rows of exp([r])."""
    x = math.sqrt(dot(r, r))
    b, c = coefficients(x)
    s, cos = 1.0 - c * x * x, 1.0 - b * x * x
    return (
        (cos + b * r[0] * r[0], b * r[0] * r[1] - s * r[2], b * r[0] * r[2] + s * r[1]),
        (b * r[0] * r[1] + s * r[2], cos + b * r[1] * r[1], b * r[1] * r[2] - s * r[0]),
        (b * r[0] * r[2] - s * r[1], b * r[1] * r[2] + s * r[0], cos + b * r[2] * r[2]),
    )


@kernel
def left_jacobian_times(phi, x):
    """V(phi) x = x + b phi x x + c phi x (phi x x): the translation of exp([x, phi]) of SE(3)."""
    b, c = coefficients(math.sqrt(dot(phi, phi)))
    once = cross(phi, x)
    return add(x, add(scale(b, once), scale(c, cross(phi, once))))


@kernel
def quaternion_exp(phi):
    """The unit quaternion of the rotation vector phi."""
    y = dot(phi, phi)
    angle = math.sqrt(y)
    if angle < SMALL:  # sin(angle / 2) / angle
        factor = 0.5 + y * (-1.0 / 48.0 + y * (1.0 / 3840.0 - y / 645120.0))
    else:
        factor = math.sin(0.5 * angle) / angle
    return factor * phi[0], factor * phi[1], factor * phi[2], math.cos(0.5 * angle)


@kernel
def quaternion_product(p, q):
    """The Hamilton product p q: first q, then p."""
    return (
        p[3] * q[0] + q[3] * p[0] + (p[1] * q[2] - p[2] * q[1]),
        p[3] * q[1] + q[3] * p[1] + (p[2] * q[0] - p[0] * q[2]),
        p[3] * q[2] + q[3] * p[2] + (p[0] * q[1] - p[1] * q[0]),
        p[3] * q[3] - p[0] * q[0] - p[1] * q[1] - p[2] * q[2],
    )


@kernel
def normalised(q):
    """A quaternion with its length made one."""
    inverse = 1.0 / math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return inverse * q[0], inverse * q[1], inverse * q[2], inverse * q[3]


@kernel
def rotation_of(x, y, z, s):
    """Rows of the rotation matrix of the unit quaternion x, y, z, s."""
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y - z * s), 2 * (x * z + y * s)),
        (2 * (x * y + z * s), 1 - 2 * (x * x + z * z), 2 * (y * z - x * s)),
        (2 * (x * z - y * s), 2 * (y * z + x * s), 1 - 2 * (x * x + y * y)),
    )


@kernel
def quaternion_of(r0, r1, r2):
    """(x, y, z, s), s >= 0, of the rotation with rows r0, r1, r2; by the largest component, so that none is lost."""
    trace = r0[0] + r1[1] + r2[2]
    if trace > 0.0:
        x = r2[1] - r1[2]
        y = r0[2] - r2[0]
        z = r1[0] - r0[1]
        s = 1.0 + trace
    elif r0[0] >= r1[1] and r0[0] >= r2[2]:
        x = 1.0 + r0[0] - r1[1] - r2[2]
        y = r0[1] + r1[0]
        z = r0[2] + r2[0]
        s = r2[1] - r1[2]
    elif r1[1] >= r2[2]:
        x = r0[1] + r1[0]
        y = 1.0 - r0[0] + r1[1] - r2[2]
        z = r1[2] + r2[1]
        s = r0[2] - r2[0]
    else:
        x = r0[2] + r2[0]
        y = r1[2] + r2[1]
        z = 1.0 - r0[0] - r1[1] + r2[2]
        s = r1[0] - r0[1]
    inverse = 1.0 / math.sqrt(x * x + y * y + z * z + s * s)
    if s < 0.0:
        inverse = -inverse
    return inverse * x, inverse * y, inverse * z, inverse * s


@kernel
def quaternion_log(q):
    """The rotation vector of a unit quaternion with s >= 0; its length is at most pi."""
    sine = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2])
    factor = 2.0 * math.atan2(sine, q[3]) / sine if sine > 1e-9 else 2.0
    return factor * q[0], factor * q[1], factor * q[2]


@kernel
def logarithm(r0, r1, r2, side):
    """Rotation vector of the rotation with rows r0, r1, r2.

    Its angle is at most pi; but where it is beyond NEAR_PI and would turn against `side`, the vector of the last tick,
    the longer way round is kept, so that an error that passes pi does not change its sign from tick to tick.
    """
    found = quaternion_log(quaternion_of(r0, r1, r2))
    angle = math.sqrt(dot(found, found))
    if angle > NEAR_PI and dot(found, side) < 0.0:
        return scale((angle - 2.0 * math.pi) / angle, found)
    return found
