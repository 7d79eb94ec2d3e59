# SPDX-License-Identifier: Apache-2.0
"""Stiffness, speeds and clips of a task, from the robot's inertia and limits and the rate of the loop.

A task whose inertia is decoupled is a double integrator behind a delay T: with critical damping its crossover is at
2.4 omega, where the delay costs 2.4 omega T of phase. PHASE keeps that to a quarter of a radian, which leaves more than
60 degrees. The effort limits bound the acceleration a that a task can have beside gravity: the loop may ask for a part
of it at the largest error that counts, and the motion to a target for a smaller part.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..control.tasks import PoseTask
from ..declaration import declared
from ..dynamics import bias_forces, frame_jacobian, mass_matrix
from ..model import Model
from .limbs import Limb
from .reach import ROWS, poses_about

__all__ = [
    "TaskGains",
    "decent",
    "largest_accelerations",
    "largest_speeds",
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
LEAST_SPEED = 0.005  # [m/s, rad/s]
SOFTEST = 25.0  # [1/s^2]
RESET = 0.1  # integral action, as a share of the damping
SINGULAR = 1e-3  # directions of a task with less than this of the largest response are left out
NO_LIMIT = 1e9
FASTEST = 10.0  # [rad/s or m/s] what counts as the limit of a joint that has none
LINEAR_NAMES = ("speed", "acceleration", "error_clip", "integral_clip")
ANGULAR_NAMES = ("angular_speed", "angular_acceleration", "error_clip_angle", "integral_clip_angle")
# Parameters of a task by its rows.
NAMES = {
    "pose": LINEAR_NAMES + ANGULAR_NAMES,
    "position": LINEAR_NAMES,
    "orientation": ANGULAR_NAMES,
}


@dataclass(frozen=True)
class TaskGains:
    """Numbers of one task, in the units of its parameters, and where they come from.

    Attributes:
        rows: What is controlled, "pose", "position" or "orientation".
        is_stuck: Dry friction is larger than the inertia behind it lets the loop overcome.
        reason: What limits the stiffness.
        slowest: What limits the speed.
    """

    rows: str
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
    slowest: str

    def parameters(self) -> dict[str, Any]:
        """Those that such rows have; clips of the integral only where friction needs more than the default."""
        found: dict[str, Any] = {
            "rows": self.rows,
            "stiffness": [self.stiffness],
            "integral": self.integral,
        }
        table = declared(PoseTask)
        for name in NAMES[self.rows]:
            value = getattr(self, name)
            if not name.startswith("integral_clip") or value > table[name].default:
                found[name] = value
        return found

    @property
    def fastest(self) -> str:
        """The speed of the motion to a target, with its unit."""
        if self.rows == "orientation":
            return f"{self.angular_speed:g} rad/s"
        return f"{self.speed:g} m/s"


def loop_stiffness(rate: float) -> float:
    """Largest Kp [1/s^2] for a loop of this rate [Hz] with DELAY."""
    return float((PHASE / (DELAY + 1.5 / rate)) ** 2)


def task_gains(
    model: Model, q: NDArray[np.float64], limb: Limb, rows: str, rate: float, softer: float = 1.0
) -> TaskGains:
    """Gains of a task at the end of a limb; softer < 1 lowers stiffness and motion alike."""
    poses = poses_about(model, q, limb)
    a = np.min([largest_accelerations(model, pose, limb, rows) for pose in poses], axis=0)
    pairs = [largest_speeds(model, pose, limb, rows) for pose in poses]
    v = np.min([speeds for speeds, _ in pairs], axis=0)
    first = int(rows == "orientation")  # the kind of motion whose speed is told
    fastest = loop_stiffness(rate)
    by_effort = FEEDBACK * min(a[0] / LEAST_ERROR, a[1] / LEAST_ANGLE)
    kp = decent(softer * max(min(fastest, by_effort), SOFTEST))
    needed = _error_of_friction(model, q, limb, rows, kp)
    linear, angular = f"{a[0]:.1f} m/s^2", f"{a[1]:.0f} rad/s^2"
    possible = {
        "pose": f"{linear} and {angular}",
        "position": linear,
        "orientation": angular,
    }[rows]
    why = (
        f"{DELAY * 1e3:g} ms of delay at {rate:g} Hz allow {fastest:.0f}"
        if fastest <= by_effort
        else f"effort limits beside gravity allow {possible}"
    )
    return TaskGains(
        rows=rows,
        stiffness=kp,
        integral=decent(RESET * 2.0 * kp**0.5),
        speed=decent(max(softer * min(SPEED * v[0], LINEAR[0]), LEAST_SPEED)),
        acceleration=decent(softer * min(MOTION * a[0], LINEAR[1])),
        angular_speed=decent(max(softer * min(SPEED * v[1], ANGULAR[0]), LEAST_SPEED)),
        angular_acceleration=decent(softer * min(MOTION * a[1], ANGULAR[1])),
        error_clip=decent(float(np.clip(FEEDBACK * a[0] / kp, LEAST_ERROR, ERROR_CLIP))),
        error_clip_angle=decent(float(np.clip(FEEDBACK * a[1] / kp, LEAST_ANGLE, ANGLE_CLIP))),
        integral_clip=decent(float(np.clip(needed[0], *INTEGRAL_CLIPS[0]))),
        integral_clip_angle=decent(float(np.clip(needed[1], *INTEGRAL_CLIPS[1]))),
        is_stuck=needed[0] > INTEGRAL_CLIPS[0][1] or needed[1] > INTEGRAL_CLIPS[1][1],
        reason=why,
        slowest=_why_slow(model, v, min(pairs, key=lambda pair: pair[0][first])[1], rows),
    )


def _error_of_friction(
    model: Model, q: NDArray[np.float64], limb: Limb, rows: str, kp: float
) -> tuple[float, float]:
    """How large an error [m, rad] the integral has to count as to overcome every joint's dry friction."""
    H, J = _held(model, q, limb, rows)
    friction = model.friction[model.nv - len(H) :]
    a = np.abs(J @ np.linalg.inv(H)) @ friction  # of the task, whatever the signs of the friction
    needed = OVERCOME * a / kp
    linear, angular = _kinds(needed, rows)
    return float(linear.max(initial=0.0)), float(angular.max(initial=0.0))


