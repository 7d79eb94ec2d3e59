# SPDX-License-Identifier: Apache-2.0
"""A start pose for arms: joints well inside their ranges, the hand away from singularities, gravity easily carried."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..dynamics import bias_forces, frame_jacobian, frame_pose
from ..model import Model
from .limbs import Limb

__all__ = [
    "ROWS",
    "conditioning",
    "mirror_signs",
    "places_in_q",
    "poses_about",
    "rest_positions",
    "start_of_hands",
    "task_rows",
]

SAMPLES, FINALISTS = 300, 20
ABOUT, AROUND = 0.3, 8  # [rad or m] and how many poses about one are looked at
SPREAD, SHARE = (
    0.8,
    0.2,
)  # of samples about the rest position: [rad or m], and as a share of the range at most
INSIDE = 0.8  # share of a range in which zero is a good rest position, and that samples keep to
MIRROR = np.array([-1.0, 1.0, -1.0])  # an axis of rotation seen in the plane y = 0
ALIKE = 0.9  # cosine of axes that mirror each other
LOW = 0.02  # [m] above the plane of its base that an arm on a table keeps, if it can
RANK = 0.02  # singular values this small beside the largest are none
POSE_JOINTS = 6  # a limb of fewer cannot take every pose
ROWS = {"pose": slice(0, 6), "position": slice(0, 3), "orientation": slice(3, 6)}
MOVED = 1e-6  # what no joint turns or moves by more is not moved at all


def rest_positions(model: Model) -> NDArray[np.float64]:
    """q (nq,) with every joint at zero, or in the middle of its range where zero is near its limits or beyond."""
    q = model.neutral()
    middle, half = _middles(model.position_limits)
    q[model.nq - len(middle) :] = np.where(np.abs(middle) <= INSIDE * half, 0.0, middle)
    return q


def _middles(limits: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Middle and half of each range (k, 2); 0 and infinite where it is open at an end."""
    lower, upper = limits.T
    is_closed = np.isfinite(upper - lower)
    middle = np.zeros(len(limits))
    np.add(lower, upper, out=middle, where=is_closed)
    return 0.5 * middle, np.where(is_closed, 0.5 * (upper - lower), np.inf)


def task_rows(model: Model, limb: Limb) -> str:
    """The rows to control: the first of pose, position and orientation that the limb's own joints move somewhere.

    The position of a forearm that has no hand is that of its elbow, which two of four joints do not move: it is turned.
    """
    rng, rest = np.random.default_rng(0), rest_positions(model)
    poses = [_sample(model, rest, limb, rng) for _ in range(30)]
    for rows in ROWS:
        if rows == "pose" and len(limb.joints) < POSE_JOINTS:
            continue
        if max(conditioning(model, q, limb, rows) for q in poses) > RANK:
            return rows
    return "position"


def conditioning(model: Model, q: NDArray[np.float64], limb: Limb, rows: str) -> float:
    """Smallest singular value of the limb's Jacobian over its largest, turns weighed by a third of its length.

    With fewer joints than rows, of the directions that they can move at all.
    """
    J = frame_jacobian(model, q, limb.frame)[:, list(limb.joints)]
    length = max(float(np.linalg.norm(J[:3], axis=0).max()), 1e-3)
    J = J / np.repeat([length, 3.0], 3)[:, None]
    values = np.linalg.svd(J[ROWS[rows]], compute_uv=False)
    return float(values[-1] / values[0]) if values[0] > MOVED else 0.0


def start_of_hands(model: Model, limbs: Sequence[Limb]) -> NDArray[np.float64]:
    """q (nq,): the best of random poses for each hand, mirrored where it mirrors one before it; the others at rest."""
    q, done = rest_positions(model), list[Limb]()
    for limb in limbs:
        if limb.kind != "hand":
            continue
        pairs = ((each, mirror_signs(model, each, limb)) for each in done)
        twin = next(((each, signs) for each, signs in pairs if signs is not None), None)
        if twin is None:
            q = _best_pose(model, q, limb)
        else:
            mirrored = twin[1] * q[places_in_q(model, twin[0])]
            q[places_in_q(model, limb)] = np.clip(mirrored, *_inner_range(model, limb))
        done.append(limb)
    return q


