"""`Controller`: from the state of a robot to joint torques, with targets, settings and methods that can change.

It knows no ROS; time is that of one clock, in seconds. All 6-vectors are linear first, in world axes (those of a task
relative to a frame: in the frame's axes). `tick` may run in one thread while targets and settings come from another.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..data import shipped_or_own
from ..errors import (
    ConfigurationError,
    ParameterFileError,
    SettingsError,
    TargetError,
    listed,
    quoted,
)
from ..model import Model, check_model
from ..model.rotations import to_quaternion
from ..osim import OperationalSpace
from ..parameter_file import node_parameters
from ..robot_settings import load_any
from .contacts import Contact
from .core import NAN, Core, read_only
from .fields import NO_TORQUE
from .live import check_payload, write_live
from .options import Compensation, Limits, Payload
from .posture import Posture
from .report import Report
from .safety.settings import SAFE_COMMANDS, SafetySettings
from .settings import (
    ControllerSettings,
    InternalForces,
    Mode,
    controller_settings,
    fixed_changes,
)
from .targets.posture_target import PostureTarget
from .targets.segments import Motion
from .targets.streams import NEVER, Streams
from .targets.target import Target, instant, vector
from .tasks import ControlTask

__all__ = ["Controller"]

NODE = "opspace_controller"
LARGEST_FORCE = 1e6  # [N, Nm] of a wrench, F or tau0


class Controller:
    """The controller of one robot.

        controller = Controller(load_robot("arm7"), [PoseTask("tool", stiffness=400.0)])
        controller.activate(q, v, time)
        tau = controller.tick(q, v, time)

    Args:
        model: The robot.
        tasks: What it shall do; `level` of each is its priority.
        posture: What the joints do in the null space of all tasks.
        contacts: What the ground holds, before every task.
        method: Algorithm of the operational-space inertia, one of `osim.methods()`; "auto": the fastest here.
        mode: "tasks"; "raw": F and tau0 come from outside (`force`, `tau0`); "gravity": compensation only.
        joints: Order of the command; empty: the model's.
        internal_forces: How contacts share what the motion leaves open: "balanced" or "zero".
        compensation, payload, limits: What is added, what is carried, what is kept.
        safety: When targets are stale; the rest is for whoever runs the loop (`safety.gates.Safety`).

    Attributes:
        joints: Names in the order of the command.
        tasks: Names of the tasks.
        settings: Those in use; change them with `apply`.
        report: What the last tick did.
        method_residual: Relative difference of the torques of the old and the new method at the state of the last
            switch; 0 before the first.
        switches: How often the method has changed.

    Raises:
        ParameterError, SettingsError: A value is not valid, or does not fit the others or the robot.
        UnknownFrameError, ConfigurationError, MethodError: As `Core` says (frames, joints, method).
    """

    def __init__(
        self,
        model: Model,
        tasks: Sequence[ControlTask] = (),
        posture: Posture = ControllerSettings.posture,
        contacts: Sequence[Contact] = (),
        method: str = ControllerSettings.method,
        *,
        mode: Mode = ControllerSettings.mode,
        joints: Sequence[str] = (),
        internal_forces: InternalForces = ControllerSettings.internal_forces,
        compensation: Compensation = ControllerSettings.compensation,
        payload: Payload = ControllerSettings.payload,
        limits: Limits = ControllerSettings.limits,
        safety: SafetySettings = ControllerSettings.safety,
    ):
        settings = ControllerSettings(
            tasks=tasks,
            posture=posture,
            contacts=contacts,
            method=method,
            mode=mode,
            joints=joints,
            internal_forces=internal_forces,
            compensation=compensation,
            payload=payload,
            limits=limits,
            safety=safety,
        )
        self._set_up(model, settings)

    @classmethod
    def from_settings(cls, model: Model, settings: ControllerSettings) -> Controller:
        """A controller of all settings at once, as `controller_settings` makes them of ROS parameters.

        Raises:
            SettingsError, UnknownFrameError, ConfigurationError, MethodError: They do not fit the robot.
        """
        controller = cls.__new__(cls)
        controller._set_up(model, settings)
        return controller

    @classmethod
    def from_file(
        cls, path: str | os.PathLike[str], model: Model | None = None, node: str = NODE
    ) -> Controller:
        """The controller that a ROS 2 parameter file describes.

        Args:
            path: The file, or the name of a shipped one: "arm7.yaml".
            model: The robot; None: the one that the file names.
            node: The node whose section is read.

        Raises:
            ParameterFileError: The file cannot be read, has no section for the node, or names no robot.
            OpspaceError: What `controller_settings`, `load_urdf` and `Controller` raise.
        """
        values = node_parameters(shipped_or_own("config", path), node)
        values.pop("use_sim_time", None)
        settings = controller_settings(values)
        if model is None:
            named = settings.robot
            if not named.robot:
                raise ParameterFileError(f"{path}: no `robot` is named: give the model, too")
            model = load_any(named.robot, named.base, named.locked)
        return cls.from_settings(model, settings)

    def _set_up(self, model: Model, settings: ControllerSettings) -> None:
        check_model(model)
        self.model, self.settings = model, settings
        self.joints = tuple(settings.joints or model.joint_names)
        self._core = Core(model, settings)
        self._targets = [Target(task, settings.safety.target_timeout) for task in settings.tasks]
        self._posture = PostureTarget(model, settings.posture)
        self.tasks = tuple(task.name for task in settings.tasks)
        self._number = {name: i for i, name in enumerate(self.tasks)}
        self.report = Report(self._core.law, settings, tuple(model.joint_names))
        self._is_active = False
        self._next_method: str | None = None
        self.method_residual, self.switches = 0.0, 0
        self._error = read_only(self._core.law.error)
        self._streams = Streams(self._core.law)
        self._neutral, self._rest = model.neutral(), np.zeros(model.nv)
        self._check(settings)
        write_live(self._core, model, settings, self._posture)

    # ---- running ----

    def prepare(self, progress: Callable[[str], object] | None = None) -> None:
        """Compile every method that the robot and the tasks can use; `progress` is called with each name before."""
        names = self.methods()
        if progress is not None:
            for name in names:
                progress(name)
        self._core.prepare(*names)

    def methods(self) -> tuple[str, ...]:
        """Names of the methods that can be chosen."""
        return self._core.methods()

    def activate(self, q: ArrayLike, v: ArrayLike, time: float) -> None:
        """Begin: as `restart`, and compensation comes with the first command, whatever was sent before.

        Raises:
            ConfigurationError: Wrong size or non-finite; nothing has changed then.
        """
        q, v, time = self._state(q, v, time)
        self.begin()
        self.restart(q, v, time)

    def _state(
        self, q: ArrayLike, v: ArrayLike, time: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        try:
            moment = instant("the state", time)
        except TargetError as error:
            raise ConfigurationError(str(error)) from None
        return self.model.check_configuration(q), self.model.check_velocity(v), moment

    def begin(self) -> None:
        """Let the next command be the first: whatever was sent before, it is not rate limited."""
        self._core.law.door.is_free = 1

    def restart(self, q: ArrayLike, v: ArrayLike, time: float) -> None:
        """Go on after an interruption: every task holds its present pose, task torque comes over `ramp`.

        Torques move on from the last command, within the rate limit. Raises as `activate`.
        """
        q, v, time = self._state(q, v, time)
        self._core.restart(q, v, time)
        self._hold_tasks(q, v, time)
        self._posture.start(q, time)
        self._core.load_posture(self._posture.program)
        self._streams.clear()
        self._is_active = True

    def tick(
        self, q: ArrayLike, v: ArrayLike, time: float, steady: float = NAN
    ) -> NDArray[np.float64]:
        """Torques (len(joints),) in the order of `joints`: finite, within limits; a view that the next tick changes.

        Args:
            q, v: The state.
            time: Of the state [s].
            steady: The wall clock [s], which may shorten the time in which torques change, see `use_wall_clock`.

        Raises:
            ConfigurationError: Wrong size or non-finite; the controller stays as it was.
        """
        if not self._is_active:
            raise ConfigurationError(
                "the controller has no targets yet: call activate(q, v, time) before the first tick"
            )
        if time >= self._streams.expires:
            self._streams.expire(time)
        if self._next_method is not None:
            self._switch(self._next_method, q, v, time)
        return self._core.tick(q, v, time, steady)

    @property
    def is_finite(self) -> bool:
        """Was the last tick's torque finite? If not, the command before it was kept."""
        return not self._core.law.not_finite

    def hold(self, q: ArrayLike, v: ArrayLike, time: float) -> None:
        """Take the present pose of every task, and the present posture, as targets. Raises as `activate`."""
        q, v, time = self._state(q, v, time)
        self._hold_tasks(q, v, time)
        self._posture.hold(q, time)
        self._core.load_posture(self._posture.program)
        self._streams.clear()

    def _hold_tasks(self, q: NDArray[np.float64], v: NDArray[np.float64], time: float) -> None:
        self._core.measure(q, v)
        for i, target in enumerate(self._targets):
            position, quaternion = _pose_of(self._core.law.pose[i])
            velocity = self._core.law.velocity[i].copy()
            target.hold(
                Motion(position, quaternion, velocity[:3], velocity[3:], np.zeros(3), np.zeros(3)),
                time,
            )
            self._core.load_program(i, target.program)

    def safe_command(
        self,
        kind: str,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
        time: float = NAN,
        steady: float = NAN,
    ) -> NDArray[np.float64]:
        """A command (len(joints),) for a closed gate, in the order of `joints`, within all limits of a tick.

        It is approached at the rate limit: ask again until it is there.

        Args:
            kind: zero; gravity: as the contacts carry it, at rest; damping: gravity, and a force that brakes every
                joint by `safe_damping` times its velocity a second.
            q, v: The state, for gravity and damping.
            time: Of the state [s]; without one no new state is answered, and only the wall clock counts.
            steady: The wall clock [s].

        Raises:
            ConfigurationError: An unknown kind, or a state that is missing or not finite.
        """
        if kind not in SAFE_COMMANDS:
            raise ConfigurationError(
                f"no safe command {quoted(kind)}; valid are {listed(SAFE_COMMANDS)}"
            )
        number = SAFE_COMMANDS.index(kind)
        if number == NO_TORQUE:
            q, v = self._neutral, self._rest
        return self._core.safe(number, q, v, time, steady)

    def use_wall_clock(self, is_paced: bool) -> None:
        """Let the rate limit hold by the wall clock, too: for a robot whose states are stamped by it."""
        self._core.law.door.is_paced = is_paced

    # ---- settings and method ----

    def apply(self, settings: ControllerSettings) -> None:
        """Change settings while it runs, all or none.

        Raises:
            SettingsError: A parameter cannot change while it runs, or does not fit the robot.
            MethodError: The method cannot carry the robot or the tasks.
        """
        fixed = fixed_changes(self.settings, settings)
        if fixed:
            raise SettingsError(
                f"{listed(fixed)} cannot change while the controller runs; clean up, configure again"
            )
        self._check(settings)
        if settings.method != self.settings.method:
            self.method = settings.method
        has_new_posture = settings.posture.positions != self.settings.posture.positions
        self.settings = settings
        self._posture.settings = settings.posture
        if has_new_posture and self._is_active:
            self._posture.move_to_settings(self._core.law.last_time)
            self._core.load_posture(self._posture.program)
        for target, task in zip(self._targets, settings.tasks):
            target.settings, target.timeout = task, settings.safety.target_timeout
        write_live(self._core, self.model, settings, self._posture)

    def _check(self, settings: ControllerSettings) -> None:
        """Do live settings fit the robot?"""
        self._posture.check(settings.posture)
        check_payload(self.model, settings)

    @property
    def method(self) -> str:
        """Name of the method. Setting it compiles it if need be, in the setting thread; the next tick switches."""
        return self._next_method or self._core.method

    @method.setter
    def method(self, name: str) -> None:
        if name == "auto":
            contacts = [contact.task() for contact in self.settings.contacts]
            tasks = [*contacts, *(task.task() for task in self.settings.tasks)]
            name = OperationalSpace(self.model, tasks, "auto").method
        self._core.prepare(name)
        self._next_method = name

    def _switch(self, name: str, q: ArrayLike, v: ArrayLike, time: float) -> None:
        """Change the method; both compute the levels at this state, which are then compared."""
        self._next_method = None
        self._core.tick(q, v, time)
        old = np.array(self._core.law.level_torque)
        self._core.method = name
        self._core.tick(q, v, time)
        size = float(np.abs(old).max())
        difference = float(np.abs(self._core.law.level_torque - old).max())
        self.method_residual = difference / size if size else 0.0
        self.switches += 1

    # ---- targets ----

    def target_pose(
        self, task: str, position: ArrayLike | None, quaternion: ArrayLike | None, time: float
    ) -> None:
        """Move a task to a pose; None leaves position or orientation (xyzw) as it is to be. Raises TargetError."""
        target = self._target(task)
        target.pose(position, quaternion, instant(task, time))
        self._load(task, target)

    def target_twist(self, task: str, twist: ArrayLike, time: float) -> None:
        """Move a task with a twist (6,), which counts for `stream_timeout`. Raises TargetError."""
        target = self._target(task)
        target.twist(twist, instant(task, time), self.settings.safety.stream_timeout)
        self._load(task, target)

    def trajectory(
        self,
        task: str,
        times: ArrayLike,
        positions: ArrayLike | None,
        quaternions: ArrayLike | None,
        time: float,
        twists: ArrayLike | None = None,
    ) -> None:
        """Move a task through way points at `times` after `time`. Raises TargetError."""
        target = self._target(task)
        target.trajectory(times, positions, quaternions, instant(task, time), twists)
        self._load(task, target)

    def target_wrench(self, task: str, wrench: ArrayLike, time: float) -> None:
        """What a task shall exert along its force axes (6,), for `stream_timeout`. Raises TargetError."""
        settings = self._target(task).settings
        wrench = vector(f"{task}: target wrench", wrench, 6, most=LARGEST_FORCE)
        if not settings.force_axes:
            raise TargetError(
                f"{task}: it has no force axes, so that a target wrench does nothing: {task}.force_axes"
            )
        limit = settings.wrench_limit
        self._streams.put(
            "wrench", self._number[task], np.clip(wrench, -limit, limit), self._end(time)
        )

    def measured_wrench(self, task: str, wrench: ArrayLike, time: float | None = None) -> None:
        """What a task does exert (6,); with a time it counts for `stream_timeout`. Raises TargetError."""
        number = self._number[self._target(task).name]
        wrench = vector(f"{task}: measured wrench", wrench, 6, most=LARGEST_FORCE)
        self._streams.put("measured", number, wrench, NEVER if time is None else self._end(time))

    def posture(
        self,
        names: Sequence[str],
        positions: ArrayLike,
        velocities: ArrayLike | None,
        time: float,
    ) -> None:
        """Approach a posture of some joints (velocities: None, empty or one a name). Raises TargetError."""
        self._posture.move(names, positions, velocities, instant("posture", time))
        self._core.load_posture(self._posture.program)

    def force(self, F: ArrayLike, time: float) -> None:
        """Raw mode: F, the rows of the tasks in order, for `stream_timeout`. Raises TargetError."""
        self._need_raw("force")
        F = vector("force", F, self._core.law.task_rows, most=LARGEST_FORCE)
        self._streams.put("force", 0, F, self._end(time))

    def tau0(self, tau0: ArrayLike, time: float) -> None:
        """Raw mode: tau0, one a joint of `joints`, for `stream_timeout`. Raises TargetError."""
        self._need_raw("tau0")
        tau0 = vector("tau0", tau0, len(self.joints), most=LARGEST_FORCE)
        self._streams.put("tau0", 0, tau0, self._end(time))

    def stale_targets(self, time: float) -> list[str]:
        """Tasks whose target pose is older than `target_timeout`: they hold."""
        return [target.name for target in self._targets if target.is_stale(time)]

    def _target(self, task: str) -> Target:
        if task not in self._number:
            raise TargetError(f"no task {quoted(task)}; valid are {listed(self.tasks)}")
        return self._targets[self._number[task]]

    def _load(self, task: str, target: Target) -> None:
        self._core.load_program(self._number[task], target.program)
        self.report.clipped_targets = tuple(each.name for each in self._targets if each.clipped)

    def _end(self, time: float) -> float:
        """When a stream's input of this time goes stale."""
        return instant("a stream", time) + self.settings.safety.stream_timeout

    def _need_raw(self, what: str) -> None:
        if self.settings.mode != "raw":
            raise TargetError(
                f"{what}: the mode is {self.settings.mode}; it counts in mode raw only"
            )

    # ---- results ----

    @property
    def command(self) -> NDArray[np.float64]:
        """The last command (len(joints),), whichever it was; a view."""
        return self._core.tau

    @property
    def target_rows(self) -> NDArray[np.float64]:
        """(tasks, 12) rotation, row by row, and position where each task should have been at the last tick; a view."""
        return read_only(self._core.law.target)

    def pose(self, task: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Position (3,) and quaternion (4,) xyzw of a task at the last tick, copies."""
        return _pose_of(self._core.law.pose[self._number[self._target(task).name]])

    def target(self, task: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Where the task should have been at the last tick, likewise."""
        return _pose_of(self._core.law.target[self._number[self._target(task).name]])

    def error(self, task: str) -> NDArray[np.float64]:
        """Wanted minus present pose (6,) of the last tick, linear first, world axes; a view."""
        error: NDArray[np.float64] = self._error[self._number[self._target(task).name]]
        return error

    @property
    def osim(self) -> NDArray[np.float64]:
        """J H^-1 J^T (m, m) of the tasks' rows in order at the last tick: the inverse operational-space inertia."""
        return self._core.osim


def _pose_of(pose: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Position and quaternion, copies, of rotation (9; zeros for the centre of mass) and position (3)."""
    rotation = pose[:9].reshape(3, 3) if pose[:9].any() else np.eye(3)
    return pose[9:12].copy(), to_quaternion(rotation)