def largest_accelerations(
    model: Model, q: NDArray[np.float64], limb: Limb, rows: str
) -> NDArray[np.float64]:
    """Accelerations (linear, angular) that the effort limits allow along the worst axis, from rest at q.

    The base is taken as held: tau = J^T Lambda e per acceleration e, beside gravity and friction. Directions that the
    task cannot move are left out; what has no rows has no limit.
    """
    base = model.nv - len(model.effort_limits)
    H, J = _held(model, q, limb, rows)
    still = np.abs(bias_forces(model, q, np.zeros(model.nv))[base:]) + model.friction[base:]
    room = np.maximum(EFFORT_SCALE * model.effort_limits - still, 0.01 * model.effort_limits)
    return _worst(torques_of_acceleration(H, _movable(J, limb)), room, rows)[0]


def largest_speeds(
    model: Model, q: NDArray[np.float64], limb: Limb, rows: str
) -> tuple[NDArray[np.float64], int]:
    """Speeds (linear, angular) that velocity limits and damping allow along the worst axis, and the joint at its limit.

    The joints move at the speeds of least norm as shares of their limits; axes as in `largest_accelerations`.
    """
    limits = _speed_limits(model)
    fastest = np.minimum(limits, FASTEST)
    J = _movable(_held(model, q, limb, rows)[1], limb)
    return _worst(fastest[:, None] * _inverse(J * fastest), limits, rows)


def _speed_limits(model: Model) -> NDArray[np.float64]:
    """(joints,) what velocity limits allow, and the effort that works against damping."""
    base = model.nv - len(model.effort_limits)
    limits = np.where(model.velocity_limits > 0.0, model.velocity_limits, np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):  # no limit and no damping: inf / 0
        return np.fmin(limits, model.effort_limits / model.damping[base:])


def _why_slow(model: Model, speeds: NDArray[np.float64], joint: int, rows: str) -> str:
    """Which joint a motion along the worst axis brings to its limit first, and by what."""
    speed, most, unit = (
        (speeds[1], ANGULAR[0], "rad/s") if rows == "orientation" else (speeds[0], LINEAR[0], "m/s")
    )
    if SPEED * speed >= most:
        return f"no more than {most:g} {unit} in a first motion, though the joints allow it"
    own, limit = _speed_limits(model)[joint], model.velocity_limits[joint]
    what = "velocity limit" if own >= limit > 0.0 else "speed against its damping"
    return (
        f"{SPEED:.0%} of the {decent(speed):g} {unit} at which {model.joint_names[joint]} reaches its "
        f"{what}, {decent(own):g}, along the worst axis about the start"
    )


def _movable(J: NDArray[np.float64], limb: Limb) -> NDArray[np.float64]:
    """J along its axes; of fewer joints than axes, along the directions that they can move."""
    if len(limb.joints) >= len(J):
        return J
    U, values, _ = np.linalg.svd(J, full_matrices=False)
    is_moved = values > SINGULAR * max(float(values[0]), 1e-12)
    return U[:, is_moved].T @ J


def _held(
    model: Model, q: NDArray[np.float64], limb: Limb, rows: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """H (k, k) and J (rows, k) of the joints alone, the limb moved by its own."""
    base, k = model.nv - len(model.effort_limits), len(model.effort_limits)
    own = np.array(limb.joints) - base
    moved = frame_jacobian(model, q, limb.frame)[ROWS[rows], list(limb.joints)]
    J = np.zeros((len(moved), k))
    J[:, own] = moved
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


def _worst(
    response: NDArray[np.float64], room: NDArray[np.float64], rows: str
) -> tuple[NDArray[np.float64], int]:
    """(linear, angular): what is possible along the worst axis of each kind; and the joint that limits the first."""
    with np.errstate(divide="ignore", invalid="ignore"):
        possible = np.where(response == 0.0, np.inf, room[:, None] / np.abs(response))
    kinds = _kinds(possible, rows)
    worst = [each.min(initial=np.inf) for each in kinds]
    told = kinds[rows == "orientation"]
    return np.minimum(worst, NO_LIMIT), int(told.min(axis=1, initial=np.inf).argmin())


def _kinds(
    values: NDArray[np.float64], rows: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The linear and the angular ones of numbers along a task's axes, which are last."""
    count = 0 if rows == "orientation" else 3
    return values[..., :count], values[..., count:]


def decent(value: float) -> float:
    """Two digits: more would pretend to know more."""
    return float(f"{value:.2g}")
