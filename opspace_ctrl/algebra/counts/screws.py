# SPDX-License-Identifier: Apache-2.0
"""Axial-screw transforms at the costs of [Featherstone2010], table 4 ([McMillan1995], [Featherstone2008]).

An axial screw turns about one coordinate axis and shifts along it. With frames placed by the rule of
Denavit and Hartenberg, a link reaches its parent by a screw about its own z (the joint axis), then one
about x; all children of a body but one need a third screw, about the parent's z. phi_i maps forces
(angular first) of link i to its parent:
    phi = [R  r x R]      P' = phi P phi^T  (link to parent),    Omega' = phi^T Omega phi  (parent to link).
          [0      R]
Products of a screw's sine and cosine are formed once and not counted, as in the paper; nor are copies
into the other half of a symmetric matrix.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .operations import Number

SWAP = np.r_[3:6, 0:3]  # exchanges the angular and the linear half


@dataclass(frozen=True)
class Screw:
    """A turn by `angle` [rad] about coordinate axis `axis` (0, 1, 2) and a shift by `shift` [m] along it."""

    axis: int
    angle: float
    shift: float

    @property
    def ijk(self) -> tuple[int, int, int]:
        """The axes in cyclic order, the screw's own last."""
        return (self.axis + 1) % 3, (self.axis + 2) % 3, self.axis

    @cached_property
    def c(self) -> float:
        """Cosine of the angle."""
        return math.cos(self.angle)

    @cached_property
    def s(self) -> float:
        """Sine of the angle."""
        return math.sin(self.angle)

    @cached_property
    def ss(self) -> float:
        """Square of the sine."""
        return self.s * self.s

    @cached_property
    def cs(self) -> float:
        """Cosine times sine."""
        return self.c * self.s

    @cached_property
    def pose(self) -> tuple[np.ndarray, np.ndarray]:
        """Rotation (3, 3) and translation (3,) of the moved frame."""
        i, j, k = self.ijk
        R, p = np.eye(3), np.zeros(3)
        R[i, i], R[i, j], R[j, i], R[j, j] = self.c, -self.s, self.s, self.c
        p[k] = self.shift
        return R, p

    def inverse(self) -> Screw:
        """The screw that undoes this one."""
        return Screw(self.axis, -self.angle, -self.shift)


@dataclass(frozen=True)
class Link:
    """The transform from a link to its parent: the screws that take its quantities there, first one first."""

    screws: tuple[Screw, ...]

    @cached_property
    def pose(self) -> tuple[np.ndarray, np.ndarray]:
        """Rotation (3, 3) and origin (3,) [m] of the link's frame in the parent's."""
        R, p = np.eye(3), np.zeros(3)
        for screw in self.screws:
            turn, shift = screw.pose
            R, p = turn @ R, turn @ p + shift
        return R, p


def phi_p_phit(X: np.ndarray, link: Link) -> np.ndarray:
    """phi X phi^T of a symmetric X (6, 6) whose third row and column are zero, as those of taubar P are.

    The zeros survive the screw about z (28m + 34a) and make the one about x cheaper (32m + 28a). A third
    screw costs the full 38m + 40a.
    """
    z, x, *rest = link.screws
    A, B, C = _blocks(X)
    _turn_about_zero_row(A, B, C, z)
    _shift(A, B, C, z, zero_row=True)
    _turn_zero_row(A, B, C, x)
    _shift(A, B, C, x)
    for screw in rest:
        _turn(A, B, C, screw)
        _shift(A, B, C, screw)
    return np.block([[A, B], [B.T, C]])


def phit_omega_phi(Omega: np.ndarray, link: Link) -> np.ndarray:
    """phi^T Omega phi of a symmetric Omega (6, 6): 38m + 40a a screw.

    With its halves exchanged, Omega transforms as an inertia does under the inverse screws.
    """
    A, B, C = _blocks(Omega[np.ix_(SWAP, SWAP)])
    for screw in reversed(link.screws):
        _turn(A, B, C, screw.inverse())
        _shift(A, B, C, screw.inverse())
    return np.block([[C, B.T], [B, A]])


def omega_phi(Omega: np.ndarray, link: Link) -> np.ndarray:
    """Omega phi of any Omega (6, 6), row by row: a row transforms as a motion vector from parent to link.

    Two screws take 10m + 6a each for a row; three would take more than the 24m + 18a of a general transform.
    """
    transform = _motion_by_screws if len(link.screws) == 2 else _motion
    return np.array([transform(row, link) for row in Omega])


def _motion_by_screws(motion: np.ndarray, link: Link) -> np.ndarray:
    """phi^T times a motion vector, screw by screw: v' = R^T (v - r x w), w' = R^T w."""
    motion = motion.copy()
    w, v = motion[:3], motion[3:]
    for screw in reversed(link.screws):
        i, j, _ = screw.ijk
        v[i] = v[i] + screw.shift * w[j]
        v[j] = v[j] - screw.shift * w[i]
        for half in (w, v):
            half[i], half[j] = _turn_pair(half[i], half[j], screw.inverse())
    return motion


def _motion(motion: np.ndarray, link: Link) -> np.ndarray:
    """phi^T times a motion vector by the whole rotation and translation: 24m + 18a."""
    R, p = link.pose
    w, v = motion[:3], motion[3:]
    p_x_w = np.array(
        [p[1] * w[2] - p[2] * w[1], p[2] * w[0] - p[0] * w[2], p[0] * w[1] - p[1] * w[0]]
    )
    return np.concatenate([np.dot(R.T, w), np.dot(R.T, v - p_x_w)])


