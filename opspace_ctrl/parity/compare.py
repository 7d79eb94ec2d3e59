# SPDX-License-Identifier: Apache-2.0
"""What differs between two models of a robot, or a model and what its robot did: in words, the worst first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..dynamics import bias_forces, frame_jacobian, frame_pose
from ..errors import listed
from ..model import Model
from ..model.rotations import from_quaternion
from .recorded import Recorded
from .zeros import counted_from, zeros_apart

__all__ = ["Difference", "compare_models", "compare_recording"]

POSES = 64
TINY_MASS, TINY_LENGTH = 1e-6, 1e-6  # [kg], [m] what rounding makes of a file's digits
TINY_INERTIA = 1e-9  # [kg m^2] likewise
STRUCTURE = 10.0  # how bad a difference in kind is: above all in size
NOTE = 0.0  # of what only one of them says, or no joint feels: told, but no difference
# MuJoCo has none of the first, and of the second only with actuators
UNSAID = ("velocity limit", "effort limit")
RANGE = np.pi  # of joints without limits


@dataclass(frozen=True)
class Difference:
    """One difference.

    Attributes:
        size: How bad: relative to what is compared; a difference in kind counts as STRUCTURE, a NOTE as none.
        subject: The joint or link.
        text: What, in words.
    """

    size: float
    subject: str
    text: str


def compare_models(
    a: Model, b: Model, tolerance: float = 1e-3, seed: int = 0, free_zeros: bool = False
) -> list[Difference]:
    """Everything in which b differs from a by more than the tolerance (relative), the worst first.

    Bodies are compared as the joints move them, fixed links lumped, in the world's axes where all joints are at zero:
    so link frames may differ. Gravity torques are compared at 64 poses of the joints that both have. Where joints
    that count from other zeros explain more than they add, the rest is compared where both are alike.

    Args:
        a, b, tolerance: Shares below it are no difference.
        seed: Of the poses.
        free_zeros: Another zero is a note, as for a Gazebo model, which counts from where the robot starts.
    """
    found, zeros = _differences(a, b, tolerance, seed), zeros_apart(a, b)
    if zeros:
        size = NOTE if free_zeros else STRUCTURE
        explained = [
            Difference(size, name, f"is at zero where the first says {zero:.5g} rad (or m)")
            for name, zero in zeros.items()
        ]
        explained += _differences(a, counted_from(b, zeros), tolerance, seed)
        found = min(found, explained, key=len)
    return sorted(found, key=lambda each: -each.size)


def _differences(a: Model, b: Model, tolerance: float, seed: int) -> list[Difference]:
    return [
        *_joints(a, b),
        *_passive(a, b, tolerance),
        *_bodies(a, b, tolerance),
        *_gravity(a, b, tolerance, seed),
    ]


def compare_recording(model: Model, run: Recorded, tolerance: float = 1e-3) -> list[Difference]:
    """Efforts at rest against the model's gravity torques, joint by joint; dry friction is allowed for."""
    places = _places(model)
    missing = [name for name in run.joints if name not in places]
    found = [
        Difference(STRUCTURE, name, "was recorded, and is no joint of the model")
        for name in missing
    ]
    common = [name for name in run.joints if name in places]
    torques = []
    for q in run.positions:
        full = model.neutral()
        for name, value in zip(run.joints, q):
            if name in places:
                full[places[name]] = value
        torques.append(bias_forces(model, full, np.zeros(model.nv)))
    expected = np.array(torques)[:, [places[name] for name in common]]
    seen = run.efforts[:, [run.joints.index(name) for name in common]]
    friction = model.friction[[places[name] for name in common]]
    return sorted(
        [*found, *_torques(common, expected, seen, friction, tolerance, "the recording")],
        key=lambda each: -each.size,
    )


def _places(model: Model) -> dict[str, int]:
    """{joint: coordinate} of the joints with one coordinate."""
    return {
        model.body_joint_names[i]: int(model.v_index[i])
        for i in range(len(model.parent))
        if not model.is_mimic[i]
    }


def _common(a: Model, b: Model) -> list[str]:
    return [name for name in a.joint_names if name in set(b.joint_names)]


