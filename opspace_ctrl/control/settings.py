"""`controller_settings`: the parameters of a controller, checked and in the form the controller uses.

Whatever needs no robot is checked here; `Controller` checks the rest. Which parameters may change while it runs is
said by their table (`read_only`), and `fixed_changes` names those that were changed all the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import SettingsError, listed, quoted
from ..osim.tasks import ROWS
from ..parameters import checked
from .structure import WHOLE_ROBOT, ContactSpec, Structure, TaskSpec
from .tables import AXES, controller_table

__all__ = [
    "ContactSettings",
    "ControllerSettings",
    "MotionLimits",
    "PostureSettings",
    "SafetySettings",
    "TaskSettings",
    "controller_settings",
    "fixed_changes",
]

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
RESERVED = ("compensation", "limits", "payload", "posture", "singularity")
DEFAULT_STIFFNESS = {"inertia": (400.0, 400.0), "impedance": (400.0, 20.0)}
# The axes that each choice of `rows` has: those whose columns of its selection are not zero.
OF_ROWS = {
    rows: tuple(axis for axis, column in zip(AXES, selection.T) if column.any())
    for rows, selection in {
        **ROWS,
        **{word: task().selection() for word, task in WHOLE_ROBOT.items()},
    }.items()
}


@dataclass(frozen=True)
class MotionLimits:
    """Limits of the motion to a new target pose: least time [s], speeds and accelerations, linear and angular."""

    time: float
    speed: float
    angular_speed: float
    acceleration: float
    angular_acceleration: float


@dataclass(frozen=True)
class TaskSettings:
    """One task.

    Attributes:
        spec: What cannot change.
        stiffness, damping: (6,) along the task's axes, linear first.
        motion: (6,) 1.0 for axes in which motion is controlled, 0.0 where the target wrench is.
        error_clip: Position [m] and orientation error [rad] are shortened to these.
        jump: Distance [m] and angle [rad] to which a target is moved nearer; inf: any.
    """

    spec: TaskSpec
    enabled: bool
    stiffness: tuple[float, ...]
    damping: tuple[float, ...]
    motion: tuple[float, ...]
    error_clip: tuple[float, float]
    force_gain: float
    force_integral: float
    force_limit: float
    force_damping: float
    wrench_limit: float
    limits: MotionLimits
    jump: tuple[float, float]


@dataclass(frozen=True)
class ContactSettings:
    """One contact; the sole is a rectangle of `half_lengths` about `centre` in the frame [m]."""

    spec: ContactSpec
    enabled: bool
    friction: float
    half_lengths: tuple[float, float]
    centre: tuple[float, float]
    minimum_force: float
    damping: float


@dataclass(frozen=True)
class PostureSettings:
    """The posture; `joints` () means all joints, `positions` () where the robot is, one gain counts for all joints."""

    enabled: bool
    joints: tuple[str, ...]
    positions: tuple[float, ...]
    stiffness: tuple[float, ...]
    damping: tuple[float, ...]
    error_clip: float
    speed: float
    null_damping: float


@dataclass(frozen=True)
class Compensation:
    """What is added to the task torques."""

    bias: bool
    gravity: bool
    coriolis: bool
    friction: bool
    friction_speed: float
    payload_mass: float
    payload_centre: tuple[float, float, float]
    payload_frame: str


@dataclass(frozen=True)
class Limits:
    """Limits of the torque, how joints are kept from theirs, and where directions of tasks count as lost."""

    torque_rate: float
    effort_scale: float
    margin: float
    speed_margin: float
    stiffness: float
    damping: float
    singular_damping: float
    singular_cut: float


@dataclass(frozen=True)
class SafetySettings:
    """Gates; see `tables` for each."""

    safe_command: str
    last_command: str
    safe_damping: float
    gravity_time: float
    state_timeout: float
    state_periods: float
    odom_timeout: float
    target_timeout: float
    stream_timeout: float
    liveness_timeout: float
    clock_jump: float
    position_margin: float
    velocity_factor: float
    overrun_time: float
    overrun_count: int
    enable_timeout: float
    single_publisher: bool
    manual_recovery: tuple[str, ...]
    recovery_time: float


@dataclass(frozen=True)
class ControllerSettings:
    """Everything about a controller except its robot.

    Attributes:
        values: All parameters by name, as they were checked; for messages and comparisons, not to be changed.
    """

    values: Mapping[str, Any]
    mode: str
    method: str
    joints: tuple[str, ...]
    tasks: tuple[TaskSettings, ...]
    contacts: tuple[ContactSettings, ...]
    posture: PostureSettings
    compensation: Compensation
    limits: Limits
    safety: SafetySettings
    internal_forces: str
    ramp: float
    fade: float

    @property
    def locked(self) -> dict[str, float]:
        """Joints to freeze when the robot is loaded, and where."""
        names = self.values["locked_joints"]
        return dict(zip(names, self.values["locked_positions"] or [0.0] * len(names)))

    @property
    def structure(self) -> Structure:
        """What `Core` is built from."""
        return Structure(
            tuple(task.spec for task in self.tasks),
            tuple(contact.spec for contact in self.contacts),
            self.joints or None,
        )


def controller_settings(values: Mapping[str, Any]) -> ControllerSettings:
    """Check the parameters of a controller (flat dotted names; the rest take their defaults).

    Raises:
        ParameterError: A parameter is unknown, of the wrong type, out of range or not one of its choices.
        SettingsError: Parameters contradict each other.
    """
    start = checked(
        controller_table(), {name: values[name] for name in ("tasks", "contacts") if name in values}
    )
    tasks, contacts = start["tasks"], start["contacts"]
    _check_names([*tasks, *contacts])
    p = checked(controller_table(tasks, contacts), values)
    _check_unique("joints and locked_joints", [*p["joints"], *p["locked_joints"]])
    if len(p["locked_positions"]) not in (0, len(p["locked_joints"])):
        raise SettingsError(
            f"locked_positions has {len(p['locked_positions'])} numbers for {len(p['locked_joints'])} "
            "locked_joints"
        )
    if not p["singularity.cut"] < p["singularity.damping"]:
        raise SettingsError(
            f"singularity.cut = {p['singularity.cut']:g} must be below singularity.damping = "
            f"{p['singularity.damping']:g}"
        )
    if p["mode"] == "raw" and not tasks:
        raise SettingsError(
            "mode raw needs at least one task, whose rows F belongs to: give `tasks`"
        )
    safety: dict[str, Any] = {
        name: tuple(p[name]) if isinstance(p[name], list) else p[name]
        for name in SafetySettings.__dataclass_fields__
    }
    return ControllerSettings(
        values=p,
        mode=p["mode"],
        method=p["method"],
        joints=tuple(p["joints"]),
        tasks=tuple(_task(name, p) for name in tasks),
        contacts=tuple(_contact(name, p) for name in contacts),
        posture=_posture(p),
        compensation=_compensation(p),
        limits=Limits(
            p["torque_rate_limit"],
            p["effort_scale"],
            p["limits.margin"],
            p["limits.speed_margin"],
            p["limits.stiffness"],
            p["limits.damping"],
            p["singularity.damping"],
            p["singularity.cut"],
        ),
        safety=SafetySettings(**safety),
        internal_forces=p["internal_forces"],
        ramp=p["ramp"],
        fade=p["fade"],
    )


def fixed_changes(old: ControllerSettings, new: ControllerSettings) -> list[str]:
    """Names of the parameters that differ and cannot change while the controller runs."""
    fixed = {
        parameter.name
        for parameter in controller_table(old.values["tasks"], old.values["contacts"])
        if parameter.read_only
    }
    return sorted(
        name
        for name in fixed | (set(old.values) ^ set(new.values))
        if old.values.get(name) != new.values.get(name)
    )


def _check_names(names: Sequence[str]) -> None:
    known = {parameter.name for parameter in controller_table()} | set(RESERVED)
    for name in names:
        if not NAME.match(name):
            raise SettingsError(
                f"{quoted(name)} cannot name a task or contact: letters, digits and _ are valid, "
                "a letter first"
            )
        if name in known:
            raise SettingsError(
                f"{quoted(name)} cannot name a task or contact: it is the name of a parameter"
            )
    _check_unique("tasks and contacts", names)


def _check_unique(what: str, names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise SettingsError(
                f"{what}: {quoted(name)} is given {names.count(name)} times; each name may stand once"
            )


def _task(t: str, p: Mapping[str, Any]) -> TaskSettings:
    rows, law, valid = p[f"{t}.rows"], p[f"{t}.law"], OF_ROWS[p[f"{t}.rows"]]
    is_whole_robot = rows in WHOLE_ROBOT
    if is_whole_robot and p[f"{t}.frame"]:
        raise SettingsError(
            f"{t}.frame: {quoted(p[f'{t}.frame'])} is given, but rows = {rows} is the whole robot's"
        )
    if is_whole_robot and p[f"{t}.relative_to"]:
        raise SettingsError(f"{t}.relative_to: rows = {rows} is seen from the world only")
    stiffness = _gains(f"{t}.stiffness", p[f"{t}.stiffness"], rows) or _spread(
        DEFAULT_STIFFNESS[law]
    )
    damping = _gains(f"{t}.damping", p[f"{t}.damping"], rows) or tuple(
        2.0 * k**0.5 for k in stiffness
    )
    for axis in p[f"{t}.force_axes"]:
        if axis not in valid:
            raise SettingsError(
                f"{t}.force_axes: {axis!r} is not an axis of rows = {rows}; valid are {listed(valid)}"
            )
    spec = TaskSpec(
        t,
        None if is_whole_robot else p[f"{t}.frame"] or t,
        rows,
        p[f"{t}.relative_to"] or None,
        p[f"{t}.axes"] or None,
        p[f"{t}.level"],
        law,
    )
    return TaskSettings(
        spec=spec,
        enabled=p[f"{t}.enabled"],
        stiffness=stiffness,
        damping=damping,
        motion=tuple(float(axis not in p[f"{t}.force_axes"]) for axis in AXES),
        error_clip=(p[f"{t}.error_clip"], p[f"{t}.error_clip_angle"]),
        **{
            name: p[f"{t}.{name}"]
            for name in (
                "force_gain",
                "force_integral",
                "force_limit",
                "force_damping",
                "wrench_limit",
            )
        },
        limits=MotionLimits(*(p[f"{t}.{name}"] for name in MotionLimits.__dataclass_fields__)),
        jump=(p[f"{t}.jump"] or float("inf"), p[f"{t}.jump_angle"] or float("inf")),
    )


def _spread(pair: Sequence[float]) -> tuple[float, ...]:
    """Linear and angular number to one an axis."""
    return (float(pair[0]),) * 3 + (float(pair[1]),) * 3


def _gains(name: str, given: Sequence[float], rows: str) -> tuple[float, ...]:
    """One, two (a pose's linear and angular) or as many numbers as rows, as (6,); none if none is given."""
    count = len(OF_ROWS[rows])
    if len(given) in (0, 1):
        return _spread((given[0], given[0])) if given else ()
    if len(given) == count:
        return tuple(given) if count == 6 else tuple(given) * 2
    if len(given) == 2 and count == 6:
        return _spread(given)
    valid = "1, 2 or 6" if count == 6 else "1 or 3"
    raise SettingsError(f"{name} has {len(given)} numbers; valid for rows = {rows} are {valid}")


def _contact(c: str, p: Mapping[str, Any]) -> ContactSettings:
    front, back, left, right = (p[f"{c}.{side}"] for side in ("front", "back", "left", "right"))
    spec = ContactSpec(
        c, p[f"{c}.frame"] or c, 6 if p[f"{c}.rows"] == "pose" else 3, p[f"{c}.axes"]
    )
    return ContactSettings(
        spec,
        p[f"{c}.enabled"],
        p[f"{c}.friction"],
        (0.5 * (front + back), 0.5 * (left + right)),
        (0.5 * (front - back), 0.5 * (left - right)),
        p[f"{c}.minimum_force"],
        p[f"{c}.damping"],
    )


def _posture(p: Mapping[str, Any]) -> PostureSettings:
    joints, stiffness, damping = p["posture.joints"], p["posture.stiffness"], p["posture.damping"]
    _check_unique("posture.joints", joints)
    if not stiffness:
        raise SettingsError("posture.stiffness is empty; valid is one number, or one a joint")
    for name, given in (
        ("positions", p["posture.positions"]),
        ("stiffness", stiffness),
        ("damping", damping),
    ):
        several = len(given) > 1 or (given and name == "positions")
        if joints and several and len(given) != len(joints):
            raise SettingsError(
                f"posture.{name} has {len(given)} numbers for {len(joints)} posture.joints"
            )
    damping = damping or [2.0 * k**0.5 for k in stiffness]
    return PostureSettings(
        p["posture.enabled"],
        tuple(joints),
        tuple(p["posture.positions"]),
        tuple(stiffness),
        tuple(damping),
        p["posture.error_clip"],
        p["posture.speed"],
        p["null_damping"],
    )


def _compensation(p: Mapping[str, Any]) -> Compensation:
    if len(p["payload.centre"]) != 3:
        raise SettingsError(f"payload.centre has {len(p['payload.centre'])} numbers; valid are 3")
    return Compensation(
        p["compensate"],
        p["compensation.gravity"],
        p["compensation.coriolis"],
        p["compensation.friction"],
        p["compensation.friction_speed"],
        p["payload.mass"],
        tuple(p["payload.centre"]),
        p["payload.frame"],
    )
