"""Rotations in kernels: quaternions, exponential, logarithm with a memory near pi, and the left Jacobian of SO(3)."""

from __future__ import annotations

import math

from ..compiled.jit import kernel
from .spatial import add, cross, dot, scale

SMALL = 0.05  # [rad] below which series are used: the quotients lose their digits
NEAR_PI = 2.8  # [rad] beyond which the logarithm keeps to the side it was on


@kernel
def coefficients(x):
    """b = (1 - cos x) / x^2, c = (x - sin x) / x^3, and their derivatives over x."""
    if x < SMALL:
        y = x * x
        return (
            0.5 + y * (-1.0 / 24.0 + y * (1.0 / 720.0 - y / 40320.0)),
            1.0 / 6.0 + y * (-1.0 / 120.0 + y * (1.0 / 5040.0 - y / 362880.0)),
            -1.0 / 12.0 + y * (1.0 / 180.0 - y / 6720.0),
            -1.0 / 60.0 + y * (1.0 / 1260.0 - y / 60480.0),
        )
    b = (1.0 - math.cos(x)) / (x * x)
    c = (x - math.sin(x)) / (x * x * x)
    return b, c, (math.sin(x) / x - 2.0 * b) / (x * x), (b - 3.0 * c) / (x * x)


@kernel
def rotation_rates(r, dr, ddr):
    """Angular velocity Jl(r) r' and acceleration Jl r'' + Jl' r' of exp(r(t)), Jl = 1 + b [r] + c [r]^2."""
    b, c, db, dc = coefficients(math.sqrt(dot(r, r)))
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
    b, c, _, _ = coefficients(x)
    s, cos = 1.0 - c * x * x, 1.0 - b * x * x
    return (
        (cos + b * r[0] * r[0], b * r[0] * r[1] - s * r[2], b * r[0] * r[2] + s * r[1]),
        (b * r[0] * r[1] + s * r[2], cos + b * r[1] * r[1], b * r[1] * r[2] - s * r[0]),
        (b * r[0] * r[2] - s * r[1], b * r[1] * r[2] + s * r[0], cos + b * r[2] * r[2]),
    )


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
def logarithm(r0, r1, r2, side):
    """Rotation vector of the rotation with rows r0, r1, r2.

    Its angle is at most pi; but where it is beyond NEAR_PI and would turn against `side`, the vector of the last tick,
    the longer way round is kept, so that an error that passes pi does not change its sign from tick to tick.
    """
    x, y, z, s = quaternion_of(r0, r1, r2)
    sine = math.sqrt(x * x + y * y + z * z)
    angle = 2.0 * math.atan2(sine, s)
    factor = angle / sine if sine > 1e-9 else 2.0
    if angle > NEAR_PI and x * side[0] + y * side[1] + z * side[2] < 0.0:
        factor = (angle - 2.0 * math.pi) / sine
    return factor * x, factor * y, factor * z