def _joints(a: Model, b: Model) -> Iterator[Difference]:
    """Joints that only one has, their order, the directions and places of their axes."""
    for own, others, which in (
        (a.joint_names, b.joint_names, "second"),
        (b.joint_names, a.joint_names, "first"),
    ):
        for name in own:
            if name not in others:
                yield Difference(
                    STRUCTURE,
                    name,
                    f"is no joint of the {which}, which has {listed(others)}",
                )
    common = _common(a, b)
    order = [name for name in b.joint_names if name in common]
    if order != common:
        k = next(i for i, (x, y) in enumerate(zip(common, order)) if x != y)
        yield Difference(
            STRUCTURE,
            common[k],
            f"another order: place {k} is {common[k]} first and {order[k]} then",
        )
    for name in common:
        (axis, point), (other, there) = _axis(a, name), _axis(b, name)
        cosine = float(axis @ other)
        if cosine < -1.0 + 1e-6:
            yield Difference(
                STRUCTURE, name, "turns (or slides) the other way: its sign is opposite"
            )
        elif cosine < 1.0 - 1e-6:
            angle = np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))
            yield Difference(
                STRUCTURE * angle / 180.0, name, f"its axis is turned by {angle:.3g} degrees"
            )
        off = float(np.linalg.norm(np.cross(axis, point - there)))
        if off > 1e-5 and abs(cosine) > 1.0 - 1e-6:
            yield Difference(STRUCTURE * off, name, f"its axis is {1e3 * off:.3g} mm beside")


