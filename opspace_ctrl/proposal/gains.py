"""Stiffness, speeds and clips of a task, from the robot's inertia and limits and the rate of the loop.

A task whose inertia is decoupled is a double integrator behind a delay T: with critical damping its crossover is at
2.4 omega, where the delay costs 2.4 omega T of phase. PHASE keeps that to a quarter of a radian, which leaves more than
60 degrees. The effort limits bound the acceleration a that a task can have beside gravity: the loop may ask for a part
of it at the largest error that counts, and the motion to a target for a smaller part.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..dynamics import bias_forces, frame_jacobian, mass_matrix
from ..model import Model
from .limbs import Limb
from .reach import POSE_ROWS, POSITION_ROWS

__all__ = [
    "TaskGains",
    "decent",
    "largest_accelerations",
    "loop_stiffness",
    "task_gains",
    "torques_of_acceleration",
]

DELAY = 0.002  # [s] beside a period and a half of the loop
PHASE = 0.1  # omega T, rad
EFFORT_SCALE = 0.9  # share of the effort limits that is used
FEEDBACK, MOTION = (
    0.5,
    0.25,
)  # shares of the possible acceleration for errors, and for the motion to a target
SPEED = 0.4  # share of the velocity limits
LEAST_ERROR, LEAST_ANGLE = 0.005, 0.02  # [m, rad] errors that have to count in full
INTEGRAL_CLIPS = (
    (0.01, 0.1),
    (0.2, 1.5),
)  # [m], [rad]: least and most of what the integral counts as
OVERCOME = 1.5  # times the friction
ERROR_CLIP, ANGLE_CLIP = 0.05, 0.3  # [m, rad] at most
LINEAR, ANGULAR = (0.5, 2.0), (1.5, 8.0)  # speed and acceleration of a first motion at most
SOFTEST = 25.0  # [1/s^2]
RESET = 0.1  # integral action, as a share of the damping
ABOUT, AROUND = 0.3, 8  # [rad or m] and how many poses about the start are looked at
SINGULAR = 1e-3  # directions of a task with less than this of the largest response are left out
NO_LIMIT = 1e9
FASTEST = 10.0  # [rad/s or m/s] what counts as the limit of a joint that has none


@dataclass(frozen=True)
class TaskGains:
    """Numbers of one task, in the units of its parameters, and where they come from.

    Attributes:
        is_stuck: Dry friction is larger than the inertia behind it lets the loop overcome.
    """

    stiffness: float
    integral: float
    speed: float
    acceleration: float
    angular_speed: float
    angular_acceleration: float
    error_clip: float
    error_clip_angle: float
    integral_clip: float
    integral_clip_angle: float
    is_stuck: bool
    reason: str


def loop_stiffness(rate: float) -> float:
    """Largest Kp [1/s^2] for a loop of this rate [Hz] with DELAY."""
    return float((PHASE / (DELAY + 1.5 / rate)) ** 2)


def task_gains(
    model: Model, q: NDArray[np.float64], limb: Limb, rows: str, rate: float, softer: float = 1.0
) -> TaskGains:
    """Gains of a task at the end of a limb; softer < 1 lowers stiffness and motion alike."""
    count = POSE_ROWS if rows == "pose" else POSITION_ROWS
    pairs = [largest_accelerations(model, pose, limb, count) for pose in _about(model, q, limb)]
    a, v = (np.min([pair[k] for pair in pairs], axis=0) for k in range(2))
    fastest = loop_stiffness(rate)
    by_effort = min(
        FEEDBACK * a[0] / LEAST_ERROR, FEEDBACK * a[1] / LEAST_ANGLE if count > 3 else np.inf
    )
    kp = decent(softer * max(min(fastest, by_effort), SOFTEST))
    needed = _error_of_friction(model, q, limb, count, kp)
    why = (
        f"{DELAY * 1e3:g} ms of delay at {rate:g} Hz allow {fastest:.0f}"
        if fastest <= by_effort
        else f"effort limits beside gravity allow {a[0]:.1f} m/s^2"
        + (f" and {a[1]:.0f} rad/s^2" if count > 3 else "")
    )
    return TaskGains(
        stiffness=kp,
        integral=decent(RESET * 2.0 * kp**0.5),
        speed=decent(softer * min(SPEED * v[0], LINEAR[0])),
        acceleration=decent(softer * min(MOTION * a[0], LINEAR[1])),
        angular_speed=decent(softer * min(SPEED * v[1], ANGULAR[0])),
        angular_acceleration=decent(softer * min(MOTION * a[1], ANGULAR[1])),
        error_clip=decent(float(np.clip(FEEDBACK * a[0] / kp, LEAST_ERROR, ERROR_CLIP))),
        error_clip_angle=decent(float(np.clip(FEEDBACK * a[1] / kp, LEAST_ANGLE, ANGLE_CLIP))),
        integral_clip=decent(float(np.clip(needed[0], *INTEGRAL_CLIPS[0]))),
        integral_clip_angle=decent(float(np.clip(needed[1], *INTEGRAL_CLIPS[1]))),
        is_stuck=needed[0] > INTEGRAL_CLIPS[0][1] or needed[1] > INTEGRAL_CLIPS[1][1],
        reason=why,
    )


def _error_of_friction(
    model: Model, q: NDArray[np.float64], limb: Limb, rows: int, kp: float
) -> tuple[float, float]:
    """How large an error [m, rad] the integral has to count as to overcome every joint's dry friction."""
    H, J = _held(model, q, limb, rows)
    friction = model.friction[model.nv - len(H) :]
    a = np.abs(J @ np.linalg.inv(H)) @ friction  # of the task, whatever the signs of the friction
    needed = OVERCOME * a / kp
    return float(needed[:3].max()), float(needed[3:].max(initial=0.0))