def _blocks(X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Copies of A, B, C in X = [A B; B^T C]."""
    return X[:3, :3].copy(), X[:3, 3:].copy(), X[3:, 3:].copy()


def _turn_pair(x: Number, y: Number, screw: Screw) -> tuple[Number, Number]:
    """R (x, y): 4m + 2a."""
    return screw.c * x - screw.s * y, screw.s * x + screw.c * y


def _turn_square(a: Number, b: Number, e: Number, d: Number, screw: Screw) -> tuple[Number, ...]:
    """R [a b; e d] R^T: 4m + 8a, because only the symmetric, traceless part of a 2 x 2 matrix turns."""
    difference, total = a - d, b + e
    t = screw.ss * difference + screw.cs * total
    u = screw.cs * difference - screw.ss * total
    return a - t, b + u, e + u, d + t


def _turn_plane(S: np.ndarray, screw: Screw) -> None:
    """R S R^T in place for the elements of a symmetric 3 x 3 matrix in the plane of the turn: 4m + 5a."""
    i, j, _ = screw.ijk
    difference = S[i, i] - S[j, j]
    t = screw.ss * difference + (2.0 * screw.cs) * S[i, j]
    S[i, j] = S[j, i] = screw.cs * difference + (1.0 - 2.0 * screw.ss) * S[i, j]
    S[i, i], S[j, j] = S[i, i] - t, S[j, j] + t


def _turn_symmetric(S: np.ndarray, screw: Screw) -> None:
    """R S R^T of a symmetric 3 x 3 matrix in place: 8m + 7a."""
    i, j, k = screw.ijk
    _turn_plane(S, screw)
    S[i, k], S[j, k] = S[k, i], S[k, j] = _turn_pair(S[i, k], S[j, k], screw)


def _turn(A: np.ndarray, B: np.ndarray, C: np.ndarray, screw: Screw) -> None:
    """Turn [A B; B^T C] in place: 28m + 26a."""
    i, j, k = screw.ijk
    _turn_about_zero_row(A, B, C, screw)
    A[i, k], A[j, k] = A[k, i], A[k, j] = _turn_pair(A[i, k], A[j, k], screw)
    B[k, i], B[k, j] = _turn_pair(B[k, i], B[k, j], screw)


def _turn_about_zero_row(A: np.ndarray, B: np.ndarray, C: np.ndarray, screw: Screw) -> None:
    """Turn in place when row k of A and B is zero and stays so: 20m + 22a."""
    i, j, k = screw.ijk
    _turn_plane(A, screw)
    B[i, i], B[i, j], B[j, i], B[j, j] = _turn_square(B[i, i], B[i, j], B[j, i], B[j, j], screw)
    B[i, k], B[j, k] = _turn_pair(B[i, k], B[j, k], screw)
    _turn_symmetric(C, screw)


def _turn_zero_row(A: np.ndarray, B: np.ndarray, C: np.ndarray, screw: Screw) -> None:
    """Turn in place when row j of A and B is zero, which fills it: 22m + 14a."""
    i, j, k = screw.ijk
    t = screw.ss * A[i, i]
    A[i, j] = A[j, i] = screw.cs * A[i, i]
    A[i, i], A[j, j] = A[i, i] - t, t
    A[i, k], A[j, k] = A[k, i], A[k, j] = screw.c * A[i, k], screw.s * A[i, k]
    t = screw.ss * B[i, i] + screw.cs * B[i, j]
    u = screw.cs * B[i, i] - screw.ss * B[i, j]
    B[i, i], B[i, j], B[j, i], B[j, j] = B[i, i] - t, B[i, j] + u, u, t
    B[i, k], B[j, k] = screw.c * B[i, k], screw.s * B[i, k]
    B[k, i], B[k, j] = _turn_pair(B[k, i], B[k, j], screw)
    _turn_symmetric(C, screw)


def _shift(
    A: np.ndarray, B: np.ndarray, C: np.ndarray, screw: Screw, zero_row: bool = False
) -> None:
    """Shift in place, B' = B + rx C, A' = A + rx B^T + B' rx^T: 10m + 14a, or 8m + 12a if row k is zero."""
    i, j, k = screw.ijk
    r, old = screw.shift, B.copy()
    rC = {(p, q): r * C[p, q] for p, q in ((i, i), (i, j), (i, k), (j, j), (j, k))}
    B[i, i], B[i, j], B[i, k] = B[i, i] - rC[i, j], B[i, j] - rC[j, j], B[i, k] - rC[j, k]
    B[j, i], B[j, j], B[j, k] = B[j, i] + rC[i, i], B[j, j] + rC[i, j], B[j, k] + rC[i, k]
    A[i, i] = A[i, i] - r * (old[i, j] + B[i, j])
    A[j, j] = A[j, j] + r * (old[j, i] + B[j, i])
    A[i, j] = A[j, i] = A[i, j] + r * (B[i, i] - old[j, j])
    if not zero_row:
        A[i, k] = A[k, i] = A[i, k] - r * B[k, j]
        A[j, k] = A[k, j] = A[j, k] + r * B[k, i]
