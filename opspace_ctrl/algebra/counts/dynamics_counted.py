# SPDX-License-Identifier: Apache-2.0
"""H and C in link coordinates, written to be counted: the row "H, C" of table 2 of [Featherstone2010].

Composite rigid bodies by ten parameters and recursive Newton-Euler, revolute joints about z below a floating base,
axial screws between the links. It runs on floats and on counting numbers alike; the control loop has its own, in world
axes. The paper takes its cost from formulae of [Featherstone2005] that it does not repeat, so that ours stands beside
it and need not be equal.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .screws import Link, Screw, _motion, _motion_by_screws, _turn_pair, _turn_symmetric


def mass_matrix(
    parent: np.ndarray, links: Sequence[Link], m: np.ndarray, h: np.ndarray, inertia: np.ndarray
) -> np.ndarray:
    """H (N + 5, N + 5): first the base's motion, angular first in its link coordinates, then a joint a link.

    Args:
        m: (N,) masses of all that each link carries: constants, as in the paper.
        h, inertia: (N, 3), (N, 3, 3) mass times centre and inertia about the origin of each link, in its axes.
    """
    N, h, inertia = len(parent), h.copy(), inertia.copy()
    H = np.zeros((N + 5, N + 5), h.dtype)
    for i in range(N - 1, 0, -1):
        f = np.zeros(6, h.dtype)  # the force of a unit acceleration of joint i, inertia times z
        f[:3], f[3], f[4] = inertia[i, :, 2], -h[i, 1], h[i, 0]
        H[5 + i, 5 + i] = f[2]
        k = i
        while parent[k] >= 0:
            f, k = _force(f, links[k]), parent[k]
            if k > 0:
                H[5 + k, 5 + i] = H[5 + i, 5 + k] = f[2]
        H[:6, 5 + i] = H[5 + i, :6] = f
        moved_h, moved = _inertia(m[i], h[i], inertia[i], links[i])
        p = parent[i]
        h[p] = h[p] + moved_h
        for r in range(3):
            for c in range(r, 3):
                inertia[p, r, c] = inertia[p, c, r] = inertia[p, r, c] + moved[r, c]
    H[:3, :3] = inertia[0]
    for i in range(3):
        H[3 + i, 3 + i] = m[0]
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        H[k, 3 + j] = H[3 + j, k] = h[0, i]
        H[j, 3 + k] = H[3 + k, j] = -h[0, i]
    return H


def bias_forces(
    parent: np.ndarray,
    links: Sequence[Link],
    m: np.ndarray,
    h: np.ndarray,
    inertia: np.ndarray,
    base: np.ndarray,
    acceleration: np.ndarray,
    rates: np.ndarray,
) -> np.ndarray:
    """C (N + 5,), ordered as H, for masses of each link by itself.

    Args:
        base: (6,) velocity of the base, angular first, in its link coordinates.
        acceleration: (6,) of the base, minus gravity, likewise.
        rates: (N,) of the joints; the first is not used.
    """
    N = len(parent)
    V, A, f = (np.zeros((N, 6), base.dtype) for _ in range(3))
    for i in range(N):
        if i == 0:
            V[0], A[0] = base, acceleration
        else:
            V[i], A[i] = (_transformed(x[parent[i]], links[i]) for x in (V, A))
            V[i, 2] = V[i, 2] + rates[i]
            for j, sign, k in ((0, 1, 1), (1, -1, 0), (3, 1, 4), (4, -1, 3)):
                turn = V[i, k] * rates[i]
                A[i, j] = A[i, j] + turn if sign > 0 else A[i, j] - turn
        momentum, force = (_momentum(m[i], h[i], inertia[i], x) for x in (V[i], A[i]))
        w, v = V[i, :3], V[i, 3:]
        f[i, :3] = force[:3] + (_cross(w, momentum[:3]) + _cross(v, momentum[3:]))
        f[i, 3:] = force[3:] + _cross(w, momentum[3:])
    C = np.zeros(N + 5, base.dtype)
    for i in range(N - 1, 0, -1):
        C[5 + i] = f[i, 2]
        f[parent[i]] = f[parent[i]] + _force(f[i], links[i])
    C[:6] = f[0]
    return C


def _transformed(motion: np.ndarray, link: Link) -> np.ndarray:
    """A motion of the parent in the link's coordinates."""
    return (_motion_by_screws if len(link.screws) == 2 else _motion)(motion, link)


def _force(force: np.ndarray, link: Link) -> np.ndarray:
    """A force of the link in its parent's coordinates: 10m + 6a a screw."""
    force = force.copy()
    n, f = force[:3], force[3:]
    for screw in link.screws:
        i, j, _ = screw.ijk
        for half in (n, f):
            half[i], half[j] = _turn_pair(half[i], half[j], screw)
        n[i], n[j] = n[i] - screw.shift * f[j], n[j] + screw.shift * f[i]
    return force


def _inertia(
    m: float, h: np.ndarray, inertia: np.ndarray, link: Link
) -> tuple[np.ndarray, np.ndarray]:
    """Mass times centre and inertia in the parent's coordinates: 16m + 15a a screw."""
    h, inertia = h.copy(), inertia.copy()
    for screw in link.screws:
        _move_inertia(m, h, inertia, screw)
    return h, inertia


def _move_inertia(m: float, h: np.ndarray, inertia: np.ndarray, screw: Screw) -> None:
    i, j, k = screw.ijk
    h[i], h[j] = _turn_pair(h[i], h[j], screw)
    _turn_symmetric(inertia, screw)
    before, r = h[k], screw.shift
    h[k] = h[k] + m * r
    t = r * (before + h[k])
    inertia[i, i], inertia[j, j] = inertia[i, i] + t, inertia[j, j] + t
    inertia[i, k] = inertia[k, i] = inertia[i, k] - r * h[i]
    inertia[j, k] = inertia[k, j] = inertia[j, k] - r * h[j]


def _momentum(m: float, h: np.ndarray, inertia: np.ndarray, motion: np.ndarray) -> np.ndarray:
    w, v = motion[:3], motion[3:]
    return np.concatenate([np.dot(inertia, w) + _cross(h, v), m * v - _cross(h, w)])


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.array(
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    )
