# SPDX-License-Identifier: Apache-2.0
"""A pose in which a robot stands: legs bent, soles flat on level ground, the centre of mass above them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from ..dynamics import frame_pose
from ..errors import OpspaceError
from ..model import Model
from ..model.rotations import from_quaternion
from .limbs import Limb
from .reach import mirror_signs, places_in_q
from .soles import Sole

__all__ = ["StandingError", "center_of_mass", "stand"]

BEND = 0.88  # height of a hip over its foot, as a share of the longest reach
REACH_SAMPLES = 400
TRIES = 8
INSIDE = 0.9  # share of a leg joint's range that is used
LEVEL = 1e-3  # [m, rad] soles may differ so much in height, and be tilted
BALANCED, BESIDE = (
    0.01,
    0.15,
)  # [m], and share of the feet's distance, that the centre of mass may be off their middle
# How much one metre (or radian) of each wish weighs beside the others.
HEIGHTS, FLATNESS, BALANCE, REST = 30.0, 10.0, 30.0, 0.05
STANCE = np.array([1.0, 1.0, 5.0])  # feet below the hips, by a bent leg's length


class StandingError(OpspaceError):
    """No pose was found in which the robot stands on its feet."""


def stand(
    model: Model, start: NDArray[np.float64], legs: Sequence[Limb], soles: Sequence[Sole]
) -> NDArray[np.float64]:
    """q (nq,): `start` with the joints of the legs changed, base level at the origin.

    Least squares of: all feet equally high, a bent leg's length below their hips; soles level and pointing as at zero;
    centre of mass above the middle of the feet; legs near the middle of their ranges, which decides what is left.

    Raises:
        StandingError: The feet are not level, or the centre of mass is not above them, wherever one begins.
    """
    mirror = _Mirrored(model, start, legs)
    middle, half = mirror.middle, mirror.half
    wishes = _Wishes(model, start, legs, soles)
    rest = np.clip(mirror.rest, middle - half, middle + half)

    def residuals(x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.concatenate([wishes.residuals(mirror.pose(x)), REST * (x - rest)])

    rng, found = np.random.default_rng(0), []
    for k in range(TRIES):
        first = (
            rest
            if k == 0
            else np.clip(rest + 0.6 * rng.normal(size=len(rest)), middle - half, middle + half)
        )
        inside = np.clip(first, middle - 0.999 * half, middle + 0.999 * half)
        found.append(least_squares(residuals, inside, bounds=(middle - half, middle + half)))
    best = min(found, key=lambda each: each.cost)
    q = mirror.pose(best.x)
    wishes.check(q)
    return q


class _Mirrored:
    """Poses of legs by the joints of those that mirror no other.

    Attributes:
        middle, half: Of the ranges that are used; rest: where the start has them.
    """

    def __init__(self, model: Model, start: NDArray[np.float64], legs: Sequence[Limb]):
        self._start, own = start, list[Limb]()
        self._copies = list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]]()
        for leg in legs:
            pairs = ((each, mirror_signs(model, each, leg)) for each in own)
            twin = next(((each, signs) for each, signs in pairs if signs is not None), None)
            if twin is None:
                own.append(leg)
            else:
                places, others = places_in_q(model, leg), places_in_q(model, twin[0])
                self._copies.append((places, others, twin[1]))
        self._places = np.concatenate([places_in_q(model, leg) for leg in own])
        lower, upper = np.clip(model.position_limits, -np.pi, np.pi)[self._places - 7].T
        self.middle, self.half = 0.5 * (lower + upper), 0.5 * INSIDE * (upper - lower)
        self.rest = start[self._places]

    def pose(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """q with these joints."""
        q = self._start.copy()
        q[self._places] = x
        for places, others, signs in self._copies:
            q[places] = signs * q[others]
        return q


class _Wishes:
    """What standing means for one robot."""

    def __init__(
        self,
        model: Model,
        start: NDArray[np.float64],
        legs: Sequence[Limb],
        soles: Sequence[Sole],
    ):
        self.model, self.legs, self.soles = model, legs, soles
        self.hips = [_hip(model, start, leg) for leg in legs]
        self.heights = [
            BEND * _longest(model, start, leg, hip, sole.frame)
            for leg, hip, sole in zip(legs, self.hips, soles)
        ]
        zero = model.neutral()
        self.headings = [self._turn(zero, sole)[:, 0] for sole in soles]

    def _turn(self, q: NDArray[np.float64], sole: Sole) -> NDArray[np.float64]:
        return from_quaternion(frame_pose(self.model, q, sole.frame)[1])

    def _feet(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        """Middles (feet, 3) of the soles."""
        found = []
        for sole in self.soles:
            p, quaternion = frame_pose(self.model, q, sole.frame)
            found.append(p + from_quaternion(quaternion) @ _middle(sole))
        return np.array(found)

    def residuals(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        """Wishes that are not fulfilled, weighed."""
        feet, out = self._feet(q), []
        out.append(HEIGHTS * (feet[:, 2] - feet[:, 2].mean()))
        out.append(BALANCE * (center_of_mass(self.model, q) - feet.mean(axis=0))[:2])
        for foot, hip, height in zip(feet, self.hips, self.heights):
            out.append(STANCE * (foot - hip + [0.0, 0.0, height]))
        for sole, heading in zip(self.soles, self.headings):
            if sole.reach:
                R = self._turn(q, sole)
                out.append(FLATNESS * R[:2, 2])
                out.append(FLATNESS * np.cross(heading, R[:, 0])[2:])
        return np.concatenate(out)

    def check(self, q: NDArray[np.float64]) -> None:
        """Refuse a pose that does not stand.

        Raises:
            StandingError: Saying what is off.
        """
        feet = self._feet(q)
        uneven = float(np.ptp(feet[:, 2]))
        off = (center_of_mass(self.model, q) - feet.mean(axis=0))[:2]
        allowed = np.maximum(BALANCED, BESIDE * np.ptp(feet[:, :2], axis=0))
        tilt = max(
            (float(np.abs(self._turn(q, sole)[:2, 2]).max()) for sole in self.soles if sole.reach),
            default=0.0,
        )
        if uneven > LEVEL or tilt > LEVEL or (np.abs(off) > allowed).any():
            raise StandingError(
                f"no standing pose was found: in the best one the feet differ by {1e3 * uneven:.0f} mm "
                f"in height, are tilted by {tilt:.3f} rad, and the centre of mass is "
                f"({1e3 * off[0]:.0f}, {1e3 * off[1]:.0f}) mm off their middle"
            )


def center_of_mass(model: Model, q: NDArray[np.float64]) -> NDArray[np.float64]:
    """Centre of mass (3,) of all that moves [m]."""
    total = np.zeros(3)
    for i, name in enumerate(model.body_names):
        p, quaternion = frame_pose(model, q, name)
        total += model.mass[i] * (p + from_quaternion(quaternion) @ model.com[i])
    return total / model.mass.sum()


def _middle(sole: Sole) -> NDArray[np.float64]:
    if not sole.reach:
        return np.zeros(3)
    front, back, left, right, height = sole.reach
    return np.array([0.5 * (front - back), 0.5 * (left - right), height])


def _hip(model: Model, q: NDArray[np.float64], leg: Limb) -> NDArray[np.float64]:
    """Where the leg's last joint of the hip is [m]: the one that is furthest to the side and still above the knee."""
    bodies = [i for i in range(len(model.parent)) if model.v_index[i] in leg.joints]
    places = np.array([frame_pose(model, q, model.body_names[i])[0] for i in bodies])
    upper = places[places[:, 2] > places[:, 2].max() - 0.1 * np.ptp(places[:, 2]) - 1e-6]
    return upper[-1] if len(upper) else places[0]


def _longest(
    model: Model, start: NDArray[np.float64], leg: Limb, hip: NDArray[np.float64], frame: str
) -> float:
    """The furthest that the foot gets from the hip [m], over random poses of the leg."""
    rng, q = np.random.default_rng(2), start.copy()
    base, joints = model.nv - len(model.position_limits), np.array(leg.joints)
    lower, upper = np.clip(model.position_limits[joints - base], -np.pi, np.pi).T
    longest = 0.0
    for _ in range(REACH_SAMPLES):
        q[joints + model.nq - model.nv] = rng.uniform(lower, upper)
        longest = max(longest, float(np.linalg.norm(frame_pose(model, q, frame)[0] - hip)))
    return longest