def largest_accelerations(
    model: Model, q: NDArray[np.float64], limb: Limb, rows: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Acceleration and speed (linear, angular) that the limits allow along the worst axis, from rest at q.

    The base is taken as held. tau = J^T Lambda e per acceleration e beside gravity and friction; per speed the joint
    speeds of least norm as shares of their limits, and of what damping allows. Directions that the task cannot move
    are left out. Without angular rows the second numbers are those of a turn of 1 rad a metre.
    """
    base = model.nv - len(model.effort_limits)
    H, J = _held(model, q, limb, rows)
    still = np.abs(bias_forces(model, q, np.zeros(model.nv))[base:]) + model.friction[base:]
    room = np.maximum(EFFORT_SCALE * model.effort_limits - still, 0.01 * model.effort_limits)
    limits = np.where(model.velocity_limits > 0.0, model.velocity_limits, np.inf)
    with np.errstate(divide="ignore"):
        limits = np.minimum(limits, model.effort_limits / model.damping[base:])
    fastest = np.minimum(limits, FASTEST)
    to_speed = fastest[:, None] * _inverse(J * fastest)
    return _worst(torques_of_acceleration(H, J), room), _worst(to_speed, limits)


def _held(
    model: Model, q: NDArray[np.float64], limb: Limb, rows: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """H (k, k) and J (rows, k) of the joints alone, the limb moved by its own."""
    base, k = model.nv - len(model.effort_limits), len(model.effort_limits)
    J = np.zeros((rows, k))
    own = np.array(limb.joints) - base
    J[:, own] = frame_jacobian(model, q, limb.frame)[:rows, list(limb.joints)]
    return mass_matrix(model, q)[base:, base:], J


def torques_of_acceleration(H: NDArray[np.float64], J: NDArray[np.float64]) -> NDArray[np.float64]:
    """J^T Lambda (k, rows), with Lambda the pseudo-inverse of J H^-1 J^T."""
    response = J @ np.linalg.solve(H, J.T)
    return J.T @ _inverse(response)


def _inverse(A: NDArray[np.float64]) -> NDArray[np.float64]:
    """Pseudo-inverse of A, its rows scaled to one another first; small singular values count as none."""
    size = np.linalg.norm(A, axis=1)
    size = np.maximum(size, SINGULAR * max(float(size.max()), 1e-12))
    return np.linalg.pinv(A / size[:, None], rcond=SINGULAR) / size


def _worst(response: NDArray[np.float64], room: NDArray[np.float64]) -> NDArray[np.float64]:
    """(linear, angular): what is possible along the worst axis of each kind."""
    with np.errstate(divide="ignore", invalid="ignore"):
        possible = np.nanmin(room[:, None] / np.abs(response), axis=0)
    linear = float(np.min(possible[:3]))
    angular = float(np.min(possible[3:])) if len(possible) > POSITION_ROWS else linear
    return np.minimum([linear, angular], NO_LIMIT)


def _about(model: Model, q: NDArray[np.float64], limb: Limb) -> Sequence[NDArray[np.float64]]:
    """The start, and some poses about it."""
    rng, poses = np.random.default_rng(3), [q]
    base, joints = model.nv - len(model.position_limits), np.array(limb.joints)
    places = joints + model.nq - model.nv
    for _ in range(AROUND):
        near = q.copy()
        near[places] += rng.uniform(-ABOUT, ABOUT, size=len(places))
        near[places] = np.clip(near[places], *model.position_limits[joints - base].T)
        poses.append(near)
    return poses


def decent(value: float) -> float:
    """Two digits: more would pretend to know more."""
    return float(f"{value:.2g}")