def _axis(model: Model, joint: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Direction and a point of a joint's axis in the world, all joints at zero."""
    body = model.body_joint_names.index(joint)
    q = model.neutral()
    J = frame_jacobian(model, q, model.body_names[body])[:, model.v_index[body]]
    direction = J[3:] if np.linalg.norm(J[3:]) > 0.5 else J[:3]
    return direction, frame_pose(model, q, model.body_names[body])[0]


def _passive(a: Model, b: Model, tolerance: float) -> Iterator[Difference]:
    """Limits, armature, damping, friction."""
    pairs = {each: tuple(_values(model, each) for model in (a, b)) for each in _common(a, b)}
    for joint, (one, other) in pairs.items():
        for what in one:
            x, y = one[what], other[what]
            if x == y or (np.isinf(x) and np.isinf(y)):
                continue
            text = f"{what}: {_said(x)} and {_said(y)}"
            if np.isinf([x, y]).any():
                yield Difference(NOTE if what in UNSAID else 1.0, joint, text)
                continue
            size = abs(x - y) / max(abs(x), abs(y))
            if size > tolerance and not np.isclose(x, y, atol=1e-9):
                yield Difference(float(min(size, 1.0)), joint, text)


def _values(model: Model, joint: str) -> dict[str, float]:
    v = _places(model)[joint]
    k = v - int(model.is_base_coordinate.sum())
    return {
        "lower limit": model.position_limits[k, 0],
        "upper limit": model.position_limits[k, 1],
        "velocity limit": model.velocity_limits[k],
        "effort limit": model.effort_limits[k],
        "armature": model.armature[v],
        "damping": model.damping[v],
        "friction": model.friction[v],
    }


def _said(value: float) -> str:
    return "none" if np.isinf(value) else f"{value:.5g}"


def _bodies(a: Model, b: Model, tolerance: float) -> Iterator[Difference]:
    """Mass, centre and inertia of what each joint moves, lumped, in world axes at zero."""
    masses = np.array([a.total_mass, b.total_mass])
    moved = np.array([model.mass.sum() for model in (a, b)])
    share = np.ptp(masses) / masses.max(initial=TINY_MASS)
    if share > tolerance:
        is_felt = np.ptp(moved) > tolerance * moved.max()
        text = f"weighs {masses[0]:.5g} and {masses[1]:.5g} kg"
        yield Difference(
            float(share) if is_felt else NOTE,
            "the robot",
            text if is_felt else f"{text}; they differ in what no joint moves",
        )
    for joint in _common(a, b):
        one, other = _inertial(a, joint), _inertial(b, joint)
        where = f"what {joint} moves"
        gap = abs(one[0] - other[0])
        if gap > max(tolerance * max(one[0], other[0]), TINY_MASS):
            size = gap / max(one[0], other[0])
            yield Difference(size, where, f"mass: {one[0]:.5g} and {other[0]:.5g} kg")
        off = float(np.linalg.norm(one[1] - other[1]))
        length = max(float(np.linalg.norm(one[1])), 0.1)
        if off > max(tolerance * length, TINY_LENGTH) and min(one[0], other[0]) > 0.0:
            yield Difference(off / length, where, f"centre of mass: {1e3 * off:.3g} mm apart")
        spread = float(np.abs(one[2] - other[2]).max())
        largest = max(float(np.abs(one[2]).max()), float(np.abs(other[2]).max()))
        if spread > max(tolerance * largest, TINY_INERTIA):
            yield Difference(spread / largest, where, _inertia_words(one[2], other[2]))


def _inertial(model: Model, joint: str) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """Mass, centre (3,) and inertia (3, 3) of the body that a joint moves, in the world where joints are at zero."""
    i = model.body_joint_names.index(joint)
    p, quaternion = frame_pose(model, model.neutral(), model.body_names[i])
    R = from_quaternion(quaternion)
    return float(model.mass[i]), p + R @ model.com[i], R @ model.inertia[i] @ R.T


def _inertia_words(one: NDArray[np.float64], other: NDArray[np.float64]) -> str:
    """Same principal moments mean that only the axes differ: an inertial's rpy was lost."""
    moments = [np.linalg.eigvalsh(each) for each in (one, other)]
    said = " and ".join("(" + ", ".join(f"{m:.3g}" for m in each) + ")" for each in moments)
    if np.allclose(moments[0], moments[1], rtol=1e-3, atol=TINY_INERTIA):
        return f"inertia: the same principal moments {said} about other axes: is an inertial's rpy lost?"
    return f"inertia: principal moments {said} kg m^2"


def _gravity(a: Model, b: Model, tolerance: float, seed: int) -> Iterator[Difference]:
    """Gravity torques of the joints that both have, at the same 64 poses."""
    common, rng = _common(a, b), np.random.default_rng(seed)
    if not common:
        return
    lower, upper = np.array([_range(a, b, name) for name in common]).T
    torques: tuple[list[NDArray[np.float64]], ...] = ([], [])
    for _ in range(POSES):
        values = rng.uniform(lower, upper)
        for model, found in zip((a, b), torques):
            places = _places(model)
            q, own = model.neutral(), [places[name] for name in common]
            q[np.array(own) + model.nq - model.nv] = values
            found.append(bias_forces(model, q, np.zeros(model.nv))[own])
    one, other = (np.array(each) for each in torques)
    yield from _torques(common, one, other, np.zeros(len(common)), tolerance, "the second")


def _range(a: Model, b: Model, joint: str) -> tuple[float, float]:
    """A range that both models allow."""
    limits = [_values(model, joint) for model in (a, b)]
    lower = max(max(each["lower limit"], -RANGE) for each in limits)
    upper = min(min(each["upper limit"], RANGE) for each in limits)
    return (lower, upper) if lower <= upper else (0.0, 0.0)


def _torques(
    joints: list[str],
    one: NDArray[np.float64],
    other: NDArray[np.float64],
    allowed: NDArray[np.float64],
    tolerance: float,
    who: str,
) -> Iterator[Difference]:
    """Joint by joint, over poses."""
    if not joints:
        return
    largest = max(float(np.abs(one).max()), float(np.abs(other).max()), 1e-9)
    for j, joint in enumerate(joints):
        gaps = np.abs(one[:, j] - other[:, j])
        pose = int(np.argmax(gaps))
        gap = max(float(gaps[pose]) - float(allowed[j]), 0.0)
        scale = max(
            float(np.abs(one[:, j]).max()), float(np.abs(other[:, j]).max()), 0.01 * largest
        )
        if gap > max(tolerance * scale, 1e-6):
            yield Difference(
                gap / scale,
                joint,
                f"gravity torque: {one[pose, j]:.4g} and, of {who}, {other[pose, j]:.4g} Nm (or N) in "
                f"the worst of {len(one)} poses",
            )
