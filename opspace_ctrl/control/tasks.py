# SPDX-License-Identifier: Apache-2.0
"""The tasks of a controller: `PoseTask`, `PositionTask`, `OrientationTask`, `CenterOfMassTask`.

Every parameter of a task is declared here and nowhere else, see `declaration`. One with `law=True` is the field
`task_<name>` of `control.fields.Law`: a number a task, or, where it is `Numbers`, one an axis.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..declaration import Names, Numbers, Settings, declared, live
from ..errors import SettingsError, listed, quoted
from ..osim.tasks import AnyTask, CenterOfMass, Task
from ..parameters import Parameter

__all__ = [
    "AXES",
    "TASKS",
    "CenterOfMassTask",
    "ControlTask",
    "FrameTask",
    "OrientationTask",
    "PoseTask",
    "PositionTask",
    "RowsTask",
    "task_of",
    "task_table",
]

AXES = ("x", "y", "z", "rx", "ry", "rz")
LawName: TypeAlias = Literal["inertia", "impedance"]
DEFAULT_STIFFNESS = {"inertia": (400.0, 400.0), "impedance": (400.0, 20.0)}


@dataclass(frozen=True, kw_only=True)
class ControlTask(Settings, prefix="task."):
    """What all tasks have.

    Attributes:
        name: What the user calls it; unique.
        rows: What of a frame's or the robot's motion is controlled, a word of TASKS.
    """

    rows: ClassVar[str] = ""

    name: str = field(kw_only=False)
    level: int = live(
        1,
        "Priority: 1 comes first, and no level disturbs those before it.",
        "",
        1,
        100,
        structural=True,
    )
    enabled: bool = live(True, "Is the task on? It comes and goes over `fade`.", law=True)
    law: LawName = live(
        "inertia",
        "inertia: F = Lambda (a + Kd e_v + Kp e_x - Jdot v); impedance: F = Kp e_x + Kd e_v.",
        structural=True,
    )
    stiffness: Numbers = live(
        (),
        "Kp: one number, two (linear, angular) or one an axis. inertia: [1/s^2]; "
        "impedance: [N/m], [Nm/rad]. Empty: 400 1/s^2, or 400 N/m and 20 Nm/rad.",
        "",
        0.0,
        1e6,
        law=True,
    )
    damping: Numbers = live(
        (),
        "Kd, likewise. inertia: [1/s]; impedance: [Ns/m], [Nms/rad]. Empty: by damping_ratio.",
        "",
        0.0,
        1e5,
        derived=True,
    )
    damping_ratio: float = live(
        1.0,
        "Where no damping is given, that of every mode; 1: critical. inertia: Kd = 2 ratio "
        "sqrt(Kp); impedance: of Kp and the inertia that the task meets at every tick, so that "
        "an axis without stiffness has none.",
        "",
        0.0,
        10.0,
        law=True,
    )
    axes: str = live(
        "",
        "Frame in whose axes gains and force axes are given; empty: the world's, or "
        "those of relative_to.",
        structural=True,
    )
    error_clip: float = live(
        0.1, "Position errors count as no larger than this.", "m", 1e-4, 100.0, law=True
    )
    error_clip_angle: float = live(0.5, "Orientation errors likewise.", "rad", 1e-3, 3.2, law=True)
    integral: float = live(
        0.0,
        "Integral action, Kp (e + integral of this times e): friction and wrong masses leave no "
        "error; 1 / this is the reset time. Up to an eighth of Kd leaves the motion well damped. 0: off.",
        "1/s",
        0.0,
        100.0,
        law=True,
    )
    integral_clip: float = live(
        0.01,
        "A larger error does not count for the integral, and the integral counts as no larger "
        "an error.",
        "m",
        0.0,
        1.0,
        law=True,
    )
    integral_clip_angle: float = live(
        0.2, "Likewise for orientation errors.", "rad", 0.0, 3.2, law=True
    )
    integral_tolerance: float = live(
        5e-5,
        "A smaller error does not count for the integral: it stands still, and so do joints that "
        "friction holds.",
        "m",
        0.0,
        1.0,
        law=True,
    )
    integral_tolerance_angle: float = live(
        5e-4, "Likewise for orientation errors.", "rad", 0.0, 3.2, law=True
    )
    force_axes: Names = live(
        (),
        "Axes in which the target wrench is controlled instead of the motion; without "
        "a target they are free.",
        choices=AXES,
        law=True,
    )
    force_gain: float = live(
        0.0,
        "F = F_d + gain (F_d - F_measured) + integral, where a wrench is measured.",
        "",
        0.0,
        100.0,
        law=True,
    )
    force_integral: float = live(
        0.0, "Gain of the integral of F_d - F_measured.", "1/s", 0.0, 1000.0, law=True
    )
    force_limit: float = live(
        50.0,
        "Largest part of the force that the integral supplies.",
        "N, Nm",
        0.0,
        1e5,
        law=True,
    )
    force_damping: float = live(
        10.0, "Damping of the motion along the force axes.", "1/s", 0.0, 1e4, law=True
    )
    wrench_limit: float = live(
        200.0, "Target wrenches count as no larger than this.", "N, Nm", 0.0, 1e5
    )
    time: float = live(0.0, "Least time of a motion to a new target pose.", "s", 0.0, 3600.0)
    speed: float = live(
        0.5,
        "Largest speed of it, and of twists and trajectories: they are slowed down.",
        "m/s",
        1e-4,
        100.0,
    )
    angular_speed: float = live(1.5, "Largest angular speed, likewise.", "rad/s", 1e-3, 100.0)
    acceleration: float = live(2.0, "Largest acceleration, likewise.", "m/s^2", 1e-3, 1e4)
    angular_acceleration: float = live(
        8.0, "Largest angular acceleration, likewise.", "rad/s^2", 1e-2, 1e4
    )
    jump: float = live(
        0.0,
        "A target pose further than this from the reference is moved nearer; 0: any distance.",
        "m",
        0.0,
        1e4,
    )
    jump_angle: float = live(0.0, "Likewise for the angle; 0: any.", "rad", 0.0, 3.2)

    def own_prefix(self) -> str:
        """The name, as of "tool.stiffness"."""
        return f"{self.name}."

    @property
    def moved_frame(self) -> str:
        """The frame that it moves; empty: the whole robot."""
        return ""

    @property
    def reference_frame(self) -> str:
        """The frame in whose axes it moves; empty: the world."""
        return ""

    def task(self) -> AnyTask:
        """The same as a task of `osim`."""
        raise NotImplementedError

    def structure(self, *but: str) -> tuple[Any, ...]:
        """With its name."""
        return (*super().structure(*but), self.name)

    def flat(self) -> dict[str, Any]:
        """With its kind."""
        return {f"{self.name}.rows": self.rows, **super().flat()}

    def check(self) -> None:
        """Are there as many gains as axes, and is every force axis one that it has?"""
        self.gains("stiffness"), self.gains("damping")
        axes = self._own_axes()
        for axis in self.force_axes:
            if axis not in axes:
                raise SettingsError(
                    f"{self.name}.force_axes: {axis!r} is not an axis of rows = {self.rows}; valid "
                    f"are {listed(axes)}"
                )

    def check_velocity(self) -> None:
        """Can velocities do it, without forces?

        Raises:
            SettingsError: It asks for forces, or has no damping that makes a speed of its stiffness.
        """
        refused = f"mode velocity: {self.name}"
        if self.law != "inertia":
            raise SettingsError(f"{refused}.law = {self.law} asks for forces; valid is inertia")
        if self.force_axes:
            raise SettingsError(f"{refused}.force_axes ask for forces; valid are none")
        if any(kp > 0.0 and kd == 0.0 for kp, kd in zip(self.kp, self.kd)):
            raise SettingsError(
                f"{refused}.damping is 0: errors fall at stiffness / damping; above 0 is valid"
            )

    def gains(self, name: str) -> tuple[float, ...]:
        """A field's numbers as one an axis (6,), linear first; () where none is given.

        Raises:
            SettingsError: There are neither one, nor two (a pose's linear and angular), nor as many as axes.
        """
        given, count = np.atleast_1d(getattr(self, name)).tolist(), len(self._own_axes())
        if len(given) in (0, 1):
            return tuple(given * 6)
        if len(given) == count:
            return tuple(given) * (6 // count)
        if len(given) == 2 and count == 6:
            return _spread(given)
        valid = "1, 2 or 6" if count == 6 else "1 or 3"
        raise SettingsError(
            f"{self.name}.{name} has {len(given)} numbers; valid for rows = {self.rows} are {valid}"
        )

    @property
    def kp(self) -> tuple[float, ...]:
        """The stiffness that counts, one an axis (6,), linear first."""
        return self.gains("stiffness") or _spread(DEFAULT_STIFFNESS[self.law])

    @property
    def kd(self) -> tuple[float, ...]:
        """The damping that counts, likewise, as in `law.derived`; negative where the tick finds it by the inertia."""
        if self.law == "impedance":
            return self.gains("damping") or (-1.0,) * 6
        return self.gains("damping") or tuple(2.0 * self.damping_ratio * k**0.5 for k in self.kp)

    def law_value(self, name: str, parameter: Parameter) -> Any:
        """Gains are one an axis."""
        if name == "stiffness":
            return self.kp
        if name == "damping":
            return self.gains(name) or np.nan
        is_gain = parameter.kind == "double_array"
        return self.gains(name) if is_gain else super().law_value(name, parameter)

    def _own_axes(self) -> tuple[str, ...]:
        """Those of AXES that its rows have."""
        return tuple(axis for axis, column in zip(AXES, self.task().selection().T) if column.any())


@dataclass(frozen=True, kw_only=True)
class FrameTask(ControlTask):
    """A task on the motion of a frame."""

    frame: str = live(
        "", "Frame that is moved; empty: the one named like the task.", structural=True
    )
    relative_to: str = live("", "Frame in whose axes it moves; empty: the world.", structural=True)

    @property
    def moved_frame(self) -> str:
        """The frame that is given, or the one named like the task."""
        return self.frame or self.name

    @property
    def reference_frame(self) -> str:
        """As `relative_to`."""
        return self.relative_to

    def task(self) -> AnyTask:
        """The same as a task of `osim`."""
        return Task(self.moved_frame, self.rows, self.relative_to or None)


@dataclass(frozen=True, kw_only=True)
class PoseTask(FrameTask):
    """Position and orientation of a frame."""

    rows: ClassVar[str] = "pose"


@dataclass(frozen=True, kw_only=True)
class PositionTask(FrameTask):
    """Position of a frame."""

    rows: ClassVar[str] = "position"


@dataclass(frozen=True, kw_only=True)
class OrientationTask(FrameTask):
    """Orientation of a frame."""

    rows: ClassVar[str] = "orientation"


@dataclass(frozen=True, kw_only=True)
class RowsTask(FrameTask):
    """Rows of a frame's motion: a constant selection (k, 6), linear first, k <= 6. In Python only."""

    rows: ClassVar[str] = "selection"

    selection: Sequence[Sequence[float]] | NDArray[Any] = field(kw_only=False)

    def task(self) -> Task:
        """The same as a task of `osim`."""
        return Task(self.moved_frame, self.selection, self.relative_to or None)

    def check(self) -> None:
        """Is the selection one?"""
        rows = self.task().selection()
        if len(rows) > len(AXES):
            raise SettingsError(f"{self.name}.selection has {len(rows)} rows; valid are up to 6")
        object.__setattr__(self, "selection", tuple(map(tuple, rows.tolist())))
        super().check()

    def structure(self, *but: str) -> tuple[Any, ...]:
        """With its selection."""
        return (*super().structure(*but), self.selection)

    def flat(self) -> dict[str, Any]:
        """With its selection."""
        return {**super().flat(), f"{self.name}.rows": self.selection}

    def _own_axes(self) -> tuple[str, ...]:
        return AXES


@dataclass(frozen=True, kw_only=True)
class CenterOfMassTask(ControlTask):
    """The centre of mass of the robot."""

    rows: ClassVar[str] = "com"

    name: str = field(default="com", kw_only=False)

    def task(self) -> CenterOfMass:
        """The same as a task of `osim`."""
        return CenterOfMass()


# By the parameter <t>.rows.
TASKS: dict[str, type[ControlTask]] = {
    kind.rows: kind for kind in (PoseTask, PositionTask, OrientationTask, CenterOfMassTask)
}


def task_table(name: str) -> tuple[Parameter, ...]:
    """The parameters of a task of any kind."""
    rows = Parameter(
        f"{name}.rows",
        "pose",
        "What of it: pose, position, orientation; com: the robot's centre of mass.",
        choices=tuple(TASKS),
        structural=True,
    )
    every = declared(FrameTask, f"{name}.")
    of_frame = [each for each in every if each not in declared(ControlTask)]
    first = [every[each] for each in of_frame]
    return (*first, rows, *(every[each] for each in every if each not in of_frame))


def task_of(name: str, values: dict[str, Any]) -> ControlTask:
    """The task of a name, of values by the names of the ROS parameters, none missing.

    Raises:
        SettingsError: A value is given that a task of its kind does not have.
    """
    kind = TASKS[values[f"{name}.rows"]]
    own = declared(kind, f"{name}.")
    for each, parameter in declared(FrameTask, f"{name}.").items():
        if each not in own and values[parameter.name] != parameter.default:
            raise SettingsError(
                f"{parameter.name}: {quoted(values[parameter.name])} is given, but rows = "
                f"{kind.rows} is the whole robot's"
            )
    return kind(name, **{each: values[parameter.name] for each, parameter in own.items()})


def _spread(pair: Sequence[float]) -> tuple[float, ...]:
    """Linear and angular number to one an axis."""
    return (float(pair[0]),) * 3 + (float(pair[1]),) * 3