def _best_pose(model: Model, rest: NDArray[np.float64], limb: Limb) -> NDArray[np.float64]:
    rng = np.random.default_rng(1)
    rows = task_rows(model, limb)
    samples = [_sample(model, rest, limb, rng) for _ in range(SAMPLES)]
    # how a standing robot balances matters more than how far its hands are from singularities
    count = 1 if model.is_base_coordinate.any() else FINALISTS
    best = sorted(samples, key=lambda q: -_merit(model, q, limb, rows))[:count]
    return max(
        best, key=lambda q: min(_merit(model, p, limb, rows) for p in poses_about(model, q, limb))
    )


def poses_about(model: Model, q: NDArray[np.float64], limb: Limb) -> Sequence[NDArray[np.float64]]:
    """The pose, and some about it, inside the joints' limits."""
    rng, poses = np.random.default_rng(3), [q]
    base, places = model.nv - len(model.position_limits), places_in_q(model, limb)
    limits = model.position_limits[np.array(limb.joints) - base]
    for _ in range(AROUND):
        near = q.copy()
        near[places] = np.clip(q[places] + rng.uniform(-ABOUT, ABOUT, len(places)), *limits.T)
        poses.append(near)
    return poses


def _merit(model: Model, q: NDArray[np.float64], limb: Limb, rows: str) -> float:
    """Conditioning, times what gravity leaves of the efforts, times the distance from limits; less if low."""
    base = model.nv - len(model.effort_limits)
    joints = np.array(limb.joints)
    gravity = np.abs(bias_forces(model, q, np.zeros(model.nv))[joints])
    left = 1.0 - float((gravity / model.effort_limits[joints - base]).max())
    middle, half = _middles(model.position_limits[joints - base])
    room = 1.0 - np.abs(q[places_in_q(model, limb)] - middle) / np.maximum(half, 1e-9)
    is_low = not base and _lowest(model, q, limb) < LOW
    merit = conditioning(model, q, limb, rows) * max(left, 1e-3) ** 2 * min(float(room.min()), 0.5)
    return 0.1 * merit if is_low else merit


def _lowest(model: Model, q: NDArray[np.float64], limb: Limb) -> float:
    """Height of the lowest of the limb's links beyond its third joint [m]."""
    bodies = [i for i in range(len(model.parent)) if model.v_index[i] in limb.joints[2:]]
    names = [*(model.body_names[i] for i in bodies), limb.frame]
    return min(float(frame_pose(model, q, name)[0][2]) for name in names)


def _sample(
    model: Model, rest: NDArray[np.float64], limb: Limb, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Rest with the limb's joints about it at random, in the inner part of their ranges."""
    q, places = rest.copy(), places_in_q(model, limb)
    lower, upper = _inner_range(model, limb)
    spread = np.minimum(SPREAD, SHARE * np.where(np.isfinite(upper - lower), upper - lower, np.inf))
    q[places] = np.clip(rest[places] + spread * rng.normal(size=len(places)), lower, upper)
    return q


def _inner_range(model: Model, limb: Limb) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    base = model.nv - len(model.position_limits)
    lower, upper = model.position_limits[np.array(limb.joints) - base].T
    margin = 0.5 * (1.0 - INSIDE) * np.where(np.isfinite(upper - lower), upper - lower, 0.0)
    return lower + margin, upper - margin


def places_in_q(model: Model, limb: Limb) -> NDArray[np.int64]:
    """Places of the limb's joints in q: one coordinate each, behind the base."""
    return np.array(limb.joints) + (model.nq - model.nv)


def mirror_signs(model: Model, first: Limb, second: Limb) -> NDArray[np.float64] | None:
    """(joints,) +-1 by which the second limb mirrors the first in the plane y = 0; None if it does not."""
    if len(first.joints) != len(second.joints):
        return None
    q = model.neutral()
    axes = [frame_jacobian(model, q, each.frame)[3:, list(each.joints)] for each in (first, second)]
    cosines = np.sum(MIRROR[:, None] * axes[0] * axes[1], axis=0)
    p, other = (frame_pose(model, q, each.frame)[0] for each in (first, second))
    is_opposite = np.abs(p * [1, -1, 1] - other).max() < 0.1 * max(np.abs(p).max(), 0.1)
    return np.sign(cosines) if is_opposite and (np.abs(cosines) > ALIKE).all() else None
