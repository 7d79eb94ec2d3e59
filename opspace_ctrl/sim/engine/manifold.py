# SPDX-License-Identifier: Apache-2.0
"""Configurations in kernels: q (+) shift, and what a Runge-Kutta method needs on SE(3) and SE(2).

A floating joint moves by the exponential of SE(3) with the shift in body axes, a planar one by that of SE(2) (the same
formula in the plane), a spherical one by that of SO(3), all other coordinates add: `model.configuration.integrate`,
compiled.
"""

import math

from ...compiled.jit import kernel
from ...dynamics.kinematics import FLOATING, SPHERICAL
from ...dynamics.so3 import (
    left_jacobian_times,
    normalised,
    quaternion_exp,
    quaternion_product,
    rotation_of,
)
from ...dynamics.spatial import add, cross, rotate


@kernel
def advance(engine, q, shift, out):
    """Write out = q (+) shift, quaternions normalised."""
    kind, manifold_q, manifold_v = engine.manifold_kind, engine.manifold_q, engine.manifold_v
    for s in range(engine.singles):
        out[engine.single_q[s]] = q[engine.single_q[s]] + shift[engine.single_v[s]]
    for m in range(engine.manifolds):
        if kind[m] == FLOATING:
            _floating(q, manifold_q[m], shift, manifold_v[m], out)
        elif kind[m] == SPHERICAL:
            _turn(q, manifold_q[m], shift, manifold_v[m], out)
        else:
            _planar(q, manifold_q[m], shift, manifold_v[m], out)


@kernel
def _floating(q, k, shift, i, out):
    """Write the seven numbers from k on: those of q moved by the six of shift from i on, an exponential of SE(3)."""
    phi = (shift[i + 3], shift[i + 4], shift[i + 5])
    turn = (q[k + 3], q[k + 4], q[k + 5], q[k + 6])
    r0, r1, r2 = rotation_of(turn[0], turn[1], turn[2], turn[3])
    t = rotate(r0, r1, r2, left_jacobian_times(phi, (shift[i], shift[i + 1], shift[i + 2])))
    out[k], out[k + 1], out[k + 2] = q[k] + t[0], q[k + 1] + t[1], q[k + 2] + t[2]
    _turn(q, k + 3, shift, i + 3, out)


@kernel
def _turn(q, k, shift, i, out):
    """Write the four numbers from k on: the quaternion of q turned by the three of shift from i on, in its own axes."""
    turn = (q[k], q[k + 1], q[k + 2], q[k + 3])
    turned = quaternion_product(turn, quaternion_exp((shift[i], shift[i + 1], shift[i + 2])))
    out[k], out[k + 1], out[k + 2], out[k + 3] = normalised(turned)


@kernel
def _planar(q, k, shift, i, out):
    """Write the three numbers from k on: those of q moved by the three of shift from i on, an exponential of SE(2)."""
    theta = shift[i + 2]
    t = left_jacobian_times((0.0, 0.0, theta), (shift[i], shift[i + 1], 0.0))
    s, c = math.sin(q[k + 2]), math.cos(q[k + 2])
    out[k] = q[k] + c * t[0] - s * t[1]
    out[k + 1] = q[k + 1] + s * t[0] + c * t[1]
    out[k + 2] = q[k + 2] + theta


@kernel
def tangent(engine, u, rate, out, row):
    """Row `row` of `out` = du/dt for q = q0 (+) u that moves with `rate` in body axes: the inverse of dexp, twice.

        du/dt = v + 1/2 [u, v] + 1/12 [u, [u, v]] + O(u^4)
    is enough for a method of order four ([Munthe-Kaas1998]).
    """
    for s in range(engine.singles):
        i = engine.single_v[s]
        out[row, i] = rate[i]
    for m in range(engine.manifolds):
        i, kind = engine.manifold_v[m], engine.manifold_kind[m]
        a, b = _twist(u, i, kind), _twist(rate, i, kind)
        first = _bracket(a, b)
        second = _bracket(a, first)
        if kind == FLOATING:
            for k in range(6):
                out[row, i + k] = b[k] + 0.5 * first[k] + second[k] / 12.0
        elif kind == SPHERICAL:
            for k in range(3):
                out[row, i + k] = b[3 + k] + 0.5 * first[3 + k] + second[3 + k] / 12.0
        else:
            for k in range(2):
                out[row, i + k] = b[k] + 0.5 * first[k] + second[k] / 12.0
            out[row, i + 2] = b[5]


@kernel
def _twist(x, i, kind):
    """The velocity of a joint as (linear, angular) in body axes."""
    if kind == FLOATING:
        return x[i], x[i + 1], x[i + 2], x[i + 3], x[i + 4], x[i + 5]
    if kind == SPHERICAL:
        return 0.0, 0.0, 0.0, x[i], x[i + 1], x[i + 2]
    return x[i], x[i + 1], 0.0, 0.0, 0.0, x[i + 2]


@kernel
def _bracket(a, b):
    """[a, b] of se(3), linear first."""
    u = (a[0], a[1], a[2])
    v = (a[3], a[4], a[5])
    s = (b[0], b[1], b[2])
    t = (b[3], b[4], b[5])
    x, y = add(cross(v, s), cross(u, t)), cross(v, t)
    return x[0], x[1], x[2], y[0], y[1], y[2]
